// The real OpenCL loader's table with faults::plan in front of every function, and a balance of
// what was made and given back.
#pragma once

#include <string>

#include "opencl/driver.hpp"

namespace faulty_opencl {

/// nullptr where there is no loader.
const trine::opencl::Driver* table();

/// The objects made and not given back, and the transfers to or from host memory that nobody waited
/// for, in words ("2 buffers; "), since the last reset.
std::string leftovers();
void reset();

/// Waits for all queues behind the backend's back: one that holds its device for lost waits no
/// more, while the driver goes on with what it has.
void drain();

}  // namespace faulty_opencl
