// Reductions that fold element into element: integer sums, min, max, argmin, argmax (fold.cpp), and
// products along their fixed tree (product.cpp). Both are compiled once per instruction set.
#pragma once

#include "plan.hpp"

namespace trine::cpu {

// What a part of a result came to: a value or key in its low bytes, and the index of an argmin.
struct Folded {
  std::uint64_t bits;
  std::int64_t index;
};

struct FoldScratch {
  alignas(64) std::byte buffer[kChunk * 8];
  alignas(64) std::uint64_t level[48][kStrip];  // product: subtrees in progress, one per level
};

struct FoldPiece {
  const Problem* problem;
  const Plan* plan;
  FoldScratch* scratch;
  Folded* partials;  // null when the plan has one part: results are stored
};

void fold_piece(const FoldPiece& piece, std::int64_t index);
void finish_fold(const Problem& p, const Plan& plan, Folded* partials, std::int64_t r);

void product_piece(const FoldPiece& piece, std::int64_t index);
void finish_product(const Problem& p, const Plan& plan, Folded* partials, std::int64_t r);

// Calls along(r, part) for every result of the piece, or across(first, width, part) for its strips.
template <class Along, class Across>
void each_part(const FoldPiece& piece, std::int64_t index, Along&& along, Across&& across) {
  const Plan& plan = *piece.plan;
  const std::int64_t part = index % plan.parts;
  const std::int64_t first = index / plan.parts * plan.unit;
  const std::int64_t last = std::min(piece.problem->outputs, first + plan.unit);
  if (plan.across) {
    for (std::int64_t r = first; r < last; r += kStrip) across(r, std::min(kStrip, last - r), part);
  } else {
    for (std::int64_t r = first; r < last; ++r) along(r, part);
  }
}

}  // namespace trine::cpu
