// The exact sum of floats, of their squares, or of the products of two inputs, rounded once: the
// fast path first, and the fallback for a tile whose numbers don't fit it. A tile shared by
// several groups leaves one record a result and group in the workspace; the last group (or a second
// launch) adds them the same way.
#pragma once

#include "exact_sum_words.h"
#include "state.h"

// Where there is room for bins, no f32 is lost, and none is read twice.
#define USES_BINS (!T_DOUBLE && !PRODUCTS && HAVE_LOCAL_48K)
#define SAW_SPECIAL (SAW_NAN | SAW_PLUS_INFINITY | SAW_MINUS_INFINITY)

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
// stay. Both roads call it: groups cut a row at its segments, so they must count these from one
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

#include "exact_sum_narrow.h"
#include "exact_sum_wide.h"

#define RECORD (FOLDS + 1)  // folds, then their exponent and, in the upper half, what was seen
#define ARENA (WORDS * COPIES > FOLDS * THREADS ? WORDS * COPIES : FOLDS * THREADS)

// Where the sums go: results or states, or records and words of a tile's groups.
typedef struct Sink {
  GLOBAL uchar* output;
  long output_stride;
  bool wide_result;  // f64 results of f32 elements
  bool states;       // instead of results
  bool final;        // results, not records
  GLOBAL ulong* records;
  GLOBAL ulong* words;
} Sink;

DEVICE void store_result(const Sink* sink, long result, ulong bits) {
  if (T_DOUBLE || sink->wide_result)
    ((GLOBAL ulong*)sink->output)[result * sink->output_stride] = bits;
  else
    ((GLOBAL uint*)sink->output)[result * sink->output_stride] = (uint)bits;
}

DEVICE GLOBAL ulong* state_of(const Sink* sink, long result) {
  return (GLOBAL ulong*)sink->output + result * sink->output_stride;
}

// Adds the folds that a tile's groups left; non-zero when one of them is wide.
DEVICE ulong add_records(const Tile* t, GLOBAL const ulong* records, Expansion* sum, uint* saw) {
  ulong lost = 0UL;
  for (int s = t->lane; t->active && s < t->splits; s += t->lanes) {
    GLOBAL const ulong* record = records + tile_record(t, s) * RECORD;
    *saw |= (uint)(record[FOLDS] >> 32);
    if (*saw & SAW_WIDE) return 1UL;
    for (int k = 0; k < FOLDS; ++k) lost |= expansion_add(sum, as_double(record[k]));
  }
  return lost;
}

// The leader of a result stores what combine() left.
DEVICE void store_folds(const Tile* t, const Sink* sink, const Folds* folds, uint top, uint saw) {
  if (top & 2048u) saw |= SAW_OTHER_THAN_MINUS_ZERO;
  if (!sink->final) {
    GLOBAL ulong* record = sink->records + tile_record(t, t->split) * RECORD;
#pragma unroll
    for (int k = 0; k < FOLDS; ++k) record[k] = as_ulong(folds->part[k]);
    record[FOLDS] = (ulong)saw << 32 | top;
    return;
  }
  if (sink->states) {
    GLOBAL ulong* state = state_of(sink, t->first + t->result);
    long words[5];
    folds_to_words(folds, top & 2047u, words);
    if (!state_begin(state, saw)) return;
    for (int w = 0; w < 5; ++w)
      state_add(state, words[w], fold_grid(top & 2047u, FOLDS - 1) + 32 * w);
    return;
  }
  const bool f64 = T_DOUBLE || sink->wide_result;
  const int precision = f64 ? 53 : 24, lowest = f64 ? -1022 : -126;
  ulong bits;
  if (!saw || (saw & SAW_SPECIAL) ||
      !round_quickly(folds->part[0], folds->part[1], folds->part[2], folds->part[3], f64, &bits)) {
    long words[5];
    folds_to_words(folds, top & 2047u, words);
    bool negative = false;
    Digits d;
    for (int pass = 0; pass < 2; ++pass) {
      d = digits_none();
#pragma unroll
      for (int w = 0; w < 5; ++w) digits_read(&d, negative ? -words[w] : words[w]);
      if (!digits_end(&d)) break;
      negative = true;
    }
    bits = settle(digits_round(&d, fold_grid(top & 2047u, FOLDS - 1), precision, lowest), negative,
                  saw, precision, lowest);
  }
  store_result(sink, t->first + t->result, bits);
}

