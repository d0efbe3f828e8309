// Hands out places for time stamps and takes them back when nothing writes there any more.
#include "opencl/objects.hpp"

namespace trine::opencl {
namespace {
constexpr int kSlots = 1024;  // a block
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
  std::erase_if(retired_, [&](const Retired& one) {
    cl_int state = CL_QUEUED;
    driver().clGetEventInfo(one.marker.get(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state,
                            &state, nullptr);
    if (state <= CL_COMPLETE) free_.push_back(one.stamp);
    return state <= CL_COMPLETE;
  });
}

void Stamps::grow() {
  const std::size_t all = (blocks_.size() + 1) * kSlots;
  blocks_.reserve(blocks_.size() + 1);
  free_.reserve(all);
  retired_.reserve(all);  // so that giving back never allocates
  cl_int code = CL_SUCCESS;
  HeldMemory block(driver().clCreateBuffer(device_.context->native(), CL_MEM_READ_WRITE,
                                           kSlots * sizeof(uint64_t), nullptr, &code));
  device_.check(code, "clCreateBuffer");
  for (int slot = 0; slot < kSlots; ++slot) free_.push_back({block.get(), slot});
  blocks_.push_back(std::move(block));
}

void Stamps::give_back(const Stamp& stamp, HeldEvent marker) {
  if (!stamp.memory) return;
  std::lock_guard lock(mutex_);
  if (marker) {
    retired_.push_back({stamp, std::move(marker)});
  } else {
    free_.push_back(stamp);  // its kernel was never enqueued
  }
}

uint64_t Stamps::read(const Stamp& stamp) {
  uint64_t nanoseconds = 0;
  std::lock_guard lock(device_.service_mutex);
  device_.check(driver().clEnqueueReadBuffer(device_.service.get(), stamp.memory, CL_TRUE,
                                             static_cast<std::size_t>(stamp.slot) * 8, 8,
                                             &nanoseconds, 0, nullptr, nullptr),
                "clEnqueueReadBuffer");
  return nanoseconds;
}

}  // namespace trine::opencl
