// Buffers: the device's memory, pinned memory (mapped for its whole life), the caller's.
#include <memory>

#include "opencl/objects.hpp"

namespace trine::opencl {

Buffer::Buffer(Device& on, uint32_t kind, uint64_t bytes, cl_mem memory, void* host)
    : trine_buffer(on), device_(on) {
  facts.kind = kind;
  facts.native = memory;
  facts.host = host;
  facts.bytes = bytes;
  if (kind == TRINE_MEMORY_WRAPPED) facts.address = reinterpret_cast<uintptr_t>(host);
}

Buffer::~Buffer() {
  if (gpu::is_forked()) return;
  auto* memory = static_cast<cl_mem>(facts.native);
  if (facts.kind == TRINE_MEMORY_PINNED && !device_.is_lost()) {
    std::lock_guard lock(device_.service_mutex);
    driver().clEnqueueUnmapMemObject(device_.service, memory, facts.host, 0, nullptr, nullptr);
    driver().clFlush(device_.service);
  }
  driver().clReleaseMemObject(memory);
}

namespace {

struct Memory {
  cl_mem memory;
  ~Memory() {
    if (memory) driver().clReleaseMemObject(memory);
  }
  cl_mem release() { return std::exchange(memory, nullptr); }
};

std::size_t at_least_one(uint64_t bytes) { return bytes ? bytes : 1; }

}  // namespace

trine_buffer* Device::allocate(uint64_t bytes, uint32_t kind) {
  const bool pinned = kind == TRINE_MEMORY_PINNED;
  cl_int code = CL_SUCCESS;
  Memory memory{driver().clCreateBuffer(
      context->native(), CL_MEM_READ_WRITE | (pinned ? CL_MEM_ALLOC_HOST_PTR : 0),
      at_least_one(bytes), nullptr, &code)};
  check(code, "clCreateBuffer");
  void* host = nullptr;
  if (pinned) {
    std::lock_guard lock(service_mutex);
    host = driver().clEnqueueMapBuffer(service, memory.memory, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE,
                                       0, at_least_one(bytes), 0, nullptr, nullptr, &code);
    check(code, "clEnqueueMapBuffer");
  }
  std::unique_ptr<Buffer> buffer(new Buffer(*this, kind, bytes, memory.memory, host));
  memory.release();
  return buffer.release();
}

trine_buffer* Device::adopt(void* native_memory, uint64_t bytes) {
  auto* memory = static_cast<cl_mem>(native_memory);
  std::size_t size = 0;
  check(driver().clGetMemObjectInfo(memory, CL_MEM_SIZE, sizeof size, &size, nullptr),
        "clGetMemObjectInfo of an adopted buffer");
  if (size < bytes) {
    kit::fail(TRINE_INVALID_ARGUMENT, "opencl:%d: an adopted cl_mem has %zu bytes, not %llu",
              index, size, static_cast<unsigned long long>(bytes));
  }
  std::unique_ptr<Buffer> buffer(
      new Buffer(*this, TRINE_MEMORY_ADOPTED, bytes, memory, nullptr));
  const cl_int code = driver().clRetainMemObject(memory);
  if (code != CL_SUCCESS) buffer->facts.native = nullptr;
  check(code, "clRetainMemObject");
  return buffer.release();
}

// Where host and device memory are apart, OpenCL keeps a copy of such memory on the device and
// decides when the two meet; writing through it would be lost silently.
trine_buffer* Device::wrap(void* host, uint64_t bytes) {
  if (!target.has(TRINE_CAN_SHARE_MEMORY)) {
    kit::fail(TRINE_UNSUPPORTED, "opencl:%d has memory of its own and can't use the host's in "
              "place; allocate a pinned buffer or copy", index);
  }
  static char nothing;
  cl_int code = CL_SUCCESS;
  Memory memory{driver().clCreateBuffer(context->native(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
                                        at_least_one(bytes), bytes ? host : &nothing, &code)};
  check(code, "clCreateBuffer of the host's memory");
  std::unique_ptr<Buffer> buffer(
      new Buffer(*this, TRINE_MEMORY_WRAPPED, bytes, memory.memory, host));
  memory.release();
  return buffer.release();
}

}  // namespace trine::opencl
