// The exact sum of floats, of their squares, or of the products of two inputs, rounded once: the
// fast path first, and the fallback for a tile whose numbers don't fit it. A tile shared by several
// groups leaves one record a result and group in the workspace; the last group (or a second launch)
// adds them the same way.
#pragma once

#include "exact_sum_words.h"
#include "state.h"

// Where there is room for bins, no f32 is lost, and none is read twice.
#define USES_BINS (!T_DOUBLE && !PRODUCTS && HAVE_LOCAL_48K)

// The terms: x, or x times y.
typedef struct Inputs {
  GLOBAL const T* x;
#if KIND_DOT
  GLOBAL const T* y;
  Tile y_tile;
#endif
  bool magnitude;
} Inputs;

// Begins the rows at a boundary of 16 bytes, if they can be read in vectors from there; false: they
// stay. Both paths call it: groups cut a row at its segments, so they must count these from one
// place.
DEVICE bool align_inputs(Tile* t, Inputs* in) {
  int skip = tile_skip(t, in->x);
#if KIND_DOT
  if (skip != tile_skip(&in->y_tile, in->y)) skip = -1;
  in->y = tile_align(&in->y_tile, in->y, skip);
#endif
  in->x = tile_align(t, in->x, skip);
  return skip >= 0;
}

#include "exact_sum_fallback.h"
#include "exact_sum_fast.h"

#define RECORD (FOLDS + 1)  // folds, then their exponent and, in the upper half, flags
#define ARENA (WORDS * COPIES > FOLDS * THREADS ? WORDS * COPIES : FOLDS * THREADS)

// Where the sums go: results or states, or records and words of a tile's groups.
typedef struct Sink {
  GLOBAL uchar* output;
  long output_stride;
  bool f64;     // results of f64
  bool states;  // instead of results
  bool final;   // results, not records
  GLOBAL ulong* records;
  GLOBAL ulong* words;
} Sink;

DEVICE GLOBAL ulong* state_of(const Sink* sink, long result) {
  return (GLOBAL ulong*)sink->output + result * sink->output_stride;
}

// Adds the folds that a tile's groups left; non-zero when one of them is wide.
DEVICE ulong add_records(const Tile* t, GLOBAL const ulong* records, Expansion* sum, uint* flags) {
  ulong lost = 0UL;
  for (int s = t->lane; t->active && s < t->splits; s += t->lanes) {
    GLOBAL const ulong* record = records + tile_record(t, s) * RECORD;
    *flags |= (uint)(record[FOLDS] >> 32);
    if (*flags & FLAG_IN_WORDS) return 1UL;
    for (int k = 0; k < FOLDS; ++k) lost |= expansion_add(sum, as_double(record[k]));
  }
  return lost;
}

// The leader of a result stores what combine() left.
DEVICE void store_folds(const Tile* t, const Sink* sink, const Folds* folds, uint top, uint flags) {
  if (top & 2048u) flags |= FLAG_NOT_MINUS_ZERO;
  if (!sink->final) {
    GLOBAL ulong* record = sink->records + tile_record(t, t->split) * RECORD;
#pragma unroll
    for (int k = 0; k < FOLDS; ++k) record[k] = as_ulong(folds->part[k]);
    record[FOLDS] = (ulong)flags << 32 | top;
    return;
  }
  if (sink->states) {
    GLOBAL ulong* state = state_of(sink, t->first + t->result);
    long words[5];
    folds_to_words(folds, top & 2047u, words);
    if (!state_begin(state, flags)) return;
    for (int w = 0; w < 5; ++w)
      state_add(state, words[w], fold_grid(top & 2047u, FOLDS - 1) + 32 * w);
    return;
  }
  ulong bits;
  if (!flags || (flags & FLAGS_SPECIAL) ||
      !round_quickly(folds->part[0], folds->part[1], folds->part[2], folds->part[3], sink->f64,
                     &bits)) {
    long words[5];
    folds_to_words(folds, top & 2047u, words);
    bits = round_words(words, 5, fold_grid(top & 2047u, FOLDS - 1), flags, sink->f64);
  }
  store_sum(sink->output, (t->first + t->result) * sink->output_stride, sink->f64, bits);
}

// Stores `count` results of a tile from result `base` on, out of their superaccumulators.
DEVICE void store_wide(const Tile* t, const Sink* sink, int base, int count, int copies,
                       LOCAL_POINTER uint* low, LOCAL_POINTER uint* high,
                       LOCAL_POINTER const uint* flags) {
  const int me = local_x();
  for (int i = me; i < count * WORDS; i += THREADS)
    word_total(low + i % count * copies, high + i % count * copies, i / count, copies);
  sync();
  if (sink->final) {
    const long result = t->first + base + me;
    if (me < count && result < t->results && sink->states) {
      if (state_begin(state_of(sink, result), flags[me]))
        for (int w = 0; w < WORDS; ++w)
          state_add(state_of(sink, result), word_at(low + me * copies, high + me * copies, w),
                    BASE + 32 * w);
    } else if (me < count && result < t->results) {
      store_sum(sink->output, result * sink->output_stride, sink->f64,
                total_bits(low + me * copies, high + me * copies, flags[me], sink->f64));
    }
  } else {
    for (int i = me; i < count * WORDS; i += THREADS) {
      const int r = i % count, w = i / count;
      const long record = tile_record(t, t->split) - t->result + base + r;
      sink->words[record * WORDS + w] = carried_word(low + r * copies, high + r * copies, w);
      if (w == 0) sink->records[record * RECORD + FOLDS] = (ulong)(flags[r] | FLAG_IN_WORDS) << 32;
    }
  }
  sync();
}

