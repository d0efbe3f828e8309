// One device under test: runs a case on the rungs that the case asks for and counts what came of
// it.
#pragma once

#include <trine/trine.hpp>

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "arena.hpp"
#include "moves.hpp"
#include "report.hpp"

namespace trine::conformance {

class Runner {
 public:
  /// `others`: what it copies from and to.
  Runner(std::string_view device, const std::vector<std::string>& others, const Options& options);

  /// How many runs a case makes here.
  int64_t runs_of(const Case& c) const;
  void run(Case c);

  /// Fills, copies and elementwise commands, the same each time: `kMoves` of each, where nothing
  /// was asked for by name.
  static constexpr int64_t kMoves = 100;
  int64_t moves() const;
  void move(int64_t number);
  /// One call that the seed makes up: an operation, a fill or a copy.
  void run_random(uint64_t seed);

  int64_t failed() const {
    const std::lock_guard lock(mutex_);
    return report_.failed;
  }
  /// The report so far; any thread may ask.
  Report report() const {
    const std::lock_guard lock(mutex_);
    return report_;
  }
  const std::string& device_id() const { return device_.id(); }

 private:
  /// A run of a case: on a rung by name ("" is the default), with these numerics asked for.
  struct Turn {
    std::string rung;
    Numerics ask = Numerics::reproducible;
  };
  struct Outcome {
    Choice choice;
    std::string wrong;  ///< "" when all is well
  };

  std::vector<Turn> turns(const Case& c) const;
  bool splits(const Case& c) const;
  bool wanted(const std::string& rung) const;
  bool stopped() const { return options_.stop && options_.stop(); }
  void take_turn(const Case& c, const Turn& turn, const std::function<Outcome()>& body);
  Choice enqueue(const oracle::Operation& plan, const std::vector<View>& views, const Turn& turn,
                 bool hostile, std::string& wrong);
  Outcome run_in_arenas(const Case& c, const Arenas& arenas, std::vector<Buffer>& buffers,
                        const Turn& turn);
  Outcome run_far(const Case& c, const Turn& turn, oracle::HostOperation& host,
                  const std::vector<Buffer>& buffers);
  std::vector<Buffer> allocate(const Case& c, const std::vector<uint64_t>& sizes, size_t turns);
  void check_choice(const Choice& choice, const Turn& turn, std::string& wrong) const;
  void skip(const Case& c, const Turn& turn, const Error& error);
  void fail(const Case& c, const std::string& rung, const std::string& what);
  void count(const Case& c, const Choice& choice);
  void move(Moves::Kind kind, uint64_t seed);

  const Options& options_;
  Device device_;
  Queue queue_;
  bool has_options_;
  std::vector<RungInfo> ladders_[TRINE_OPERATION_COUNT];
  Moves moves_;
  std::vector<RandomBuffer> held_;  ///< of the case that runs
  Report report_;
  mutable std::recursive_mutex mutex_;  ///< of report_
};

}  // namespace trine::conformance
