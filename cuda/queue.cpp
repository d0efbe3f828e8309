// Queues: a stream each, with the functions that it has launched before.
#include <cstring>

#include "backends/gpu/specialization.hpp"
#include "cuda/objects.hpp"

namespace trine::cuda {
namespace {

Pointer pointer_of(const void* handle, uint64_t offset) {
  return reinterpret_cast<Pointer>(handle) + offset;
}

/// Local memory that a launch may ask for without leave: 48 KB, less what the kernel has besides
/// (barriers).
constexpr uint32_t kWithoutLeave = 47 << 10;

}  // namespace

Queue::Queue(Device& on, Stream native_stream, bool is_ours)
    : trine_queue(on), device_(on), stream(native_stream), ours_(is_ours) {}

// cuStreamDestroy doesn't wait; the driver lets go of the stream when its work is done.
Queue::~Queue() {
  if (!ours_ || !stream || gpu::is_forked() || device_.is_lost()) return;
  const Current current(device_, std::nothrow);
  driver().cuStreamDestroy(stream);
}

void Queue::wait() {
  const Current current(device_);
  device_.check(driver().cuStreamSynchronize(stream), "cuStreamSynchronize");
}

bool Queue::idle() {
  const Current current(device_);
  const Result code = driver().cuStreamQuery(stream);
  if (code == kNotReady) return false;
  device_.check(code, "cuStreamQuery");
  return true;
}

void Queue::wait_for(trine_event& event) {
  const Current current(device_);
  static_cast<Event&>(event).hold_back(*this);
}

bool Queue::is_captured() {
  const Current current(device_);
  int capture = 0;
  device_.check(driver().cuStreamIsCapturing(stream, &capture), "cuStreamIsCapturing");
  return capture != 0;
}

// --- Copies -------------------------------------------------------------------------------------

// The driver reads host memory that it hasn't pinned at the call, whatever comes before on the
// stream: such a copy is made when nothing does.
void Queue::await_turn(const trine_copy& copy, uint64_t bytes) {
  if (copy.direction != TRINE_HOST_TO_DEVICE) return;
  const auto* begin = static_cast<const char*>(copy.source) + copy.source_offset;
  if (is_pinned(begin, bytes)) return;
  if (is_captured())
    kit::fail(TRINE_UNSUPPORTED,
              "cuda:%d: a copy from host memory that isn't pinned must wait for its stream, which "
              "can't be while the stream is captured into a graph; pin the memory, wrap it in a "
              "buffer, or copy outside of the capture",
              device_.index);
  device_.check(driver().cuStreamSynchronize(stream), "cuStreamSynchronize");
}

// The driver is done with pageable host memory when such a copy returns, asynchronous by name or
// not.
void Queue::copy_and_wait(const trine_copy& copy) {
  this->copy(copy);
  wait();
}

void Queue::copy_row(const trine_copy& c) {
  const Current current(device_);
  await_turn(c, c.width);
  const Pointer source = pointer_of(c.source, c.source_offset);
  const Pointer target = pointer_of(c.target, c.target_offset);
  const auto enqueue = [&] {
    switch (c.direction) {
      case TRINE_HOST_TO_DEVICE:
        return driver().cuMemcpyHtoDAsync(target, reinterpret_cast<const void*>(source), c.width,
                                          stream);
      case TRINE_DEVICE_TO_HOST:
        return driver().cuMemcpyDtoHAsync(reinterpret_cast<void*>(target), source, c.width, stream);
      default: return driver().cuMemcpyAsync(target, source, c.width, stream);
    }
  };
  device_.check(enqueue(), "a copy");
}

bool Queue::copy_box(const trine_copy& c) {
  // Beyond it are gaps of gigabytes: there can't be many.
  if (c.source_pitch > device_.max_pitch || c.target_pitch > device_.max_pitch) return false;
  const Current current(device_);
  await_turn(c, (c.height - 1) * c.source_pitch + c.width);
  Copy2D box{};
  box.source_type = c.direction == TRINE_HOST_TO_DEVICE ? kMemoryHost : kMemoryUnified;
  box.target_type = c.direction == TRINE_DEVICE_TO_HOST ? kMemoryHost : kMemoryUnified;
  const Pointer source = pointer_of(c.source, c.source_offset);
  const Pointer target = pointer_of(c.target, c.target_offset);
  if (box.source_type == kMemoryHost) {
    box.source_host = reinterpret_cast<const void*>(source);
  } else {
    box.source_device = source;
  }
  if (box.target_type == kMemoryHost) {
    box.target_host = reinterpret_cast<void*>(target);
  } else {
    box.target_device = target;
  }
  box.source_pitch = c.source_pitch;
  box.target_pitch = c.target_pitch;
  box.width = c.width;
  box.height = c.height;
  device_.check(driver().cuMemcpy2DAsync(&box, stream), "cuMemcpy2DAsync");
  return true;
}

// The driver fills with 1, 2 and 4 bytes; wider patterns are its too when their words are alike.
void Queue::fill(void* memory, uint64_t offset, uint64_t bytes, const void* pattern,
                 uint32_t pattern_bytes) {
  const Pointer target = pointer_of(memory, offset);
  unsigned words[4];
  for (uint32_t at = 0; at < sizeof words; at += pattern_bytes) {
    std::memcpy(reinterpret_cast<char*>(words) + at, pattern, pattern_bytes);
  }
  if (target % (pattern_bytes < 4 ? pattern_bytes : 4)) {
    kit::fail(TRINE_INVALID_ARGUMENT, "cuda: fill: the address is not a multiple of the pattern");
  }
  const bool alike = words[0] == words[1] && words[0] == words[2] && words[0] == words[3];
  if (!alike) {
    gpu::Plan plan;
    const auto count = static_cast<int64_t>(bytes / pattern_bytes);
    gpu::plan_fill({memory, offset, 1, count, 1, count, 1, 0}, pattern, pattern_bytes, plan);
    return launch(gpu::fill_variant(), plan);
  }
  const Current current(device_);
  if (pattern_bytes == 1) {
    device_.check(
        driver().cuMemsetD8Async(target, static_cast<unsigned char>(words[0]), bytes, stream),
        "cuMemsetD8Async");
  } else if (pattern_bytes == 2) {
    device_.check(
        driver().cuMemsetD16Async(target, static_cast<unsigned short>(words[0]), bytes / 2, stream),
        "cuMemsetD16Async");
  } else {
    device_.check(driver().cuMemsetD32Async(target, words[0], bytes / 4, stream),
                  "cuMemsetD32Async");
  }
}

// --- Launches -----------------------------------------------------------------------------------

Queue::Kernel& Queue::kernel_of(const gpu::Specialization& wanted, int entry) {
  const auto& [variant, macro] = wanted;
  const uint64_t specialization = gpu::specialization_number(variant, macro);
  for (Kernel& k : kernels_) {
    if (k.variant == &variant && k.specialization == specialization && k.entry == entry) return k;
  }
  kernels_.reserve(kernels_.size() + 1);
  const Function function = device_.modules.function(variant, macro, entry);
  kernels_.push_back({&variant, specialization, entry, function, 0});
  return kernels_.back();
}

void Queue::launch(const gpu::Variant& variant, const gpu::Plan& plan) {
  const Current current(device_);
  // Steps that can fail without the device come first, so that a plan starts whole or not at all.
  Function functions[gpu::kMaxLaunches]{};
  for (int l = 0; l < plan.launch_count; ++l) {
    const gpu::Launch& launch = plan.launches[l];
    Kernel& kernel = kernel_of({variant, plan, launch}, launch.entry);
    functions[l] = kernel.function;
    if (launch.dynamic_local_bytes > kWithoutLeave &&
        launch.dynamic_local_bytes > kernel.dynamic_bytes) {
      device_.check(driver().cuFuncSetAttribute(kernel.function, kMaxDynamicShared,
                                                static_cast<int>(launch.dynamic_local_bytes)),
                    "cuFuncSetAttribute");
      kernel.dynamic_bytes = launch.dynamic_local_bytes;
    }
  }
  for (int l = 0; l < plan.launch_count; ++l) {
    const gpu::Launch& launch = plan.launches[l];
    void* arguments[gpu::kMaxArguments + 1];
    for (int a = 0; a < launch.argument_count; ++a) {
      arguments[a] =
          const_cast<void**>(&launch.arguments[a].memory);  // all of the union starts there
    }
    arguments[launch.argument_count] = nullptr;  // for a driver that records what it is given
    const auto& [x, y, z] = launch.grid;
    const auto& [bx, by, bz] = launch.block;
    const gpu::Variant& launched = gpu::Specialization(variant, plan, launch).variant;
    if (launched.begins_early && device_.begins_early) {
      LaunchAttribute early{kBeginsEarly, 1, {}};
      const LaunchConfig config{{x, y, z}, {bx, by, bz}, launch.dynamic_local_bytes,
                                stream,    &early,       1};
      device_.check(driver().cuLaunchKernelEx(&config, functions[l], arguments, nullptr),
                    "cuLaunchKernelEx");
    } else {
      device_.check(driver().cuLaunchKernel(functions[l], x, y, z, bx, by, bz,
                                            launch.dynamic_local_bytes, stream, arguments, nullptr),
                    "cuLaunchKernel");
    }
  }
}

}  // namespace trine::cuda
