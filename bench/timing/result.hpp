// One line of a measurement, as the table prints it and the JSON file keeps it (docs/json.md).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/cases/problem.hpp"
#include "bench/roofs/roof.hpp"
#include "bench/stats/measure.hpp"

namespace trine::bench {

struct Result {
  Problem problem;
  std::string device, requested, rung;  ///< requested: the rung asked for, or ""
  int rung_index = -1;  ///< into Device::rungs(), which go up the ladder; -1: none ran
  std::string why;      ///< the choice's reason
  Numerics numerics = Numerics::reproducible;
  bool built_in = false;            ///< of a ladder: what the backend chooses by itself
  std::string memory = "resident";  ///< "resident", "pageable", "pinned"
  std::string method = "single";    ///< "single", "sustained"
  /// Medians in seconds; none where a phase doesn't exist.
  std::optional<double> alloc, h2d, kernel, d2h, total, first;
  int samples = 0;
  double spread = 0;
  /// The kernel's time on resident data, else the total: the median of each round, and the interval
  /// in which that of a further round would fall nine times in ten.
  std::vector<double> rounds;
  Interval interval;
  /// The caller's wait by the host's clock, from submitting the operation to the end of the wait:
  /// for a resident result, where it was measured.
  Timed waited;
  double rate = 0;  ///< of the kernel: bytes/s or flop/s
  Roof roof;
  std::vector<double> roofs;         ///< its value in each round
  std::optional<double> peer_ratio;  ///< peer's time over ours, in this run
  bool verified = false;
  std::string failure;   ///< what the verification found, or why the rung refused
  bool skipped = false;  ///< refused with a reason: no failure
  uint64_t digest = 0;

  bool vendor() const { return numerics == Numerics::vendor; }
  bool wrong() const { return !verified && !skipped; }
  /// Notes which kernel ran, and why.
  void take(const Choice& choice);
};

constexpr int kLeastSamples = 3;
/// The kernel's time, and the samples that the figure stands on.
void set_figure(Result& result, const Samples& samples, double seconds);
/// Where a figure passes its measured roof, another program may have had the cores while that was
/// probed, or the memory may have another speed by now, as on shared machines: the roof is probed
/// once more, and where that doesn't suffice the roof and the kernel (`once`: seconds of a launch)
/// in turns. `result` then has the highest roof, and the turns' figure where there were turns.
/// `written`: bytes of all slots.
void settle_roof(const Device& device, uint64_t written, const std::function<double()>& once,
                 Result& result);
/// A rate that the device can't have even so is a defect of the measurement: empty, or in words.
std::string above_roof(const Device& device, const Result& result);

/// How a gemm above 2^30 fused steps is checked, as a sentence.
inline constexpr const char* kSampledNote =
    "Above 2^30 fused steps 4,096 elements are checked by the oracle, and all bits with each "
    "other.";

/// "shared" of "shared:tile=32".
inline std::string bare(const std::string& rung) { return rung.substr(0, rung.find(':')); }
/// {{"tile", "32"}} of it.
using Parameters = std::vector<std::pair<std::string, std::string>>;
Parameters parameters_of(std::string_view rung);

/// As tables have them: the kernel's rate with its unit; its share of the roof, "-" where none is
/// known; "same bits", "within bound", "refused" or "WRONG".
std::string rate_text(const Result& result);
std::string share_text(const Result& result, int decimals = 0);
const char* verdict_text(const Result& result);
/// Says under a table how a share can exceed 100 %.
inline constexpr const char* kAboveRoofNote =
    "Above 100 % of roof: the roof is the best rate of a short probe in this run, on a GPU the "
    "rate of a copy. A rung may exceed it within the noise, if it only reads, or if its data is in "
    "a cache (docs/measuring.md).";
bool is_above_roof(const std::vector<Result>& results);
/// A line for each refusal and each failure, on the standard output.
void print_reasons(const std::vector<Result>& results);

// Rounds: the same cases measured again and again, each time in fresh memory, with all the others
// between. The figures then show the effects of the memory that a run happens to get, and of other
// work on the machine.

/// The results of one problem, a list a round, as one list: medians of the rounds, each round's own
/// in `rounds`, the interval from them; right where every round was right.
std::vector<Result> combined(const std::vector<std::vector<Result>>& rounds);

}  // namespace trine::bench
