// What the outputs of a measurement must be, from the oracle: everything up to 2^30 fused steps,
// else at least 4,096 elements (corners, edges, random) a slot, and all devices with each other by
// digest.
//
// Each input is kept as `windows` overlapping stretches of one array, a little apart, so that every
// launch of a timed batch reads other values without a copy of the data for each.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "problem.hpp"

namespace trine::bench {

class Expectation {
 public:
  static constexpr int kWindows = 3;
  static constexpr uint64_t kShift = 1024;  ///< bytes between two windows; keeps every alignment

  /// Fills the inputs by the problem's value class; `given` replaces them (one array an input; gemm
  /// with beta: C's values too).
  Expectation(const Problem& problem, uint64_t seed,
              std::vector<std::vector<std::byte>> given = {});

  int windows() const { return windows_; }
  /// The host bytes of input `operand`: window w begins at w * kShift.
  const std::vector<std::byte>& input(size_t operand) const { return inputs_[operand]; }
  size_t input_count() const { return input_count_; }
  uint64_t output_bytes() const { return output_bytes_; }
  bool sampled() const { return sampled_; }

  /// Empty when `output` is what window `w` must give (bit by bit; by bound for fast, study and
  /// vendor rungs), else the difference in words.
  std::string check(int w, const void* output, Numerics numerics);
  /// 64 bits over all of `output`, every NaN counted alike (transpose: as bits).
  uint64_t digest(const void* output) const;

 private:
  oracle::Operation operation(int w, void* output);
  void prepare(int w);
  std::string check_sampled(int w, const void* output, bool exact);

  Problem problem_;
  size_t input_count_ = 0;
  std::vector<std::vector<std::byte>> inputs_;
  uint64_t output_bytes_ = 0;
  int windows_ = kWindows;
  bool sampled_ = false;
  std::vector<oracle::Position> positions_;
  std::vector<std::vector<std::byte>> expected_;  ///< by window; of positions_ when sampled
  std::vector<std::vector<double>> bounds_;       ///< by window, of positions_
};

}  // namespace trine::bench
