// Idea: one exact sum, or a few rows', by code that holds little but the fast path. The next
// loads run ahead of the additions, and there is no ticket: a group leaves three words that say
// themselves that they are there; the last group waits for all of them, adds and rounds, and makes
// them zero again. It beats `exact` because that one runs a thousand instructions around a group's
// loads, and ends by a fence, a ticket and a read, one after the other. Requires: f64; neighbouring
// elements; NVIDIA for one launch (elsewhere a second launch finishes).
#if T_float
typedef float4 Vector;
#define VECTOR 4
#define ALL_OF(x) make_float4(x, x, x, x)
#define VECTOR_AT(p) make_float4((p)[0], (p)[1], (p)[2], (p)[3])
#else
typedef double2 Vector;
#define VECTOR 2
#define ALL_OF(x) make_double2(x, x)
#define VECTOR_AT(p) make_double2((p)[0], (p)[1])
#endif
#define VECTORS (PRODUCTS ? 2 : 4)  // that a work-item loads at once
#define CHUNK (VECTOR * VECTORS)
#define SPAN ((long)THREADS * VECTORS)
#define FLOATS (!T_DOUBLE && !PRODUCTS)  // they add up in double
#define CHUNK_BITS 0                     // of tile.h's walks, of which there are none
#include "exact_stream.h"
#include "exact_stream_fallback.h"

#define RECORDS (CONTROL_BYTES / 24)

#if HAVE_WARPS
#define SCRATCH (WARPS * (CUTS + 1))
#else
#define SCRATCH (THREADS * 3)
#endif

// A record's words are what they stand for, inverted, so that none is zero. (All ones are no sum.)
// They are read together, as the way to them is long.
DEVICE Expansion take_record(volatile GLOBAL ulong* words) {
  ulong hi, mid, lo;
  do {
    hi = words[0];
    mid = words[1];
    lo = words[2];
  } while (hi == 0UL || mid == 0UL || lo == 0UL);
  words[0] = 0UL;
  words[1] = 0UL;
  words[2] = 0UL;
  Expansion sum;
  sum.hi = as_double(~hi);
  sum.mid = as_double(~mid);
  sum.lo = as_double(~lo);
  return sum;
}

DEVICE void leave_record(volatile GLOBAL ulong* words, double hi, double mid, double lo) {
  words[0] = ~as_ulong(hi);
  words[1] = ~as_ulong(mid);
  words[2] = ~as_ulong(lo);
}

// In the first word's place where the doubles aren't the sum: a NaN that says why.
#define MARK(what) as_double(0x7ff8000000000000UL | (what))

