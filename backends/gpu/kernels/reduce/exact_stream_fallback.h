// The fallback of `exact_stream`: a group whose numbers three doubles don't hold reads its share
// once more, into a superaccumulator; floats by way of bins, which need no atomics, doubles by way
// of digits so short that their atomics return nothing.
#pragma once
#include "exact_stream.h"

// Beside the scratch of larger groups without warps they don't fit into 48 KB.
#define USES_BINS (FLOATS && HAVE_LOCAL_48K && (HAVE_WARPS || THREADS == 256))
#define BINNERS 256  // work-items that have bins
#define USES_DIGITS (T_DOUBLE && !PRODUCTS)

#if USES_BINS
DEVICE void add_to_bins(const Share* in, const T* x, LOCAL_POINTER double* bins) {
#pragma unroll
  for (int k = 0; k < CHUNK; ++k) {
    const float one = in->magnitude ? fabs(x[k]) : x[k];
    bins[bin_of(as_uint(one)) * BINNERS] += (double)one;
  }
}

// The flags of the elements that this work-item added to its bins and that aren't finite.
DEVICE uint bins_flags(const Share* in) {
  uint flags = 0u;
  for (long first = in->first; first < in->vectors; first += in->step) {
    for (long v = first + item_here(); v < first + SPAN && v < in->vectors; v += BINNERS)
      for (int k = 0; k < VECTOR; ++k) {
        const float x = in->from[v * VECTOR + k];
        flags |= special_flags(in->magnitude ? fabs(x) : x);
      }
  }
  return flags;
}

// Adds the group's share to the bins of its first work-items, and these to the superaccumulator;
// returns the flags of elements that aren't finite. `bins` are this work-item's.
DEVICE uint add_by_bins(const Share* in, LOCAL_POINTER double* bins, LOCAL_POINTER uint* low,
                        LOCAL_POINTER uint* high) {
  const int me = item_here();
  if (me >= BINNERS) return 0u;
  for (int b = 0; b < BINS; ++b) bins[b * BINNERS] = 0.0;
  int room = BIN_ADDITIONS, u = me;
  T x[CHUNK], next[CHUNK];
  load_vectors(in->from, in->first + me, BINNERS, in->vectors, true, x);
  for (long first = in->first, then; first < in->vectors; first = then) {
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
      const long far = first + in->step + u + k * BINNERS;
      if (far < in->vectors) fetch_soon((GLOBAL const Vector*)in->from + far);
    }
    u += BINNERS * VECTORS;
    then = u < SPAN ? first : first + in->step;
    if (u >= SPAN) u = me;
    load_vectors(in->from, then + u, BINNERS, in->vectors, true, next);
    add_to_bins(in, x, bins);
    room -= CHUNK;
    if (room == 0) {
      bins_carry(bins, BINNERS);
      room = BIN_ADDITIONS;
    }
#pragma unroll
    for (int k = 0; k < CHUNK; ++k) x[k] = next[k];
  }
  // An infinity or a NaN never leaves the bins; they don't tell which it was.
  double all = 0.0;
  for (int b = 0; b < BINS; ++b) all += bins[b * BINNERS] * 0.0;
  if (all != 0.0) return bins_flags(in);
  for (int b = 0; b < BINS; ++b) words_add_double(bins[b * BINNERS], low, high);
  return 0u;
}
#endif

#if USES_DIGITS
// A double is four digits of 18 bits, whose sums in 32 bits need no carries for 8190 additions:
// half the atomics of words of 64 bits, and none waits for the old value. They take the
// superaccumulator's place, copy by copy.
#define DIGITS 119
#define DIGIT_BITS 18
#define DIGIT_STEP COPIES
#define DIGIT_CHUNKS (8190 / (THREADS / COPIES * CHUNK))
#include "digits.h"

