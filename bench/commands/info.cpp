// `trine info`: everything the registry found, and the reason of everything it didn't.
#include <fmt/format.h>

#include <trine/abi.h>
#include <algorithm>
#include <cstdio>

#include "bench/timing/json.hpp"
#include "bench/ui/commands.hpp"
#include "bench/ui/error.hpp"
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

void print_device(const Facts& listed) {
  Facts facts = listed;
  std::string failure, tuned, calibrated;
  try {
    const Device device = open(listed.id);
    facts = device.facts();  // opening runs the arithmetic probe
    tuned = tuning_words(device);
    calibrated = calibration(device);
  } catch (const Error& error) { failure = error.what(); }
  std::printf("  %-10s %s (%s)\n", listed.id.c_str(), facts.name.c_str(), facts.vendor.c_str());
  std::printf("             driver        %s\n", facts.driver.c_str());
  std::printf("             units         %u, %.1f GiB of memory, at most %.1f GiB a buffer\n",
              facts.compute_units, double(facts.memory_bytes) / 0x1p30,
              double(facts.max_buffer_bytes) / 0x1p30);
  if (!facts.pci.empty()) std::printf("             PCI           %s\n", facts.pci.c_str());
  std::printf("             capabilities  %s\n", capability_words(facts.capabilities).c_str());
  if (!facts.probe.empty()) std::printf("             probe         %s\n", facts.probe.c_str());
  if (!tuned.empty()) std::printf("             tuning        %s\n", tuned.c_str());
  if (!calibrated.empty()) std::printf("             calibration   %s\n", calibrated.c_str());
  if (!failure.empty()) std::printf("             can't be opened: %s\n", failure.c_str());
}

int info(const std::string& json) {
  if (!json.empty()) {
    check_writable(json);
    nlohmann::ordered_json all = {{"schema", 1},
                                  {"version", TRINE_VERSION_STRING},
                                  {"host", host_json()},
                                  {"devices", devices_json()}};
    write_json(json, all);
  }
  std::printf("trine %s on %s\n", version(), host_sentence().c_str());
  for (const BackendInfo& backend : backends()) {
    const bool is_absent = !backend.reason.empty() && backend.devices.empty();
    std::printf(
        "%s%s: %s\n", backend.name.c_str(),
        backend.extends.empty() ? "" : fmt::format(" (rung pack for {})", backend.extends).c_str(),
        is_absent ? fmt::format("absent: {}", backend.reason).c_str() : backend.build.c_str());
    for (const Facts& facts : backend.devices) print_device(facts);
    if (!is_absent && !backend.reason.empty())
      std::printf("  absent     %s\n", backend.reason.c_str());
  }
  std::string folders;
  for (const std::string& folder : search_path()) folders += (folders.empty() ? "" : ", ") + folder;
  std::printf("searched: %s\n", folders.c_str());
  return kExitGood;
}

}  // namespace

Command add_info(CLI::App& app) {
  auto json = std::make_shared<std::string>();
  app.add_option("--json", *json, "write it as JSON too")->type_name("FILE");
  return [json] { return info(*json); };
}

}  // namespace trine::bench
