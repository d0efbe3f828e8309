// Copies and fills: memory is cut into pieces of about a megabyte, so that on a machine with several
// memory nodes pages are first touched by the threads of the pool, and one core's bandwidth is no
// limit.
#include "memory.hpp"

#include <algorithm>
#include <cstring>

namespace trine::cpu {
namespace {

constexpr std::uint64_t kPiece = 1 << 20;

std::int64_t pieces_of(std::uint64_t total, std::uint64_t piece) {
  return static_cast<std::int64_t>((total + piece - 1) / piece);
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

void run_fill(void* payload, Parallel& parallel) {
  const auto& fill = *static_cast<const Fill*>(payload);
  auto* target = static_cast<std::byte*>(fill.target);
  const std::uint32_t step = fill.pattern_bytes;
  const bool one_byte = std::all_of(fill.pattern, fill.pattern + step,
                                    [&](std::byte b) { return b == fill.pattern[0]; });
  parallel.parallel_for(pieces_of(fill.bytes, kPiece), [&](std::int64_t piece, int) {
    const std::uint64_t begin = static_cast<std::uint64_t>(piece) * kPiece;
    const std::uint64_t bytes = std::min(kPiece, fill.bytes - begin);
    if (one_byte) {
      std::memset(target + begin, static_cast<int>(fill.pattern[0]), bytes);
      return;
    }
    // The pieces' starts are multiples of every pattern. Double what is written already.
    std::uint64_t written = std::min<std::uint64_t>(step, bytes);
    std::memcpy(target + begin, fill.pattern, written);
    for (; written < bytes; written += std::min(written, bytes - written))
      std::memcpy(target + begin + written, target + begin, std::min(written, bytes - written));
  });
}

}  // namespace trine::cpu
