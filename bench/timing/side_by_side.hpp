// What every measuring command does with devices and rungs: choose them, measure one rung on one
// problem whatever it answers, and hold the results against each other.
#pragma once

#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "bench/ui/control.hpp"
#include "json.hpp"
#include "result.hpp"
#include "runner.hpp"

namespace trine::bench {

/// The devices named, or all that open, the cpu first; throws where there is none.
std::vector<Device> chosen_devices(const std::vector<std::string>& names);

/// Where a command that measures begins: loads the vendors' libraries where `peers` is set, opens the devices,
/// refuses a rung that none of them has, and prints the heading.
std::vector<Device> start(const std::vector<std::string>& devices,
                          const std::vector<std::string>& rungs,
                          const std::vector<Operation>& operations, bool peers);

/// Throws Refusal where a rung named is on none of the devices.
void check_rungs(const std::vector<std::string>& rungs, const std::vector<Device>& devices,
                 const std::vector<Operation>& operations);

/// A ladder for one problem: the device's rungs in their order with the parameters of their rows, then what
/// the backend chooses by itself, with its own, in place of that rung's row; peers last where `peers` is set.
std::vector<std::string> ladder_of(const Device& device, const Problem& problem, bool peers);

/// Marks those of the built-in choice.
void mark_built_in(std::vector<Result>& results, const Device& device);

/// Why a vendor's rung may not be asked for this, or nullptr: its pack sees an element's size alone.
const char* peer_refuses(const Device& device, const Problem& problem, const std::string& rung);

/// The program's version, the host, a line for each device.
void print_heading(const std::vector<Device>& devices);

/// One rung ("": the device's own choice) on one problem: the kernel on resident data and, where
/// `whole` is set and it is right, the whole program. A refusal is one result that says why.
std::vector<Result> measure_rung(Runner& runner, const Problem& problem, Expectation& expectation,
                                 const std::string& rung, bool whole);

/// Empty, or what was found wrong with one of a rung's results; a refusal is nothing wrong.
std::string failure_of(const std::vector<Result>& results);

/// The bits that each problem's reproducible results must have: those of the first that was right.
class Digests {
 public:
  /// Fails every result that has other bits than one of its problem before it.
  void compare(std::vector<Result>& results);

 private:
  struct First {
    std::string device;
    uint64_t digest;
  };
  std::map<std::string, First> first_;  ///< by the problem in words
};
/// All that a problem has.
inline void compare_digests(std::vector<Result>& results) { Digests().compare(results); }
/// The same, and how they stand against the vendors' of the same kind of device and method. False where none is right.
bool judge(std::vector<Result>& results);

/// What a command's work came to; `nothing` is no success, however early it ended.
enum class Outcome { good, failed, nothing };
/// `failed` where any result is wrong, `nothing` where none is right; where there is no result but there are
/// `roofs`, these are what was asked for.
Outcome outcome_of(const std::vector<Result>& results, bool roofs = false);

/// Writes the JSON file where one was asked for, and is then ended().
int finish(Document& document, const Control& control, const std::string& path, Outcome outcome);
/// Says why the work ended early if it did, and returns the command's exit code: kExitFailed of what failed,
/// else kExitInterrupted after Ctrl-C, else kExitFailed of nothing.
int ended(const Control& control, Outcome outcome, std::FILE* out = stdout);

}  // namespace trine::bench
