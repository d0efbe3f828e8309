// Devices by name: the list of devices, the reasons for absent ones, and opening one.
#include <trine/device.hpp>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>

#include "backends/kit/handlers.hpp"
#include "backends/kit/mpi_job.hpp"
#include "backends/kit/options.hpp"
#include "backends/kit/signals.hpp"
#include "state.hpp"

namespace trine {
namespace {

using detail::cat;
using detail::DeviceState;
using registry::Registry;

/// "cpu" where a backend's name alone says which, else "cuda:0".
std::string id_of(const registry::Backend& backend, int32_t index) {
  return backend.name == "cpu" ? backend.name : cat(backend.name, ":", index);
}

/// The process's registry. Device_lost in a child for whose fork other threads loaded libraries too
/// long.
Registry& the_registry() {
  if (registry::is_torn())
    detail::fail(
        Status::device_lost,
        "This process was forked while another thread was loading libraries, which took too "
        "long to wait for: make the first call before the fork, or call exec().");
  return Registry::get();
}

std::vector<Facts> describe(const registry::Backend& backend, std::string& reason) {
  std::vector<Facts> all;
  reason = detail::why_not_in_child(backend);
  const int32_t count = reason.empty() ? backend.devices(&reason) : 0;
  const kit::HandlersKept handlers;
  for (int32_t i = 0; i < count; ++i) {
    trine_device_facts raw{};
    raw.size = sizeof raw;
    const auto describe = [&] { return backend.api.device_describe(i, &raw); };
    if (kit::without_signals(describe) == TRINE_OK) {
      all.push_back(detail::to_facts(raw, id_of(backend, i)));
    } else {
      reason += cat(reason.empty() ? "" : "; ", id_of(backend, i), ": ", backend.api.last_error());
    }
  }
  return all;
}

BackendInfo info_of(const registry::Pack& pack) {
  return {pack.name, pack.path, pack.build, {}, pack.extends, {}};
}
BackendInfo info_of(const registry::Absent& absent) {
  return {absent.name, absent.path, {}, absent.reason, absent.extends, {}};
}

/// "cuda:0:key=value" taken apart: backend, index, options.
struct Address {
  std::string backend, options;
  int32_t index = -1;  ///< none: this rank's
  bool valid = true;
};

Address parse(std::string_view name) {
  Address address;
  const auto first = name.find(':');
  address.backend = name.substr(0, first);
  if (first == std::string_view::npos) return address;
  std::string_view rest = name.substr(first + 1);
  const auto second = rest.find(':');
  std::string_view part = rest.substr(0, second);
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), address.index);
  if (error == std::errc{} && end == part.data() + part.size()) {
    rest = second == std::string_view::npos ? std::string_view{} : rest.substr(second + 1);
    address.valid = part.front() != '-' && (second == std::string_view::npos || !rest.empty());
  }
  address.options = rest;
  if (!rest.empty() && rest.find('=') == std::string_view::npos) address.valid = false;
  if (part.empty()) address.valid = false;
  return address;
}

/// The device that a backend's name alone means.
int32_t first_for_this_rank(const registry::Backend& backend) {
  std::string reason;
  if (kit::place_on_node().rank == 0 || backend.devices() <= 1) return 0;  // nothing to describe
  const std::vector<Facts> all = describe(backend, reason);
  return all.empty() ? 0 : std::max(0, parse(detail::of_this_rank(all).id).index);
}

/// Backends with their devices, then those that are absent. Those whose drivers `auto` doesn't wake
/// come into `asleep`, if it is given, with the reason; but not `named`.
std::vector<BackendInfo> list_backends(std::vector<BackendInfo>* asleep = nullptr,
                                       std::string_view named = {}) {
  std::vector<BackendInfo> list;
  int32_t gpus = 0;
  for (const registry::Backend* backend : the_registry().backends()) {
    BackendInfo info{backend->name, backend->path, backend->build, {}, {}, {}};
    if (asleep && backend->name != named && !backend->is_candidate(gpus, info.reason)) {
      asleep->push_back(std::move(info));
      continue;
    }
    info.devices = describe(*backend, info.reason);
    gpus += int32_t(std::ranges::count(info.devices, DeviceKind::gpu, &Facts::kind));
    list.push_back(std::move(info));
  }
  for (const registry::Absent& entry : Registry::get().absent())
    if (entry.extends.empty()) list.push_back(info_of(entry));
  return list;
}

/// "; cuda (there is no CUDA driver)".
void append_reason(std::string& text, const BackendInfo& info) {
  detail::append(text, cat(text.empty() ? "" : "; ", info.name.empty() ? info.path : info.name,
                           " (", info.reason, ")"));
}

[[noreturn]] void throw_unknown(std::string_view name) {
  std::vector<std::string> ids;
  std::vector<BackendInfo> asleep;
  std::string gone, unasked, gpu;
  for (const BackendInfo& info : list_backends(&asleep, parse(name).backend)) {
    for (const Facts& facts : info.devices) {
      ids.push_back(facts.id);
      if (gpu.empty() && facts.kind == DeviceKind::gpu) gpu = facts.id;
    }
    if (info.devices.empty()) append_reason(gone, info);
  }
  const std::string there = detail::join(ids);
  ids.emplace_back("auto");
  for (const BackendInfo& info : asleep) {
    append_reason(unasked, info);
    ids.push_back(info.name);
  }
  // By its letters "gpu" is closest to "cpu".
  detail::fail(Status::not_found, "No device is called '", name, "'.",
               detail::suggest(name == "gpu" ? std::string_view(gpu) : name, ids),
               " There are: ", there, ".",
               unasked.empty() ? "" : cat(" Not asked for their devices: ", unasked, "."),
               gone.empty() ? "" : cat(" Absent: ", gone, "."));
}

