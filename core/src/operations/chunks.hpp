// How a call on host data is cut, so that one part of it is copied while another is computed: into
// chunks, each a call of its own on parts of the operands. Their results lie apart and each is computed
// as in the whole call, so its bits are the same. docs/decisions/calls-in-chunks.md says why these.
#pragma once

#include <trine/operations.hpp>

#include <vector>

namespace trine::detail {

/// The dimension along which an operand is cut. `none`: every chunk needs all of it.
enum class Cut { none, rows, cols, batch };

/// A range along that dimension.
struct Chunk {
  int64_t begin = 0, count = 0;
};

struct Cutting {
  std::vector<Chunk> chunks;  ///< fewer than two: the call goes whole
  std::vector<Cut> cuts;      ///< by operand, the output last
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

/// Of operands of a batch: one for all of it is needed whole.
inline Cut by_batch(const View& view) { return view.batch_stride == 0 ? Cut::none : Cut::batch; }

ConstHostView part_of(ConstHostView view, Cut cut, const Chunk& chunk);

}  // namespace trine::detail
