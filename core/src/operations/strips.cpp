#include "strips.hpp"

#include <algorithm>

namespace trine::detail {
namespace {

/// The smallest strip and the most of them, of 4 to 32 MiB and 8 or 16 tried on an H100: smaller ones
/// cost more in launches and events than they hide, more of them are too narrow.
constexpr uint64_t kStripBytes = uint64_t{16} << 20;
constexpr int64_t kMostStrips = 8;

}  // namespace

int64_t strips_of(double bytes) {
  return std::clamp(static_cast<int64_t>(bytes / kStripBytes), int64_t{1}, kMostStrips);
}

std::vector<Strip> cut(int64_t total, double bytes, int64_t granule, const CutWish& wish) {
  const int64_t wanted = wish.strips > 0 ? wish.strips : strips_of(bytes);
  if (wanted < 2) return {};
  if (wish.strips > 0 && total / wanted < granule) granule = 1;
  const int64_t granules = (total + granule - 1) / granule;
  const int64_t each = (granules + wanted - 1) / wanted * granule;
  std::vector<Strip> strips;
  for (int64_t begin = 0; begin < total; begin += each)
    strips.push_back({begin, std::min(each, total - begin)});
  return strips;
}

ConstHostView part_of(ConstHostView view, Cut cut, const Strip& strip) {
  int64_t stride = 0;
  switch (cut) {
    case Cut::none:  // of a batch: as many as the strip has, all of them the same
      if (view.batch > 1) view.batch = strip.count;
      return view;
    case Cut::rows: stride = view.row_stride, view.rows = strip.count; break;
    case Cut::cols: stride = view.col_stride, view.cols = strip.count; break;
    case Cut::batch: stride = view.batch_stride, view.batch = strip.count; break;
  }
  view.data =
      static_cast<const char*>(view.data) + strip.begin * stride * int64_t{size_of(view.dtype)};
  return view;
}

}  // namespace trine::detail
