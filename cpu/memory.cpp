// Copies and fills: memory is cut into pieces of about a megabyte, so that on a machine with several
// memory nodes pages are first touched by the threads of the pool, and one core's bandwidth is no
// limit.
#include "memory.hpp"

#include <algorithm>
#include <cstring>

#include "transpose/problem.hpp"

namespace trine::cpu {
namespace {

constexpr std::uint64_t kPiece = 1 << 20;

std::int64_t pieces_of(std::uint64_t total, std::uint64_t piece) {
  return static_cast<std::int64_t>((total + piece - 1) / piece);
}

// Elements side by side: double what is written already.
void fill_run(std::byte* target, std::uint64_t bytes, const Fill& fill, bool one_byte) {
  if (one_byte) {
    std::memset(target, static_cast<int>(fill.element[0]), bytes);
    return;
  }
  std::uint64_t written = std::min<std::uint64_t>(fill.bytes, bytes);
  std::memcpy(target, fill.element, written);
  for (; written < bytes; written += std::min(written, bytes - written))
    std::memcpy(target + written, target, std::min(written, bytes - written));
}

void fill_apart(std::byte* target, std::uint64_t step, std::uint64_t count, const Fill& fill) {
  transpose::visit_size(fill.bytes, [&]<int kBytes>() {
    for (std::uint64_t i = 0; i < count; ++i) std::memcpy(target + i * step, fill.element, kBytes);
  });
}

}  // namespace

void run_copy(void* payload, Parallel& parallel) {
  const auto& copy = *static_cast<const trine_copy*>(payload);
  const auto* source = static_cast<const std::byte*>(copy.source) + copy.source_offset;
  auto* target = static_cast<std::byte*>(copy.target) + copy.target_offset;
  std::uint64_t width = copy.width;
  std::uint64_t height = copy.height;
  if (width == 0 || height == 0) return;
  if (height > 1 && copy.source_pitch == width && copy.target_pitch == width) {
    width *= height;
    height = 1;
  }
  if (height == 1) {
    parallel.parallel_for(pieces_of(width, kPiece), [&](std::int64_t piece, int) {
      const std::uint64_t begin = static_cast<std::uint64_t>(piece) * kPiece;
      std::memmove(target + begin, source + begin, std::min(kPiece, width - begin));
    });
    return;
  }
  const std::uint64_t rows = std::max<std::uint64_t>(1, kPiece / width);
  parallel.parallel_for(pieces_of(height, rows), [&](std::int64_t piece, int) {
    const std::uint64_t begin = static_cast<std::uint64_t>(piece) * rows;
    const std::uint64_t end = std::min(height, begin + rows);
    for (std::uint64_t row = begin; row < end; ++row)
      std::memmove(target + row * copy.target_pitch, source + row * copy.source_pitch, width);
  });
}

// The elements in the order of their strides, the narrowest innermost, cut into pieces of one number.
void run_fill(void* payload, Parallel& parallel) {
  const auto& fill = *static_cast<const Fill*>(payload);
  const trine_view& view = fill.view;
  struct Dimension {
    std::uint64_t extent, step;
  } d[] = {{std::uint64_t(view.cols), fill.bytes * std::uint64_t(view.col_stride)},
           {std::uint64_t(view.rows), fill.bytes * std::uint64_t(view.row_stride)},
           {std::uint64_t(view.batch), fill.bytes * std::uint64_t(view.batch_stride)}};
  std::sort(d, d + 3, [](const Dimension& a, const Dimension& b) {
    return a.extent > 1 && (b.extent <= 1 || a.step < b.step);
  });
  auto* const origin = static_cast<std::byte*>(view.memory) + view.offset;
  const std::uint64_t total = d[0].extent * d[1].extent * d[2].extent;
  const std::uint64_t piece_elements = kPiece / fill.bytes;
  const bool one_byte = std::all_of(fill.element, fill.element + fill.bytes,
                                    [&](std::byte b) { return b == fill.element[0]; });
  parallel.parallel_for(pieces_of(total, piece_elements), [&](std::int64_t piece, int) {
    const std::uint64_t begin = static_cast<std::uint64_t>(piece) * piece_elements;
    const std::uint64_t end = std::min(total, begin + piece_elements);
    for (std::uint64_t e = begin, run = 0; e < end; e += run) {
      const std::uint64_t line = e / d[0].extent, at = e % d[0].extent;
      run = std::min(d[0].extent - at, end - e);
      std::byte* const target =
          origin + at * d[0].step + line % d[1].extent * d[1].step + line / d[1].extent * d[2].step;
      if (d[0].step == fill.bytes) {
        fill_run(target, run * fill.bytes, fill, one_byte);
      } else {
        fill_apart(target, d[0].step, run, fill);
      }
    }
  });
}

}  // namespace trine::cpu
