// Devices: an open one holds its primary context, a service stream, its modules and flags.
#include <cstdlib>
#include <cstring>
#include <memory>

#include "backends/gpu/architecture.hpp"
#include "backends/gpu/specialization.hpp"
#include "backends/kit/handlers.hpp"
#include "cuda/objects.hpp"

namespace trine::cuda {
namespace {

constexpr std::size_t kFlagBlockBytes = 4096;

/// 90 for compute capability 9.0.
int architecture_of(const trine_device_facts& facts) {
  return static_cast<int>(facts.version_major * 10 + facts.version_minor);
}

}  // namespace

Current::Current(Device& device) {
  Context before = nullptr;
  device.check(driver().cuCtxGetCurrent(&before), "cuCtxGetCurrent");
  if (before != device.context) {
    device.check(driver().cuCtxPushCurrent(device.context), "cuCtxPushCurrent");
    pushed_ = true;
  }
  exchange_capture_mode();
}

Current::Current(Device& device, std::nothrow_t) {
  Context before = nullptr;
  const bool known = driver().cuCtxGetCurrent(&before) == kSuccess;
  pushed_ =
      !(known && before == device.context) && driver().cuCtxPushCurrent(device.context) == kSuccess;
  exchange_capture_mode();
}

Current::~Current() {
  exchange_capture_mode();
  Context ours = nullptr;
  if (pushed_) driver().cuCtxPopCurrent(&ours);
}

void Current::exchange_capture_mode() { driver().cuThreadExchangeStreamCaptureMode(&mode_); }

Device::Device(int device_index) : trine_device(gpu::kCuda, device_index) {
  describe_device(device_index, facts);
  check(driver().cuDeviceGet(&id, device_index), "cuDeviceGet");
  // No other process can open a pool's memory, and MPI asks for that where it is given the device's
  // (docs/mpi.md). mpi/src/place.cpp reads the variable, too: what lies between, the contract and
  // the public API, doesn't know of MPI.
  const char* const to_mpi = std::getenv("TRINE_MPI_DEVICE_MEMORY");
  has_pools = attribute(id, kMemoryPools) != 0 &&
              !(to_mpi != nullptr && std::strcmp(to_mpi, "direct") == 0);
  int version = 0;
  check(driver().cuDriverGetVersion(&version), "cuDriverGetVersion");
  // Captured streams take such launches from 12.3 on. Code for older GPUs has no wait, and this
  // device might run that: a newer one does, and the driver where it must compile PTX.
  const bool from_ptx = std::getenv("CUDA_FORCE_PTX_JIT") != nullptr;
  begins_early = version >= 12030 && has_code_of("90") && !from_ptx;
  max_pitch = static_cast<std::size_t>(attribute(id, kMaxPitch));
  check(driver().cuDevicePrimaryCtxRetain(&context, id), "cuDevicePrimaryCtxRetain");
  try {
    const Current current(*this);
    check(driver().cuStreamCreate(&service, kStreamNonBlocking), "cuStreamCreate");
  } catch (...) {
    driver().cuDevicePrimaryCtxRelease(id);
    throw;
  }
}

Device::~Device() {
  if (gpu::is_forked()) return;
  if (!is_lost()) {
    const Current current(*this, std::nothrow);
    modules.unload();
    for (void* block : flag_blocks_) driver().cuMemFreeHost(block);
    driver().cuStreamDestroy(service);
  }
  driver().cuDevicePrimaryCtxRelease(id);
}

void Device::check(Result code, const char* call) {
  if (code == kSuccess) return;
  const ErrorText words(code);
  if (is_sticky(code)) {
    char reason[256];
    std::snprintf(reason, sizeof reason, "%s failed: %s", call, words.text);
    lose(reason);
    kit::fail(TRINE_DEVICE_LOST, "cuda:%d is lost: %s", index, reason);
  }
  kit::fail(status_of(code), "cuda:%d: %s failed: %s", index, call, words.text);
}

void Device::native(void** native_device, void** native_context) {
  if (native_device) *native_device = reinterpret_cast<void*>(static_cast<intptr_t>(id));
  if (native_context) *native_context = context;
}

bool Device::has_code_of(const char* lowest) const {
  const int device = architecture_of(facts);
  bool found = false;
  gpu::visit_architectures(TRINE_CUDA_ARCHITECTURES, lowest,
                           [&](const gpu::Architecture& one, std::string_view) {
                             found = found || one.runs_on(device);
                           });
  return found;
}

const char* Device::lacks(const gpu::Variant& variant) {
  const char* lowest = variant.architectures;
  if (has_code_of(lowest)) return nullptr;
  return lowest && !gpu::parse_architecture(lowest).runs_on(architecture_of(facts))
             ? "it is compiled for architectures that this device isn't (see its requirement)"
             : "this build holds code for " TRINE_CUDA_ARCHITECTURES
               " only: name this device's compute capability, from 8.0 on, in "
               "CMAKE_CUDA_ARCHITECTURES (90 for 9.0)";
}

trine_queue* Device::create_queue() {
  const Current current(*this);
  std::unique_ptr<Queue> queue(new Queue(*this, nullptr, true));
  check(driver().cuStreamCreate(&queue->stream, kStreamNonBlocking), "cuStreamCreate");
  return queue.release();
}

// Null is a stream too: the program's default one.
trine_queue* Device::adopt_queue(void* native_stream) {
  const Current current(*this);
  auto* stream = static_cast<Stream>(native_stream);
  Context its_context = nullptr;
  check(driver().cuStreamGetCtx(stream, &its_context), "cuStreamGetCtx of an adopted stream");
  if (its_context != context) {
    kit::fail(TRINE_INVALID_ARGUMENT,
              "cuda:%d: the adopted stream belongs to another device or "
              "context; Trine works in the device's primary context",
              index);
  }
  return new Queue(*this, stream, false);
}

trine_event* Device::create_event(bool signalled_by_host) {
  return new Event(*this, signalled_by_host);
}

// --- Modules ------------------------------------------------------------------------------------

void Modules::unload() {
  for (const Loaded& one : loaded_) driver().cuModuleUnload(one.module);
  loaded_.clear();
}

Module Modules::module_of(const char* file) {
  for (const Loaded& one : loaded_) {
    if (std::strcmp(one.file, file) == 0) return one.module;
  }
  const void* image = image_of(file);
  if (!image) kit::fail(TRINE_INTERNAL, "cuda: %s is not in this build", file);
  loaded_.reserve(loaded_.size() + 1);
  const kit::HandlersKept handlers;  // a compiler of PTX may begin its work here
  Module module = nullptr;
  device_.check(driver().cuModuleLoadData(&module, image), "cuModuleLoadData");
  loaded_.push_back({file, module});
  return module;
}

Function Modules::function(const gpu::Variant& variant, const int* macro, int entry) {
  const auto name = kit::String(variant.kernels()[static_cast<std::size_t>(entry)]) +
                    gpu::suffix_of<kit::String>(variant, macro);
  std::lock_guard lock(mutex_);
  Function function = nullptr;
  const Result code =
      driver().cuModuleGetFunction(&function, module_of(variant.file), name.c_str());
  if (code != kSuccess) device_.check(code, ("cuModuleGetFunction(" + name + ")").c_str());
  return function;
}

// --- Flags --------------------------------------------------------------------------------------

Flag Device::take_flag() {
  std::lock_guard lock(flag_mutex_);
  if (free_flags_.empty()) grow_flags();
  Flag flag = free_flags_.back();
  free_flags_.pop_back();
  ++flag.value;
  return flag;
}

void Device::give_back(const Flag& flag) {
  std::lock_guard lock(flag_mutex_);
  free_flags_.push_back(flag);  // room for all flags was reserved when they were made
}

void Device::grow_flags() {
  const Current current(*this);
  const std::size_t count = kFlagBlockBytes / sizeof(uint32_t);
  flag_blocks_.reserve(flag_blocks_.size() + 1);
  free_flags_.reserve((flag_blocks_.size() + 1) * count);
  void* block = nullptr;
  Pointer pointer = 0;
  check(driver().cuMemHostAlloc(&block, kFlagBlockBytes, kHostAllocPortable | kHostAllocDeviceMap),
        "cuMemHostAlloc");
  const Result code = driver().cuMemHostGetDevicePointer(&pointer, block, 0);
  if (code != kSuccess) driver().cuMemFreeHost(block);
  check(code, "cuMemHostGetDevicePointer");
  flag_blocks_.push_back(block);
  for (std::size_t i = 0; i < count; ++i) {
    uint32_t* word = static_cast<uint32_t*>(block) + i;
    *word = 0;
    free_flags_.push_back({word, pointer + i * sizeof(uint32_t), 0});
  }
}

}  // namespace trine::cuda