// Adds the group's share to the superaccumulator in the arena.
DEVICE uint add_to_digits(const Share* in, LOCAL_POINTER ulong* arena) {
  const int me = item_here();
  LOCAL_POINTER uint* all = (LOCAL_POINTER uint*)arena;
  LOCAL_POINTER uint* digits = all + me % COPIES;
  uint flags = 0u;
  int room = DIGIT_CHUNKS;
#pragma unroll 1
  for (long first = in->first; first < in->vectors; first += in->step) {
    T x[CHUNK];
    uint most = 0u;
    load_vectors(in->from, first + me, THREADS, in->vectors, true, x);
#pragma unroll
    for (int k = 0; k < CHUNK; ++k) {
      if (in->magnitude) x[k] = fabs(x[k]);
      const uint magnitude = MAGNITUDE(x[k]);
      most = most > magnitude ? most : magnitude;
      int position;  // not finite: it adds something within bounds
      const ulong mantissa = mantissa_f64(as_ulong(x[k]), &position);
      digits_add(digits, mantissa, position, (uint)((long)as_ulong(x[k]) >> 63), 4);
    }
    if (most >= 0x7ff00000u)
      for (int k = 0; k < CHUNK; ++k) flags |= special_flags(x[k]);
    if (--room == 0) {
      room = DIGIT_CHUNKS;
      sync();
      if (me < COPIES) digits_carry(digits);
      sync();
    }
  }
  sync();
  long total = 0;
  for (int c = 0; me < DIGITS && c < COPIES; ++c)  // starting elsewhere: other banks
    total += (int)all[me * COPIES + (c + me) % COPIES];
  words_clear(me, arena);
  accumulator_add(all, all + WORDS * COPIES, COPIES, (ulong)(total < 0 ? -total : total),
                  me * DIGIT_BITS, total < 0);
  return flags;
}
#endif

#if !USES_BINS && !USES_DIGITS
// Adds the group's share term by term; returns the terms' flags.
DEVICE uint add_by_terms(const Share* in, LOCAL_POINTER uint* low, LOCAL_POINTER uint* high) {
  const int me = item_here();
  uint flags = 0u;
  for (long first = in->first; first < in->vectors; first += in->step) {
    const long end = (first + SPAN < in->vectors ? first + SPAN : in->vectors) * VECTOR;
    for (long k = first * VECTOR + me; k < end; k += 4 * THREADS) {
      T x[4], y[4];
#pragma unroll
      for (int u = 0; u < 4; ++u) {
        x[u] = y[u] = (T)-0.0;
        if (k + u * THREADS < end) {
          x[u] = in->from[k + u * THREADS];
          y[u] = in->second[k + u * THREADS];
        }
      }
#pragma unroll
      for (int u = 0; u < 4; ++u)
        flags |= words_add_term(in->magnitude ? fabs(x[u]) : x[u], y[u], low, high);
    }
  }
  return flags;
}
#endif

// Adds the group's share. Returns the flags of special terms that this work-item met, as the fast
// path ends where it loses something and may have met no infinity and no NaN behind it. `bins` are
// this work-item's, `low` and `high` its copy in the arena.
DEVICE uint add_share_again(const Share* in, LOCAL_POINTER double* bins, LOCAL_POINTER ulong* arena,
                            LOCAL_POINTER uint* low, LOCAL_POINTER uint* high) {
#if USES_BINS
  uint flags = add_by_bins(in, bins, low, high);
#elif USES_DIGITS
  uint flags = add_to_digits(in, arena);
#else
  uint flags = add_by_terms(in, low, high);
#endif
  if (has_loose(in)) {
    const long at = loose_index(in);
    const T x = in->from[at];
    flags |= words_add_term(in->magnitude ? fabs(x) : x, in->second[at], low, high);
  }
  return flags & FLAGS_SPECIAL;
}

// One after the other, so many words would take some 30 us on their way from the L2.
#define MANY_WORDS (WORDS > 32)

// Adds the words of all groups that stored them: `stored` says to work-item i whether group i did.
// With MANY_WORDS it holds barriers, so all work-items of a group call it.
DEVICE void add_words_of(volatile GLOBAL const ulong* words, bool stored,
                         LOCAL_POINTER uint* groups, int splits, LOCAL_POINTER uint* low,
                         LOCAL_POINTER uint* high) {
  const int me = item_here();
#if MANY_WORDS
  if (me <= RECORDS / 32) groups[me] = 0u;  // a bit for each group
  sync();
  if (stored) {
    fence();
    atomic_or(groups + me / 32, 1u << me % 32);
  }
  sync();
  // A work-item has one word of some groups, eight on their way at once.
  const int slices = THREADS / WORDS, w = me % WORDS, slice = me / WORDS;
  ulong total = 0UL;
  for (int s = slice; slice < slices && s < splits; s += 8 * slices) {
    ulong x[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const int from = s + k * slices;
      x[k] = 0UL;
      if (from < splits && (groups[from / 32] >> from % 32 & 1u)) x[k] = words[from * WORDS + w];
    }
#pragma unroll
    for (int k = 0; k < 8; ++k) total += x[k];
  }
  word_add(low + w * COPIES, high + w * COPIES, total);
#else
  if (!stored) return;
  fence();
  for (int w = 0; w < WORDS; ++w)
    word_add(low + w * COPIES, high + w * COPIES, words[me * WORDS + w]);
#endif
}
