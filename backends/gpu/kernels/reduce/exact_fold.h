// The kernel of the functions that need no care for order (fold.h): each work-item folds its share,
// a tree folds the lanes, the last group of a tile (or a second launch) folds the groups' records.
#pragma once
#include "fold.h"

DEVICE Folded fold_elements(Tile t, GLOBAL const T* input, long row_index, long col_index,
                            int options) {
  Folded f = folded_nothing();
  const int skip = tile_skip(&t, input);
  const bool aligned = skip >= 0;
  input = tile_align(&t, input, skip);
  for (Walk w = walk_begin(&t); w.row < t.rows; walk_on(&w, &t)) {
    T x[CHUNK];
    load_chunk(&t, &w, input, aligned, (T)0, x);
    const bool whole = (long)(w.segment + 1) << (t.col_bits + CHUNK_BITS) <= t.cols &&
                       (t.skip == 0 || w.segment > 0);
    const long first = w.row * row_index - t.skip * col_index;
    if (whole) {
#pragma unroll
      for (int k = 0; k < CHUNK; ++k)
        fold(&f, value_of(x[k], options), first + chunk_column(&t, &w, aligned, k) * col_index);
    } else {
#pragma unroll
      for (int k = 0; k < CHUNK; ++k) {
        const long column = chunk_column(&t, &w, aligned, k);
        if (column >= t.skip && column < t.cols)
          fold(&f, value_of(x[k], options), first + column * col_index);
      }
    }
  }
  return f;
}

KERNEL_BOUNDED(exact, THREADS, 1, GROUPS)
(GLOBAL const T* RESTRICT input, long input_offset, GLOBAL uchar* output, long output_offset,
 long output_stride, GLOBAL uchar* workspace, long workspace_offset, TILE_PARAMETERS,
 long row_index, long col_index, int phase, int options) {
  LOCAL VALUE values[THREADS];
  LOCAL long indexes[THREADS];
  LOCAL uint is_last[1];

  const int me = local_x();
  const Tile t = tile_of(TILE_ARGUMENTS, phase);
  GLOBAL ulong* records = (GLOBAL ulong*)(workspace + workspace_offset + CONTROL_BYTES);
  bool finishing = phase == FINISH;

  for (bool done = false; !done;) {
    Folded mine = folded_nothing();
    if (!finishing) {
      mine = fold_elements(t, input + input_offset, row_index, col_index, options);
    } else if (t.active) {
      for (int s = t.lane; s < splits; s += t.lanes) {
        GLOBAL const ulong* record = records + tile_record(&t, s) * 2;
        fold(&mine, (VALUE)record[0], (long)record[1]);
      }
    }
    values[me] = mine.value;
    indexes[me] = mine.index;
    for (int s = t.lanes / 2; s > 0; s /= 2) {
      sync();
      if (t.lane < s) {
        fold(&mine, values[me + s * t.step], indexes[me + s * t.step]);
        values[me] = mine.value;
        indexes[me] = mine.index;
      }
    }
    if (tile_leads(&t)) {
      if (finishing || splits == 1) {
        store_folded(output + output_offset, (t.first + t.result) * output_stride, &mine, options);
      } else {
        GLOBAL ulong* record = records + tile_record(&t, t.split) * 2;
        record[0] = mine.value;
        record[1] = (ulong)mine.index;
      }
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
