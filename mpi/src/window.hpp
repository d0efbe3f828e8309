// The part of a sum's state that isn't empty, as it goes into a short message: the states of
// numbers that a program adds are mostly sign and zeros.
#pragma once

#include "check.hpp"

namespace trine::mpi::detail {

/// Words [low, high) of a state's number; what lies below is zero, above it the sign. Word w is at
/// w % kWords, so that two windows add without moving. Plain bytes, with a merge that no order of
/// ranks changes.
class Window {
 public:
  Window() = default;
  explicit Window(const ExactSum::State& state);
  /// The window of the sum of one number.
  explicit Window(double value) noexcept;

  void merge(const Window& other) noexcept;
  /// Whether the number needs more words than there are; then the whole state must go.
  bool is_too_wide() const noexcept { return high_ - low_ > kWords; }
  /// The state again, of one that isn't too wide.
  ExactSum::State state() const noexcept;

 private:
  static constexpr int kWords = 12;  // 768 bits: all of f32, and 231 decades of f64
  static constexpr int kAll = int(ExactSum::words) - 1;

  uint64_t sign() const noexcept;

  uint32_t flags_ = 0;
  int16_t low_ = kAll, high_ = 0;  ///< nothing: low_ > high_
  uint64_t words_[kWords] = {};
};

}  // namespace trine::mpi::detail
