#include "strips.hpp"

#include <algorithm>

#include "placement.hpp"

namespace trine::detail {
namespace {

/// The smallest strip and the most of them, of 4 to 32 MiB and 8 or 16 tried on an H100: smaller ones
/// cost more in launches and events than they hide, more of them are too narrow.
constexpr uint64_t kStripBytes = uint64_t{16} << 20;
constexpr int64_t kMostStrips = 8;
/// Rows or columns: whole tiles of any rung, and no cache line on both sides of a cut.
constexpr int64_t kGranule = 128;

}  // namespace

int64_t strips_of(double bytes) {
  return std::clamp(static_cast<int64_t>(bytes / kStripBytes), int64_t{1}, kMostStrips);
}

namespace {

/// Strips of about the same size, all but the last a multiple of `granule` long, none larger than the
/// first.
std::vector<Strip> cut(int64_t total, double bytes, int64_t granule) {
  const int64_t wanted = strips_of(bytes);
  if (wanted < 2) return {};
  const int64_t granules = (total + granule - 1) / granule;
  const int64_t each = (granules + wanted - 1) / wanted * granule;
  std::vector<Strip> strips;
  for (int64_t begin = 0; begin < total; begin += each)
    strips.push_back({begin, std::min(each, total - begin)});
  return strips;
}

/// Of operands of a batch: one for all of it is needed whole.
Cut by_batch(const View& view) { return view.batch_stride == 0 ? Cut::none : Cut::batch; }

double bytes_moved(const Work& work) { return work.bytes_in + work.bytes_out; }

}  // namespace

Cutting cutting_of(const Reduce&, bool) { return {}; }

Cutting cutting_of(const Transpose& op, bool pinned) {
  const double bytes = bytes_moved(work_of(op));
  if (op.input.batch > 1) return {cut(op.input.batch, bytes, 1), {by_batch(op.input), Cut::batch}};
  if (!pinned) return {};  // on one side the strips are narrow, which costs what overlapping saves
  if (op.input.row_stride >= op.input.col_stride)
    return {cut(op.input.rows, bytes, kGranule), {Cut::rows, Cut::cols}};
  return {cut(op.input.cols, bytes, kGranule), {Cut::cols, Cut::rows}};
}

Cutting cutting_of(const Gemm& op, bool) {
  if (op.numerics != Numerics::reproducible) return {};
  const double bytes = bytes_moved(work_of(op));
  if (op.c.batch > 1)
    return {cut(op.c.batch, bytes, 1), {by_batch(op.a), by_batch(op.b), Cut::batch}};
  const int64_t m = op.c.rows, n = op.c.cols;
  const bool row_major = op.c.row_stride >= op.c.col_stride;
  // Of two inputs the larger is cut, since nothing starts before the other is there; of about equal
  // ones the one that lies as c does.
  if (row_major ? m >= n / 2 : m / 2 > n)
    return {cut(m, bytes, kGranule), {Cut::rows, Cut::none, Cut::rows}};
  return {cut(n, bytes, kGranule), {Cut::none, Cut::cols, Cut::cols}};
}

HostView part_of(HostView view, Cut cut, const Strip& strip) {
  int64_t stride = 0;
  switch (cut) {
    case Cut::none:  // of a batch: as many as the strip has, all of them the same
      if (view.batch > 1) view.batch = strip.count;
      return view;
    case Cut::rows: stride = view.row_stride, view.rows = strip.count; break;
    case Cut::cols: stride = view.col_stride, view.cols = strip.count; break;
    case Cut::batch: stride = view.batch_stride, view.batch = strip.count; break;
  }
  view.data = static_cast<char*>(view.data) + strip.begin * stride * int64_t{size_of(view.dtype)};
  return view;
}

}  // namespace trine::detail
