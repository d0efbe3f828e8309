// Products of floats along one fixed binary tree over the element's index, split at the largest power
// of two below n. Its lowest four levels are a strip of STRIP neighbours in one work-item's
// registers, the next ones run over the lanes, then over a group's segments (a stack that merges
// equal subtrees, like a binary counter), last over the groups of a tile:
//
//   index = ((group * segments_each + segment) * lanes + lane) * STRIP + k
#pragma once
#include "product.h"

DEVICE long power_above(long n) {
  long power = 1;
  while (power < n) power *= 2;
  return power;
}

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

#if HAVE_WARPS
#define WARPS (THREADS / 32)
#define WARP_SPAN (32 * STRIP)  // elements that a warp takes at once

DEVICE T shuffle_xor_value(T x, int mask) {
#if T_float
  return as_float(shuffle_xor(as_uint(x), mask));
#else
  const uint low = shuffle_xor((uint)as_ulong(x), mask);
  const uint high = shuffle_xor((uint)(as_ulong(x) >> 32), mask);
  return as_double((ulong)high << 32 | low);
#endif
}

// A strip of neighbours in vectors, 1 from `end` on.
DEVICE void load_strip(const Sequence* s, long start, long end, bool aligned, T* x) {
  if (aligned && start + STRIP <= end) {
    GLOBAL const Vector* vectors = (GLOBAL const Vector*)(s->first + start);
#pragma unroll
    for (int k = 0; k < STRIP; k += VECTOR) {
      const Vector v = vectors[k / VECTOR];
      x[k] = v.x;
      x[k + 1] = v.y;
#if VECTOR == 4
      x[k + 2] = v.z;
      x[k + 3] = v.w;
#endif
    }
  } else {
#pragma unroll
    for (int k = 0; k < STRIP; ++k) x[k] = start + k < end ? s->first[start + k] : (T)1;
  }
  if (s->magnitude) {
#pragma unroll
    for (int k = 0; k < STRIP; ++k) x[k] = fabs(x[k]);
  }
}

// The product of elements [from, from + span) by one group, for a sequence of neighbours: each warp takes a
// subtree of its own and needs the others only at its end. The span is a power of two of a group's strips; every
// work-item has the product.
DEVICE T warps_product(const Sequence* s, long from, long span, LOCAL_POINTER T* values) {
  const int me = local_x();
  const long each = span / WARPS, first = from + me / 32 * each;
  const long end = first + each < s->count ? first + each : s->count;
  const bool aligned = (ulong)s->first % 16 == 0;
  T stack[LEVELS];
  int depth = 0;
  for (long n = 0; first + n * WARP_SPAN < end; ++n) {
    T x[STRIP];
    load_strip(s, first + n * WARP_SPAN + me % 32 * STRIP, end, aligned, x);
    T value = strip_fold(x);
    for (int mask = 1; mask < 32; mask *= 2) value *= shuffle_xor_value(value, mask);
    for (long k = n; k & 1; k >>= 1) value = stack[--depth] * value;
    stack[depth++] = value;
  }
  T value = depth ? stack[--depth] : (T)1;
  while (depth) value = stack[--depth] * value;
  sync();
  if (me % 32 == 0) values[me / 32] = value;
  sync();
  for (int w = 1; w < WARPS; w *= 2) {
    if (me < WARPS && me % (2 * w) == 0) values[me] *= values[me + w];
    sync();
  }
  return values[0];
}
#endif

KERNEL_BOUNDED(exact, THREADS, 1, GROUPS)
(GLOBAL const T* RESTRICT input, long input_offset, GLOBAL uchar* output, long output_offset,
 long output_stride, GLOBAL uchar* workspace, long workspace_offset, TILE_PARAMETERS,
 long row_index, long col_index, int phase, int options) {
  LOCAL T values[THREADS];
  LOCAL uint is_last[1];

  const int me = local_x();
  const Tile t = tile_of(TILE_ARGUMENTS, phase);
  GLOBAL T* records = (GLOBAL T*)(workspace + workspace_offset + CONTROL_BYTES);
  const int span_bits = lane_bits + STRIP_BITS;
  const long segments = (rows * cols + (1L << span_bits) - 1) >> span_bits;
  // A power of two, so that groups are subtrees.
  const long segments_each = power_above((segments + splits - 1) / splits);
  bool finishing = phase == FINISH;

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
#if HAVE_WARPS
    const bool neighbours = t.lanes == THREADS && s.col_stride == 1 &&
                            (s.count <= s.cols || s.row_stride == s.cols);
    const T value =
        neighbours
            ? warps_product(&s, from << span_bits,
                            (finishing ? power_above(end) : segments_each) << span_bits, values)
            : sequence_product(&t, &s, from, to, values);
#else
    const T value = sequence_product(&t, &s, from, to, values);
#endif
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
