// Chooses the rung for a call. Nothing else does.
#include <cstdio>

#include "tuning.hpp"

namespace trine::detail {
namespace {

constexpr std::size_t kReasonBytes = 512;

/// Asks the rung whether it takes the call; `reason` gets its words. A rung isn't asked about flags
/// that its row doesn't take, because it may not know them.
trine_status ask(const DeviceState& device, const Checked& checked, const Selected& found,
                 char (&reason)[kReasonBytes]) {
  if (const char* why = checked.is.untaken(checked.descriptor, found.rung->row.takes)) {
    std::snprintf(reason, sizeof reason, "%s", why);
    return TRINE_UNSUPPORTED;
  }
  const trine_call& call = checked.call;
  trine_status status;
  if (const registry::Pack* pack = found.rung->pack) {
    const trine_native native = native_of(device, nullptr);
    status = pack->api.refuses(&native, &found.selection, &call, reason, sizeof reason);
  } else {
    status = device.api.refuses(device.handle, &found.selection, &call, reason, sizeof reason);
  }
  if (status == TRINE_DEVICE_LOST) device.raise(status, "querying a rung");
  return status;
}

[[noreturn]] void throw_refusal(const DeviceState& device, const Checked& checked,
                                const Selected& found, trine_status status, const char* reason) {
  fail(static_cast<Status>(status), device.id, ": rung ", found.rung->row.name, " refuses this ",
       name(checked.is.operation), ": ", reason[0] ? reason : "no reason given", ".");
}

void check_refusal(const DeviceState& device, const Checked& checked, const Selected& found) {
  char reason[kReasonBytes] = "";
  const trine_status status = ask(device, checked, found, reason);
  if (status == TRINE_OK) return;
  reason[sizeof reason - 1] = '\0';
  throw_refusal(device, checked, found, status, reason);
}

bool decides(const DeviceState& device, const Checked& checked, const TunedRow& row) {
  char reason[kReasonBytes] = "";
  return row.choice.rung && ask(device, checked, row.choice, reason) == TRINE_OK;
}

Selected choose(const DeviceState& device, const Checked& checked) {
  const trine_call& call = checked.call;
  Selected found;
  found.selection.size = sizeof found.selection;
  device.expect(device.api.choose(device.handle, &call, &found.selection), "choosing a rung");
  const registry::Ladder& ladder = device.backend.ladder(call.operation);
  const int32_t index = found.selection.rung;
  if (index < 0 || static_cast<std::size_t>(index) >= ladder.size() || ladder[index]->pack) {
    fail(Status::internal, device.id, ": the backend chose rung ", index,
         ", which its ladder lacks.");
  }
  found.rung = ladder[index].get();
  found.index = static_cast<uint32_t>(index);
  for (std::size_t p = 0; p < found.rung->parameters.size(); ++p) {
    const int32_t value = found.selection.values[p];
    if (value < 0 || value >= found.rung->parameters[p].value_count) {
      fail(Status::internal, device.id, ": the backend chose value ", value, " of ",
           found.rung->parameters[p].name, ", which rung ", found.rung->row.name, " lacks.");
    }
  }
  // A backend that doesn't know the call's flags chooses as if there were none.
  if (const char* why = checked.is.untaken(checked.descriptor, found.rung->row.takes))
    throw_refusal(device, checked, found, TRINE_UNSUPPORTED, why);
  found.why = found.selection.why ? found.selection.why : "the backend's default";
  if (checked.numerics() == TRINE_FAST && found.rung->row.numerics != TRINE_FAST)
    found.why = "nothing faster than the reproducible rung here";
  return found;
}

}  // namespace

Selected select(const DeviceState& device, const Checked& checked, std::string_view named) {
  if (!named.empty()) {
    Selected found = find_rung(device, checked.call.operation, named);
    check_refusal(device, checked, found);
    return found;
  }
  std::string_view refused;
  if (const TuningTable* table = tuning_of(device)) {
    refused = table->refused;
    if (const TunedRow* row = table->rows.empty() ? nullptr : table->find(tuning_key_of(checked))) {
      if (decides(device, checked, *row)) {
        Selected found = row->choice;
        found.why = row->why;
        return found;
      }
      refused = row->refused;
    }
  }
  Selected found = choose(device, checked);
  if (!refused.empty()) found.why = refused;
  return found;
}

}  // namespace trine::detail