// Stores `count` results of a tile from result `base` on, out of their superaccumulators.
DEVICE void store_wide(const Tile* t, const Sink* sink, int base, int count, int copies,
                       LOCAL_POINTER uint* low, LOCAL_POINTER uint* high,
                       LOCAL_POINTER const uint* saw) {
  const int me = local_x();
  for (int i = me; i < count * WORDS; i += THREADS) {
    const int slot = i % count * copies, w = i / count;
    const ulong total = word_total(low + slot, high + slot, w, copies);
    low[w * COPIES + slot] = (uint)total;
    high[w * COPIES + slot] = (uint)(total >> 32);
  }
  sync();
  if (sink->final) {
    const bool f64 = T_DOUBLE || sink->wide_result;
    const long result = t->first + base + me;
    if (me < count && result < t->results && sink->states) {
      if (state_begin(state_of(sink, result), saw[me]))
        for (int w = 0; w < WORDS; ++w)
          state_add(state_of(sink, result), word_at(low + me * copies, high + me * copies, w),
                    BASE + 32 * w);
    } else if (me < count && result < t->results) {
      store_result(sink, result,
                   round_words(low + me * copies, high + me * copies, saw[me], f64 ? 53 : 24,
                               f64 ? -1022 : -126));
    }
  } else {
    // One step of carrying keeps the sum of many records' words within 64 bits.
    for (int i = me; i < count * WORDS; i += THREADS) {
      const int r = i % count, w = i / count, at = w * COPIES + r * copies;
      const long carry = w > 0 ? (long)(int)high[at - COPIES] : 0;
      const ulong rest = w < WORDS - 1 ? (ulong)low[at] : (ulong)high[at] << 32 | low[at];
      const long record = tile_record(t, t->split) - t->result + base + r;
      sink->words[record * WORDS + w] = rest + (ulong)carry;
      if (w == 0) sink->records[record * RECORD + FOLDS] = (ulong)(saw[r] | SAW_WIDE) << 32;
    }
  }
  sync();
}

KERNEL_BOUNDED(exact, THREADS, 1, GROUPS)
(REDUCE_PARAMETERS) {
  LOCAL ulong arena[ARENA];
  LOCAL uint saw[THREADS], special[THREADS];
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
  sink.wide_result = options & RESULT_F64;
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
      if (as_ulong(sum.hi) != 0x8000000000000000UL) mine |= SAW_OTHER_THAN_MINUS_ZERO;
    }
    if (lost) atomic_or(flag, 1u);
    if (mine & SAW_SPECIAL) atomic_or(special + t.result, mine);
    if (combine(&t, &sum, mine, saw, parts, &folds, &top)) atomic_or(flag, 1u);
    sync();
    if (flag[0] == 0u) {
      if (tile_leads(&t)) store_folds(&t, &sink, &folds, top, special[t.result]);
    } else {
      const int batch = width < COPIES ? width : COPIES, copies = COPIES / batch;
      for (int base = 0; base < width; base += batch) {
        const int count = width - base < batch ? width - base : batch;
        sync();
        for (int i = me; i < WORDS * COPIES; i += THREADS) arena[i] = 0UL;
        saw[me] = 0u;
        sync();
        if (t.active && t.result >= base && t.result < base + count) {
          const int slot = (t.result - base) * copies + t.lane % copies;
          if (finishing) {
            mine = 0u;
            for (int s = t.lane; s < splits; s += t.lanes) {
              const long record = tile_record(&t, s);
              mine |= add_partial_wide(sink.records + record * RECORD, sink.words + record * WORDS,
                                       low + slot, high + slot);
            }
          } else {
#if USES_BINS
            add_share_wide(&sum, bins, binned, low + slot, high + slot);
#else
            mine = add_elements_wide(t, in, low + slot, high + slot);
#endif
          }
          if (mine) atomic_or(saw + (t.result - base), mine);
        }
        sync();
        store_wide(&t, &sink, base, count, copies, low, high, saw);
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
