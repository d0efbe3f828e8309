// Comparing and digesting results: bit by bit, every NaN counting as the same NaN (except where the
// dtype is plain bits, as in transpose).
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "backends/ops.h"

namespace trine::oracle {

/// The findings of a comparison. Passing means: something was compared or there was nothing to
/// compare, and no element differs.
struct Difference {
  int64_t compared = 0, wrong = 0;
  int64_t batch = 0, row = 0, col = 0;  ///< of the first wrong element
  std::string expected, got;            ///< value and bits of it
  bool none() const { return wrong == 0; }
  /// "3 of 17 differ, first (0, 2, 5): expected … got …"
  std::string sentence() const;
};

/// Compares two host views of equal shape bit by bit.
Difference compare(uint32_t dtype, const trine_view& expected, const trine_view& got);

/// The same with an error bound for each element (batch, row, column order); a bound of 0 asks for
/// equal values, and a NaN passes only where a NaN is expected.
Difference compare_within(uint32_t dtype, const trine_view& expected, const trine_view& got,
                          std::span<const double> bounds);

/// A 64-bit digest of values and their positions, whatever the strides.
uint64_t digest(uint32_t dtype, const trine_view& view);

/// An element as a person reads it, with its bits: "-0 (0x80000000)".
std::string element_text(uint32_t dtype, const char* address);

}  // namespace trine::oracle
