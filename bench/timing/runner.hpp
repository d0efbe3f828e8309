// Measures one problem on one device: the kernel on resident data, and the one-line call
// on host memory with its phases apart. Every timed launch writes its own slot of a poisoned ring and
// reads its own window of the input; whole rings are checked, the first, some by chance, and the last.
#pragma once

#include "bench/stats/measure.hpp"
#include "expectation.hpp"
#include "result.hpp"

namespace trine::bench {

class Runner {
 public:
  /// `budget` is the least measuring time of one figure in seconds.
  Runner(Device device, double budget)
      : device_(std::move(device)), queue_(device_), budget_(budget) {}

  /// The kernel alone: a "single" result, and a "sustained" one where it takes less than 20 µs. With `waited`
  /// also what a caller waits for it.
  std::vector<Result> resident(const Problem& problem, Expectation& expectation,
                               const std::string& rung, bool waited = false);
  /// The one-line call on host data, in pageable and in pinned memory, by the rung of `kernel`, the resident
  /// result.
  std::vector<Result> whole(const Problem& problem, Expectation& expectation, const Result& kernel);

  const Device& device() const { return device_; }

 private:
  Device device_;
  Queue queue_;
  double budget_;
};

}  // namespace trine::bench
