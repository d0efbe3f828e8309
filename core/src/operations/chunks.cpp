#include "chunks.hpp"

#include <algorithm>

namespace trine::detail {
namespace {

/// The smallest chunk, of 4 to 32 MiB tried on an H100: smaller ones cost more in launches and
/// events than they hide.
constexpr uint64_t kChunkBytes = uint64_t{16} << 20;
/// Rows of a product that take a large GPU as long as their copy takes: 512 fill it, but end 0.2 ms
/// later at 8192.
constexpr int64_t kShortest = 256;

/// So many of about the same size, all but the last a multiple of `granule` long.
std::vector<Range> ranges(int64_t total, int64_t wanted, int64_t granule) {
  const int64_t granules = (total + granule - 1) / granule;
  const int64_t each = (granules + wanted - 1) / wanted * granule;
  std::vector<Range> all;
  for (int64_t begin = 0; begin < total; begin += each)
    all.push_back({begin, std::min(each, total - begin)});
  return all;
}

}  // namespace

std::size_t first_with(const Cutting& cutting, std::size_t operand, std::size_t chunk) {
  std::size_t first = 0;
  while (!cutting[first].parts[operand].holds(cutting[chunk].parts[operand])) ++first;
  return first;
}

int64_t chunks_of(double bytes, int64_t most) {
  return std::clamp(static_cast<int64_t>(bytes / kChunkBytes), int64_t{1}, most);
}

std::vector<Range> cut(int64_t total, double bytes, int64_t granule, const CutWish& wish) {
  const int64_t wanted = wish.chunks > 0 ? wish.chunks : chunks_of(bytes, wish.most);
  if (wanted < 2) return {};
  if (wish.chunks > 0 && total / wanted < granule) granule = 1;
  return ranges(total, wanted, granule);
}

std::vector<Range> first_parts(int64_t terms, std::span<const int> divisors, const CutWish& wish) {
  const int64_t granule = wish.chunks > 0 ? 1 : kGranule;
  std::vector<Range> parts;
  int64_t begin = 0;
  for (const int divisor : divisors)
    if (const int64_t count = terms / divisor / granule * granule; count > 0) {
      parts.push_back({begin, count});
      begin += count;
    }
  return parts;
}

std::vector<Range> taper(std::vector<Range> parts) {
  for (int64_t half; (half = parts.back().count / 2 / kGranule * kGranule) >= kShortest;) {
    Range& last = parts.back();
    const Range rest{last.begin + half, last.count - half};
    last.count = half;
    parts.push_back(rest);
  }
  return parts;
}

template <class V>
uint64_t distance(const V& view, const Part& from, const Part& to) {
  const int64_t elements = (to.rows.begin - from.rows.begin) * view.row_stride +
                           (to.cols.begin - from.cols.begin) * view.col_stride +
                           (to.batch.begin - from.batch.begin) * view.batch_stride;
  return static_cast<uint64_t>(elements) * size_of(view.dtype);
}
template uint64_t distance(const View&, const Part&, const Part&);

ConstHostView part_of(ConstHostView view, const Part& part) {
  const uint64_t begin = distance(view, {}, part);
  view.rows = part.rows.count, view.cols = part.cols.count, view.batch = part.batch.count;
  view.data = static_cast<const char*>(view.data) + begin;
  return view;
}

}  // namespace trine::detail
