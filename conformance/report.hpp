// The options of a run of the conformance cases, and its findings.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

namespace trine::conformance {

struct Progress {
  int64_t done, total, failed;
  const char* device;
  const char* name;
};

struct Options {
  bool quick = false;
  std::vector<std::string> devices;  ///< empty: every device, and cpu:threads=1
  std::string rung;                  ///< only this rung, with or without parameters; empty: all
  std::string filter;                ///< only cases whose name contains this
  uint32_t operation = 0;            ///< only this trine_operation; 0: all
  bool stop_at_failure = false;      ///< the first failure ends it: is there any?
  /// Seconds in which calls from the seeds `seed`, `seed` + 1, … run on each device instead of the
  /// cases; 0: only the call of `seed`; negative: the cases. Filters are "operation", "fill" and
  /// "copy".
  double random_seconds = -1;
  uint64_t seed = 1;
  std::vector<std::string> require;  ///< backends that must be there ("cpu", "opencl")
  // Both are called from several threads, one at a time.
  std::function<void(const Progress&)> progress;
  std::function<bool()> stop;  ///< asked before each run of a case: true ends it with what there is
  /// Gets a function that waits for a given time and returns whether all devices are done, and
  /// calls it until they are. If it returns false, the run ends without them: the report has what
  /// is there, and threads still work when verify() returns. Empty: waits for all.
  std::function<bool(const std::function<bool(std::chrono::milliseconds)>&)> await;
};

struct Failure {
  std::string device, rung, name, what;
};

struct Report {
  int64_t cases = 0, failed = 0, skipped = 0;
  bool partial = false;  ///< stopped before the last case
  double seconds = 0;
  std::vector<Failure> failures;
  std::map<std::string, int64_t> skip_reasons;  ///< few words -> how many
  std::map<std::string, int64_t> skip_details;  ///< "device rung: text" -> how many
  /// Cases run, by class: "rung" ("cpu reduce exact"), "dtype", "axis or layout", "values".
  std::map<std::string, std::map<std::string, int64_t>> classes;

  bool passed() const { return failed == 0 && cases > 0; }
  /// "verify: N cases, 0 failed, M skipped (why)"
  std::string last_line() const;
};

/// Counts per class, reasons of skips, failures, and the last line.
void print(const Report& report, std::ostream& out);

}  // namespace trine::conformance
