// Products of floats along one fixed binary tree over the element's index, split at the largest
// power of two below n. Its lowest four levels are a strip of STRIP neighbours in one work-item's
// registers, the next ones run over the lanes, then over a group's segments (a stack that merges
// equal subtrees, like a binary counter), last over the groups of a tile:
//
//   index = ((group * segments_each + segment) * lanes + lane) * STRIP + k
#pragma once
#include "product.h"

// The product of segments [from, to) in the leader's hands.
DEVICE T sequence_product(const Tile* t, const Sequence* s, long from, long to,
                          LOCAL_POINTER T* values) {
  const int me = local_x();
  T stack[LEVELS];
  int depth = 0;
  for (long segment = from; segment < to; ++segment) {
    values[me] = strip_product(s, (segment * t->lanes + t->lane) * STRIP, t->active);
    for (int width = 1; width < t->lanes; width *= 2) {
      sync();
      if (t->lane % (2 * width) == 0 && t->lane < t->lanes)
        values[me] *= values[me + width * t->step];
    }
    sync();
    T value = values[tile_leader(t)];
    for (long n = segment - from; n & 1; n >>= 1) value = stack[--depth] * value;
    stack[depth++] = value;
    sync();
  }
  T value = depth ? stack[--depth] : (T)1;
  while (depth) value = stack[--depth] * value;
  return value;
}

KERNEL_BOUNDED(exact, THREADS, 1, GROUPS)
(REDUCE_PARAMETERS) {
  LOCAL T values[THREADS];
  LOCAL uint is_last[1];

  const int me = local_x();
  const Tile t = tile_of(TILE_ARGUMENTS, phase);
  GLOBAL T* records = (GLOBAL T*)(workspace + workspace_offset + CONTROL_BYTES);
  const int span_bits = lane_bits + STRIP_BITS;
  const long segments = (rows * cols + (1L << span_bits) - 1) >> span_bits;
  long segments_each = 1;  // a power of two, so that groups are subtrees
  while (segments_each * splits < segments) segments_each *= 2;
  bool finishing = phase == FINISH;

  await_earlier_launches();
  for (bool done = false; !done;) {
    Sequence s;
    if (finishing) {
      s.first = records + tile_record(&t, 0);
      s.count = s.cols = splits;
      s.row_stride = 0;
      s.col_stride = width;
      s.magnitude = false;
    } else {
      s.first = input + input_offset + tile_row(&t, 0);
      s.count = rows * cols;
      s.cols = cols;
      s.row_stride = row_stride;
      s.col_stride = col_stride;
      s.magnitude = options & MAP_ABS;
    }
    const long from = finishing ? 0 : t.split * segments_each;
    const long end = finishing ? (splits + (1L << span_bits) - 1) >> span_bits : segments;
    const long to = finishing || from + segments_each > end ? end : from + segments_each;
    const T value = sequence_product(&t, &s, from, to, values);
    if (tile_leads(&t)) {
      if (finishing || splits == 1)
        ((GLOBAL T*)(output + output_offset))[(t.first + t.result) * output_stride] = value;
      else
        records[tile_record(&t, t.split)] = value;
    }
    done = true;
    if (!finishing && splits > 1 && phase == WHOLE) {
      sync_memory();
      if (me == 0) is_last[0] = tile_finished(&t, workspace + workspace_offset);
      sync_memory();
      finishing = is_last[0] != 0u;
      done = !finishing;
    }
  }
}
