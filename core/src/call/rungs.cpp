#include "rungs.hpp"

#include <algorithm>
#include <span>

#include "backends/kit/options.hpp"

namespace trine::detail {
namespace {

[[noreturn]] void throw_no_rung(const DeviceState& device, uint32_t operation,
                                std::string_view name, const registry::Ladder& ladder) {
  std::vector<std::string_view> names;
  for (const auto& rung : ladder) names.push_back(rung->row.name);
  fail(Status::not_found, device.id, ": no rung of ",
       trine::name(static_cast<Operation>(operation)), " is called '", name, "'.",
       suggest(name, names), " There are: ", join(names), ".");
}

std::vector<std::string_view> parameters_of(const registry::Rung& rung) {
  std::vector<std::string_view> names;
  for (const trine_parameter& parameter : rung.parameters) names.push_back(parameter.name);
  return names;
}

/// Sets one parameter.
void set(const registry::Rung& rung, const kit::Option& option, int32_t* values) {
  const auto parameter = std::ranges::find_if(
      rung.parameters, [&](const auto& one) { return one.name == option.key; });
  if (parameter == rung.parameters.end()) {
    const std::vector<std::string_view> names = parameters_of(rung);
    fail(Status::not_found, "rung ", rung.row.name, ": '", option.pair, "' names no parameter.",
         suggest(option.key, names), " It has: ", join(names), ".");
  }
  const std::span legal(parameter->values, static_cast<std::size_t>(parameter->value_count));
  const auto value = std::ranges::find(legal, option.value);
  if (value == legal.end()) {
    fail(Status::not_found, "rung ", rung.row.name, ": ", option.pair, " doesn't exist; it can be ",
         join(legal), ".");
  }
  values[parameter - rung.parameters.begin()] = static_cast<int32_t>(value - legal.begin());
}

}  // namespace

Selected find_rung(const DeviceState& device, uint32_t operation, std::string_view named) {
  const registry::Ladder& ladder = device.backend.ladder(operation);
  const auto colon = named.find(':');
  const std::string_view name = named.substr(0, colon);
  const auto rung =
      std::ranges::find_if(ladder, [&](const auto& one) { return one->row.name == name; });
  if (rung == ladder.end()) throw_no_rung(device, operation, name, ladder);
  Selected found;
  found.rung = rung->get();
  found.index = static_cast<uint32_t>(rung - ladder.begin());
  found.selection.size = sizeof found.selection;
  found.selection.rung = found.rung->index;
  int32_t* const values = found.selection.values;
  for (std::size_t p = 0; p < found.rung->parameters.size(); ++p) {
    values[p] = found.rung->parameters[p].default_value;
  }
  if (colon != std::string_view::npos) {
    std::string_view list = named.substr(colon + 1);
    if (const char* const flaw = kit::flaw_of(list))
      fail(Status::not_found, "rung ", name, ": its list of parameters '", list, "' ", flaw,
           "; parameter=value is needed, with a comma between two. It has: ",
           join(parameters_of(*found.rung)), ".");
    while (!list.empty()) set(*found.rung, kit::take_option(list), values);
  }
  found.why = "named by the caller";
  return found;
}

trine_native native_of(const DeviceState& device, void* queue) {
  trine_native native{};
  native.size = sizeof native;
  native.device_index = device.index;
  native.device = device.native_device;
  native.context = device.native_context;
  native.queue = queue;
  native.facts = &device.raw;
  native.threads = device.in_place ? static_cast<int32_t>(device.raw.compute_units) : 0;
  return native;
}

std::string rung_text(const registry::Rung& rung, const int32_t* values) {
  std::string text = rung.row.name;
  for (std::size_t p = 0; p < rung.parameters.size(); ++p) {
    const trine_parameter& parameter = rung.parameters[p];
    append(text, cat(p == 0 ? ":" : ",", parameter.name, "=", parameter.values[values[p]]));
  }
  return text;
}

}  // namespace trine::detail
