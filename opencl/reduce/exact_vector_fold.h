// The functions that need no care for order (fold.h), in eight lanes.
#pragma once
#include "fold.h"

#define RECORD 2
#if T_float || T_uint
#define KEY8 uint8
#define MASK8 int8
#else
#define KEY8 ulong8
#define MASK8 long8
#endif
#if KIND_SUM || KIND_PROD
#define VALUE8 ulong8
#else
#define VALUE8 KEY8
#endif

typedef struct Folded8 {
  VALUE8 value;
  long8 index;
} Folded8;

DEVICE Folded8 folded_nothing8() {
  Folded8 f;
  f.value = folded_nothing().value;
  f.index = folded_nothing().index;
  return f;
}

// value_of() in eight lanes.
DEVICE VALUE8 values_of(T8 x, int options) {
#if KIND_SUM || KIND_PROD
#if T_uint
  ulong8 wide = options & SIGNED ? as_ulong8(convert_long8(as_int8(x))) : convert_ulong8(x);
#else
  ulong8 wide = x;
#endif
  if ((options & MAP_ABS) && (options & SIGNED)) wide = abs(as_long8(wide));
  return options & MAP_SQUARE ? wide * wide : wide;
#else
#if T_float
  KEY8 key = as_uint8(x);
#elif T_double
  KEY8 key = as_ulong8(x);
#else
  KEY8 key = x;
#endif
#if T_float || T_double
  if (options & MAP_ABS) key &= ~SIGN;
  const MASK8 nan = (key & ~SIGN) > (KEY8)INFINITE, negative = (key & SIGN) != (KEY8)0;
  key = select(key | SIGN, ~key, negative);
  return select(options & LARGEST ? ~key : key, (KEY8)0, nan);
#else
  if (options & SIGNED) {
    const MASK8 negative = (key & SIGN) != (KEY8)0;
    key = options & MAP_ABS ? select(key, (KEY8)0 - key, negative) : key ^ SIGN;
  }
  return options & LARGEST ? ~key : key;
#endif
#endif
}

DEVICE void fold8(Folded8* a, VALUE8 value, long8 index) {
#if KIND_SUM
  a->value += value;
#elif KIND_PROD
  a->value *= value;
#elif KIND_EXTREME
  a->value = min(a->value, value);
#else
  const long8 better =
      convert_long8(value < a->value) | (convert_long8(value == a->value) & (index < a->index));
#if T_float || T_uint
  a->value = select(a->value, value, convert_int8(better));
#else
  a->value = select(a->value, value, better);
#endif
  a->index = select(a->index, index, better);
#endif
}

// Folds `count` vectors `step` elements apart; `index` is the first one's, which grows by
// index_step. Lanes beyond `lanes` stay neutral.
DEVICE void fold_vectors(Folded8* f, const Job* j, GLOBAL const T* p, long count, long step,
                         long stride, int lanes, long8 index, long index_step) {
  const Folded8 nothing = folded_nothing8();
  const bool dense = stride == 1 && step == LANES;
  for (long i = 0; i < count; ++i, p += step, index += index_step) {
    if (dense && i % CHUNK == 0) prefetch_chunk(p);
    if (lanes == LANES) {
      fold8(f, values_of(load_lanes(p, stride), j->options), index);
    } else {
      VALUE8 value = values_of(load_some_lanes(p, stride, lanes, (T)0), j->options);
      const long8 missing = (long8)(0, 1, 2, 3, 4, 5, 6, 7) >= (long8)lanes;
#if (KIND_EXTREME || KIND_ARG) && (T_float || T_uint)
      value = select(value, nothing.value, convert_int8(missing));
#else
      value = select(value, nothing.value, missing);
#endif
      fold8(f, value, select(index, nothing.index, missing));
    }
  }
}

// Stores one result, or this piece's record of it.
DEVICE void store_one(const Job* j, long result, const Folded* f) {
  if (j->tile.splits == 1) return store_folded(j->output, result * j->output_stride, f, j->options);
  GLOBAL ulong* record = job_record(j, result, j->tile.split, RECORD);
  record[0] = f->value;
  record[1] = (ulong)f->index;
}

DEVICE void reduce_along(const Job* j, long result) {
  Folded8 folded = folded_nothing8();
  const long length = j->cols.to - j->cols.from, vectors = length / LANES,
             stride = j->tile.col_stride;
  const long8 lane = (long8)(0, 1, 2, 3, 4, 5, 6, 7) * j->col_index;
  for (long r = j->rows.from; r < j->rows.to; ++r) {
    GLOBAL const T* p = job_element(j, result, r, j->cols.from);
    const long8 index = lane + r * j->row_index + j->cols.from * j->col_index;
    fold_vectors(&folded, j, p, vectors, LANES * stride, stride, LANES, index,
                 LANES * j->col_index);
    if (length % LANES)
      fold_vectors(&folded, j, p + vectors * LANES * stride, 1, 0, stride, (int)(length % LANES),
                   index + vectors * LANES * j->col_index, 0);
  }
  VALUE values[LANES];
  long indexes[LANES];
  vstore8(folded.value, 0, values);
  vstore8(folded.index, 0, indexes);
  Folded all = folded_nothing();
  for (int l = 0; l < LANES; ++l) fold(&all, values[l], indexes[l]);
  store_one(j, result, &all);
}

DEVICE void reduce_across(const Job* j, long result, int count) {
  Folded8 folded[ACROSS_VECTORS];
  for (int v = 0; v < ACROSS_VECTORS; ++v) folded[v] = folded_nothing8();
  for (long r = j->rows.from; r < j->rows.to; ++r)
    for (long c = j->cols.from; c < j->cols.to; c += CHUNK)
      for (int v = 0; v * LANES < count; ++v)
        fold_vectors(&folded[v], j, job_element(j, result + v * LANES, r, c),
                     min((long)CHUNK, j->cols.to - c), j->tile.col_stride, j->tile.result_stride,
                     min(LANES, count - v * LANES), (long8)(r * j->row_index + c * j->col_index),
                     j->col_index);
  for (int v = 0; v * LANES < count; ++v) {
    VALUE values[LANES];
    long indexes[LANES];
    vstore8(folded[v].value, 0, values);
    vstore8(folded[v].index, 0, indexes);
    for (int l = 0; l < min(LANES, count - v * LANES); ++l) {
      Folded one;
      one.value = values[l];
      one.index = indexes[l];
      store_one(j, result + v * LANES + l, &one);
    }
  }
}

DEVICE void reduce_records(const Job* j, long result) {
  Folded all = folded_nothing();
  for (int s = 0; s < j->tile.splits; ++s) {
    GLOBAL const ulong* record = job_record(j, result, s, RECORD);
    fold(&all, (VALUE)record[0], (long)record[1]);
  }
  store_folded(j->output, result * j->output_stride, &all, j->options);
}
