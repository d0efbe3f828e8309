// What the tuning table knows a call by: its kind, packed into a number, and its extents. Left out on
// purpose: scalars, leading dimensions, alignment. A rung that minds them refuses.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "backends/abi.h"

namespace trine::detail {

/// The fields of a kind, a byte each; the first and the last are every operation's.
enum Field { kOperation, kFunction, kMap, kAxis, kDtype, kResult, kLayout, kNumerics };

struct TuningKey {
  uint64_t kind = 0;
  /// reduce: rows, cols (axis all: elements, 1); transpose: rows, cols, batch; gemm: m, n, k, batch.
  int64_t extents[4] = {1, 1, 1, 1};

  uint32_t get(Field field) const { return kind >> (8 * field) & 0xff; }
  TuningKey& set(Field field, uint64_t value) {
    kind |= value << (8 * field);
    return *this;
  }
  /// The layouts of the operands, a letter each.
  TuningKey& set_layout(std::initializer_list<const trine_view*> views);
};

/// "reduce sum identity all f32 f32 r reproducible 1048576x1", "transpose b32 rr reproducible
/// 1024x1024x1", "gemm f32 rrr reproducible 512x512x512x1"; a letter an operand: r(ow-major),
/// c(olumn-major), s(trided).
std::string text_of(const TuningKey& call);
/// The sizes alone: "512x512x512", without trailing ones.
std::string size_text(const TuningKey& call);
/// The reverse of text_of(); false where `text` is no call's.
bool read_call(std::string_view text, TuningKey& call);

}  // namespace trine::detail
