// Finds the devices of all platforms and says what is known of them without opening one.
#include <algorithm>
#include <cstdio>
#include <string>

#include "opencl/objects.hpp"

namespace trine::opencl {
namespace {

std::mutex found_mutex;
Found found[gpu::kMaxDevices];
int found_count = 0;

// Codes of vendor extensions that Khronos' headers may lack.
constexpr cl_device_info kUuid = 0x106A, kPciKhr = 0x410F;
constexpr cl_device_info kCapabilityMajorNv = 0x4000, kCapabilityMinorNv = 0x4001;
constexpr cl_device_info kPciBusNv = 0x4008, kPciSlotNv = 0x4009, kPciDomainNv = 0x400A;

template <class T>
T ask(cl_device_id device, cl_device_info what) {
  T answer{};
  check(driver().clGetDeviceInfo(device, what, sizeof answer, &answer, nullptr), "clGetDeviceInfo");
  return answer;
}

template <std::size_t Bytes>
void ask_text(cl_device_id device, cl_device_info what, char (&text)[Bytes]) {
  char whole[512] = "";
  check(driver().clGetDeviceInfo(device, what, sizeof whole - 1, whole, nullptr),
        "clGetDeviceInfo");
  std::snprintf(text, Bytes, "%.*s", static_cast<int>(Bytes - 1), whole);
}

bool has_extension(const std::string& all, const std::string& name) {
  return (' ' + all + ' ').find(' ' + name + ' ') != std::string::npos;
}

/// "a platform: CL_OUT_OF_RESOURCES (-5)", in words that stay.
const char* failure_of(const Driver& table, const Found& platform) {
  static thread_local char text[160];
  char name[64] = "?";
  table.clGetPlatformInfo(platform.platform, CL_PLATFORM_NAME, sizeof name - 1, name, nullptr);
  std::snprintf(text, sizeof text, "%s: %s (%d)", name, error_name(platform.failure),
                platform.failure);
  return text;
}

/// Their number; 0 with the reason reported.
int find_all(const Driver& table) {
  cl_platform_id platforms[gpu::kMaxDevices];
  cl_uint platform_count = 0;
  const cl_int code = table.clGetPlatformIDs(gpu::kMaxDevices, platforms, &platform_count);
  if (code == CL_PLATFORM_NOT_FOUND_KHR) {
    kit::report(TRINE_NOT_FOUND,
                "the OpenCL loader knows no platform: no vendor's driver is installed "
                "(Debian: pocl-opencl-icd runs on any CPU)");
    return 0;
  }
  check(code, "clGetPlatformIDs");
  int count = 0, left_out_count = 0;
  Found left_out[gpu::kMaxDevices];
  for (cl_uint p = 0; p < platform_count && p < gpu::kMaxDevices; ++p) {
    cl_device_id devices[gpu::kMaxDevices];
    cl_uint device_count = 0;
    const cl_int answer = table.clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, gpu::kMaxDevices,
                                               devices, &device_count);
    if (answer != CL_SUCCESS) {  // one vendor's broken driver hides no other's devices
      if (answer == CL_DEVICE_NOT_FOUND) continue;
      left_out[left_out_count++] = {platforms[p], nullptr, answer};
      continue;
    }
    for (cl_uint d = 0; d < device_count && count < gpu::kMaxDevices; ++d) {
      found[count++] = {platforms[p], devices[d], CL_SUCCESS};
    }
  }
  if (count == 0) {
    kit::report(TRINE_NOT_FOUND, "no OpenCL platform has a device%s%s",
                left_out_count ? " that works: " : "",
                left_out_count ? failure_of(table, left_out[left_out_count - 1]) : "");
    return 0;
  }
  for (int p = 0; p < left_out_count && count < gpu::kMaxDevices; ++p) found[count++] = left_out[p];
  return count;
}

void describe_place(cl_device_id device, const char* extensions, trine_device_facts& facts) {
  if (has_extension(extensions, "cl_khr_device_uuid")) {
    driver().clGetDeviceInfo(device, kUuid, sizeof facts.uuid, facts.uuid, nullptr);
  }
  cl_uint place[4] = {};  // domain, bus, device, function
  bool known = false;
  if (has_extension(extensions, "cl_khr_pci_bus_info")) {
    known = driver().clGetDeviceInfo(device, kPciKhr, sizeof place, place, nullptr) == CL_SUCCESS;
  }
  if (!known && has_extension(extensions, "cl_nv_device_attribute_query")) {
    const cl_uint slot = ask<cl_uint>(device, kPciSlotNv);
    place[0] = ask<cl_uint>(device, kPciDomainNv);
    place[1] = ask<cl_uint>(device, kPciBusNv);
    place[2] = slot >> 3;
    place[3] = slot & 7;
    known = true;
  }
  if (known) {
    std::snprintf(facts.pci, sizeof facts.pci, "%04x:%02x:%02x.%x", place[0], place[1] & 0xff,
                  place[2] & 0xff, place[3] & 0xf);
  }
}

uint64_t capabilities_of(cl_device_id device, cl_device_type type, const char* extensions) {
  uint64_t can = TRINE_CAN_PIN | TRINE_CAN_ORDER_PAGEABLE;
  if (has_extension(extensions, "cl_khr_fp64")) can |= TRINE_CAN_F64;
  if (has_extension(extensions, "cl_khr_int64_base_atomics")) can |= TRINE_CAN_ATOMIC_64;
  if (has_extension(extensions, "cl_khr_subgroups") ||
      has_extension(extensions, "cl_intel_subgroups")) {
    can |= TRINE_CAN_SUBGROUPS;
  }
  // The kernels' inline PTX (cp.async, fence.acq_rel) is that of compute capability 8.0 and later.
  if (has_extension(extensions, "cl_nv_compiler_options") && compute_capability_of(device) >= 80) {
    can |= TRINE_CAN_INLINE_PTX | TRINE_CAN_SUBGROUPS;  // warps of 32, by inline PTX
  }
  // Unified memory is not enough: a GPU's caches need not see what the host writes without a map.
  if (type & CL_DEVICE_TYPE_CPU && ask<cl_bool>(device, CL_DEVICE_HOST_UNIFIED_MEMORY)) {
    can |= TRINE_CAN_SHARE_MEMORY;
  }
  return can;
}

}  // namespace

