// Devices: an open one has a context, a service queue and its programs.
#include <algorithm>
#include <memory>
#include <string_view>

#include "backends/gpu/architecture.hpp"
#include "opencl/objects.hpp"

namespace trine::opencl {

Device::Device(int device_index)
    : trine_device(gpu::kOpencl, device_index), where(found_device(device_index)) {
  describe_device(device_index, facts);
  is_nvidia = target.has(TRINE_CAN_INLINE_PTX);
  if (is_nvidia) compute_capability = compute_capability_of(where.device);
  is_pocl = std::string_view(facts.driver).starts_with("Portable Computing Language,");
  const cl_context_properties properties[] = {
      CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(where.platform), 0};
  cl_int code = CL_SUCCESS;
  HeldContext native_context(
      driver().clCreateContext(properties, 1, &where.device, nullptr, nullptr, &code));
  check(code, "clCreateContext");
  context.reset(new Context(*this, std::move(native_context)));
  service.reset(driver().clCreateCommandQueue(context->native(), where.device, 0, &code));
  check(code, "clCreateCommandQueue");
  if (target.has(TRINE_CAN_SHARE_MEMORY) && !uses_host_memory_in_place())
    facts.capabilities &= ~uint64_t{TRINE_CAN_SHARE_MEMORY};
}

// OpenCL 1.2 lets a driver keep a copy of CL_MEM_USE_HOST_PTR memory that meets the host's only in
// map and unmap. Trine uses wrapped memory without them: they would have to surround each use, by
// any queue, of memory that several may be reading. So what the driver does is tried here, on
// memory aligned no better than an element.
bool Device::uses_host_memory_in_place() {
  constexpr std::size_t kWords = 16, kBytes = kWords * sizeof(uint32_t);
  // Static, because a fill may still run after its wait has failed; one device is opened at a time.
  alignas(64) static uint32_t memory[kWords + 1];
  uint32_t* const host = memory + 1;
  std::fill_n(host, kWords, 0u);
  uint32_t seen[kWords] = {};
  cl_int code = CL_SUCCESS;
  const HeldMemory wrapped(driver().clCreateBuffer(
      context->native(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, kBytes, host, &code));
  check(code, "clCreateBuffer of the host's memory");
  const auto all = [](const uint32_t* words, uint32_t wanted) {
    return std::all_of(words, words + kWords, [=](uint32_t word) { return word == wanted; });
  };
  const uint32_t theirs = 0x5eed;
  check(driver().clEnqueueFillBuffer(service.get(), wrapped.get(), &theirs, sizeof theirs, 0,
                                     kBytes, 0, nullptr, nullptr),
        "clEnqueueFillBuffer");
  check(driver().clFinish(service.get()), "clFinish");
  const bool host_sees = all(host, theirs);
  const uint32_t ours = 0xfeed;
  std::fill_n(host, kWords, ours);
  check(driver().clEnqueueReadBuffer(service.get(), wrapped.get(), CL_TRUE, 0, kBytes, seen, 0,
                                     nullptr, nullptr),
        "clEnqueueReadBuffer");
  return host_sees && all(seen, ours);
}

void Device::check(cl_int code, const char* call) {
  if (code == CL_SUCCESS) return;
  const bool may_be_the_end = code == CL_OUT_OF_RESOURCES || code == CL_INVALID_COMMAND_QUEUE ||
                              code == CL_INVALID_CONTEXT || code == CL_DEVICE_NOT_AVAILABLE ||
                              code == -9999;
  // OpenCL has no sticky errors, but a driver that can't even run an empty queue is gone.
  if (may_be_the_end && service && driver().clFinish(service.get()) != CL_SUCCESS) {
    char reason[200];
    std::snprintf(reason, sizeof reason, "%s failed: %s (%d), and nothing works since", call,
                  error_name(code), code);
    lose(reason);
    kit::fail(TRINE_DEVICE_LOST, "opencl:%d is lost: %s", index, reason);
  }
  kit::fail(status_of(code), "opencl:%d: %s failed: %s (%d)", index, call, error_name(code), code);
}

void Device::native(void** native_device, void** native_context) {
  if (native_device) *native_device = where.device;
  if (native_context) *native_context = context->native();
}

const char* Device::lacks(const gpu::Variant& variant) {
  if (!variant.architectures || !is_nvidia ||
      gpu::parse_architecture(variant.architectures).runs_on(compute_capability))
    return nullptr;
  return "this device's compute capability isn't that of its instructions (see its requirement)";
}

trine_event* Device::create_event(bool signalled_by_host) {
  return new Event(*this, signalled_by_host);
}

trine_queue* Device::create_queue() {
  cl_int code = CL_SUCCESS;
  HeldQueue fresh(driver().clCreateCommandQueue(
      context->native(), where.device,
      is_nvidia ? cl_command_queue_properties{0} : CL_QUEUE_PROFILING_ENABLE, &code));
  check(code, "clCreateCommandQueue");
  return new Queue(*this, nullptr, std::move(fresh), !is_nvidia, true);
}

trine_queue* Device::adopt_queue(void* native_queue) {
  if (!native_queue) kit::fail(TRINE_INVALID_ARGUMENT, "opencl:%d: a null queue", index);
  auto* foreign = static_cast<cl_command_queue>(native_queue);
  cl_context its_context = nullptr;
  cl_device_id its_device = nullptr;
  cl_command_queue_properties properties = 0;
  const auto ask = [&](cl_command_queue_info what, std::size_t bytes, void* answer) {
    check(driver().clGetCommandQueueInfo(foreign, what, bytes, answer, nullptr),
          "clGetCommandQueueInfo of an adopted queue");
  };
  ask(CL_QUEUE_CONTEXT, sizeof its_context, &its_context);
  ask(CL_QUEUE_DEVICE, sizeof its_device, &its_device);
  ask(CL_QUEUE_PROPERTIES, sizeof properties, &properties);
  if (its_device != where.device) {
    kit::fail(TRINE_INVALID_ARGUMENT, "opencl:%d: the adopted queue belongs to another device",
              index);
  }
  if (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) {
    kit::fail(TRINE_UNSUPPORTED,
              "opencl:%d: the adopted queue runs out of order; Trine needs one "
              "in order",
              index);
  }
  std::unique_ptr<Context> guest;
  if (its_context != context->native()) {
    has_guests = true;
    check(driver().clRetainContext(its_context), "clRetainContext");
    guest.reset(new Context(*this, HeldContext(its_context)));
  }
  check(driver().clRetainCommandQueue(foreign), "clRetainCommandQueue");
  return new Queue(*this, std::move(guest), HeldQueue(foreign),
                   (properties & CL_QUEUE_PROFILING_ENABLE) != 0, false);
}

}  // namespace trine::opencl
