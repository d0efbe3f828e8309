// Counts the devices and says what is known of them without opening one.
#include <cstdio>

#include "backends/gpu/device_files.hpp"
#include "cuda/objects.hpp"

namespace trine::cuda {
namespace {

// Arithmetic units of a multiprocessor by compute capability, from the programming guide's table.
struct Units {
  int f32, f64;
};
Units units_of(int major, int minor) {
  switch (major * 10 + minor) {
    case 70: return {64, 32};
    case 75: return {64, 2};
    case 80: return {64, 32};
    case 86:
    case 87:
    case 89: return {128, 2};
    case 90:
    case 100: return {128, 64};
    case 103:
    case 120:
    case 121: return {128, 2};
    default: return {0, 0};
  }
}

}  // namespace

int attribute(DeviceId id, int which) {
  int value = 0;
  check(driver().cuDeviceGetAttribute(&value, which, id), "cuDeviceGetAttribute");
  return value;
}

bool is_candidate(int) {
  if (has_driver() || gpu::has_nvidia_file()) return true;
  kit::report(
      TRINE_NOT_FOUND,
      "auto leaves it out: there is no device file of an NVIDIA GPU, such as /dev/nvidiactl");
  return false;
}

int count_devices() {
  const char* reason = "";
  const Driver* table = find_driver(&reason);
  if (!table) {
    kit::report(TRINE_NOT_FOUND, "%s", reason);
    return 0;
  }
  const Result code = table->cuInit(0);
  int count = 0;
  if (code == kSuccess) check(table->cuDeviceGetCount(&count), "cuDeviceGetCount");
  if (code != kSuccess || count == 0) {
    kit::report(TRINE_NOT_FOUND, "the CUDA driver offers no device: %s",
                code == kSuccess ? "it counts none" : ErrorText(code).text);
    return 0;
  }
  return count < gpu::kMaxDevices ? count : gpu::kMaxDevices;
}

void describe_device(int index, trine_device_facts& facts) {
  DeviceId id = 0;
  check(driver().cuDeviceGet(&id, index), "cuDeviceGet");
  facts.kind = TRINE_DEVICE_GPU;
  check(driver().cuDeviceGetName(facts.name, sizeof facts.name, id), "cuDeviceGetName");
  std::snprintf(facts.vendor, sizeof facts.vendor, "NVIDIA");
  int version = 0;
  check(driver().cuDriverGetVersion(&version), "cuDriverGetVersion");
  std::snprintf(facts.driver, sizeof facts.driver, "CUDA driver API %d.%d", version / 1000,
                version % 1000 / 10);
  check(driver().cuDeviceGetUuid(facts.uuid, id), "cuDeviceGetUuid");
  std::snprintf(facts.pci, sizeof facts.pci, "%04x:%02x:%02x.0", attribute(id, kPciDomain) & 0xffff,
                attribute(id, kPciBus) & 0xff, attribute(id, kPciDevice) & 0xff);
  std::size_t memory = 0;
  check(driver().cuDeviceTotalMem(&memory, id), "cuDeviceTotalMem");
  facts.memory_bytes = facts.max_buffer_bytes = memory;
  facts.local_memory_bytes = static_cast<uint64_t>(attribute(id, kMaxSharedOptin));
  facts.capabilities = TRINE_CAN_F64 | TRINE_CAN_PIN | TRINE_CAN_ATOMIC_64 | TRINE_CAN_INLINE_PTX |
                       TRINE_CAN_SUBGROUPS;
  if (attribute(id, kIntegrated)) facts.capabilities |= TRINE_CAN_SHARE_MEMORY;
  facts.compute_units = static_cast<uint32_t>(attribute(id, kMultiprocessorCount));
  facts.max_group_threads = static_cast<uint32_t>(attribute(id, kMaxThreadsPerBlock));
  facts.version_major = static_cast<uint32_t>(attribute(id, kComputeMajor));
  facts.version_minor = static_cast<uint32_t>(attribute(id, kComputeMinor));
  // Double data rate; the clocks are in kHz, the bus in bits.
  facts.peak_bandwidth =
      2.0 * 1e3 * attribute(id, kMemoryClockRate) * (attribute(id, kMemoryBusWidth) / 8.0);
  const Units units =
      units_of(static_cast<int>(facts.version_major), static_cast<int>(facts.version_minor));
  const double cycles = 1e3 * attribute(id, kClockRate) * facts.compute_units;
  facts.peak_f32 = 2.0 * units.f32 * cycles;
  facts.peak_f64 = 2.0 * units.f64 * cycles;
}

}  // namespace trine::cuda
