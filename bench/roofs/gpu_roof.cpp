// The kernels of roofs/ over the native queues that Trine hands out: no backend knows of them.
// The drivers' calls are found at run time, as the backends do it.
#include "probes.hpp"

#include <trine/abi.h>

#include <algorithm>
#include <memory>

#include "backends/kit/driver_table.hpp"
#include "bench/stats/measure.hpp"
#include "gpu_programs.h"
#if TRINE_BENCH_OPENCL
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#endif

namespace trine::bench {
namespace {

/// A kernel's arguments: how often to turn, values that neither grow nor vanish, and the sink.
struct Arguments {
  Arguments(Dtype dtype, const Buffer& buffer) : bytes(size_of(dtype)), sink(buffer.native()) {
    if (dtype == Dtype::f32) f32[0] = 0.999f, f32[1] = 0.5f;
    if (dtype == Dtype::f64) f64[0] = 0.999, f64[1] = 0.5;
    if (dtype == Dtype::i32) i32[0] = 1664525, i32[1] = 1013904223;
  }
  void* factor() { return f64; }
  void* term() { return reinterpret_cast<char*>(f64) + bytes; }

  int turns = 1;
  union {
    float f32[2];
    double f64[2];
    uint32_t i32[2];
  };
  size_t bytes;
  void* sink;  // CUdeviceptr, cl_mem
};

/// One of the kernels, on a queue of Trine's.
struct Kernel {
  virtual ~Kernel() = default;
  virtual bool launch(Arguments& arguments, int groups, int group) = 0;  ///< of so many
};
constexpr int kGroup = 256;

/// The driver's functions, or nullptr without a driver that has them all.
template <class Calls>
auto* found(Calls& calls) {
  const char* reason = nullptr;
  return calls.find(&reason);
}

std::string_view program(std::string_view name) {
  for (size_t i = 0; i < gpu_programs_count; ++i)
    if (std::string_view(gpu_programs[i].name).ends_with(name))
      return {reinterpret_cast<const char*>(gpu_programs[i].data), gpu_programs[i].size};
  return {};
}

/// The CUDA driver API's few calls, with its handles as plain pointers.
struct CudaCalls {
  int (*push)(void*);
  int (*pop)(void**);
  int (*load)(void**, const void*);
  int (*unload)(void*);
  int (*find)(void**, void*, const char*);
  int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                void**, void**);
};
constexpr const char* kCudaSymbols[] = {"cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2",
                                        "cuModuleLoadData",    "cuModuleUnload",
                                        "cuModuleGetFunction", "cuLaunchKernel"};
constinit kit::DriverTable<CudaCalls, std::size(kCudaSymbols)> cuda_calls({"libcuda.so.1", "", "",
                                                                           ""},
                                                                          kCudaSymbols);

class CudaKernel final : public Kernel {
 public:
  CudaKernel(const Device& device, const Queue& queue, const char* name)
      : context_(device.native().context), stream_(queue.native()) {
    const std::string_view image = program(".fatbin");
    if (image.empty() || !enter()) return;
    if (calls_->load(&module_, image.data()) == 0) calls_->find(&function_, module_, name);
    leave();
  }
  ~CudaKernel() override {
    if (!module_ || !enter()) return;
    calls_->unload(module_);
    leave();
  }
  bool launch(Arguments& arguments, int groups, int group) override {
    if (!function_ || !enter()) return false;
    void* list[] = {&arguments.turns, arguments.factor(), arguments.term(), &arguments.sink};
    const int code = calls_->launch(function_, unsigned(groups), 1, 1, unsigned(group), 1, 1, 0,
                                    stream_, list, nullptr);
    leave();
    return code == 0;
  }

