// A strided copy or fill taken apart into what drivers know: rectangles of rows of bytes. And
// copies between devices, which go through host memory and block no caller (staging.cpp).
#pragma once

#include <trine/ops.h>

#include <algorithm>
#include <cstdint>

#include "state.hpp"

namespace trine::detail {

/// `outer` times `height` rows of `width` bytes. Steps are in bytes; `source` means nothing to a
/// fill.
struct Rectangles {
  uint64_t width = 0, height = 1, outer = 1;
  struct Step {
    uint64_t source = 0, target = 0;
  } pitch, step;
  bool whole = true;  ///< false: there is no unit stride that both ends share

  bool empty() const { return width == 0; }
};

/// Folds the dimensions that lie densely on both ends into the width. Views are canonical, of equal
/// shape, and touch at least one element. `in_order`: rows come in the order of the dimensions,
/// else in as few rectangles as there can be.
inline Rectangles take_apart(const trine_view& source, const trine_view& target, uint64_t element,
                             bool in_order = false) {
  struct Dimension {
    uint64_t extent, source, target;
  } all[3];
  int count = 0;
  const auto add = [&](int64_t extent, int64_t from, int64_t to) {
    if (extent > 1) {
      all[count++] = {static_cast<uint64_t>(extent), static_cast<uint64_t>(from) * element,
                      static_cast<uint64_t>(to) * element};
    }
  };
  add(target.cols, source.col_stride, target.col_stride);
  add(target.rows, source.row_stride, target.row_stride);
  add(target.batch, source.batch_stride, target.batch_stride);
  Rectangles rectangles;
  rectangles.width = element;
  for (int i = 0; i < count;) {
    if (all[i].source != rectangles.width || all[i].target != rectangles.width) {
      ++i;
      continue;
    }
    rectangles.width *= all[i].extent;
    std::move(all + i + 1, all + count, all + i);
    --count;
    i = 0;
  }
  rectangles.whole = count < 2 || (count == 2 && rectangles.width > element);
  if (!in_order && count == 2 && all[0].extent < all[1].extent) std::swap(all[0], all[1]);
  if (count >= 1) {
    rectangles.height = all[0].extent;
    rectangles.pitch = {all[0].source, all[0].target};
  }
  if (count >= 2) {
    rectangles.outer = all[1].extent;
    rectangles.step = {all[1].source, all[1].target};
  }
  return rectangles;
}

/// Calls enqueue(copy) for each rectangle of the rectangles.
template <class Enqueue>
void for_each_copy(const Rectangles& rectangles, trine_direction direction,
                   const trine_view& source, const trine_view& target, Enqueue&& enqueue) {
  for (uint64_t i = 0; i < rectangles.outer; ++i)
    enqueue(trine_copy{sizeof(trine_copy), static_cast<uint32_t>(direction), source.memory,
                       target.memory, source.offset + i * rectangles.step.source,
                       target.offset + i * rectangles.step.target, rectangles.pitch.source,
                       rectangles.pitch.target, rectangles.width, rectangles.height});
}

/// In `queue`'s order, which belongs to either end. Views are checked.
void copy_between(QueueState& queue, BufferState& source, const trine_view& from,
                  BufferState& target, const trine_view& to, const Rectangles& rectangles);

}  // namespace trine::detail
