// Idea: one exact sum, or the sums of a few rows, by code that holds little but the fast path. The
// next loads run ahead of the additions, and there is no ticket: a group leaves three words that
// are never zero; the last group waits for all of them, adds and rounds, and makes them zero again.
// It beats `exact` because `exact` runs a thousand instructions around a group's loads, and ends
// with a fence, a ticket and a read, one after the other. Requires: f64; neighbouring elements;
// NVIDIA for one launch (elsewhere a second launch finishes).
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
#define RECORDS (CONTROL_BYTES / 24)
#include "exact_stream.h"
#include "exact_stream_fallback.h"

#if HAVE_WARPS
#define SCRATCH (WARPS * (CUTS + 1))
#else
#define SCRATCH (THREADS * 3)
#endif

// A NaN that holds the flags: it takes the first word's place where the doubles aren't the sum.
#define MARK(flags) as_double(0x7ff8000000000000UL | (flags))

// Waits for a group's record. Its words are those of the sum, inverted, so that none is zero. (All
// ones are no sum.) They are read together, as the way to them is long.
DEVICE Expansion take_record(volatile GLOBAL ulong* words, uint* flags) {
  ulong hi, mid, lo;
  do {
    hi = words[0];
    mid = words[1];
    lo = words[2];
  } while (hi == 0UL || mid == 0UL || lo == 0UL);
  words[0] = words[1] = words[2] = 0UL;
  Expansion sum;
  sum.hi = as_double(~hi);
  sum.mid = as_double(~mid);
  sum.lo = as_double(~lo);
  if (sum.hi != sum.hi) {
    *flags = (uint)as_ulong(sum.hi);
    sum = expansion_zero();
  }
  return sum;
}

DEVICE void leave_record(volatile GLOBAL ulong* words, const Expansion* sum, uint flags) {
  if (flags) fence();
  words[0] = ~as_ulong(flags ? MARK(flags) : sum->hi);
  words[1] = ~as_ulong(flags ? 0.0 : sum->mid);
  words[2] = ~as_ulong(flags ? 0.0 : sum->lo);
}

// The bits of a group's sum; false where they don't follow from its doubles.
DEVICE bool sum_bits(const Expansion* sum, double below, bool f64, ulong* bits) {
  if (as_ulong(sum->hi) != 0x8000000000000000UL)
    return round_quickly(sum->hi, sum->mid, sum->lo, below, f64, bits);
  *bits = f64 ? 0x8000000000000000UL : 0x80000000UL;
  return true;
}

KERNEL_BOUNDED(exact_stream, THREADS, 1, 1)
(REDUCE_PARAMETERS) {
  LOCAL ulong scratch[SCRATCH];
  LOCAL ulong arena[WORDS * COPIES];
  LOCAL uint groups_in_words[MANY_WORDS ? RECORDS / 32 + 1 : 1];
  LOCAL uint all_flags[2];  // LOST, UNCUT, FLAG_…: of the group's share, and of all groups' sums
  LOCAL double all_bins[USES_BINS ? BINS * BINNERS : 1];
  const int sum_index = phase == FINISH ? group_x() : (int)((uint)group_x() / (uint)splits);
  const int split = group_x() - sum_index * splits;
  GLOBAL const T* from = input + input_offset + sum_index * result_stride;
#if KIND_DOT
  GLOBAL const T* also = second + second_offset + sum_index * second_result_stride;
#else
  GLOBAL const T* also = from;
#endif
  const Share in = share_of(from, also, cols, split, splits, options);
  if (local_x() < 2) all_flags[local_x()] = 0u;
  sync();
  await_earlier_launches();
  const bool finishing = phase == FINISH || (phase == WHOLE && in.last);
#pragma unroll 1
  for (int round = phase == FINISH ? 1 : 0; round < (finishing && splits > 1 ? 2 : 1); ++round) {
    const bool final = round == 1 || splits == 1;
    Expansion sum = expansion_zero();
    uint flags = 0u;
    if (round == 0) sum = add_share(&in, &flags);
    const int me = item_here(), index = opaque(sum_index, FLOATS), first_record = index * splits;
    const int at = group_x() - first_record;  // split
    const bool f64 = T_DOUBLE || (opaque(options, FLOATS) & RESULT_F64);
    volatile GLOBAL ulong* records =
        (volatile GLOBAL ulong*)(workspace + workspace_offset) + 3 * first_record;
    if (round == 1 && me < splits) sum = take_record(records + 3 * me, &flags);
    const Expansion mine = sum;
    const bool in_words = round == 1 && flags;
    double below;
    if (group_add(&sum, &below, scratch)) flags |= UNCUT;
    ulong bits = 0UL;
    // The last group rounds its own sum, too, so that the instructions are there when all sums are.
    const bool rounded = me != 0 || !finishing || sum_bits(&sum, below, f64, &bits);
    if (final ? !rounded : below != 0.0) flags |= UNCUT;
    if (flags) atomic_or(all_flags + round, flags);
    sync();
    flags = all_flags[round];
    if (flags && !(flags & FLAGS_SPECIAL)) {
      LOCAL_POINTER uint* totals = (LOCAL_POINTER uint*)arena;
      LOCAL_POINTER uint* low = totals + me % COPIES;
      LOCAL_POINTER uint* high = low + WORDS * COPIES;
      GLOBAL ulong* words =
          (GLOBAL ulong*)(workspace + workspace_offset + CONTROL_BYTES) + first_record * WORDS;
      words_clear(me, arena);
      if (round == 0 && (flags & LOST)) {
        const Share again =
            share_of(from, also, cols, opaque(split, FLOATS), opaque(splits, FLOATS), options);
        flags = add_share_again(&again, all_bins + me % BINNERS, arena, low, high);
        if (flags) atomic_or(all_flags, flags);
      } else {
        add_words_of(words, in_words, groups_in_words, splits, low, high);
        if (!in_words) words_add_expansion(&mine, low, high);
      }
      words_total(me, totals, totals + WORDS * COPIES);
      if (final && me == 0)
        bits = total_bits(totals, totals + WORDS * COPIES, FLAG_NOT_MINUS_ZERO, f64);
      if (!final && me < WORDS)
        words[at * WORDS + me] = carried_word(totals, totals + WORDS * COPIES, me);
      sync_memory();
      flags = all_flags[round];
    }
    if (flags & FLAGS_SPECIAL) bits = result_bits(0UL, false, flags, f64);
    if (me == 0 && final) store_sum(output + output_offset, index * output_stride, f64, bits);
    if (me == 0 && !final) leave_record(records + 3 * at, &sum, flags);
  }
}
