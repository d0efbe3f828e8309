// <trine/c/device.h>
#include "layer.hpp"

#include <algorithm>

using namespace trine;
using namespace trine::detail;

namespace trine::detail {

const trine_facts_t* form(Result& result, const Facts& from) {
  auto* const to = result.structure<trine_facts_t>();
  to->kind = uint32_t(from.kind);
  to->id = result.text(from.id);
  to->name = result.text(from.name);
  to->vendor = result.text(from.vendor);
  to->driver = result.text(from.driver);
  to->probe = result.text(from.probe);
  to->pci = result.text(from.pci);
  std::ranges::copy(from.uuid, to->uuid);
  to->memory_bytes = from.memory_bytes;
  to->max_buffer_bytes = from.max_buffer_bytes;
  to->local_memory_bytes = from.local_memory_bytes;
  to->capabilities = from.capabilities;
  to->compute_units = from.compute_units;
  to->max_group_threads = from.max_group_threads;
  to->version_major = from.version_major;
  to->version_minor = from.version_minor;
  to->peak_bandwidth = from.peak_bandwidth;
  to->peak_f32 = from.peak_f32;
  to->peak_f64 = from.peak_f64;
  return to;
}

const trine_backend_info_t* form(Result& result, const BackendInfo& from) {
  auto* const to = result.structure<trine_backend_info_t>();
  to->device_count = uint32_t(from.devices.size());
  to->devices = form(result, from.devices);
  to->name = result.text(from.name);
  to->path = result.text(from.path);
  to->build = result.text(from.build);
  to->reason = result.text(from.reason);
  to->extends = result.text(from.extends);
  return to;
}

const trine_rung_parameter_t* form(Result& result, const RungInfo::Parameter& from) {
  auto* const to = result.structure<trine_rung_parameter_t>();
  to->value_count = uint32_t(from.values.size());
  to->values = form(result, from.values);
  to->name = result.text(from.name);
  to->default_value = result.text(from.default_value);
  return to;
}

const trine_rung_info_t* form(Result& result, const RungInfo& from) {
  auto* const to = result.structure<trine_rung_info_t>();
  to->numerics = uint32_t(from.numerics);
  to->name = result.text(from.name);
  to->summary = result.text(from.summary);
  to->requirement = result.text(from.requirement);
  to->pack = result.text(from.pack);
  to->parameters = form(result, from.parameters);
  to->parameter_count = from.parameters.size();
  return to;
}

}  // namespace trine::detail

trine_status trine_list_backends(const trine_backend_info_t* const** list, size_t* count) {
  return guard([&] { give(list, count, backends()); }, list, count);
}
trine_status trine_list_devices(const trine_facts_t* const** list, size_t* count) {
  return guard([&] { give(list, count, devices()); }, list, count);
}
trine_status trine_list_search_path(const char* const** folders, size_t* count) {
  return guard([&] { give(folders, count, search_path()); }, folders, count);
}
trine_status trine_load_packs(const char* path, const trine_backend_info_t* const** packs,
                              size_t* count) {
  return guard([&] { give(packs, count, load_packs(std::string(text_of(path)))); }, packs, count);
}

trine_status trine_device_open(const char* name, trine_device_t** device) {
  return guard([&] { *device = new trine_device_t{open(text_of(name))}; }, device);
}
void trine_device_close(trine_device_t* device) { delete device; }
trine_status trine_device_get_facts(const trine_device_t* device, const trine_facts_t** facts) {
  return guard([&] { give(facts, value_of(device).facts()); }, facts);
}
trine_status trine_device_get_id(const trine_device_t* device, const char** id) {
  return guard([&] { give(id, value_of(device).id()); }, id);
}
trine_status trine_device_get_backend(const trine_device_t* device, const char** backend) {
  return guard([&] { give(backend, value_of(device).backend()); }, backend);
}
trine_status trine_device_list_rungs(const trine_device_t* device, uint32_t operation,
                                     const trine_rung_info_t* const** rungs, size_t* count) {
  return guard([&] { give(rungs, count, value_of(device).rungs(Operation(operation))); }, rungs,
               count);
}
trine_status trine_device_get_native(const trine_device_t* device, void** native_device,
                                     void** native_context) {
  return guard(
      [&] {
        const Device::Native native = value_of(device).native();
        *native_device = native.device;
        *native_context = native.context;
      },
      native_device, native_context);
}
int trine_device_is_same(const trine_device_t* a, const trine_device_t* b) {
  return value_of(a) == value_of(b);
}
