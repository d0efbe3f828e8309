/// Products and sums of extents, strides and sizes that may leave the range of their type. The
/// library uses this header; programs don't need it.
///
/// Thread safety: a Fitting is a value.
#pragma once

#include <concepts>
#include <cstdint>

namespace trine::detail {

/// An integer that remembers whether a step of its computation left its type's range. A product
/// with a factor 0 is 0, also where the other factors' product is out of range.
/// ```cpp
/// const trine::detail::Fitting<int64_t> most = INT64_MAX;
/// const bool fits = (most + 1).fits(), vanishes = (most * 2 * 0).fits();  // false, true
/// ```
template <std::integral T>
class Fitting {
 public:
  /// A number as it is.
  constexpr Fitting(T value) noexcept : value_(value) {}

  /// Whether all steps stayed in T's range.
  constexpr bool fits() const noexcept { return fits_; }
  /// The number, or `otherwise` where it doesn't fit.
  constexpr T value_or(T otherwise) const noexcept { return fits_ ? value_ : otherwise; }

  friend constexpr Fitting operator*(Fitting a, Fitting b) noexcept {
    if (a.is_zero() || b.is_zero()) return 0;
    Fitting product = 0;
    product.fits_ =
        !__builtin_mul_overflow(a.value_, b.value_, &product.value_) && a.fits_ && b.fits_;
    return product;
  }
  friend constexpr Fitting operator+(Fitting a, Fitting b) noexcept {
    Fitting sum = 0;
    sum.fits_ = !__builtin_add_overflow(a.value_, b.value_, &sum.value_) && a.fits_ && b.fits_;
    return sum;
  }

 private:
  constexpr bool is_zero() const noexcept { return fits_ && value_ == 0; }

  T value_;
  bool fits_ = true;
};

/// The distance of dense matrices of a batch. If it is out of range, the check of the view's
/// extents refuses the view later.
constexpr int64_t matrix_stride(int64_t rows, int64_t cols) noexcept {
  return (Fitting(rows) * cols).value_or(INT64_MAX);
}

}  // namespace trine::detail