// Small groups leave room for the next launch's.
KERNEL_BOUNDED(exact_stream, THREADS, 1, THREADS == 256 ? 3 : 1)
(REDUCE_PARAMETERS) {
  LOCAL ulong scratch[SCRATCH];
  LOCAL ulong arena[WORDS * COPIES];
#if MANY_WORDS
  LOCAL uint groups_in_words[RECORDS / 32 + 1];  // a bit for each whose sum is
#endif
  LOCAL uint flags[2];  // LOST, UNCUT, FLAG_…: of the group's share, and of all groups' sums
#if USES_BINS
  LOCAL double all_bins[BINS * BINNERS];
#endif
  const int sum_index = phase == FINISH ? group_x() : (int)((uint)group_x() / (uint)splits);
  const int split = group_x() - sum_index * splits;
  GLOBAL const T* from = input + input_offset + sum_index * result_stride;
#if KIND_DOT
  GLOBAL const T* also = second + second_offset + sum_index * second_result_stride;
#else
  GLOBAL const T* also = from;
#endif
  const Share in = share_of(from, also, cols, split, splits, options);
  if (local_x() < 2) flags[local_x()] = 0u;
  if (phase != FINISH) fetch_share(&in);
  sync();
  await_earlier_launches();
  const bool finishing = phase == FINISH || (phase == WHOLE && in.last);
  Expansion sum = expansion_zero();
  uint what = 0u;
  if (phase != FINISH) sum = add_share(&in, &what);
#pragma unroll 1
  for (int round = phase == FINISH ? 1 : 0; round < (finishing && splits > 1 ? 2 : 1); ++round) {
    const bool final = round == 1 || splits == 1;
    const int me = item_here(), index = opaque(sum_index), first_record = index * splits;
    const int at = group_x() - first_record;  // split
    const bool f64 = T_DOUBLE || (opaque(options) & RESULT_F64);
    volatile GLOBAL ulong* records =
        (volatile GLOBAL ulong*)(workspace + workspace_offset) + 3 * first_record;
    if (round == 1) {
      what = 0u;
      sum = expansion_zero();
      if (me < splits) sum = take_record(records + 3 * me);
      if (sum.hi != sum.hi) {
        what = (uint)as_ulong(sum.hi);
        sum = expansion_zero();
      }
    }
    const Expansion mine = sum;
    const bool in_words = round == 1 && what;
    if (what) atomic_or(flags + round, what);
    double below;
    group_add(&sum, &below, flags + round, scratch);
    // The first work-item knows whether all is well, and the others needn't for the result.
    if (me == 0 && flags[round] == 0u) {
      ulong bits = 0UL;
      bool done = below == 0.0;
      // The last group rounds its own sum, too, so that the instructions are there when all are.
      if (finishing) {
        const bool rounded = round_quickly(sum.hi, sum.mid, sum.lo, below, f64, &bits);
        if (as_ulong(sum.hi) == 0x8000000000000000UL)
          bits = f64 ? 0x8000000000000000UL : 0x80000000UL;
        else if (final)
          done = rounded;
      }
      if (!done)
        flags[round] = UNCUT;
      else if (final)
        store_sum(output + output_offset, index * output_stride, f64, bits);
      else
        leave_record(records + 3 * at, sum.hi, sum.mid, sum.lo);
    }
    sync();
    what = flags[round];
    if (what == 0u) continue;
    ulong bits = 0UL;
    if (!(what & FLAGS_SPECIAL)) {
      LOCAL_POINTER uint* low = (LOCAL_POINTER uint*)arena + me % COPIES;
      LOCAL_POINTER uint* high = low + WORDS * COPIES;
      GLOBAL ulong* words =
          (GLOBAL ulong*)(workspace + workspace_offset + CONTROL_BYTES) + first_record * WORDS;
      words_clear(me, arena);
      if (round == 0 && (what & LOST)) {
        const Share again = share_of(from, also, cols, opaque(split), opaque(splits), options);
#if USES_BINS
        LOCAL_POINTER double* bins = all_bins + me % BINNERS;
#else
        LOCAL_POINTER double* bins = 0;
#endif
        const uint special = add_share_wide(&again, bins, arena, low, high);
        if (special) atomic_or(flags, special);
      } else {
#if MANY_WORDS
        if (me <= RECORDS / 32) groups_in_words[me] = 0u;
        sync();
        if (in_words) {
          fence();
          atomic_or(groups_in_words + me / 32, 1u << me % 32);
        }
        sync();
        if (round == 1) add_words_of(words, groups_in_words, splits, low, high);
#else
        if (in_words) add_words(words + me * WORDS, low, high);
#endif
        if (!in_words) words_add_expansion(&mine, low, high);
      }
      words_total(me, low - me % COPIES, high - me % COPIES);
      if (final && me == 0) bits = total_bits(low, high, FLAG_NOT_MINUS_ZERO, f64);
      if (!final && me < WORDS)
        words[at * WORDS + me] = carried_word(low - me % COPIES, high - me % COPIES, me);
      sync_memory();
      what = flags[round];
    }
    if (what & FLAGS_SPECIAL) bits = result_bits(0UL, false, what, f64);
    if (me == 0 && final) store_sum(output + output_offset, index * output_stride, f64, bits);
    if (me == 0 && !final) {
      fence();
      leave_record(records + 3 * at, MARK(what), 0.0, 0.0);
    }
  }
}
