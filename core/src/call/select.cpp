#include "select.hpp"

#include "backends/kit/words.hpp"
#include "tuning.hpp"

namespace trine::detail {
namespace {

constexpr std::size_t kReasonBytes = 512;

std::vector<std::string_view> names_of(const registry::Ladder& ladder) {
  std::vector<std::string_view> names;
  for (const registry::Rung* rung : ladder) names.push_back(rung->row.name);
  return names;
}

[[noreturn]] void throw_no_rung(const DeviceState& device, uint32_t operation,
                                std::string_view name, const registry::Ladder& ladder) {
  const std::vector<std::string_view> names = names_of(ladder);
  const std::string_view near = kit::closest(name, names.begin(), names.end());
  std::string all;
  for (const std::string_view each : names) append(all, cat(all.empty() ? "" : ", ", each));
  fail(Status::not_found, device.id, ": no rung of ",
       trine::name(static_cast<Operation>(operation)), " is called '", name, "'.",
       near.empty() ? "" : cat(" Did you mean '", near, "'?"),
       " There are: ", all.empty() ? "none" : all, ".");
}

/// Index of a word among a parameter's values, or -1.
int32_t value_index(const trine_parameter& parameter, std::string_view word) {
  for (int32_t i = 0; i < parameter.value_count; ++i) {
    if (parameter.values[i] == word) return i;
  }
  return -1;
}

[[noreturn]] void throw_no_value(const registry::Rung& rung, const trine_parameter& parameter,
                                 std::string_view word) {
  std::string all;
  for (int32_t i = 0; i < parameter.value_count; ++i) {
    append(all, cat(i ? ", " : "", parameter.values[i]));
  }
  fail(Status::not_found, "rung ", rung.row.name, ": ", parameter.name, "=", word,
       " doesn't exist; it can be ", all, ".");
}

[[noreturn]] void throw_no_parameter(const registry::Rung& rung, std::string_view pair) {
  const auto equals = pair.find('=');
  std::vector<std::string_view> names;
  std::string all;
  for (const trine_parameter& parameter : rung.parameters) {
    append(all, cat(all.empty() ? "" : ", ", parameter.name));
    names.push_back(parameter.name);
  }
  const std::string_view near = kit::closest(pair.substr(0, equals), names.begin(), names.end());
  fail(Status::not_found, "rung ", rung.row.name, ": '", pair, "' names no parameter",
       equals == std::string_view::npos ? " (parameter=value is needed)" : "", ".",
       near.empty() ? "" : cat(" Did you mean '", near, "'?"),
       " It has: ", all.empty() ? "none" : all, ".");
}

/// Settles one "parameter=value".
void settle(const registry::Rung& rung, std::string_view pair, int32_t* values) {
  const auto equals = pair.find('=');
  for (std::size_t p = 0; p < rung.parameters.size(); ++p) {
    const trine_parameter& parameter = rung.parameters[p];
    if (pair.substr(0, equals) != parameter.name || equals == std::string_view::npos) continue;
    values[p] = value_index(parameter, pair.substr(equals + 1));
    if (values[p] < 0) throw_no_value(rung, parameter, pair.substr(equals + 1));
    return;
  }
  throw_no_parameter(rung, pair);
}

}  // namespace

Selected find_rung(const DeviceState& device, uint32_t operation, std::string_view named) {
  const registry::Ladder& ladder = device.backend.ladder(operation);
  const auto colon = named.find(':');
  const std::string_view name = named.substr(0, colon);
  Selected found;
  for (std::size_t i = 0; i < ladder.size() && !found.rung; ++i) {
    if (name != ladder[i]->row.name) continue;
    found.rung = ladder[i];
    found.index = static_cast<uint32_t>(i);
  }
  if (!found.rung) throw_no_rung(device, operation, name, ladder);
  found.selection.size = sizeof found.selection;
  found.selection.rung = found.rung->index;
  int32_t* const values = found.selection.values;
  for (std::size_t p = 0; p < found.rung->parameters.size(); ++p) {
    values[p] = found.rung->parameters[p].default_value;
  }
  std::string_view rest = colon == std::string_view::npos ? "" : named.substr(colon + 1);
  while (!rest.empty()) {
    const auto comma = rest.find(',');
    settle(*found.rung, rest.substr(0, comma), values);
    rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
  }
  found.why = "named by the caller";
  return found;
}

namespace {

/// Asks the rung whether it takes the call; `reason` is then its own.
trine_status ask(const DeviceState& device, const trine_call& call, const Selected& found,
                 char (&reason)[kReasonBytes]) {
  trine_status status;
  if (const registry::Pack* pack = found.rung->pack) {
    const trine_native native = native_of(device, nullptr);
    status = pack->api.refuses(&native, &found.selection, &call, reason, sizeof reason);
  } else {
    status = device.api.refuses(device.handle, &found.selection, &call, reason, sizeof reason);
  }
  if (status == TRINE_DEVICE_LOST) device.raise(status, "asking a rung");
  return status;
}

void check_refusal(const DeviceState& device, const trine_call& call, const Selected& found) {
  char reason[kReasonBytes] = "";
  const trine_status status = ask(device, call, found, reason);
  if (status == TRINE_OK) return;
  reason[sizeof reason - 1] = '\0';
  fail(static_cast<Status>(status), device.id, ": rung ", found.rung->row.name, " refuses this ",
       name(static_cast<Operation>(call.operation)), ": ", reason[0] ? reason : "no reason given",
       ".");
}

/// What the caller asks of the bits.
uint32_t numerics_of(const trine_call& call) {
  switch (call.operation) {
    case TRINE_REDUCE: return static_cast<const trine_reduce*>(call.descriptor)->numerics;
    case TRINE_TRANSPOSE: return static_cast<const trine_transpose*>(call.descriptor)->numerics;
    default: return static_cast<const trine_gemm*>(call.descriptor)->numerics;
  }
}

bool decides(const DeviceState& device, const trine_call& call, const TunedRow& row) {
  char reason[kReasonBytes] = "";
  return row.choice.rung && ask(device, call, row.choice, reason) == TRINE_OK;
}

Selected choose(const DeviceState& device, const trine_call& call) {
  Selected found;
  found.selection.size = sizeof found.selection;
  device.expect(device.api.choose(device.handle, &call, &found.selection), "choosing a rung");
  const registry::Ladder& ladder = device.backend.ladder(call.operation);
  const int32_t index = found.selection.rung;
  if (index < 0 || static_cast<std::size_t>(index) >= ladder.size() || ladder[index]->pack) {
    fail(Status::internal, device.id, ": the backend chose rung ", index,
         ", which its ladder lacks.");
  }
  found.rung = ladder[index];
  found.index = static_cast<uint32_t>(index);
  for (std::size_t p = 0; p < found.rung->parameters.size(); ++p) {
    const int32_t value = found.selection.values[p];
    if (value < 0 || value >= found.rung->parameters[p].value_count) {
      fail(Status::internal, device.id, ": the backend chose value ", value, " of ",
           found.rung->parameters[p].name, ", which rung ", found.rung->row.name, " lacks.");
    }
  }
  found.why = found.selection.why ? found.selection.why : "the backend's default";
  if (numerics_of(call) == TRINE_FAST && found.rung->row.numerics != TRINE_FAST)
    found.why = "nothing faster than the reproducible rung here";
  return found;
}

}  // namespace

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

Selected select(const DeviceState& device, const trine_call& call, std::string_view named) {
  if (!named.empty()) {
    Selected found = find_rung(device, call.operation, named);
    check_refusal(device, call, found);
    return found;
  }
  std::string_view refused;
  if (const TuningTable* table = tuning_of(device)) {
    refused = table->refused;
    if (const TunedRow* row = table->find(call)) {
      if (decides(device, call, *row)) {
        Selected found = row->choice;
        found.why = row->why;
        return found;
      }
      refused = row->refused;
    }
  }
  Selected found = choose(device, call);
  if (!refused.empty()) found.why = refused;
  return found;
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
