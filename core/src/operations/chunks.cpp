#include "chunks.hpp"

#include <algorithm>
#include <cmath>

namespace trine::detail {
namespace {

/// The smallest chunk and the most of them, of 4 to 32 MiB and 8 or 16 tried on an H100: smaller ones
/// cost more in launches and events than they hide, more of them are too narrow.
constexpr uint64_t kChunkBytes = uint64_t{16} << 20;
constexpr int64_t kMostChunks = 8;
/// The side of a product that fills a large GPU.
constexpr int64_t kBlock = 2048;

/// So many of about the same size, all but the last a multiple of `granule` long.
std::vector<Range> ranges(int64_t total, int64_t wanted, int64_t granule) {
  const int64_t granules = (total + granule - 1) / granule;
  const int64_t each = (granules + wanted - 1) / wanted * granule;
  std::vector<Range> all;
  for (int64_t begin = 0; begin < total; begin += each)
    all.push_back({begin, std::min(each, total - begin)});
  return all;
}

/// The range of a chunk that decides which part of an operand it has; of `both`, each has its own.
Range part(const Chunk& chunk, Cut cut) {
  return cut == Cut::none ? Range() : cut == Cut::cols ? chunk.cols : chunk.rows;
}

}  // namespace

std::size_t Cutting::first_with(std::size_t operand, std::size_t chunk) const {
  const Cut cut = cuts[operand];
  if (cut == Cut::both) return chunk;
  std::size_t first = 0;
  while (part(chunks[first], cut) != part(chunks[chunk], cut)) ++first;
  return first;
}

int64_t chunks_of(double bytes) {
  return std::clamp(static_cast<int64_t>(bytes / kChunkBytes), int64_t{1}, kMostChunks);
}

std::vector<Chunk> cut(int64_t total, double bytes, int64_t granule, const CutWish& wish) {
  const int64_t wanted = wish.chunks > 0 ? wish.chunks : chunks_of(bytes);
  if (wanted < 2) return {};
  if (wish.chunks > 0 && total / wanted < granule) granule = 1;
  std::vector<Chunk> chunks;
  for (const Range& range : ranges(total, wanted, granule)) chunks.push_back({range, range});
  return chunks;
}

std::vector<Chunk> cut_both(const Whole& rows, const Whole& cols, const CutWish& wish) {
  const auto parts = [&](const Whole& whole) {
    if (wish.chunks > 0) return static_cast<int64_t>(std::sqrt(wish.chunks));
    return std::min(whole.count / (whole.narrows ? 2 * kBlock : kBlock), kMostChunks);
  };
  const int64_t down = parts(rows), across = parts(cols);
  if (std::min(down, across) < 2 || down * across < 8) return {};
  const int64_t granule =
      std::min(rows.count / down, cols.count / across) < kGranule ? 1 : kGranule;
  const std::vector<Range> all_rows = ranges(rows.count, down, granule),
                           all_cols = ranges(cols.count, across, granule);
  std::vector<Chunk> chunks;
  std::size_t i = 0, j = 0;  // of how many parts have come
  while (i < all_rows.size() || j < all_cols.size()) {
    if (i < all_rows.size() && i * all_cols.size() <= j * all_rows.size()) {
      for (std::size_t s = 0; s < j; ++s) chunks.push_back({all_rows[i], all_cols[s]});
      ++i;
    } else {
      for (std::size_t r = 0; r < i; ++r) chunks.push_back({all_rows[r], all_cols[j]});
      ++j;
    }
  }
  return chunks;
}

ConstHostView part_of(ConstHostView view, Cut cut, const Chunk& chunk) {
  int64_t begin = 0;
  if (cut == Cut::rows || cut == Cut::both) {
    begin += chunk.rows.begin * view.row_stride;
    view.rows = chunk.rows.count;
  }
  if (cut == Cut::cols || cut == Cut::both) {
    begin += chunk.cols.begin * view.col_stride;
    view.cols = chunk.cols.count;
  }
  if (cut == Cut::batch) begin += chunk.rows.begin * view.batch_stride;
  // Of a batch as many as the chunk has; where none is cut, all of them are the same.
  if (view.batch > 1) view.batch = chunk.rows.count;
  view.data = static_cast<const char*>(view.data) + begin * int64_t{size_of(view.dtype)};
  return view;
}

}  // namespace trine::detail
