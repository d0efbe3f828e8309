// The expected outputs of a measurement, from the oracle: everything up to 2^30 fused steps, else
// at least 4,096 elements (corners, edges, random) a slot. Outputs that must have the same bits are
// compared by digest: those of every rung and device that are held against one expectation.
//
// Each input is kept as `windows` overlapping chunks of one array, a little apart, so that every
// launch of a timed batch reads other values without a copy of the data for each. One more chunk
// is kept back for the end: data that no launch has seen.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/cases/problem.hpp"

namespace trine::bench {

class Expectation {
 public:
  static constexpr int kWindows = 3;
  static constexpr uint64_t kShift = 1024;  ///< bytes between two windows; keeps every alignment

  /// Fills the inputs by the problem's value class; `given` replaces them, one array an input.
  Expectation(const Problem& problem, uint64_t seed,
              std::vector<std::vector<std::byte>> given = {});

  int windows() const { return windows_; }
  /// The host bytes of each input: window w begins at w * kShift.
  std::vector<std::span<const std::byte>> inputs() const;
  /// As many bytes as one window has, which differ from every window.
  std::span<const std::byte> unseen(size_t operand) const {
    return {data_of(windows_, operand), input_bytes_[operand]};
  }
  uint64_t output_bytes() const { return output_bytes_; }
  bool sampled() const { return sampled_; }

  /// `show` gets what goes on: "computing the reference", "verifying", and "measuring" from the end
  /// of a check.
  void tell(std::function<void(const char*)> show) { show_ = std::move(show); }

  /// Computes the references of all windows now, not when they are needed first.
  void prepare() {
    for (int w = 0; w <= windows_; ++w) prepare(w);
  }

  /// Empty when `output` is what window `w` must give (bit by bit; by bound for fast, study and
  /// vendor rungs), else the difference in words.
  std::string check(int w, const void* output, Numerics numerics);
  /// The same for unseen() data; of a gemm at least 4,096 elements.
  std::string check_unseen(const void* output, Numerics numerics) {
    return check(windows_, output, numerics);
  }
  /// The same where element `at` of the first input has become the one behind it.
  std::string check_changed(uint64_t at, const void* output, Numerics numerics);
  /// 64 bits over all of `output`, every NaN counted alike (transpose: as bits).
  uint64_t digest(const void* output) const;

 private:
  oracle::Operation operation(int w, void* output);
  const std::byte* data_of(int w, size_t operand) const;
  /// Whether some elements of window `w` stand for all: the oracle takes its time over large gemms.
  bool samples(int w) const;
  void prepare(int w);
  std::string check_all(int w, const void* output, Numerics numerics);
  std::string check_sampled(int w, const void* output, Numerics numerics);
  /// By element of window `w` (of positions_ where it is sampled); empty: the same bits.
  const std::vector<double>& bounds(int w, Numerics numerics);

  Problem problem_;
  std::function<void(const char*)> show_ = [](const char*) {};
  std::vector<std::vector<std::byte>> inputs_;
  std::vector<uint64_t> input_bytes_;  ///< of one window
  uint64_t output_bytes_ = 0;
  int windows_ = kWindows;
  uint64_t shift_ = kShift;  ///< the unseen data begins where a further window would
  bool sampled_ = false;
  std::vector<oracle::Position> positions_;
  /// By window, the unseen one last; of positions_ when sampled.
  std::vector<std::vector<std::byte>> expected_;
  std::map<std::pair<int, Numerics>, std::vector<double>> bounds_;
  std::map<int, uint64_t>
      digests_;  ///< by window where sampled: of the first output that had the right bits
};

}  // namespace trine::bench
