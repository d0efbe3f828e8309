// Random views in memory of their own, as images of bytes on the host, and how two of these differ.
#pragma once

#include <trine/trine.hpp>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "dice.hpp"
#include "oracle/bits.hpp"
#include "oracle/operation.hpp"

namespace trine::conformance {

inline constexpr int64_t kElements = int64_t{1} << 16;
inline constexpr char kBefore = char(0xa5), kStale = char(0x11), kJunk = char(0x77);

using Image = std::vector<char>;

inline Image random_bytes(uint64_t bytes, Dice& dice) {
  Image image(bytes);
  const uint64_t seed = dice.bits();
  for (uint64_t at = 0; at < bytes; at += 8) {
    const uint64_t word = oracle::philox_bits(seed, at);
    std::memcpy(image.data() + at, &word, std::min<uint64_t>(8, bytes - at));
  }
  return image;
}

inline HostView all_of(Image& image) {
  return host_row_major(image.data(), Dtype::b8, 1, int64_t(image.size()));
}
inline View all_of(const Buffer& buffer) {
  return row_major(buffer, Dtype::b8, 1, int64_t(buffer.bytes()));
}

/// The shape of an oracle's view, in memory of a device and of the host.
inline View view_in(const Buffer& buffer, uint64_t offset, const trine_view& v, uint32_t dtype) {
  return {buffer,  Dtype(dtype), offset,       v.rows,        v.cols,
          v.batch, v.row_stride, v.col_stride, v.batch_stride};
}
inline HostView view_at(char* origin, const trine_view& v, uint32_t dtype) {
  return {origin,  Dtype(dtype), v.rows,       v.cols,
          v.batch, v.row_stride, v.col_stride, v.batch_stride};
}

/// Where a view's bytes lie in memory of its own.
struct Layout {
  trine_view view{};
  uint32_t dtype = 0;
  uint64_t bytes = 0;  ///< of the memory

  View in(const Buffer& buffer) const { return view_in(buffer, view.offset, view, dtype); }
  HostView at(char* memory) const { return view_at(memory + view.offset, view, dtype); }
  /// Calls body(byte offset) for each element, in one order for all layouts of the same shape.
  template <class Body>
  void for_each(Body&& body) const {
    const int64_t size = trine_dtype_size(dtype);
    for (int64_t b = 0; b < view.batch; ++b)
      for (int64_t i = 0; i < view.rows; ++i)
        for (int64_t j = 0; j < view.cols; ++j)
          body(view.offset + uint64_t(oracle::element_offset(view, size, b, i, j)));
  }
};

inline trine_view random_shape(Dice& dice) {
  trine_view view{};
  const int64_t most = dice.once_in(16) ? 16 * kElements : kElements;
  view.batch = dice.once_in(3) ? 1 : dice.extent(12);
  view.rows = dice.extent(most / std::max<int64_t>(view.batch, 1));
  view.cols = dice.extent(most / std::max<int64_t>(view.batch * view.rows, 1));
  return view;
}

/// `alignment`: what an offset is a multiple of.
inline void place(Layout& layout, Dice& dice, uint64_t alignment) {
  layout.view.offset = dice.once_in(2) ? 0 : alignment * uint64_t(dice.below(20));
  layout.bytes = layout.view.offset + oracle::extent_bytes(layout.view, layout.dtype) +
                 (dice.once_in(2) ? 0 : alignment * uint64_t(dice.below(20)));
}

inline std::string name_of(const char* what, const Layout& layout) {
  const trine_view& v = layout.view;
  return std::string(what) + " " + oracle::dtype_name(layout.dtype) + " " + std::to_string(v.rows) +
         "x" + std::to_string(v.cols) + " batch " + std::to_string(v.batch) + " strides " +
         std::to_string(v.row_stride) + ", " + std::to_string(v.col_stride) + ", " +
         std::to_string(v.batch_stride) + " offset " + std::to_string(v.offset);
}

inline std::string difference(const Image& got, const Image& want, const Layout& layout) {
  const auto [g, w] = std::mismatch(got.begin(), got.end(), want.begin());
  if (g == got.end()) return "";
  const auto at = uint64_t(g - got.begin());
  bool inside = false;
  layout.for_each(
      [&](uint64_t e) { inside = inside || (at >= e && at < e + trine_dtype_size(layout.dtype)); });
  size_t wrong = 0;
  for (size_t i = 0; i < got.size(); ++i) wrong += got[i] != want[i];
  return std::to_string(wrong) + " of " + std::to_string(got.size()) + " bytes differ, the first " +
         (inside ? "in" : "outside of") + " the target's elements, byte " + std::to_string(at);
}

}  // namespace trine::conformance
