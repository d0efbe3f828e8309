// The fallback of `exact_stream`: a group whose numbers three doubles don't hold reads its share
// once more, into a superaccumulator; floats by way of bins, which need no atomics, doubles by way
// of digits so short that their atomics return nothing.
#pragma once
#include "exact_stream.h"

// Beside the scratch of larger groups without warps they don't fit into 48 KB.
#define USES_BINS (FLOATS && HAVE_LOCAL_48K && (HAVE_WARPS || THREADS == 256))
#define BINNERS 256  // work-items that have bins
#define USES_DIGITS (T_DOUBLE && !PRODUCTS)

// An element as it is added.
DEVICE T mapped(const Share* in, T x) { return !PRODUCTS && in->magnitude ? fabs(x) : x; }

#if USES_BINS
DEVICE void add_to_bins(const Share* in, const T* x, LOCAL_POINTER double* bins) {
#pragma unroll
  for (int k = 0; k < CHUNK; ++k) {
    const float one = mapped(in, x[k]);
    bins[bin_of(as_uint(one)) * BINNERS] += (double)one;
  }
}

// The flags of those that aren't finite among the elements that this work-item added to its bins.
DEVICE uint bins_flags(const Share* in) {
  uint flags = 0u;
  for (long first = in->first; first < in->vectors; first += in->step) {
    for (long v = first + item_here(); v < first + SPAN && v < in->vectors; v += BINNERS)
      for (int k = 0; k < VECTOR; ++k) flags |= special_flags(mapped(in, in->from[v * VECTOR + k]));
  }
  return flags;
}
#endif

#if USES_DIGITS
// A double is four digits of 18 bits, whose sums in 32 bits need no carries for 8190 additions:
// half the atomics of words of 64 bits, and none waits for what was there. They take the
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

// Adds the group's share; returns what this work-item saw, as the fast path ends where it loses
// something and so may have seen no infinity and no NaN behind it. `bins` are this work-item's,
// `low` and `high` its copy in the arena.
DEVICE uint add_share_wide(const Share* in, LOCAL_POINTER double* bins, LOCAL_POINTER ulong* arena,
                           LOCAL_POINTER uint* low, LOCAL_POINTER uint* high) {
  const int me = item_here();
  uint flags = 0u;
#if USES_BINS
  if (me < BINNERS) {
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
    // A term that isn't finite never leaves the bins; they don't tell which it was.
    double all = 0.0;
    for (int b = 0; b < BINS; ++b) all += bins[b * BINNERS] * 0.0;
    if (all != 0.0)
      flags = bins_flags(in);
    else
      for (int b = 0; b < BINS; ++b) words_add_double(bins[b * BINNERS], low, high);
  }
#elif USES_DIGITS
  flags = add_to_digits(in, arena);
#else
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
      for (int u = 0; u < 4; ++u) flags |= words_add_term(mapped(in, x[u]), y[u], low, high);
    }
  }
#endif
  if (!has_loose(in)) return flags & FLAGS_SPECIAL;
  const long at = loose_index(in);
  const uint loose = words_add_term(mapped(in, in->from[at]), in->second[at], low, high);
  return (flags | loose) & FLAGS_SPECIAL;
}

#define MANY_WORDS \
  (WORDS > 32)  // one after the other they would take some 30 us on their way from the L2

#if MANY_WORDS
// Adds the words of all groups that stored them: a work-item has one word of some, eight on their
// way at once.
DEVICE void add_words_of(volatile GLOBAL const ulong* words, LOCAL_POINTER const uint* groups,
                         int splits, LOCAL_POINTER uint* low, LOCAL_POINTER uint* high) {
  const int slices = THREADS / WORDS, w = item_here() % WORDS, slice = item_here() / WORDS;
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
}
#else
// Adds the words of a group that stored them.
DEVICE void add_words(volatile GLOBAL const ulong* words, LOCAL_POINTER uint* low,
                      LOCAL_POINTER uint* high) {
  fence();
  for (int w = 0; w < WORDS; ++w) word_add(low + w * COPIES, high + w * COPIES, words[w]);
}
#endif
