#include "chunks.hpp"

#include <algorithm>

namespace trine::detail {
namespace {

/// The smallest chunk and the most of them, of 4 to 32 MiB and 8 or 16 tried on an H100: smaller ones
/// cost more in launches and events than they hide, more of them are too narrow.
constexpr uint64_t kChunkBytes = uint64_t{16} << 20;
constexpr int64_t kMostChunks = 8;

}  // namespace

int64_t chunks_of(double bytes) {
  return std::clamp(static_cast<int64_t>(bytes / kChunkBytes), int64_t{1}, kMostChunks);
}

std::vector<Chunk> cut(int64_t total, double bytes, int64_t granule, const CutWish& wish) {
  const int64_t wanted = wish.chunks > 0 ? wish.chunks : chunks_of(bytes);
  if (wanted < 2) return {};
  if (wish.chunks > 0 && total / wanted < granule) granule = 1;
  const int64_t granules = (total + granule - 1) / granule;
  const int64_t each = (granules + wanted - 1) / wanted * granule;
  std::vector<Chunk> chunks;
  for (int64_t begin = 0; begin < total; begin += each)
    chunks.push_back({begin, std::min(each, total - begin)});
  return chunks;
}

ConstHostView part_of(ConstHostView view, Cut cut, const Chunk& chunk) {
  int64_t stride = 0;
  switch (cut) {
    case Cut::none:  // of a batch: as many as the chunk has, all of them the same
      if (view.batch > 1) view.batch = chunk.count;
      return view;
    case Cut::rows: stride = view.row_stride, view.rows = chunk.count; break;
    case Cut::cols: stride = view.col_stride, view.cols = chunk.count; break;
    case Cut::batch: stride = view.batch_stride, view.batch = chunk.count; break;
  }
  view.data =
      static_cast<const char*>(view.data) + chunk.begin * stride * int64_t{size_of(view.dtype)};
  return view;
}

}  // namespace trine::detail
