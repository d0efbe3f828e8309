// How a call on host data is cut, so that one part of it is copied while another is computed: into
// strips, each a call of its own on parts of the operands. Their results lie apart and each is computed
// as in the whole call, so its bits are the same.
#pragma once

#include "core/src/call/check.hpp"

namespace trine::detail {

/// The dimension along which an operand is cut. `none`: every strip needs all of it.
enum class Cut { none, rows, cols, batch };

/// A range along that dimension.
struct Strip {
  int64_t begin = 0, count = 0;
};

struct Cutting {
  std::vector<Strip> strips;  ///< fewer than two: the call goes whole
  std::vector<Cut> cuts;      ///< by operand, the output last
};

/// What is cut: gemms by rows of a and c or by columns of b and c, the other input in front;
/// transposes by the wider stride of the input; both by the batch where there is one; where at least
/// twice 16 MiB move. docs/decisions/calls-in-strips.md says why these, and why the rest goes whole:
/// reductions, gemms that may be `fast`, and single transposes of pageable memory.
Cutting cutting_of(const Reduce& operation, bool pinned);
Cutting cutting_of(const Transpose& operation, bool pinned);
Cutting cutting_of(const Gemm& operation, bool pinned);

/// How many strips at most a call that moves so much is cut into; 1: it goes whole.
int64_t strips_of(double bytes);

HostView part_of(HostView view, Cut cut, const Strip& strip);

}  // namespace trine::detail
