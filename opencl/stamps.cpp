// Hands out places for time stamps and takes them back when nothing writes there any more.
#include "opencl/objects.hpp"

namespace trine::opencl {
namespace {
constexpr int kSlots = 1024;  // a block
}

void Stamps::release() {
  for (const Retired& one : retired_) driver().clReleaseEvent(one.marker);
  for (cl_mem block : blocks_) driver().clReleaseMemObject(block);
}

Stamp Stamps::take() {
  std::lock_guard lock(mutex_);
  if (free_.empty()) recycle();
  if (free_.empty()) grow();
  const Stamp stamp = free_.back();
  free_.pop_back();
  return stamp;
}

void Stamps::recycle() {
  std::size_t kept = 0;
  for (const Retired& one : retired_) {
    cl_int state = CL_QUEUED;
    driver().clGetEventInfo(one.marker, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state,
                            nullptr);
    if (state > CL_COMPLETE) {
      retired_[kept++] = one;
    } else {
      driver().clReleaseEvent(one.marker);
      free_.push_back(one.stamp);
    }
  }
  retired_.resize(kept);
}

void Stamps::grow() {
  const std::size_t all = (blocks_.size() + 1) * kSlots;
  blocks_.reserve(blocks_.size() + 1);
  free_.reserve(all);
  retired_.reserve(all);  // so that giving back never allocates
  cl_int code = CL_SUCCESS;
  cl_mem block = driver().clCreateBuffer(device_.context->native(), CL_MEM_READ_WRITE,
                                         kSlots * sizeof(uint64_t), nullptr, &code);
  device_.check(code, "clCreateBuffer");
  blocks_.push_back(block);
  for (int slot = 0; slot < kSlots; ++slot) free_.push_back({block, slot});
}

void Stamps::give_back(const Stamp& stamp, cl_event marker) {
  std::lock_guard lock(mutex_);
  if (marker && driver().clRetainEvent(marker) == CL_SUCCESS) {
    retired_.push_back({stamp, marker});
  } else {
    free_.push_back(stamp);  // its kernel was never enqueued
  }
}

uint64_t Stamps::read(const Stamp& stamp) {
  uint64_t nanoseconds = 0;
  std::lock_guard lock(device_.service_mutex);
  device_.check(driver().clEnqueueReadBuffer(device_.service, stamp.memory, CL_TRUE,
                                             static_cast<std::size_t>(stamp.slot) * 8, 8,
                                             &nanoseconds, 0, nullptr, nullptr),
                "clEnqueueReadBuffer");
  return nanoseconds;
}

}  // namespace trine::opencl
