// Opens a device, reads its facts, and words the errors.
#include <algorithm>
#include <cstring>

#include "backends/kit/handlers.hpp"
#include "backends/kit/signals.hpp"
#include "state.hpp"

namespace trine::detail {

std::atomic<unsigned> tuning_generation{1};

std::string why_not_in_child(const registry::Backend& backend) {
  if (!kit::is_forked() || backend.name == "cpu") return {};
  return "this process was forked after Trine had opened a device, or while another thread was "
         "in a call, so it has the cpu alone: open others only in the child, or call exec()";
}

Facts to_facts(const trine_device_facts& raw, std::string id) {
  const auto text = [](const char* chars, std::size_t most) {
    return std::string(chars, strnlen(chars, most));
  };
  Facts facts;
  facts.id = std::move(id);
  facts.kind = raw.kind == TRINE_DEVICE_CPU   ? DeviceKind::cpu
               : raw.kind == TRINE_DEVICE_GPU ? DeviceKind::gpu
                                              : DeviceKind::other;
  facts.name = text(raw.name, sizeof raw.name);
  facts.vendor = text(raw.vendor, sizeof raw.vendor);
  facts.driver = text(raw.driver, sizeof raw.driver);
  facts.probe = text(raw.probe, sizeof raw.probe);
  facts.pci = text(raw.pci, sizeof raw.pci);
  std::copy(std::begin(raw.uuid), std::end(raw.uuid), facts.uuid.begin());
  facts.memory_bytes = raw.memory_bytes;
  facts.max_buffer_bytes = raw.max_buffer_bytes;
  facts.local_memory_bytes = raw.local_memory_bytes;
  facts.capabilities = raw.capabilities;
  facts.compute_units = raw.compute_units;
  facts.max_group_threads = raw.max_group_threads;
  facts.version_major = raw.version_major;
  facts.version_minor = raw.version_minor;
  facts.peak_bandwidth = raw.peak_bandwidth;
  facts.peak_f32 = raw.peak_f32;
  facts.peak_f64 = raw.peak_f64;
  return facts;
}

DeviceState::DeviceState(const registry::Backend& of, int32_t number, std::string name,
                         const std::string& options)
    : backend(of), api(of.api), index(number), id(std::move(name)) {
  {
    const kit::HandlersKept handlers;
    const auto open = [&] { return api.device_open(index, options.c_str(), &handle); };
    expect(kit::without_signals(open), "opening the device");
  }
  try {
    raw.size = sizeof raw;
    expect(api.device_facts(handle, &raw), "querying the device's properties");
    expect(api.device_native(handle, &native_device, &native_context),
           "querying the device's native handles");
    facts = to_facts(raw, id);
    in_place = raw.kind == TRINE_DEVICE_CPU && (raw.capabilities & TRINE_CAN_SHARE_MEMORY) != 0;
  } catch (...) {
    api.device_close(handle);
    throw;
  }
}

DeviceState::~DeviceState() {
  const Uncancelled uncancelled;
  if (handle && may_call()) api.device_close(handle);
}

void DeviceState::lose(std::string sentence) const noexcept {
  const std::lock_guard lock(lost_mutex);
  if (lost.load(std::memory_order_relaxed)) return;
  lost_why = std::move(sentence);
  lost.store(true, std::memory_order_release);
}

void DeviceState::notice(trine_status status) const noexcept {
  if (status != TRINE_DEVICE_LOST) return;
  try {
    lose(api.last_error());
  } catch (...) { lose({}); }
}

void DeviceState::throw_lost() const {
  if (generation != kit::generation())
    fail(Status::device_lost, id,
         " was opened by the process that this one was forked from, and stayed there: open the cpu "
         "in the child, or call exec().");
  const std::lock_guard lock(lost_mutex);
  fail(Status::device_lost, id,
       " has been lost since an earlier error, for the rest of the process: ", lost_why);
}

void DeviceState::raise(trine_status status, std::string_view what) const {
  const char* words = api.last_error();
  std::string sentence = cat(id, ": ", what, ": ", words && *words ? words : "no reason given");
  if (status == TRINE_DEVICE_LOST) lose(sentence);
  const bool known = status > TRINE_OK && status <= TRINE_INTERNAL && status != TRINE_NOT_READY;
  throw Error(known ? static_cast<Status>(status) : Status::internal, sentence);
}

DeviceState& Access::some(const Device& device) {
  if (!device.state_) refuse("This Device is empty: open one by trine::open() first.");
  return *device.state_;
}

DeviceState& Access::use(const Device& device) {
  DeviceState& state = some(device);
  state.check();
  return state;
}

}  // namespace trine::detail