/// Open devices by id, so that opening the same name again gives the same device.
struct OpenDevices {
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<DeviceState>, std::less<>> by_name;
};

RungInfo info_of(const registry::Rung& rung) {
  RungInfo info;
  info.name = rung.row.name;
  info.summary = rung.row.summary ? rung.row.summary : "";
  info.requirement = rung.row.requirement ? rung.row.requirement : "";
  info.numerics = static_cast<Numerics>(rung.row.numerics);
  if (rung.pack) info.pack = rung.pack->name;
  for (const trine_parameter& parameter : rung.parameters) {
    info.parameters.push_back({parameter.name,
                               {parameter.values, parameter.values + parameter.value_count},
                               parameter.values[parameter.default_value]});
  }
  return info;
}

Device open_device(std::string_view name) {
  kit::InUse in_use;
  if (name == "auto") {
    detail::refuse(
        "'auto' needs to know the operation, its size and where its data lives: use "
        "trine::place(), or "
        "the calls on host data of trine/host.hpp.");
  }
  OpenDevices& open = detail::singleton<OpenDevices>();
  const std::lock_guard lock(open.mutex);
  if (const auto found = open.by_name.find(name); found != open.by_name.end()) {
    if (auto state = found->second.lock()) return detail::Access::device(std::move(state));
  }
  Address address = parse(name);
  const registry::Backend* backend = the_registry().find(address.backend);
  if (!address.valid || !backend) throw_unknown(name);
  if (const std::string why = detail::why_not_in_child(*backend); !why.empty())
    detail::fail(Status::device_lost, name, ": ", why, ".");
  if (std::max(0, address.index) >= backend->devices()) throw_unknown(name);
  if (const char* const flaw = kit::flaw_of(address.options); flaw && !address.options.empty())
    detail::fail(Status::not_found, "No device is called '", name, "': its list of options '",
                 address.options, "' ", flaw, "; it is key=value, with a comma between two.");
  if (address.index < 0) address.index = first_for_this_rank(*backend);
  std::string id = id_of(*backend, address.index);
  if (!address.options.empty()) id += ":" + address.options;
  std::weak_ptr<DeviceState>& known = open.by_name[id];
  std::shared_ptr<DeviceState> state = known.lock();
  if (!state) {
    state =
        std::shared_ptr<DeviceState>(new DeviceState(*backend, address.index, id, address.options));
    known = state;
    in_use.for_good();
  }
  if (id != name) open.by_name[std::string(name)] = state;
  return detail::Access::device(std::move(state));
}

}  // namespace

const Facts& detail::of_this_rank(const std::vector<Facts>& devices) {
  std::vector<const Facts*> alike;
  for (const Facts& facts : devices)
    if (facts.kind == devices.front().kind) alike.push_back(&facts);
  return *alike[size_t(kit::place_on_node().rank) % alike.size()];
}

std::vector<BackendInfo> detail::backends_for_auto() {
  std::vector<BackendInfo> asleep, awake = list_backends(&asleep);
  const auto has_none = [](const BackendInfo& info) { return info.devices.empty(); };
  // A CPU that only OpenCL drives is better than none.
  return std::ranges::all_of(awake, has_none) ? list_backends() : awake;
}

std::vector<BackendInfo> backends() {
  return detail::entry([] {
    const kit::InUse in_use;
    std::vector<BackendInfo> all = list_backends();
    for (const registry::Pack* pack : Registry::get().packs()) all.push_back(info_of(*pack));
    for (const registry::Absent& entry : Registry::get().absent()) {
      if (!entry.extends.empty()) all.push_back(info_of(entry));
    }
    return all;
  });
}

std::vector<Facts> devices() {
  return detail::entry([] {
    std::vector<Facts> all;
    for (BackendInfo& info : backends())
      std::move(info.devices.begin(), info.devices.end(), std::back_inserter(all));
    return all;
  });
}

std::vector<std::string> search_path() {
  return detail::entry([] {
    const kit::InUse in_use;
    return the_registry().folders();
  });
}

std::vector<BackendInfo> load_packs(const std::string& path) {
  return detail::entry([&] {
    const kit::InUse in_use;
    const std::vector<std::string> paths = the_registry().load_packs(path);
    ++detail::tuning_generation;  // a table may name what was not there before
    const auto asked = [&](const std::string& file) {
      return std::ranges::find(paths, file) != paths.end();
    };
    std::vector<BackendInfo> all;
    for (const registry::Pack* pack : Registry::get().packs()) {
      if (asked(pack->path)) all.push_back(info_of(*pack));
    }
    for (const registry::Absent& entry : Registry::get().absent()) {
      if (asked(entry.path)) all.push_back(info_of(entry));
    }
    return all;
  });
}

Device open(std::string_view name) {
  return detail::entry([&] { return open_device(name); });
}

// A lost device still gives its facts.
const Facts& Device::facts() const { return detail::Access::some(*this).facts; }
const std::string& Device::id() const { return detail::Access::some(*this).id; }
const std::string& Device::backend() const { return detail::Access::some(*this).backend.name; }

Device::Native Device::native() const {
  const DeviceState& state = detail::Access::use(*this);
  return {state.native_device, state.native_context};
}

std::vector<RungInfo> Device::rungs(Operation operation) const {
  return detail::entry([&] {
    const registry::Backend& backend = detail::Access::some(*this).backend;
    const auto number = static_cast<uint32_t>(operation);
    if (number < 1 || number > registry::kOperations)
      detail::refuse("Device::rungs(): there is no operation ", number, ".");
    std::vector<RungInfo> all;
    for (const auto& rung : backend.ladder(number)) all.push_back(info_of(*rung));
    return all;
  });
}

}  // namespace trine
