// The log that TRINE_BLAS_LOG names: the calls of a program that ran over libtrine_blas, by routine
// and shape, and the time that they would take on a device (docs/blas.md).
#pragma once

#include <trine/place.hpp>

#include <array>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace trine::bench {

/// Calls of one routine and shape.
struct TracedCalls {
  std::string routine;
  std::array<int64_t, 3> shape{};  ///< m, n, k; rows, cols; or n
  std::string text;                ///< "dgemm 64x64x64"
  int64_t calls = 0;
  double seconds = 0;  ///< as they ran
};

struct Trace {
  std::string program;
  std::vector<TracedCalls> all;  ///< the longest first
  int64_t calls = 0, forwarded = 0;
  double seconds = 0;
  bool is_torn = false;  ///< a line isn't whole: where a program, or the disk, ended
};
/// Reads a log with a line for each call, or for each shape. Throws Refusal with the first line
/// that isn't one of such a log.
Trace read_trace(const std::string& path);

/// A time with the interval in which its samples lay.
struct TimeRange {
  double seconds = 0, low = 0, high = 0;
  void add(const TimeRange& other, double times = 1);
};
/// A call on a device where its data moves there and back, and where it is there already.
struct Answer {
  TimeRange moved, stayed;
};

/// A device, or a calibration of one elsewhere.
struct Target {
  std::string name, source;
  std::variant<Device, SavedCalibration> is;
};
/// Nothing where it has no such operation (axpy, copies), or can't run it.
std::optional<Answer> answer(Target& target, const TracedCalls& calls, Where where);

}  // namespace trine::bench