int count_devices() {
  const char* reason = "";
  const Driver* table = find_driver(&reason);
  if (!table) {
    kit::report(TRINE_NOT_FOUND, "%s", reason);
    return 0;
  }
  std::lock_guard lock(found_mutex);
  if (found_count == 0) found_count = find_all(*table);
  return found_count;
}

int compute_capability_of(cl_device_id device) {
  return static_cast<int>(ask<cl_uint>(device, kCapabilityMajorNv) * 10 +
                          ask<cl_uint>(device, kCapabilityMinorNv));
}

const Found& found_device(int index) { return found[index]; }

void describe_device(int index, trine_device_facts& facts) {
  cl_device_id device = found[index].device;
  if (!device) {
    kit::fail(status_of(found[index].failure), "this OpenCL platform is left out: %s",
              failure_of(driver(), found[index]));
  }
  kit::Vector<char> extensions(16384);
  check(driver().clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, extensions.size() - 1,
                                 extensions.data(), nullptr),
        "clGetDeviceInfo");
  const auto type = ask<cl_device_type>(device, CL_DEVICE_TYPE);
  facts.kind = type & CL_DEVICE_TYPE_CPU   ? TRINE_DEVICE_CPU
               : type & CL_DEVICE_TYPE_GPU ? TRINE_DEVICE_GPU
                                           : TRINE_DEVICE_OTHER;
  ask_text(device, CL_DEVICE_NAME, facts.name);
  ask_text(device, CL_DEVICE_VENDOR, facts.vendor);
  char platform[64] = "", driver_version[48] = "", c_version[64] = "";
  check(driver().clGetPlatformInfo(found[index].platform, CL_PLATFORM_NAME, sizeof platform - 1,
                                   platform, nullptr),
        "clGetPlatformInfo");
  ask_text(device, CL_DRIVER_VERSION, driver_version);
  std::snprintf(facts.driver, sizeof facts.driver, "%s, driver %s", platform, driver_version);
  ask_text(device, CL_DEVICE_OPENCL_C_VERSION, c_version);
  unsigned major = 0, minor = 0;
  if (std::sscanf(c_version, "OpenCL C %u.%u", &major, &minor) == 2) {
    facts.version_major = major;
    facts.version_minor = minor;
  }
  facts.memory_bytes = ask<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE);
  facts.max_buffer_bytes = ask<cl_ulong>(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  facts.local_memory_bytes = ask<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE);
  facts.compute_units = ask<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS);
  facts.max_group_threads =
      static_cast<uint32_t>(ask<std::size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE));
  facts.capabilities = capabilities_of(device, type, extensions.data());
  describe_place(device, extensions.data(), facts);
}

}  // namespace trine::opencl
