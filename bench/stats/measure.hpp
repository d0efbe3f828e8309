// How often to repeat a call, and the statistics of its samples.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace trine::bench {

/// The host's.
using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point begin);

/// The figure of another run of the same command falls in it nine times in ten, on a machine in the
/// same state.
struct Interval {
  double low = 0, high = 0;
};

/// From the medians of a run's rounds. From seven on by ranks, for the median of as many rounds and
/// exact for whatever distribution they have (Fligner, Wolfe: Nonparametric Prediction Intervals
/// for a Future Sample Median, 1979). Fewer can't tell so much by ranks: then it is for one further
/// round, safe and wide, by Student on a logarithmic scale, around the median. With one round both
/// ends are the figure.
Interval interval_of(const std::vector<double>& rounds);

struct Samples {
  std::vector<double> seconds;
  bool empty() const { return seconds.empty(); }
  double median() const;
  /// Half the interquartile range over the median.
  double spread() const;
  /// The interval of a run of one round. Each of its eight consecutive parts stands for a run,
  /// since what comes and goes slowly shows between them: where a further part falls.
  Interval interval() const;
};

/// A figure that stands on its own: its median, that of each round, and where a further one falls.
struct Timed {
  std::optional<double> seconds;
  std::vector<double> rounds;
  Interval interval;

  Timed() = default;
  /// From one round.
  explicit Timed(const Samples& samples);
  /// From several.
  explicit Timed(std::vector<double> of_rounds);
};

/// A call that took no time by its clock.
struct ClockStandsStill : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Calls `once` (which returns the seconds it took, by whichever clock is right) for at least
/// `min_seconds` of such time, or four times that on the wall where more of it passes around the
/// measured part, and at least `min_count` times. A few calls before find the number of iterations
/// and are not kept, unless each of them took `min_seconds`: then they are all there is. It throws
/// what `once` throws, and ClockStandsStill.
Samples measure(double min_seconds, int min_count, const std::function<double()>& once);

}  // namespace trine::bench
