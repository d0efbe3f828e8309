// Places in device memory where stamp kernels write the time, for events on queues whose driver
// should not do it (service/stamp.cl).
#pragma once

#include <mutex>

#include "backends/kit/host.hpp"
#include "opencl/driver.hpp"

namespace trine::opencl {

struct Device;

struct Stamp {
  cl_mem memory = nullptr;  // null: none
  int slot = 0;
};

class Stamps {
 public:
  explicit Stamps(Device& device) : device_(device) {}
  void release();

  Stamp take();
  /// `marker` stands behind the stamp's kernel: the place is used again when it has passed.
  void give_back(const Stamp& stamp, cl_event marker);
  /// Nanoseconds of the device's clock; the stamp's event has passed.
  uint64_t read(const Stamp& stamp);

 private:
  struct Retired {
    Stamp stamp;
    cl_event marker;
  };
  void grow();
  void recycle();

  Device& device_;
  std::mutex mutex_;
  kit::Vector<cl_mem> blocks_;
  kit::Vector<Stamp> free_;
  kit::Vector<Retired> retired_;
};

}  // namespace trine::opencl
