// Calls in flight: without the interpreter's lock, and counted, because a thread that comes back to
// an interpreter that has ended would be killed in the middle of our stack.
#pragma once

#include <nanobind/nanobind.h>

namespace trine::python {

/// The length of a call: counts it, and gives the interpreter's lock to others meanwhile.
class Flight {
 public:
  Flight();
  ~Flight();
  Flight(const Flight&) = delete;

 private:
  PyThreadState* interpreter_;
};

}  // namespace trine::python