 private:
  bool enter() { return calls_ && calls_->push(context_) == 0; }
  void leave() {
    void* ours = nullptr;
    calls_->pop(&ours);
  }
  const CudaCalls* const calls_ = found(cuda_calls);
  void *context_, *stream_, *module_ = nullptr, *function_ = nullptr;
};

#if TRINE_BENCH_OPENCL
struct OpenclCalls {
  decltype(&clCreateProgramWithSource) create;
  decltype(&clBuildProgram) build;
  decltype(&clCreateKernel) kernel_of;
  decltype(&clSetKernelArg) set;
  decltype(&clEnqueueNDRangeKernel) enqueue;
  decltype(&clReleaseProgram) release_program;
  decltype(&clReleaseKernel) release_kernel;
};
constexpr const char* kOpenclSymbols[] = {
    "clCreateProgramWithSource", "clBuildProgram",   "clCreateKernel", "clSetKernelArg",
    "clEnqueueNDRangeKernel",    "clReleaseProgram", "clReleaseKernel"};
constinit kit::DriverTable<OpenclCalls, std::size(kOpenclSymbols)> opencl_calls({"libOpenCL.so.1",
                                                                                 "", "", ""},
                                                                                kOpenclSymbols);

class OpenclKernel final : public Kernel {
 public:
  OpenclKernel(const Device& device, const Queue& queue, const char* file, const char* name,
               const char* options)
      : queue_(static_cast<cl_command_queue>(queue.native())) {
    const std::string_view text = program(file);
    if (!calls_ || text.empty()) return;
    const char* source = text.data();
    const size_t length = text.size();
    const auto [native, context] = device.native();
    auto* const id = static_cast<cl_device_id>(native);
    program_ = calls_->create(static_cast<cl_context>(context), 1, &source, &length, nullptr);
    if (program_ && calls_->build(program_, 1, &id, options, nullptr, nullptr) == CL_SUCCESS)
      kernel_ = calls_->kernel_of(program_, name, nullptr);
  }
  ~OpenclKernel() override {
    if (kernel_) calls_->release_kernel(kernel_);
    if (program_) calls_->release_program(program_);
  }
  bool launch(Arguments& arguments, int groups, int group) override {
    if (!kernel_) return false;
    const auto local = size_t(group), global = local * size_t(groups);
    return calls_->set(kernel_, 0, sizeof(cl_int), &arguments.turns) == CL_SUCCESS &&
           calls_->set(kernel_, 1, arguments.bytes, arguments.factor()) == CL_SUCCESS &&
           calls_->set(kernel_, 2, arguments.bytes, arguments.term()) == CL_SUCCESS &&
           calls_->set(kernel_, 3, sizeof(cl_mem), &arguments.sink) == CL_SUCCESS &&
           calls_->enqueue(queue_, kernel_, 1, nullptr, &global, &local, 0, nullptr, nullptr) ==
               CL_SUCCESS;
  }

 private:
  const OpenclCalls* const calls_ = found(opencl_calls);
  cl_command_queue queue_;
  cl_program program_ = nullptr;
  cl_kernel kernel_ = nullptr;
};
#endif

struct Variant {
  Dtype dtype;
  const char *unit, *file, *name, *options;
  int flops;  // of a work-item in one turn: 2 x chains x steps, as in fma.kernel.h
};
constexpr Variant kVariants[] = {
    {Dtype::f32, "fma", "fma.kernel.h", "fma_f32", "-DNAME=fma_f32 -DT=float", 2 * 16 * 8},
    {Dtype::f64, "fma", "fma.kernel.h", "fma_f64", "-DNAME=fma_f64 -DT=double", 2 * 16 * 8},
    {Dtype::f64, "tensor", "fma.kernel.h", "tensor_f64", "-DNAME=tensor_f64 -DT=double -DTENSOR",
     2 * 16 * 32},
    {Dtype::f64, "tensor", "fma.kernel.h", "tensor8_f64",
     "-DNAME=tensor8_f64 -DT=double -DTENSOR -DTENSOR_8", 2 * 16 * 8},
    {Dtype::i32, "fma", "fma.kernel.h", "fma_i32", "-DNAME=fma_i32 -DT=uint -DINTEGER", 2 * 16 * 8},
};
constexpr Variant kRead{Dtype::i32, "read", "memory.kernel.h", "read_words", "", 0},
    kWrite{Dtype::i32, "write", "memory.kernel.h", "write_words", "", 0};

std::unique_ptr<Kernel> make(const Device& device, const Queue& queue, const Variant& variant) {
  if (device.backend() == "cuda") return std::make_unique<CudaKernel>(device, queue, variant.name);
#if TRINE_BENCH_OPENCL
  if (device.backend() == "opencl")
    return std::make_unique<OpenclKernel>(device, queue, variant.file, variant.name,
                                          variant.options);
#endif
  return nullptr;
}

int groups_of(const Device& device) { return int(device.facts().compute_units) * 8; }

/// A kernel with its queue and the memory it works on.
struct Probe {
  Probe(const Device& device, const Variant& variant, uint64_t bytes)
      : queue(device),
        data(device, bytes),
        kernel(make(device, queue, variant)),
        arguments(variant.dtype, data) {}

