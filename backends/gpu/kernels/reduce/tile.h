// How groups lie over a reduction, for every rung that takes any view and axis.
//
// There are `results` results; each reduces rows x cols elements: element (i, j) of result r lies
// at input[r * result_stride + i * row_stride + j * col_stride]. A group takes `width` neighbouring
// results with lanes = 2^lane_bits work-items each, and `splits` groups share such a tile:
//
//   across = 0: work-item = result * lanes + lane   (lanes side by side: rows of unit stride)
//   across = 1: work-item = lane * width + result   (results side by side: columns of a matrix)
//
// Lanes lie over columns first: 2^col_bits of them along a row, the others on the rows below. A
// tile's elements come in segments of lanes / 2^col_bits rows by 2^col_bits * CHUNK columns; group
// `split` takes segments split, split + splits, … and each work-item CHUNK elements of every one.
// All are powers of two, because a 64-bit division costs as much as a dozen loads' worth of
// instructions.
#pragma once

#define TILE_PARAMETERS                                                                     \
  long results, long rows, long cols, long result_stride, long row_stride, long col_stride, \
      int width, int lane_bits, int col_bits, int across, int splits

#define TILE_ARGUMENTS                                                                            \
  results, rows, cols, result_stride, row_stride, col_stride, width, lane_bits, col_bits, across, \
      splits

// A dot product's second input, at the end of the parameters: of the first one's shape.
#if KIND_DOT
#define SECOND_PARAMETERS                                                                          \
  , GLOBAL const T *second, long second_offset, long second_result_stride, long second_row_stride, \
      long second_col_stride
#else
#define SECOND_PARAMETERS
#endif

#define REDUCE_PARAMETERS                                                                  \
  GLOBAL const T *input, long input_offset, GLOBAL uchar *output, long output_offset,      \
      long output_stride, GLOBAL uchar *workspace, long workspace_offset, TILE_PARAMETERS, \
      long row_index, long col_index, int phase, int options SECOND_PARAMETERS

// The task of a launch: a whole reduction (the last group of a tile finishes it), its first half,
// or its second; and how elements are mapped and results written.
#define WHOLE 0
#define ACCUMULATE 1
#define FINISH 2
#define MAP_ABS 1
#define MAP_SQUARE 2
#define RESULT_F64 4
#define SIGNED 8
#define LARGEST 16
#define STATES 32
#define CONTROL_BYTES 4096  // counters at the start of the workspace: zero before and after

// Stores the bits of a sum of floats.
DEVICE void store_sum(GLOBAL uchar* output, long at, bool f64, ulong bits) {
  if (f64)
    ((GLOBAL ulong*)output)[at] = bits;
  else
    ((GLOBAL uint*)output)[at] = (uint)bits;
}

typedef struct Tile {
  long results, rows, cols, result_stride, row_stride, col_stride;
  int width, lanes, lane_bits, col_bits, splits;
  int step;          // distance of neighbouring lanes, in work-items
  int index, split;  // of the tile, and of this group among those that share it
  long first;        // the tile's first result
  int result, lane;  // this work-item's; an idle one has lane == lanes
  int lane_row, lane_col;
  bool active;  // has a result to work on
  int skip;     // chunk.h
} Tile;

DEVICE Tile tile_of(TILE_PARAMETERS, int phase) {
  Tile t;
  t.results = results;
  t.rows = rows;
  t.cols = cols;
  t.result_stride = result_stride;
  t.row_stride = row_stride;
  t.col_stride = col_stride;
  t.width = width;
  t.lanes = 1 << lane_bits;
  t.lane_bits = lane_bits;
  t.col_bits = col_bits;
  t.splits = splits;
  t.step = across ? width : 1;
  const bool shared = splits > 1 && phase != FINISH;
  t.index = shared ? (int)((uint)group_x() / (uint)splits) : group_x();
  t.split = shared ? group_x() - t.index * splits : 0;
  t.first = (long)t.index * width;
  const int me = local_x();
  const bool idle = me >= width << lane_bits;
  t.result = idle ? 0 : across ? (int)((uint)me % (uint)width) : me >> lane_bits;
  t.lane = idle ? t.lanes : across ? (int)((uint)me / (uint)width) : me & (t.lanes - 1);
  t.lane_row = t.lane >> col_bits;
  t.lane_col = t.lane & ((1 << col_bits) - 1);
  t.active = !idle && t.first + t.result < results;
  return t;
}

// The same tile of an input that lies otherwise.
DEVICE Tile tile_by(const Tile* t, long result_stride, long row_stride, long col_stride) {
  Tile other = *t;
  other.result_stride = result_stride;
  other.row_stride = row_stride;
  other.col_stride = col_stride;
  return other;
}

// The work-item that leads this one's result, and what it holds in the end is the result's.
DEVICE int tile_leader(const Tile* t) { return local_x() - t->lane * t->step; }
DEVICE bool tile_leads(const Tile* t) { return t->active && t->lane == 0; }

// A work-item's walk over its segments: no division inside the loop.
typedef struct Walk {
  long row, row_step;
  int segment, segment_step, segments;
} Walk;

DEVICE Walk walk_begin(const Tile* t) {
  Walk w;
  const int span_bits = t->col_bits + CHUNK_BITS;
  const long rows_at_once = 1L << (t->lane_bits - t->col_bits);
  w.segments = (int)((t->cols + (1L << span_bits) - 1) >> span_bits);
  w.row = w.row_step = 0;
  w.segment = t->split;
  w.segment_step = t->splits;
  if (t->rows <= rows_at_once) {  // one row of segments
    if (w.segment >= w.segments) w.row = t->rows;
  } else if (w.segments == 1) {
    w.row = (long)t->split * rows_at_once;
    w.row_step = (long)(t->splits - 1) * rows_at_once;  // and one more: every step ends a row
    w.segment = 0;
    w.segment_step = 1;
  } else if (t->splits > 1) {
    w.row = (long)(t->split / w.segments) * rows_at_once;
    w.segment = t->split % w.segments;
    w.row_step = (long)(t->splits / w.segments) * rows_at_once;
    w.segment_step = t->splits % w.segments;
  }
  w.row += t->lane_row;
  if (!t->active) w.row = t->rows;
  return w;
}

DEVICE void walk_on(Walk* w, const Tile* t) {
  w->row += w->row_step;
  w->segment += w->segment_step;
  if (w->segment >= w->segments) {
    w->segment -= w->segments;
    w->row += 1 << (t->lane_bits - t->col_bits);
  }
}

// Element (row, 0) of this work-item's result.
DEVICE long tile_row(const Tile* t, long row) {
  return (t->first + t->result) * t->result_stride + row * t->row_stride;
}

// Groups that share a tile leave one record a result and group in the workspace.
DEVICE long tile_record(const Tile* t, int split) {
  return ((long)t->index * t->splits + split) * t->width + t->result;
}
DEVICE long tile_records(const Tile* t, int phase) {  // of all tiles
  return (long)groups_x() * t->width * (phase == FINISH ? t->splits : 1);
}

// Was this group the last of its tile to store its records? Its counter is then zero again.
DEVICE bool tile_finished(const Tile* t, GLOBAL uchar* workspace) {
  GLOBAL uint* counter = (GLOBAL uint*)workspace + t->index;
  const bool last = take_ticket(counter) == (uint)t->splits - 1u;
  if (last) *counter = 0u;
  return last;
}
