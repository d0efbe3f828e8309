// The functions that need no care for order (fold.h), in lanes.
#pragma once
#include "fold.h"

#define RECORD 2

typedef struct Lanes {
  VALUE value[LANES];
  long index[LANES];
} Lanes;

// Folds an element into each of `count` lanes; a constant count becomes vectors.
INLINED void fold_lanes(Lanes* f, GLOBAL const T* p, long stride, const int count, long index,
                        long index_step, int options) {
  for (int l = 0; l < count; ++l) {
    Folded one;
    one.value = f->value[l];
    one.index = f->index[l];
    fold(&one, value_of(p[l * stride], options), index + l * index_step);
    f->value[l] = one.value;
    f->index[l] = one.index;
  }
}

// Reduces this piece of `lanes` results, of which there is one where lanes lie along its elements.
DEVICE void reduce(const Job* j, long result, int lanes) {
  Lanes f;
  for (int l = 0; l < LANES; ++l) {
    f.value[l] = folded_nothing().value;
    f.index[l] = folded_nothing().index;
  }
  const int across = j->across, step = across ? 1 : LANES;
  const long stride = across ? j->input.result_stride : j->input.col_stride;
  const long index_step = across ? 0 : j->col_index;
  for (long row = j->first_row; row < j->end_row; ++row)
    for (long col = j->first_col; col < j->end_col; col += step) {
      GLOBAL const T* p = place(&j->input, result, row, col);
      const int count = across ? lanes : (int)min((long)LANES, j->end_col - col);
      const long index = row * j->row_index + col * j->col_index;
      if (count == LANES && stride == 1) {
        for (int l = 0; l < LANES; l += LINE) prefetch_line(p + AHEAD + l);
        fold_lanes(&f, p, 1, LANES, index, index_step, j->options);
      } else {
        fold_lanes(&f, p, stride, count, index, index_step, j->options);
      }
    }
  for (int l = 0; l < lanes; ++l) {
    Folded all;
    all.value = f.value[l];
    all.index = f.index[l];
    for (int k = 1; k < LANES && !across; ++k) fold(&all, f.value[k], f.index[k]);
    if (j->splits == 1) {
      store_folded(j->output, (result + l) * j->output_stride, &all, j->options);
    } else {
      GLOBAL ulong* record = job_record(j, result + l, j->split, RECORD);
      record[0] = all.value;
      record[1] = (ulong)all.index;
    }
  }
}

// Puts the pieces of one result together.
DEVICE void reduce_records(const Job* j, long result) {
  Folded all = folded_nothing();
  for (int s = 0; s < j->splits; ++s) {
    GLOBAL const ulong* record = job_record(j, result, s, RECORD);
    fold(&all, (VALUE)record[0], (long)record[1]);
  }
  store_folded(j->output, result * j->output_stride, &all, j->options);
}
