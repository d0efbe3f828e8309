// How a call on host data is cut, so that one part of it is copied while another is computed: into
// chunks, each a call of its own on parts of the operands. Their results lie apart, or continue the
// chains of a chunk before, and each is computed as in the whole call, so its bits are the same.
// docs/decisions/calls-in-chunks.md says why these.
#pragma once

#include <trine/operations.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace trine::detail {

struct Range {
  int64_t begin = 0, count = 0;
  bool holds(const Range& other) const {
    return begin <= other.begin && other.begin + other.count <= begin + count;
  }
  bool operator==(const Range&) const = default;
};

/// A part of an operand.
struct Part {
  Range rows, cols, batch;
  bool holds(const Part& other) const {
    return rows.holds(other.rows) && cols.holds(other.cols) && batch.holds(other.batch);
  }
  bool operator==(const Part&) const = default;
};

/// All of it.
template <class V>
Part whole(const V& view) {
  return {{0, view.rows}, {0, view.cols}, {0, view.batch}};
}

/// Some matrices of a batch; one for all of it is needed whole.
inline Part of_batch(const View& view, const Range& some) {
  Part part = whole(view);
  part.batch = {view.batch_stride == 0 ? 0 : some.begin, some.count};
  return part;
}

struct Chunk {
  std::array<Part, 3> parts;        ///< by operand, the output last
  bool begins = true, ends = true;  ///< the chains of its results, which chunks may hand on
};

/// In the order in which they are computed; fewer than two: the call goes whole.
using Cutting = std::vector<Chunk>;

/// The first chunk that has this one's part of an operand, or more: it brings it.
std::size_t first_with(const Cutting& cutting, std::size_t operand, std::size_t chunk);

/// So many chunks may pay; 16, tried on an H100, are too narrow.
constexpr int64_t kMostChunks = 8;

/// Decides whether and how a call is cut, beside the call.
struct CutWish {
  bool pinned = false;         ///< the host memory
  int chunks = 0;              ///< at most so many; 0: as many as pay
  int64_t most = kMostChunks;  ///< as many as may pay
};

/// How many chunks at most a call that moves so much is cut into; 1: it goes whole.
int64_t chunks_of(double bytes, int64_t most = kMostChunks);

/// Ranges of about the same size, all but the last a multiple of `granule` long, none larger than
/// the first; none where the call goes whole. If the caller asks for a number of chunks, they may
/// be shorter.
std::vector<Range> cut(int64_t total, double bytes, int64_t granule, const CutWish& wish);
/// Rows or columns: whole tiles of any rung, and no cache line on both sides of a cut.
constexpr int64_t kGranule = 128;

/// The parts of chains before the last one: `terms` divided by each of `divisors`, in whole
/// granules.
std::vector<Range> first_parts(int64_t terms, std::span<const int> divisors, const CutWish& wish);
/// Halves the last range as long as that pays, so that the copy after it waits less. There is at
/// least one range.
std::vector<Range> taper(std::vector<Range> parts);

ConstHostView part_of(ConstHostView view, const Part& part);
/// Bytes from the first element of a part, which `view` has, to that of a part of it.
template <class V>
uint64_t distance(const V& view, const Part& from, const Part& to);

}  // namespace trine::detail