  /// By the device's clock; 0 where it can't run.
  double seconds(int groups) {
    const Event start = queue.record();
    if (!launch(groups)) return 0;
    const Event stop = queue.record();
    queue.wait();
    return elapsed(start, stop);
  }
  bool launch(int groups) { return kernel && kernel->launch(arguments, groups, kGroup); }

  Queue queue;
  Buffer data;
  std::unique_ptr<Kernel> kernel;
  Arguments arguments;
};

/// Best of ten launches, each long enough (milliseconds) that starting it doesn't count.
double rate(const Device& device, const Variant& variant) {
  Probe probe(device, variant, 64);
  int& turns = probe.arguments.turns;
  const int groups = groups_of(device);
  double best = 0;
  for (int i = 0; i < 14; ++i) {
    const double seconds = probe.seconds(groups);
    if (seconds == 0) return 0;
    if (i >= 4)
      best = std::max(best, double(variant.flops) * turns * kGroup * groups / seconds);
    else if (seconds < 1e-3)  // lengthen them to about 2 ms
      turns *= int(std::clamp(2e-3 / seconds, 2.0, 32.0));
  }
  return best;
}

}  // namespace

double gpu_unit_rate(const Device& device, Dtype dtype, std::string_view unit) {
  if (unit == "tensor" && !(device.facts().capabilities & TRINE_CAN_INLINE_PTX)) return 0;
  double best = 0;
  for (const Variant& variant : kVariants)
    if (variant.dtype == dtype && variant.unit == unit)
      best = std::max(best, rate(device, variant));
  return best;
}

double gpu_memory_rate(const Device& device, std::string_view what, uint64_t bytes) {
  constexpr int kWord = 16, kAtOnce = 4;
  const int groups = groups_of(device);
  const uint64_t round = uint64_t{kWord} * kAtOnce * kGroup * uint64_t(groups);
  bytes = std::max(bytes / round, uint64_t{1}) * round;
  Probe probe(device, what == "read" ? kRead : kWrite, bytes);
  probe.arguments.turns = int(bytes / kWord);
  double best = 0;
  for (int i = 0; i < 12; ++i) {
    const double seconds = probe.seconds(groups);
    if (seconds == 0) return 0;
    if (i >= 2) best = std::max(best, double(bytes) / seconds);
  }
  return best;
}

double median_by_host(double seconds, int count, const std::function<void()>& work) {
  const auto once = [&] {
    const auto begin = Clock::now();
    work();
    return seconds_since(begin);
  };
  return measure("roof", seconds, count, once).median();
}

double gpu_launch_seconds(const Device& device, int count) {
  Probe probe(device, kWrite, 64);
  probe.arguments.turns = 0;
  if (!probe.launch(1)) return 0;
  return median_by_host(0, count, [&] {
    probe.launch(1);
    probe.queue.wait();
  });
}

}  // namespace trine::bench
