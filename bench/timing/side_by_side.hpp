// The work of every measuring command with devices and rungs: choose them, measure one rung on one
// problem whatever it answers, and hold the results against each other.
#pragma once

#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/ui/control.hpp"
#include "expectation.hpp"
#include "json.hpp"

namespace trine::bench {

/// Loads the vendors' libraries as peers from lib/trine/packs, each with the settings that show it
/// at its best, and returns a line for each: its version, or why it is absent.
std::string load_peers();
/// OpenBLAS chooses its kernels by processor model when it is loaded and takes old ones on models
/// it doesn't know. The best type for the instructions that are here is known: says it, unless the
/// user has.
void choose_openblas_core();

/// The devices named, or all that open, the cpu first; throws where there is none.
std::vector<Device> chosen_devices(const std::vector<std::string>& names);

/// Where a command that measures begins: loads the vendors' libraries where `peers` is set, opens
/// the devices, refuses a rung that none of them has, and prints the heading.
std::vector<Device> start(const std::vector<std::string>& devices,
                          const std::vector<std::string>& rungs,
                          const std::vector<Operation>& operations, bool peers);

/// Throws Refusal where a rung named is on none of the devices.
void check_rungs(const std::vector<std::string>& rungs, const std::vector<Device>& devices,
                 const std::vector<Operation>& operations);

/// A ladder for one problem: the device's rungs in their order with the parameters of their rows,
/// then what the backend chooses by itself, with its own, in place of that rung's row; peers last
/// where `peers` is set.
std::vector<std::string> ladder_of(const Device& device, const Problem& problem, bool peers);

/// Marks those of the built-in choice.
void mark_built_in(std::vector<Result>& results, const Device& device);

/// Why a vendor's rung may not be asked for this, or nullptr: its pack sees an element's size
/// alone.
const char* peer_refuses(const Device& device, const Problem& problem, const std::string& rung);

/// The program's version, the host, a line for each device.
void print_heading(const std::vector<Device>& devices);

/// Measures one problem on one device: the kernel on resident data, and the one-line call on host
/// memory with its phases apart. Every timed launch writes its own slot of a poisoned ring and
/// reads its own window of the input; whole rings are checked, the first, some by chance, and the
/// last.
class Runner {
 public:
  /// `budget` is the least measuring time of one figure in seconds.
  Runner(Device device, double budget)
      : device_(std::move(device)), queue_(device_), budget_(budget) {}

  /// The kernel alone: a "single" result, and a "sustained" one where it takes less than 100 µs.
  /// With `waited` also what a caller waits for it.
  std::vector<Result> resident(const Problem& problem, Expectation& expectation,
                               const std::string& rung, bool waited = false);
  /// The one-line call on host data, in pageable and in pinned memory, by the rung of `kernel`, the
  /// resident result.
  std::vector<Result> whole(const Problem& problem, Expectation& expectation, const Result& kernel);

  const Device& device() const { return device_; }

 private:
  Device device_;
  Queue queue_;
  double budget_;
};

/// Shared with the steps (Control::step) that use it.
using Expected = std::shared_ptr<Expectation>;
/// Made in a step; null where the work ended before it was.
Expected expected(const Problem& problem, uint64_t seed,
                  const std::vector<std::vector<std::byte>>& given = {});

/// One rung ("": the device's own choice) on one problem, in a step: the kernel on resident data
/// and, where `whole` is set and it is right, the whole program. A refusal is one result that says
/// why. Empty where the work ended before it was measured.
std::vector<Result> measure_rung(const Runner& runner, const Problem& problem,
                                 const Expected& expectation, const std::string& rung, bool whole);

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
/// The same, and how they stand against the vendors' of the same kind of device and method. False
/// where none is right.
bool judge(std::vector<Result>& results);

/// Measures every table of a ladder: one rung after the other, each held against the
/// oracle and against the bits of all before it, before a line of it is printed.
class LadderRun {
 public:
  LadderRun(Control& of_run, double min_time, uint64_t seed)
      : control(of_run), budget(min_time), seed_(seed) {}

  Control& control;
  const double budget;
  Document document = {.command = "ladder"};
  bool sampled = false;  ///< whether a gemm was too large to check every element by the oracle

  /// Measures, keeps in the document and returns the results of one rung: refused ones too. Empty
  /// where the work ended before.
  std::vector<Result> measure(const Runner& runner, const Problem& problem, const std::string& rung,
                              bool whole = false);

  /// Fails what has other bits than its problem had before; keeps and returns the results as they
  /// then are.
  std::vector<Result> keep(std::vector<Result> results);

 private:
  /// The rungs of a line share their data and its reference: to make them again takes longer than
  /// the rung.
  Expected expect(const Problem& problem);
  uint64_t seed_;
  std::string expected_;  ///< the problem, in words
  Expected expectation_;
  Digests digests_;
};

/// The outcome of a command's work; `nothing` is no success, however early it ended.
enum class Outcome { good, failed, nothing };
/// `failed` where any result is wrong, `nothing` where none is right; where there is no result but
/// there are `roofs`, these are what was asked for.
Outcome outcome_of(const std::vector<Result>& results, bool roofs = false);

/// Writes the JSON file where one was asked for, and is then ended().
int finish(Document& document, const Control& control, const std::string& path, Outcome outcome);
/// Says why the work ended early if it did, and returns the command's exit code: kExitFailed if a
/// result is wrong; else kExitInterrupted after Ctrl-C; else kExitFailed if there is no result;
/// else kExitGood.
int ended(const Control& control, Outcome outcome, std::FILE* out = stdout);

}  // namespace trine::bench
