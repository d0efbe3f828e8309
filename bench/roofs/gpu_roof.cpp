// The kernels of roofs/ over the native queues that Trine hands out: no backend knows of them.
// The drivers' calls are found at run time, as the backends do it.
#include "probes.hpp"

#include <trine/abi.h>

#include <algorithm>
#include <memory>

#include "backends/kit/driver_table.hpp"
#include "bench/stats/measure.hpp"
#include "cuda_driver.hpp"
#include "gpu_programs.h"
#if TRINE_BENCH_OPENCL
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#endif

namespace trine::bench {
namespace {

/// A kernel's arguments: how often to turn, values that neither grow nor vanish, and the sink. The
/// kernel that reads words has zeros as values.
struct Arguments {
  Arguments(Dtype dtype, const Buffer& buffer) : bytes(size_of(dtype)), sink(buffer.native()) {
    if (dtype == Dtype::f32) f32[0] = 0.999f, f32[1] = 0.5f;
    if (dtype == Dtype::f64) f64[0] = 0.999, f64[1] = 0.5;
  }
  void* factor() { return f64; }
  void* term() { return reinterpret_cast<char*>(f64) + bytes; }

  int turns = 1;
  union {
    float f32[2];
    double f64[2] = {};
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

constexpr const char* kCudaSymbols[] = {"cuCtxPushCurrent_v2",
                                        "cuCtxPopCurrent_v2",
                                        "cuModuleLoadData",
                                        "cuModuleUnload",
                                        "cuModuleGetFunction",
                                        "cuLaunchKernel",
                                        "cuStreamCreate",
                                        "cuStreamDestroy_v2",
                                        "cuStreamBeginCapture_v2",
                                        "cuStreamEndCapture",
                                        "cuGraphInstantiateWithFlags",
                                        "cuGraphLaunch",
                                        "cuGraphExecDestroy",
                                        "cuGraphDestroy"};
constinit kit::DriverTable<CudaDriver, std::size(kCudaSymbols)> cuda_calls(
    {"libcuda.so.1", "there is no CUDA driver", "", "CUDA 11.4"}, kCudaSymbols);

class CudaKernel final : public Kernel {
 public:
  CudaKernel(const Device& device, const Queue& queue, const char* name)
      : device_(device), stream_(queue.native()) {
    const std::string_view image = program(".fatbin");
    if (!calls_ || image.empty()) return;
    const CurrentContext context(*calls_, device_);
    if (context.is_current && calls_->load(&module_, image.data()) == 0)
      calls_->function(&function_, module_, name);
  }
  ~CudaKernel() override {
    if (!module_) return;
    const CurrentContext context(*calls_, device_);
    calls_->unload(module_);
  }
  bool launch(Arguments& arguments, int groups, int group) override {
    if (!function_) return false;
    const CurrentContext context(*calls_, device_);
    void* list[] = {&arguments.turns, arguments.factor(), arguments.term(), &arguments.sink};
    return calls_->launch(function_, unsigned(groups), 1, 1, unsigned(group), 1, 1, 0, stream_,
                          list, nullptr) == 0;
  }

 private:
  const CudaDriver* const calls_ = found(cuda_calls);
  Device device_;
  void *stream_, *module_ = nullptr, *function_ = nullptr;
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
  OpenclKernel(const Device& device, const Queue& queue, const char* name, const char* options)
      : queue_(static_cast<cl_command_queue>(queue.native())) {
    const std::string_view text = program("probes.kernel.h");
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
  const char *unit, *name, *options;
  int flops;  // of a work-item in one turn: 2 x chains x steps, as in probes.kernel.h
};
constexpr Variant kVariants[] = {
    {Dtype::f32, "fma", "fma_f32", "-DNAME=fma_f32 -DT=float", 2 * 16 * 8},
    {Dtype::f64, "fma", "fma_f64", "-DNAME=fma_f64 -DT=double", 2 * 16 * 8},
    {Dtype::f64, "tensor", "tensor_f64", "-DNAME=tensor_f64 -DT=double -DTENSOR", 2 * 16 * 32},
    {Dtype::f64, "tensor", "tensor8_f64", "-DNAME=tensor8_f64 -DT=double -DTENSOR -DTENSOR_8",
     2 * 16 * 8},
};
constexpr Variant kRead{Dtype::i32, "read", "read_words", "-DREAD", 0};

std::unique_ptr<Kernel> make(const Device& device, const Queue& queue, const Variant& variant) {
  if (device.backend() == "cuda") return std::make_unique<CudaKernel>(device, queue, variant.name);
#if TRINE_BENCH_OPENCL
  if (device.backend() == "opencl")
    return std::make_unique<OpenclKernel>(device, queue, variant.name, variant.options);
#endif
  return nullptr;
}

int groups_of(const Device& device) { return int(device.facts().compute_units) * 8; }

/// A kernel with its queue and the memory it works on.
struct Probe {
  Probe(const Device& device, const Variant& variant, uint64_t bytes)
      : groups(groups_of(device)),
        queue(device),
        data(device, bytes),
        kernel(make(device, queue, variant)),
        arguments(variant.dtype, data) {}

  /// By the device's clock; 0 where it can't run.
  double seconds() {
    const Event start = queue.record();
    if (!kernel || !kernel->launch(arguments, groups, kGroup)) return 0;
    const Event stop = queue.record();
    queue.wait();
    return elapsed(start, stop);
  }
  double least() {
    return least_seconds([this] { return seconds(); });
  }

  const int groups;
  Queue queue;
  Buffer data;
  std::unique_ptr<Kernel> kernel;
  Arguments arguments;
};

/// Launches are each long enough (milliseconds) that starting them doesn't count.
double rate(const Device& device, const Variant& variant) {
  Probe probe(device, variant, 64);
  int& turns = probe.arguments.turns;
  for (int i = 0; i < 4; ++i) {
    const double seconds = probe.seconds();
    if (seconds == 0) return 0;
    if (seconds < 1e-3) turns *= int(std::clamp(2e-3 / seconds, 2.0, 32.0));  // to about 2 ms
  }
  return double(variant.flops) * turns * kGroup * probe.groups / probe.least();
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

double gpu_read_rate(const Device& device, uint64_t bytes) {
  constexpr int kWord = 16, kAtOnce = 4;
  const uint64_t round = uint64_t{kWord} * kAtOnce * kGroup * uint64_t(groups_of(device));
  bytes = std::max(bytes / round, uint64_t{1}) * round;
  Probe probe(device, kRead, bytes);
  probe.arguments.turns = int(bytes / kWord);
  return probe.seconds() == 0 ? 0 : double(bytes) / probe.least();
}

const CudaDriver* cuda_driver(const char** reason) { return cuda_calls.find(reason); }

}  // namespace trine::bench
