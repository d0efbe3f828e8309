// The output of `compare`: a table for each group of problems that differ in size alone, and under
// it one sentence on the call on host data, computed from the run.
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

/// The meaning of the columns, in one line.
inline constexpr const char* kLegend =
    "time: the kernel on resident data, by the device's clock. call: one call on host data, by the "
    "caller's; "
    "vs cpu compares calls. It pays where the caller waits less, on either data.";

/// From which sizes on a caller waits less for a device than for the cpu, surely: "it pays for data
/// that stays on the device from 2^20, and up to 2^24 it never pays for one call on host data";
/// empty when there is nothing to compare.
std::string pays(const std::vector<Result>& results, const std::string& device);

/// How a device stands against the cpu, from the results of one group; empty
/// when there is nothing to compare.
std::string observation(const std::vector<Result>& results, const std::string& device);

}  // namespace trine::bench