// Adds the records of this work-item's groups; returns their flags.
DEVICE uint add_records_wide(const Tile* t, const Sink* sink, LOCAL_POINTER uint* low,
                             LOCAL_POINTER uint* high) {
  uint flags = 0u;
  for (int s = t->lane; s < t->splits; s += t->lanes) {
    const long record = tile_record(t, s);
    flags |=
        add_partial_wide(sink->records + record * RECORD, sink->words + record * WORDS, low, high);
  }
  return flags;
}

// Adds what this work-item holds, whose flags are `flags`, or its elements once more; returns their
// flags.
DEVICE uint add_held_wide(Tile t, Inputs in, const Expansion* sum, LOCAL_POINTER const double* bins,
                          uint binned, uint flags, LOCAL_POINTER uint* low,
                          LOCAL_POINTER uint* high) {
#if USES_BINS
  add_share_wide(sum, bins, binned, low, high);
  return flags;
#else
  return add_elements_wide(t, in, low, high);
#endif
}

KERNEL_BOUNDED(exact, THREADS, 1, GROUPS)
(REDUCE_PARAMETERS) {
  LOCAL ulong arena[ARENA];
  LOCAL uint result_flags[THREADS], special[THREADS];
  LOCAL uint flag[2];  // folds don't hold it all; this group is the tile's last
#if USES_BINS
  LOCAL double all_bins[BINS * THREADS];
  LOCAL_POINTER double* bins = all_bins + local_x();
#else
  LOCAL_POINTER double* bins = 0;
#endif
  LOCAL_POINTER uint* low = (LOCAL_POINTER uint*)arena;
  LOCAL_POINTER uint* high = low + WORDS * COPIES;
  LOCAL_POINTER double* parts = (LOCAL_POINTER double*)arena;

  const int me = local_x();
  const Tile t = tile_of(TILE_ARGUMENTS, phase);
  Inputs in;
  in.x = input + input_offset;
#if KIND_DOT
  in.y = second + second_offset;
  in.y_tile = tile_by(&t, second_result_stride, second_row_stride, second_col_stride);
#endif
  in.magnitude = options & MAP_ABS;
  Sink sink;
  sink.output = output + output_offset;
  sink.output_stride = output_stride;
  sink.f64 = T_DOUBLE || (options & RESULT_F64);
  sink.states = options & STATES;
  sink.records = (GLOBAL ulong*)(workspace + workspace_offset + CONTROL_BYTES);
  sink.words = sink.records + tile_records(&t, phase) * RECORD;
  bool finishing = phase == FINISH;

  await_earlier_launches();
  for (bool done = false; !done;) {
    if (me < 2) flag[me] = 0u;
    special[me] = 0u;
    sync();
    sink.final = finishing || splits == 1;
    Expansion sum = expansion_zero();
    Folds folds;
    uint mine = 0u, top, binned = 0u;
    ulong lost;
    if (finishing) {
      lost = add_records(&t, sink.records, &sum, &mine);
    } else {
      lost = add_elements(t, in, &sum, &mine, bins, &binned);
      if (as_ulong(sum.hi) != 0x8000000000000000UL) mine |= FLAG_NOT_MINUS_ZERO;
    }
    if (lost) atomic_or(flag, 1u);
    if (mine & FLAGS_SPECIAL) atomic_or(special + t.result, mine);
    if (combine(&t, &sum, mine, result_flags, parts, &folds, &top)) atomic_or(flag, 1u);
    sync();
    if (flag[0] == 0u) {
      if (tile_leads(&t)) store_folds(&t, &sink, &folds, top, special[t.result]);
    } else {
      const int batch = width < COPIES ? width : COPIES, copies = COPIES / batch;
      for (int base = 0; base < width; base += batch) {
        const int count = width - base < batch ? width - base : batch;
        words_clear(me, arena);
        result_flags[me] = 0u;
        sync();
        if (t.active && t.result >= base && t.result < base + count) {
          const int slot = (t.result - base) * copies + t.lane % copies;
          uint flags;
          if (finishing)
            flags = add_records_wide(&t, &sink, low + slot, high + slot);
          else
            flags = add_held_wide(t, in, &sum, bins, binned, mine, low + slot, high + slot);
          if (flags) atomic_or(result_flags + (t.result - base), flags);
        }
        sync();
        store_wide(&t, &sink, base, count, copies, low, high, result_flags);
      }
    }
    done = true;
    if (!sink.final && phase == WHOLE) {
      sync_memory();
      if (me == 0) flag[1] = tile_finished(&t, workspace + workspace_offset) ? 1u : 0u;
      sync_memory();
      finishing = flag[1] != 0u;
      done = !finishing;
      sync();
    }
  }
}
