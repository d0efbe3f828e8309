// The one fixed tree of a product of floats, in blocks: a block of 2^k indices from a multiple of
// 2^k on is a complete subtree, whatever the tree's size, so it can be computed anywhere.
#pragma once

#include <trine/partial.hpp>

#include <vector>

namespace trine::detail {

bool is_nan(Dtype dtype, uint64_t bits) noexcept;

struct Block {
  uint64_t place;  ///< twice the middle: 2 first + width, a number of its own for each block
  uint64_t value;  ///< the product's bits

  uint64_t width() const { return place & -place; }
  uint64_t first() const { return (place - width()) / 2; }
  uint64_t end() const { return first() + width(); }
  friend bool operator==(const Block&, const Block&) = default;
};
using Blocks = std::vector<Block>;

/// The fewest blocks that together are `count` indices from `first` on, in order; the caller fills
/// in their values.
Blocks cut_into_blocks(int64_t first, int64_t count);

/// Sorts blocks by their indices, and multiplies two halves of a block into one. Throws Error if
/// two blocks share an index.
void join_halves(Blocks& blocks, Dtype dtype);

/// The root's value; of no blocks 1. Throws Error where indices are missing.
uint64_t root_of(const Blocks& blocks, Dtype dtype);

}  // namespace trine::detail
