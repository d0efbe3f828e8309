// Interleaved runs of several builds: while one measures a case, the others wait, and then take their turn.
// What the machine does meanwhile happens to all of them alike, so `trine gate` compares them pair by pair. In every
// other round the order is reversed (ABBA): who goes first has nothing of it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/ui/control.hpp"

namespace trine::bench {

/// Runs that are to be interleaved.
struct RunGroup {
  std::string path;       ///< a file that they all name; made where there is none
  int of = 2;             ///< how many they are
  std::string work = {};  ///< what each does, step by step: the same for all of them
  int64_t steps = 1;      ///< of a round
  double patience = 60;   ///< seconds to wait for the others to come
};

/// One run's place among them; a process has one at a time. A run that ends or dies is left out from then on.
class InterleavedRuns {
 public:
  static constexpr int kMost = 64;  ///< runs

  /// Joins the others and returns when it is this one's turn. Throws Refusal where they don't come, are under way
  /// already, are others or do something else, or where `path` isn't a file of turns. `control` outlives this;
  /// where it says stop, nobody is waited for.
  InterleavedRuns(const RunGroup& group, Control& control);
  ~InterleavedRuns();
  InterleavedRuns(const InterleavedRuns&) = delete;
  InterleavedRuns& operator=(const InterleavedRuns&) = delete;

  /// Lets all others have their turn, and returns when it is this one's again.
  void next();

  /// A run that died or ended before this one had as many turns, and the whole rounds that it was there for.
  struct Left {
    int place;
    int64_t rounds;
  };
  std::vector<Left> left() const;

  /// {"id": "00c5…", "of": 2, "place": 0, "left": []}: runs of one id had their turns together.
  nlohmann::ordered_json to_json() const;

 private:
  void join(const RunGroup& group);
  void begin(const RunGroup& group);
  bool await(bool (InterleavedRuns::*come)(), double patience);
  bool all_joined();
  bool has_begun();
  bool is_mine();
  int place_of(int64_t turn) const;
  int64_t own_turn() const;
  void pass_to(int64_t turn);

  std::string path_;
  Control& control_;
  int file_, of_, place_ = -1;
  int64_t steps_, taken_ = 0;  ///< of a round; by this run so far
};

}  // namespace trine::bench
