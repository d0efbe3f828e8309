// What `compare` prints: a table for each group of problems that differ in size alone, and under it
// one sentence on what the transfers cost, computed from the run.
#pragma once

#include <string>
#include <vector>

#include "result.hpp"

namespace trine::bench {

/// Collects results problem by problem and prints a group when the next one begins.
class Report {
 public:
  /// The results of one problem on all devices.
  void add(const std::vector<Result>& results, bool sampled);
  void finish();

 private:
  std::string group_;
  std::vector<Result> results_;
  bool sampled_ = false;
};

/// From which sizes on a device is faster than the cpu, surely: "it pays for data that stays on the device from 2^20,
/// and up to 2^24 it never pays for one pass over host data"; empty when there is nothing to compare.
std::string pays(const std::vector<Result>& results, const std::string& device);

/// The transfer-cost observation of a device against the cpu, from the results of one group; empty
/// when there is nothing to compare.
std::string observation(const std::vector<Result>& results, const std::string& device);

}  // namespace trine::bench
