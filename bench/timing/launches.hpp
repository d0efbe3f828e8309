// Single launches of one rung on one problem, one after the other, each timed by the device's clock and the
// host's and checked by the ring it writes to. Whoever calls decides how often, and what becomes of it.
#pragma once

#include <string>

#include "bench/stats/measure.hpp"
#include "expectation.hpp"
#include "ring.hpp"

namespace trine::bench {

class Launches {
 public:
  /// Takes memory, fills it and launches once, which doesn't count. What is referred to outlives this.
  Launches(Queue& queue, const Problem& problem, Expectation& expectation, std::string rung);

  const Choice& choice() const { return choice_; }
  double first_seconds() const { return first_seconds_; }  ///< with what it compiled
  Ring& ring() { return ring_; }
  Choice launch_slot(int slot) { return launch(queue_, ring_.operation(slot), rung_); }

  /// Seconds of the next launch, by the device's clock. Throws ClockStandsStill.
  double once();
  /// The same as a caller sees it: by the host's clock, from submitting it to the end of its wait.
  double waited();
  /// All that once() has returned.
  const Samples& samples() const { return device_; }

  /// Empty, or what is wrong in the first `used` slots; keeps the digest of the first.
  std::string check(int used);
  uint64_t digest() const { return digest_; }
  /// Checks what once() launched last too: empty, or what is wrong with any output so far.
  std::string failure();
  /// Both clocks and unseen data, once all outputs are checked: nothing can be launched afterwards.
  /// `single` and `shortest` are the figures of a single launch and of the shortest way there was.
  std::string validate_timing(double single, double shortest);

 private:
  /// Of what is launched next; its slot is poisoned.
  int next_slot();
  void next_ring();

  Queue& queue_;
  Expectation& expectation_;
  std::string rung_;
  Ring ring_;
  Choice choice_;
  double first_seconds_ = 0;
  int slot_ = 0;
  uint64_t digest_ = 0;
  Checks checks_;
  Samples device_, host_;  ///< each launch by either clock
};

}  // namespace trine::bench
