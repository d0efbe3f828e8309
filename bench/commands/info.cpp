// `trine info`: everything the registry found, and the reason of everything it didn't.
#include <fmt/format.h>

#include <sys/wait.h>
#include <trine/abi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

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

// --- Drivers that can't start ---

/// The last line of `text` that isn't empty.
std::string last_line(const std::string& text) {
  const size_t end = text.find_last_not_of(" \n");
  if (end == text.npos) return {};
  const size_t before = text.find_last_of('\n', end);
  return text.substr(before == text.npos ? 0 : before + 1,
                     end - (before == text.npos ? 0 : before + 1) + 1);
}

/// Wakes a backend's driver in a child, before this process has touched one: how it ended the
/// child, or "".
std::string how_it_ends_processes(const std::string& backend) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    alarm(60);
    setenv("TRINE_BACKENDS", backend.c_str(), 1);
    try {
      backends();
    } catch (const Error&) {}  // that is said when it is listed
    _exit(0);
  }
  close(ends[1]);
  std::string said;
  char piece[1024];
  for (ssize_t got; child > 0 && (got = read(ends[0], piece, sizeof piece)) > 0;)
    said.append(piece, size_t(got));
  close(ends[0]);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || status == 0) return {};
  const std::string line = last_line(said), words = line.empty() ? "" : fmt::format(": {}", line);
  if (!WIFSIGNALED(status)) return fmt::format("its driver can't start: it calls exit{}", words);
  if (WTERMSIG(status) == SIGALRM)
    return fmt::format("its driver doesn't start within 60 s{}", words);
  return fmt::format("its driver can't start: it ends the process by signal {} ({}){}",
                     WTERMSIG(status), strsignal(WTERMSIG(status)), words);
}

/// PoCL aborts where there is no /sys, for example. Such drivers are left out from here on: by
/// name, how they end processes.
std::map<std::string, std::string> leave_out_what_ends_processes() {
  std::map<std::string, std::string> fatal;
  const char* given = std::getenv("TRINE_BACKENDS");
  std::string allowed = given ? given : "";
  const auto has = [&](const std::string& word) { return allowed.find(word) != allowed.npos; };
  for (const std::string backend : {"opencl", "cuda"}) {
    if (has("-" + backend) || (!allowed.empty() && allowed[0] != '-' && !has(backend))) continue;
    if (std::string how = how_it_ends_processes(backend); !how.empty()) {
      fatal[backend] = std::move(how);
      allowed += fmt::format("{}-{}", allowed.empty() ? "" : ",", backend);
    }
  }
  if (!fatal.empty()) setenv("TRINE_BACKENDS", allowed.c_str(), 1);
  return fatal;
}

int info(const std::string& json) {
  const std::map<std::string, std::string> fatal = leave_out_what_ends_processes();
  if (!json.empty()) {
    nlohmann::ordered_json all = {{"schema", 1},
                                  {"version", TRINE_VERSION_STRING},
                                  {"host", host_json()},
                                  {"devices", devices_json()}};
    write_json(json, all);
  }
  say("trine {} on {}", version(), host_sentence());
  for (BackendInfo& backend : backends()) {
    if (const auto how = fatal.find(backend.name); how != fatal.end()) backend.reason = how->second;
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
  const char* only = std::getenv("TRINE_BACKENDS");
  if (only && *only && fatal.empty()) say("TRINE_BACKENDS: {}", only);
  return kExitGood;
}

}  // namespace

Command add_info(CLI::App& app) {
  auto json = std::make_shared<std::string>();
  add_json(app, *json, "also write it as JSON");
  return [json] { return info(*json); };
}

}  // namespace trine::bench
