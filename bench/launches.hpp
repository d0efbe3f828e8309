// Launches of one rung on one problem, one after the other for a caller that counts and times by itself
// (trine bench), and in the end the verdict on them all.
#pragma once

#include <memory>
#include <string>

#include "expectation.hpp"
#include "measure.hpp"
#include "ring.hpp"

namespace trine::bench {

class Launches {
 public:
  /// Takes memory and fills it, so it is made when the first launch is due.
  Launches(const Device& device, const Problem& problem, uint64_t seed, const std::string& rung);

  /// Seconds of one launch, by the device's clock.
  double once();
  /// Empty, or what is wrong with the outputs or the times so far. Nothing can be launched afterwards.
  std::string verdict();

 private:
  Choice launch_slot(int slot) { return launch(queue_, ring_.operation(slot), rung_); }
  void next_ring();
  std::string check();
  std::string scrutinize();

  Queue queue_;
  Problem problem_;
  std::string rung_;
  Expectation expectation_;
  Ring ring_;
  Numerics numerics_;
  int slot_ = 0;
  Checks checks_;
  Samples device_, host_;  ///< each launch by either clock
};

}  // namespace trine::bench
