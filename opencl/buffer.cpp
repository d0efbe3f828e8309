// Buffers: the device's memory, pinned memory (mapped for its whole life), the caller's.
#include <memory>

#include "backends/kit/huge_pages.hpp"
#include "opencl/objects.hpp"

namespace trine::opencl {
Buffer::~Buffer() {
  auto* memory = static_cast<cl_mem>(facts.native);
  if (gpu::is_forked() || !memory) return;
  if (facts.kind == TRINE_MEMORY_PINNED && facts.host) {
    std::lock_guard lock(device_.service_mutex);
    driver().clEnqueueUnmapMemObject(device_.service.get(), memory, facts.host, 0, nullptr,
                                     nullptr);
    driver().clFlush(device_.service.get());
  }
  driver().clReleaseMemObject(memory);
}

trine_buffer* Device::allocate(uint64_t bytes, uint32_t kind) {
  return allocate_in(*context, bytes, kind);
}

trine_buffer* Queue::allocate(uint64_t bytes) {
  return device_.allocate_in(context, bytes, TRINE_MEMORY_DEVICE);
}

// The object comes first, so that whatever fails after it is given back by its destructor.
trine_buffer* Device::allocate_in(Context& home, uint64_t bytes, uint32_t kind) {
  const bool pinned = kind == TRINE_MEMORY_PINNED;
  if (pinned) gpu::check_limit(*this, bytes);  // it is a cl_mem, too; the others were checked
  std::unique_ptr<Buffer> buffer(new Buffer(*this, kind, bytes));
  cl_int code = CL_SUCCESS;
  cl_mem memory = driver().clCreateBuffer(home.native(),
                                          CL_MEM_READ_WRITE | (pinned ? CL_MEM_ALLOC_HOST_PTR : 0),
                                          gpu::at_least_one(bytes), nullptr, &code);
  check(code, "clCreateBuffer");
  buffer->facts.native = memory;
  const bool huge = target.is_cpu() && target.has(TRINE_CAN_SHARE_MEMORY) &&
                    bytes >= kit::kHugePage && &home == context.get();
  if (pinned || huge) {
    std::lock_guard lock(service_mutex);
    void* host =
        driver().clEnqueueMapBuffer(service.get(), memory, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                    gpu::at_least_one(bytes), 0, nullptr, nullptr, &code);
    if (pinned) check(code, "clEnqueueMapBuffer");
    if (code != CL_SUCCESS) return buffer.release();  // the pages are only a hint
    if (huge) kit::ask_for_huge_pages(host, bytes);   // PoCL doesn't
    if (pinned) {
      buffer->facts.host = host;
    } else {  // queues that know nothing of this one use the memory next
      check(driver().clEnqueueUnmapMemObject(service.get(), memory, host, 0, nullptr, nullptr),
            "clEnqueueUnmapMemObject");
      check(driver().clFinish(service.get()), "clFinish");
    }
  }
  return buffer.release();
}

trine_buffer* Device::adopt(void* native_memory, uint64_t bytes) {
  auto* memory = static_cast<cl_mem>(native_memory);
  std::size_t size = 0;
  check(driver().clGetMemObjectInfo(memory, CL_MEM_SIZE, sizeof size, &size, nullptr),
        "clGetMemObjectInfo of an adopted buffer");
  if (size < bytes) {
    kit::fail(TRINE_INVALID_ARGUMENT, "opencl:%d: an adopted cl_mem has %zu bytes, not %llu", index,
              size, static_cast<unsigned long long>(bytes));
  }
  cl_context its_context = nullptr;
  check(driver().clGetMemObjectInfo(memory, CL_MEM_CONTEXT, sizeof its_context, &its_context,
                                    nullptr),
        "clGetMemObjectInfo of an adopted buffer");
  if (its_context != context->native()) has_guests = true;
  std::unique_ptr<Buffer> buffer(new Buffer(*this, TRINE_MEMORY_ADOPTED, bytes));
  check(driver().clRetainMemObject(memory), "clRetainMemObject");
  buffer->facts.native = memory;
  return buffer.release();
}

// On other devices the driver may keep a copy of such memory and decide when it is updated, so
// writes through it could be lost silently.
trine_buffer* Device::wrap(void* host, uint64_t bytes) {
  if (!target.has(TRINE_CAN_SHARE_MEMORY)) {
    kit::fail(TRINE_UNSUPPORTED,
              "opencl:%d can't use the host's memory in place; allocate a pinned buffer or copy",
              index);
  }
  gpu::check_limit(*this, bytes);
  static char nothing;
  std::unique_ptr<Buffer> buffer(new Buffer(*this, TRINE_MEMORY_WRAPPED, bytes));
  cl_int code = CL_SUCCESS;
  buffer->facts.native =
      driver().clCreateBuffer(context->native(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
                              gpu::at_least_one(bytes), bytes ? host : &nothing, &code);
  check(code, "clCreateBuffer of the host's memory");
  buffer->facts.host = host;
  buffer->facts.address = reinterpret_cast<uintptr_t>(host);
  return buffer.release();
}

}  // namespace trine::opencl
