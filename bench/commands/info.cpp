// `trine info`: everything the registry found, and the reason of everything it didn't.
#include <fmt/format.h>

#include <trine/abi.h>
#include <algorithm>
#include <cstdio>

#include "bench/cases/cases.hpp"
#include "bench/timing/json.hpp"
#include "bench/ui/commands.hpp"
#include "bench/ui/error.hpp"
#include "bench/ui/screen.hpp"
#include "bench/ui/table.hpp"

namespace trine::bench {
namespace {

std::string capability_words(uint64_t bits) {
  constexpr std::pair<uint64_t, const char*> kWords[] = {
      {TRINE_CAN_F64, "f64"},
      {TRINE_CAN_REPRODUCE, "reproducible"},
      {TRINE_CAN_SHARE_MEMORY, "shared memory"},
      {TRINE_CAN_PIN, "pinned"},
      {TRINE_CAN_ATOMIC_64, "64-bit atomics"},
      {TRINE_CAN_INLINE_PTX, "inline PTX"},
      {TRINE_CAN_SUBGROUPS, "sub-groups"},
      {TRINE_CAN_ORDER_PAGEABLE, "asynchronous pageable copies"}};
  std::string words;
  for (const auto& [bit, word] : kWords)
    if (bits & bit) words += (words.empty() ? "" : ", ") + std::string(word);
  return words.empty() ? "none" : words;
}

std::string tuning_words(const Device& device) {
  if (!uses_tuning()) return "off (TRINE_TUNING)";
  const Tuning table = tuning(device);
  if (!table.refusal.empty()) return fmt::format("refused: {}", table.refusal);
  if (!table.found) return "none saved: built-in choices";
  const auto gains = std::count_if(table.rows.begin(), table.rows.end(),
                                   [](const Tuned& row) { return !row.rung.empty(); });
  return fmt::format("{} sizes measured, {} with another rung than the built-in: {}",
                     table.rows.size(), gains, table.path);
}

void print_fact(const char* what, const std::string& text) {
  print_lines(fmt::format("             {:12}  {}", what, text), 27);
}

void print_device(const Facts& listed) {
  Facts facts = listed;
  std::string failure, tuned, calibrated;
  try {
    const Device device = open(listed.id);
    facts = device.facts();  // opening runs the arithmetic probe
    tuned = tuning_words(device);
    calibrated = calibration(device);
  } catch (const Error& error) { failure = error.what(); }
  say("  {:10} {} ({})", listed.id, facts.name, facts.vendor);
  print_fact("driver", facts.driver);
  print_fact("units", fmt::format("{}, {:.1f} GiB of memory, at most {:.1f} GiB a buffer",
                                  facts.compute_units, double(facts.memory_bytes) / 0x1p30,
                                  double(facts.max_buffer_bytes) / 0x1p30));
  if (!facts.pci.empty()) print_fact("PCI", facts.pci);
  print_fact("capabilities", capability_words(facts.capabilities));
  if (!facts.probe.empty()) print_fact("probe", facts.probe);
  if (!tuned.empty()) print_fact("tuning", tuned);
  if (!calibrated.empty()) print_fact("calibration", calibrated);
  if (!failure.empty()) say("             can't be opened: {}", failure);
}

int info(const std::string& json) {
  if (!json.empty()) {
    nlohmann::ordered_json all = {{"schema", 1},
                                  {"version", TRINE_VERSION_STRING},
                                  {"host", host_json()},
                                  {"devices", devices_json()}};
    write_json(json, all);
  }
  say("trine {} on {}", version(), host_sentence());
  for (const BackendInfo& backend : backends()) {
    const bool is_absent = !backend.reason.empty() && backend.devices.empty();
    say("{}{}: {}", backend.name,
        backend.extends.empty() ? "" : fmt::format(" (rung pack for {})", backend.extends),
        is_absent ? fmt::format("absent: {}", backend.reason) : backend.build);
    for (const Facts& facts : backend.devices) print_device(facts);
    if (!is_absent && !backend.reason.empty()) say("  absent     {}", backend.reason);
  }
  std::string folders;
  for (const std::string& folder : search_path()) folders += (folders.empty() ? "" : ", ") + folder;
  say("searched: {}", folders);
  return kExitGood;
}

}  // namespace

Command add_info(CLI::App& app) {
  auto json = std::make_shared<std::string>();
  add_json(app, *json, "also write it as JSON");
  return [json] { return info(*json); };
}

}  // namespace trine::bench
