// Reductions that fold element into element: integer sums, min, max, argmin, argmax (fold.cpp), and
// products along their fixed tree (product-inl.hpp). They are compiled once per instruction set.
#pragma once

#include <cstring>

#include "plan.hpp"

namespace trine::cpu {

// The result of a part: a value or key in its low bytes, and the index of an argmin.
struct Folded {
  using Behind = Nothing;
  std::uint64_t bits;
  std::int64_t index;

  template <class T>
  T value() const {
    T x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
  }
};
template <class T>
Folded folded(T value, std::int64_t index = 0) {
  Folded result{0, index};
  std::memcpy(&result.bits, &value, sizeof value);
  return result;
}

struct FoldScratch {
  alignas(64) std::byte buffer[kChunk * 8];
  alignas(64) std::uint64_t level[48][kStrip];  // product: subtrees in progress, one per level
};

using FoldPiece = Piece<FoldScratch, Folded>;
using FoldWork = Work<FoldScratch, Folded>;

FoldWork fold_work(const Problem& p);

}  // namespace trine::cpu
