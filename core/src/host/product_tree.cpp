#include "product_tree.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "backends/kit/float_environment.hpp"
#include "core/src/runtime/error.hpp"

namespace trine::detail {
namespace {

template <class T, class Bits>
uint64_t product(uint64_t a, uint64_t b) {
  return std::bit_cast<Bits>(std::bit_cast<T>(Bits(a)) * std::bit_cast<T>(Bits(b)));
}

uint64_t multiply(Dtype dtype, uint64_t a, uint64_t b) {
  return canonical(dtype, dtype == Dtype::f32 ? product<float, uint32_t>(a, b)
                                              : product<double, uint64_t>(a, b));
}

/// Whether `right` continues `left` to a block of twice the width.
bool are_halves(const Block& left, const Block& right) {
  const uint64_t width = left.width();
  return width == right.width() && right.place - left.place == 2 * width &&
         (left.place & 2 * width) == 0;
}

}  // namespace

bool is_nan(Dtype dtype, uint64_t bits) noexcept {
  if (dtype == Dtype::f32) return (bits & 0x7fffffff) > 0x7f800000;
  return dtype == Dtype::f64 && (bits & INT64_MAX) > 0x7ff0000000000000;
}

uint64_t canonical(Dtype dtype, uint64_t bits) noexcept {
  if (is_nan(dtype, bits)) return dtype == Dtype::f32 ? 0x7fc00000 : 0x7ff8000000000000;
  return size_of(dtype) == 4 ? bits & UINT32_MAX : bits;
}

Blocks cut_into_blocks(int64_t first, int64_t count) {
  Blocks blocks;
  const auto end = static_cast<uint64_t>(first) + static_cast<uint64_t>(count);
  for (auto at = static_cast<uint64_t>(first); at < end; at = blocks.back().end()) {
    const uint64_t fits = std::bit_floor(end - at), aligned = at & -at;
    blocks.push_back({2 * at + (at == 0 ? fits : std::min(fits, aligned)), 0});
  }
  return blocks;
}

void join_halves(Blocks& blocks, Dtype dtype) {
  // Values are read from memory after this opaque call, so that the caller's rounding doesn't reach
  // them.
  const kit::WholeFloatEnvironment environment;
  std::ranges::sort(blocks, {}, &Block::first);
  size_t joined = 0;
  for (Block block : blocks) {
    if (joined > 0 && blocks[joined - 1].end() > block.first())
      refuse("Partial: the product has element ", block.first(), " twice.");
    while (joined > 0 && are_halves(blocks[joined - 1], block)) {
      const Block left = blocks[--joined];
      block = {left.place + left.width(), multiply(dtype, left.value, block.value)};
    }
    blocks[joined++] = block;
  }
  blocks.resize(joined);
}

uint64_t root_of(const Blocks& blocks, Dtype dtype) {
  uint64_t next = 0;
  for (const Block& block : blocks) {
    if (block.first() != next) {
      refuse("Partial: result: the product lacks the elements ", next, " to ", block.first() - 1,
             ".");
    }
    next = block.end();
  }
  // As nothing is missing, the blocks are the binary digits of the size, and each is a left child.
  const kit::WholeFloatEnvironment environment;
  uint64_t root = blocks.empty() ? (dtype == Dtype::f32 ? 0x3f800000 : 0x3ff0000000000000)
                                 : blocks.back().value;
  for (size_t b = blocks.size(); b-- > 1;) root = multiply(dtype, blocks[b - 1].value, root);
  return root;
}

}  // namespace trine::detail
