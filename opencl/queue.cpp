// Queues: in order, one cl_command_queue each, with kernels of their own.
#include <atomic>
#include <cstring>

#include "backends/gpu/specialization.hpp"
#include "opencl/objects.hpp"

namespace trine::opencl {
namespace {

cl_mem memory_of(const void* handle) { return static_cast<cl_mem>(const_cast<void*>(handle)); }

// PoCL before 6.0 counts the commands that run a kernel, and ends the process where it counts
// wrong: a command that is over gives back the first entry of its kernel and group size, which need
// not be the one that its grid chose. Four queues with one program do that within seconds. So under
// any PoCL each queue has programs of its own, by a number that no other queue of the process has.
constexpr int kNumbers = 256;  // queues beyond them share the last
constinit std::atomic<bool> taken[kNumbers];

int take_number() {
  int number = 0;
  while (number < kNumbers - 1 && taken[number].exchange(true)) ++number;
  return number;
}

void give_back(cl_event, cl_int, void* number) { *static_cast<std::atomic<bool>*>(number) = false; }

/// Where a pitched range begins, as OpenCL's rectangles want it.
struct Origin {
  std::size_t at[3];
  Origin(uint64_t offset, uint64_t pitch) : at{offset % pitch, offset / pitch, 0} {}
};

}  // namespace

Queue::Queue(Device& on, std::unique_ptr<Context> its_context, HeldQueue native_queue,
             bool is_profiled, bool is_ours)
    : trine_queue(on),
      device_(on),
      guest(std::move(its_context)),
      held(std::move(native_queue)),
      context(guest ? *guest : *on.context),
      queue(held.get()),
      profiled_(is_profiled),
      ours_(is_ours),
      number_(on.is_pocl ? take_number() : 0) {}

// Giving it back doesn't wait; what is in flight keeps its objects alive.
Queue::~Queue() {
  if (gpu::is_forked()) return;
  if (device_.is_pocl) {  // its number is free when its last work is over
    auto& number = taken[number_];
    cl_event last = nullptr;
    driver().clEnqueueMarkerWithWaitList(queue, 0, nullptr, &last);
    const HeldEvent held_last(last);
    if (!last || driver().clSetEventCallback(last, CL_COMPLETE, give_back, &number) != CL_SUCCESS)
      number = false;
  }
  driver().clFlush(queue);
}

void Queue::flush() { device_.check(driver().clFlush(queue), "clFlush"); }

void Queue::wait() {
  device_.check(driver().clFinish(queue), "clFinish");
  has_new_work_ = false;
  idle_marker_.reset();
}

void Queue::mark(HeldEvent& marker) {
  cl_event fresh = nullptr;
  device_.check(driver().clEnqueueMarkerWithWaitList(queue, 0, nullptr, &fresh),
                "clEnqueueMarkerWithWaitList");
  marker.reset(fresh);
  flush();
}

// Asks by a marker behind the last work, one for as long as nothing is added.
bool Queue::idle() {
  const bool unknown = !ours_ && !idle_marker_;  // the program may have enqueued what it likes
  if (has_new_work_ || unknown) {
    mark(idle_marker_);
    has_new_work_ = false;
  }
  if (!idle_marker_) return true;
  cl_int state = CL_QUEUED;
  device_.check(driver().clGetEventInfo(idle_marker_.get(), CL_EVENT_COMMAND_EXECUTION_STATUS,
                                        sizeof state, &state, nullptr),
                "clGetEventInfo");
  if (state > CL_COMPLETE) return false;
  idle_marker_.reset();
  return true;
}

void Queue::record_time(const Stamp& stamp) {
  gpu::Plan plan;
  plan.add(0).memory(stamp.memory).i32(stamp.slot);
  launch(gpu::stamp_variant(), plan);
}

// --- Copies -------------------------------------------------------------------------------------

// Drivers differ in what they make of memory of a context that isn't the queue's, so it is refused
// here. Without adopted contexts all memory is of one context.
void Queue::check_context(const void* memory) {
  if (!memory || !device_.has_guests.load(std::memory_order_relaxed)) return;
  cl_context its_context = nullptr;
  device_.check(driver().clGetMemObjectInfo(memory_of(memory), CL_MEM_CONTEXT, sizeof its_context,
                                            &its_context, nullptr),
                "clGetMemObjectInfo");
  if (its_context == context.native()) return;
  kit::fail(TRINE_INVALID_ARGUMENT,
            "opencl:%d: the memory belongs to another cl_context than the queue; use a queue and "
            "buffers of one context, or copy through host memory",
            device_.index);
}

void Queue::check_contexts(const trine_copy& copy) {
  if (copy.direction != TRINE_HOST_TO_DEVICE) check_context(copy.source);
  if (copy.direction != TRINE_DEVICE_TO_HOST) check_context(copy.target);
  has_new_work_ = true;
}

void Queue::copy_row(const trine_copy& copy) {
  check_contexts(copy);
  device_.check(enqueue_row(copy, CL_FALSE), "a copy");
}

void Queue::copy_and_wait(const trine_copy& copy) {
  has_new_work_ = true;
  device_.check(enqueue_row(copy, CL_TRUE), "a copy");
}

// OpenCL has no rectangles within one buffer whose pitches differ, and NVIDIA refuses those that
// reach too far (from 2^31 bytes on, as measured; the limit is nowhere written).
bool Queue::copy_box(const trine_copy& copy) {
  check_contexts(copy);
  if (copy.direction == TRINE_DEVICE_TO_DEVICE && copy.source == copy.target &&
      copy.source_pitch != copy.target_pitch)
    return false;
  const cl_int code = enqueue_box(copy);
  if (code != CL_INVALID_VALUE) device_.check(code, "a copy of rows");
  return code != CL_INVALID_VALUE;
}

cl_int Queue::enqueue_row(const trine_copy& c, cl_bool blocking) {
  const auto* from = static_cast<const char*>(c.source) + c.source_offset;
  auto* to = static_cast<char*>(c.target) + c.target_offset;
  switch (c.direction) {
    case TRINE_HOST_TO_DEVICE:
      return driver().clEnqueueWriteBuffer(queue, memory_of(c.target), blocking, c.target_offset,
                                           c.width, from, 0, nullptr, nullptr);
    case TRINE_DEVICE_TO_HOST:
      return driver().clEnqueueReadBuffer(queue, memory_of(c.source), blocking, c.source_offset,
                                          c.width, to, 0, nullptr, nullptr);
    default:
      return driver().clEnqueueCopyBuffer(queue, memory_of(c.source), memory_of(c.target),
                                          c.source_offset, c.target_offset, c.width, 0, nullptr,
                                          nullptr);
  }
}

cl_int Queue::enqueue_box(const trine_copy& c) {
  const std::size_t region[3] = {c.width, c.height, 1};
  const Origin source(c.source_offset, c.source_pitch), target(c.target_offset, c.target_pitch);
  switch (c.direction) {
    case TRINE_HOST_TO_DEVICE:
      return driver().clEnqueueWriteBufferRect(queue, memory_of(c.target), CL_FALSE, target.at,
                                               source.at, region, c.target_pitch, 0, c.source_pitch,
                                               0, c.source, 0, nullptr, nullptr);
    case TRINE_DEVICE_TO_HOST:
      return driver().clEnqueueReadBufferRect(queue, memory_of(c.source), CL_FALSE, source.at,
                                              target.at, region, c.source_pitch, 0, c.target_pitch,
                                              0, c.target, 0, nullptr, nullptr);
    default:
      return driver().clEnqueueCopyBufferRect(queue, memory_of(c.source), memory_of(c.target),
                                              source.at, target.at, region, c.source_pitch, 0,
                                              c.target_pitch, 0, 0, nullptr, nullptr);
  }
}

void Queue::fill(void* memory, uint64_t offset, uint64_t bytes, const void* pattern,
                 uint32_t pattern_bytes) {
  check_context(memory);
  has_new_work_ = true;
  device_.check(driver().clEnqueueFillBuffer(queue, memory_of(memory), pattern, pattern_bytes,
                                             offset, bytes, 0, nullptr, nullptr),
                "clEnqueueFillBuffer");
}

// --- Launches -----------------------------------------------------------------------------------

cl_kernel Queue::kernel_of(const gpu::Specialization& wanted, int entry) {
  const auto& [variant, macro] = wanted;
  const uint64_t specialization = gpu::specialization_number(variant, macro);
  for (const Kernel& k : kernels_) {
    if (k.variant == &variant && k.specialization == specialization && k.entry == entry)
      return k.kernel.get();
  }
  Program& program = context.program(variant, macro, number_);
  cl_int code = CL_SUCCESS;
  HeldKernel kernel(driver().clCreateKernel(
      program.program.get(), variant.kernels()[static_cast<std::size_t>(entry)], &code));
  device_.check(code, "clCreateKernel");
  kernels_.push_back({&variant, specialization, entry, std::move(kernel)});
  return kernels_.back().kernel.get();
}

void Queue::launch(const gpu::Variant& variant, const gpu::Plan& plan) {
  // Steps that can fail without the device come first, so that a plan starts whole or not at all.
  const int count = plan.launch_count;
  cl_kernel kernels[gpu::kMaxLaunches];
  for (int l = 0; l < count; ++l) {
    const gpu::Launch& launch = plan.launches[l];
    for (int a = 0; a < launch.argument_count; ++a) {
      const gpu::Argument& argument = launch.arguments[a];
      if (argument.kind == gpu::Argument::kMemory) check_context(argument.memory);
    }
    kernels[l] = kernel_of({variant, plan, launch}, launch.entry);
  }
  has_new_work_ = true;
  for (int l = 0; l < count; ++l) {
    const gpu::Launch& launch = plan.launches[l];
    for (int a = 0; a < launch.argument_count; ++a) {
      const gpu::Argument& argument = launch.arguments[a];
      const bool small =
          argument.kind == gpu::Argument::kI32 || argument.kind == gpu::Argument::kF32;
      device_.check(driver().clSetKernelArg(kernels[l], static_cast<cl_uint>(a), small ? 4 : 8,
                                            &argument.memory),
                    "clSetKernelArg");
    }
    std::size_t global[3], local[3];
    for (int d = 0; d < 3; ++d) {
      local[d] = launch.block[d];
      global[d] = static_cast<std::size_t>(launch.grid[d]) * launch.block[d];
    }
    device_.check(driver().clEnqueueNDRangeKernel(queue, kernels[l], 3, nullptr, global, local, 0,
                                                  nullptr, nullptr),
                  "clEnqueueNDRangeKernel");
  }
}

}  // namespace trine::opencl
