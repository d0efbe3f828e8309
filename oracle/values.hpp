// The values that inputs are made of: classes from friendly to nasty, each a pure function of
// (seed, position), assembled from random bits without libm.
//
// Some classes have structure along a "line", which is what one result is made of: for reduce the
// whole view, a row or a column; elsewhere a row.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "backends/ops.h"

namespace trine::oracle {

enum class Values : uint32_t {
  kUniform,         ///< floats in (-1, 1) with full mantissas; integers and bits of all values
  kWide,            ///< f32 2^±120, f64 2^±900
  kMixed,           ///< all finite exponents, denormals included
  kDenormal,        ///< denormals alone
  kCancel,          ///< wide values, each with its negative in the same line
  kCancelHuge,      ///< the same among the largest values: partial sums overflow, the sum does not
  kHalfway,         ///< a line sums to a tie of rounding, or to a hair beside one
  kZeros,           ///< +0 and -0
  kNegativeZeros,   ///< -0 alone
  kNan,             ///< uniform, a NaN of any payload and sign here and there
  kInfinity,        ///< uniform, an infinity here and there, of one sign in a line
  kInfinities,      ///< uniform, infinities of both signs in a line
  kSmall,           ///< integers -8 … 8
  kTies,            ///< few values, each many times: extremes are found more than once
  kConstant,        ///< one value in a line
  kExtremes,        ///< the largest, the smallest and their neighbours
  kUnderflow,       ///< products of two of them are denormals or vanish
  kNearOne,         ///< 1 ± 2^-10: products stay finite
  kCancelModerate,  ///< 2^±30, each with its negative in the same line
  kCancelSlowly,  ///< the same; exponents sink and rise slowly along a line: f32 2^±100, f64 2^±300
  kCancelByTurns,  ///< the same; exponents of 100 and -100 (f64 300) by turns of 1, 2, 4 … 128
                   ///< neighbours
  kLone,           ///< uniform, and about one in 2^16 is the least denormal
  kLateInfinity,   ///< wide, an infinity at seven eighths of a line
  kTail,           ///< 1 ± 2^-10, and about one in 64 is smaller, of any exponent
  // For products that are rounded once. The lines are the rows of the left operand (and of C) and
  // the columns of the right one.
  kProductTies,  ///< each result is an integer of one bit too many, or a hair beside one
  kMirrored,     ///< rows (x, -x) by columns (y, y): the result is 0, or the little that is left
  kInverse,  ///< rows of an integer matrix by columns of its inverse, along k scaled by powers of 2
  kGraded,   ///< each row and column has an exponent of its own: f32 2^±60, f64 2^±500
  kLoneHuge,  ///< uniform, one element of each row and column f32 2^60, f64 2^500
  kBrink,     ///< the last product decides whether the result overflows; others cancel
  kDrift,     ///< a sum in f64 rounds each step the same way, past a tie: bounds are nearly reached
};

/// The classes for all operations.
std::span<const Values> all_values();
/// The classes for products that are rounded once.
std::span<const Values> product_values();
constexpr bool is_for_products(Values values) { return values >= Values::kProductTies; }
const char* name_of(Values values);
/// The class of this name; throws std::invalid_argument with the list for an unknown one.
Values values_named(std::string_view name);
/// Whether the class differs from the others for this dtype.
bool suits(Values values, uint32_t dtype);

struct Fill {
  Values values = Values::kUniform;
  uint64_t seed = 1;
  uint32_t axis = TRINE_ALL;  ///< which way lines run (trine_axis)
};

/// Fills the memory that a host view reaches. Along a stride of 0 one element stands for all.
void fill(const Fill& how, uint32_t dtype, const trine_view& view);

/// Fills `count` contiguous elements as one line.
void fill_line(const Fill& how, uint32_t dtype, int64_t count, void* memory);

}  // namespace trine::oracle
