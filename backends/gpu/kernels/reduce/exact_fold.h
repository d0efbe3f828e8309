// The kernel of the functions that need no care for order (fold.h): each work-item folds its share,
// a tree folds the lanes, the last group of a tile (or a second launch) folds the groups' records.
#pragma once
#include "across_groups.h"
#include "fold.h"

// Are all elements of the chunk at `w` the row's?
DEVICE bool is_whole(const Tile* t, const Walk* w) {
  return (long)(w->segment + 1) << (t->col_bits + CHUNK_BITS) <= t->cols &&
         (t->skip == 0 || w->segment > 0);
}

DEVICE bool in_row(const Tile* t, const Walk* w, bool aligned, int k) {
  const long column = chunk_column(t, w, aligned, k);
  return column >= t->skip && column < t->cols;
}

// Folds the chunk `x`, of which `whole` says that it is; indexes matter to ARG alone.
DEVICE void fold_chunk(Folded* f, const Tile* t, const Walk* w, const T* x, bool aligned,
                       const bool whole, long row_index, long col_index, int options) {
  const long first = w->row * row_index - t->skip * col_index;
#pragma unroll
  for (int k = 0; k < CHUNK; ++k)
    if (whole || in_row(t, w, aligned, k))
      fold(f, value_of(x[k], options), first + chunk_column(t, w, aligned, k) * col_index);
}

#if KIND_ARG
// The chunk's smallest key and its first place; false where no element is the row's.
DEVICE bool least_of(const Tile* t, const Walk* w, const T* x, bool aligned, const bool whole,
                     int options, VALUE* least, int* place) {
  bool any = whole;
  *least = LAST_KEY;
  *place = 0;
#pragma unroll
  for (int k = CHUNK - 1; k >= 0; --k)
    if (whole || in_row(t, w, aligned, k)) {
      const VALUE key = value_of(x[k], options);
      if (key <= *least) {
        *least = key;
        *place = k;
      }
      any = true;
    }
  return any;
}
#endif

DEVICE Folded fold_elements(Tile t, GLOBAL const T* input, long row_index, long col_index,
                            int options) {
  Folded f = folded_nothing();
  const int skip = tile_skip(&t, input);
  const bool aligned = skip >= 0;
  input = tile_align(&t, input, skip);
  T x[CHUNK];
#if KIND_ARG
  // Where indexes ascend along the walk, the first chunk with the smallest key has the answer.
  if (t.rows == 1 || row_index >= col_index) {
    Walk best;
    VALUE least = LAST_KEY;
    bool found = false;
    int at = 0;
    for (Walk w = walk_begin(&t); w.row < t.rows; walk_on(&w, &t)) {
      load_chunk(&t, &w, input, aligned, (T)0, x);
      VALUE key;
      int place;
      const bool any = is_whole(&t, &w)
                           ? least_of(&t, &w, x, aligned, true, options, &key, &place)
                           : least_of(&t, &w, x, aligned, false, options, &key, &place);
      if (any && (key < least || !found)) {
        found = true;
        least = key;
        at = place;
        best = w;
      }
    }
    if (found)
      fold(&f, least,
           best.row * row_index + (chunk_column(&t, &best, aligned, at) - t.skip) * col_index);
    return f;
  }
#endif
  for (Walk w = walk_begin(&t); w.row < t.rows; walk_on(&w, &t)) {
    load_chunk(&t, &w, input, aligned, (T)0, x);
    if (is_whole(&t, &w))
      fold_chunk(&f, &t, &w, x, aligned, true, row_index, col_index, options);
    else
      fold_chunk(&f, &t, &w, x, aligned, false, row_index, col_index, options);
  }
  return f;
}

#if (T_float || T_uint) && (KIND_EXTREME || KIND_ARG)
#define shuffle_xor_value shuffle_xor
#else
#define shuffle_xor_value shuffle_xor_u64
#endif

// Folds what each result's lanes have, into the leader's.
INLINED void lanes_fold(const Tile* t, Folded* mine, LOCAL_POINTER VALUE* values,
                        LOCAL_POINTER long* indexes) {
  const int me = local_x();
#if HAVE_WARPS
  if (t->step == 1) {
    for (int mask = 1; mask < t->lanes && mask < 32; mask *= 2) {
      const VALUE value = shuffle_xor_value(mine->value, mask);
#if KIND_ARG
      fold(mine, value, (long)shuffle_xor_u64((ulong)mine->index, mask));
#else
      fold(mine, value, 0);
#endif
    }
    if (t->lanes <= 32) return;
    if (me % 32 == 0) {
      values[me / 32] = mine->value;
      indexes[me / 32] = mine->index;
    }
    sync();
    for (int w = me / 32 + 1; t->lane == 0 && w < (me + t->lanes) / 32; ++w)
      fold(mine, values[w], indexes[w]);
    return;
  }
#endif
  values[me] = mine->value;
  indexes[me] = mine->index;
  for (int s = t->lanes / 2; s > 0; s /= 2) {
    sync();
    if (t->lane < s) {
      fold(mine, values[me + s * t->step], indexes[me + s * t->step]);
      values[me] = mine->value;
      indexes[me] = mine->index;
    }
  }
}

// Fetches this work-item's first chunk into the L2 while earlier launches end.
DEVICE void fetch_elements(Tile t, GLOBAL const T* input) {
  const int skip = tile_skip(&t, input);
  if (skip < 0) return;
  input = tile_align(&t, input, skip);
  const Walk w = walk_begin(&t);
  if (w.row >= t.rows || !is_whole(&t, &w)) return;
  GLOBAL const T* row = input + tile_row(&t, w.row);
#pragma unroll
  for (int k = 0; k < CHUNK; k += VECTOR) fetch_soon(row + chunk_column(&t, &w, true, k));
}

KERNEL_BOUNDED(exact, THREADS, 1, GROUPS)
(REDUCE_PARAMETERS) {
  LOCAL VALUE values[THREADS];
  LOCAL long indexes[THREADS];
  LOCAL uint is_last[1];

  const int me = local_x();
  const Tile t = tile_of(TILE_ARGUMENTS, phase);
  GLOBAL ulong* records = (GLOBAL ulong*)(workspace + workspace_offset + CONTROL_BYTES);
  bool finishing = phase == FINISH;

  if (!finishing) fetch_elements(t, input + input_offset);
  await_earlier_launches();
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
    lanes_fold(&t, &mine, values, indexes);
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
