// How a call on host data is cut, so that one part of it is copied while another is computed: into
// chunks, each a call of its own on parts of the operands. Their results lie apart and each is computed
// as in the whole call, so its bits are the same. docs/decisions/calls-in-chunks.md says why these.
#pragma once

#include <trine/operations.hpp>

#include <cstddef>
#include <vector>

namespace trine::detail {

/// The dimensions along which an operand is cut. `none`: every chunk needs all of it.
enum class Cut { none, rows, cols, both, batch };

struct Range {
  int64_t begin = 0, count = 0;
  bool operator==(const Range&) const = default;
};

/// Of a call that is cut along one dimension both are the range there.
struct Chunk {
  Range rows, cols;
};

struct Cutting {
  std::vector<Chunk> chunks;  ///< fewer than two: the call goes whole
  std::vector<Cut> cuts;      ///< by operand, the output last

  /// The first chunk that has the same part of an operand as this one: it brings it.
  std::size_t first_with(std::size_t operand, std::size_t chunk) const;
};

/// What decides whether and how a call is cut, beside the call.
struct CutWish {
  bool pinned = false;  ///< the host memory
  int chunks = 0;       ///< at most so many; 0: as many as pay
};

/// How many chunks at most a call that moves so much is cut into; 1: it goes whole.
int64_t chunks_of(double bytes);

/// Chunks of about the same size, all but the last a multiple of `granule` long, none larger than the
/// first; none where the call goes whole. Wished for, chunks may be shorter than that.
std::vector<Chunk> cut(int64_t total, double bytes, int64_t granule, const CutWish& wish);
/// Rows or columns: whole tiles of any rung, and no cache line on both sides of a cut.
constexpr int64_t kGranule = 128;

/// A dimension to be cut; `narrows`: its elements are neighbours, so that a part is many short runs of memory.
struct Whole {
  int64_t count;
  bool narrows;
};

/// Chunks of both rows and columns, for a product that would wait too long for all of either input: a part of one
/// input comes after a part of the other, and with it the chunks that it completes. None where they would be few.
std::vector<Chunk> cut_both(const Whole& rows, const Whole& cols, const CutWish& wish);

/// Of operands of a batch: one for all of it is needed whole.
inline Cut by_batch(const View& view) { return view.batch_stride == 0 ? Cut::none : Cut::batch; }

ConstHostView part_of(ConstHostView view, Cut cut, const Chunk& chunk);

}  // namespace trine::detail
