// Idea: many sums of floats at once, each by its own lanes: no line is shared by groups, so a
// line's lanes add what they hold and round it, and nothing else is to be done. Two doubles hold
// what a lane has added; the few lines that they can't hold exactly are added once more by the
// whole group, in a superaccumulator. It stands beside `exact` because that one's fixed costs are
// those of a few long sums. Requires: f64; sums of f32, rows of unit stride or neighbouring
// columns.
#define T float
typedef float4 Vector;
#define VECTOR 4
#define CHUNK_BITS 4
#define CHUNK (1 << CHUNK_BITS)
#define GROUPS (1024 / THREADS)  // of 64 registers a work-item
#include "exact_sum_words.h"
#include "shuffle.h"
#include "tile.h"
#include "unpack.h"

typedef struct Pair {
  double hi, mid;
} Pair;

// NaN in hi: two doubles can't hold the sum.
DEVICE void pair_add(Pair* sum, double hi, double mid) {
  double rest, lost1, lost2;
  sum->hi = two_sum(sum->hi, hi, &rest);
  sum->mid = two_sum(sum->mid, mid, &lost1);
  sum->mid = two_sum(sum->mid, rest, &lost2);
  if (lost1 != 0.0 || lost2 != 0.0) sum->hi = as_double(0x7ff8000000000000UL);
}

DEVICE bool pair_add_chunk(Pair* sum, float* x, int count, bool magnitude) {
  if (magnitude) {
#pragma unroll
    for (int k = 0; k < count; ++k) x[k] = fabs(x[k]);
  }
  const FloatSum floats = sum_floats(x, count);
  if (!floats_are_near(&floats) || !floats_are_finite(&floats)) return false;
  double rest;
  sum->hi = two_sum(sum->hi, floats.sum, &rest);
  if (rest != 0.0) {
    double lost;
    sum->mid = two_sum(sum->mid, rest, &lost);
    if (lost != 0.0) sum->hi = as_double(0x7ff8000000000000UL);
  }
  return true;
}

DEVICE long min_long(long a, long b) { return a < b ? a : b; }

// Adds them one by one: `count` elements, `step` apart.
DEVICE void pair_add_slowly(Pair* sum, GLOBAL const float* p, long step, long count,
                            bool magnitude) {
#pragma unroll 1
  for (long k = 0; k < count; ++k, p += step) pair_add(sum, magnitude ? fabs(*p) : *p, 0.0);
}

DEVICE ulong pair_round(const Pair* sum, bool f64) {
  double low;
  const double high = two_sum(sum->hi, sum->mid, &low);
  ulong bits = as_ulong(sum->mid == 0.0 ? sum->hi : high);
  if (f64) return bits;
  if (sum->mid == 0.0) low = 0.0;
  if (low != 0.0 && !(bits & 1UL)) bits += (low > 0.0) == (high > 0.0) ? 1UL : ~0UL;
  return as_uint((float)as_double(bits));
}

KERNEL_BOUNDED(exact_lines, THREADS, 1, GROUPS)
(REDUCE_PARAMETERS) {
  LOCAL ulong arena[WORDS * COPIES > 2 * THREADS ? WORDS * COPIES : 2 * THREADS];
  LOCAL uint failed[THREADS + 1], saw[1];
  LOCAL_POINTER double* his = (LOCAL_POINTER double*)arena;
  LOCAL_POINTER double* mids = his + THREADS;
  const int me = local_x(), lanes = 1 << lane_bits;
  const int result = across ? me & (width - 1) : me >> lane_bits;
  const int lane = across ? me / width : me & (lanes - 1);
  const long line = (long)group_x() * width + result;
  const bool magnitude = options & MAP_ABS, f64 = options & RESULT_F64;
  GLOBAL const float* from = input + input_offset + line * result_stride;
  Pair sum;
  sum.hi = -0.0;
  sum.mid = 0.0;
  failed[me] = 0u;
  if (me == 0) failed[THREADS] = 0u;
  await_earlier_launches();
  if (line < results) {
    if (across) {
      const long step = col_stride << lane_bits;
      GLOBAL const float* p = from + lane * col_stride;
      for (long c = lane; c < cols; c += CHUNK << lane_bits) {
        float x[CHUNK];
        GLOBAL const float* q = p;
        if (c + ((CHUNK - 1) << lane_bits) < cols) {
#pragma unroll
          for (int k = 0; k < CHUNK; ++k) {
            x[k] = *q;
            q += step;
          }
        } else {
#pragma unroll
          for (int k = 0; k < CHUNK; ++k) {
            x[k] = -0.0f;
            if (c + (k << lane_bits) < cols) x[k] = *q;
            q += step;
          }
        }
        if (!pair_add_chunk(&sum, x, CHUNK, magnitude))
          pair_add_slowly(&sum, p, step, min_long(CHUNK, (cols - c + lanes - 1) >> lane_bits),
                          magnitude);
        p += step * CHUNK;
      }
    } else {
      const int head = (int)min_long(cols, (0 - (ulong)from / 4) % VECTOR);
      const long vectors = (long)((ulong)(cols - head) / VECTOR);
      from += head;
      long v = lane;
      for (; v + (3 << lane_bits) < vectors; v += 4 << lane_bits) {
        float x[CHUNK];
        GLOBAL const Vector* p = (GLOBAL const Vector*)from + v;
#pragma unroll
        for (int k = 0; k < 4; ++k) unpack(p[k << lane_bits], x + 4 * k);
        if (pair_add_chunk(&sum, x, CHUNK, magnitude)) continue;
#pragma unroll 1
        for (int k = 0; k < 4; ++k)
          pair_add_slowly(&sum, from + (v + (k << lane_bits)) * VECTOR, 1, VECTOR, magnitude);
      }
      for (; v < vectors; v += lanes) {
        float x[VECTOR];
        unpack(((GLOBAL const Vector*)from)[v], x);
        if (!pair_add_chunk(&sum, x, VECTOR, magnitude))
          pair_add_slowly(&sum, from + v * VECTOR, 1, VECTOR, magnitude);
      }
      // Elements before the first and after the last vector: one a lane.
      const int loose = (int)(cols - vectors * VECTOR);
#pragma unroll 1
      for (int k = lane; k < loose; k += lanes)
        pair_add_slowly(&sum, from + (k < head ? k - head : vectors * VECTOR + k - head), 1, 1,
                        magnitude);
    }
  }
  int step = across ? width : 1,
      others = lanes;  // lanes that have sums, and how far apart they are
#if HAVE_WARPS
  if (!across) {
    for (int mask = 1; mask < lanes && mask < 32; mask *= 2) {
      const double hi = shuffle_xor_f64(sum.hi, mask), mid = shuffle_xor_f64(sum.mid, mask);
      pair_add(&sum, hi, mid);
    }
    step = 32;
    others = lanes / 32;
  }
#endif
  his[me] = sum.hi;
  mids[me] = sum.mid;
  sync();
  for (int near = others / 2; near > 0; near /= 2) {
    if (lane < (across ? near : near * step)) {
      pair_add(&sum, his[me + near * step], mids[me + near * step]);
      his[me] = sum.hi;
      mids[me] = sum.mid;
    }
    sync();
  }
  if (lane == 0 && line < results) {
    if (sum.hi != sum.hi) {
      failed[result] = failed[THREADS] = 1u;
    } else {
      const ulong bits = pair_round(&sum, f64);
      if (f64)
        ((GLOBAL ulong*)(output + output_offset))[line * output_stride] = bits;
      else
        ((GLOBAL uint*)(output + output_offset))[line * output_stride] = (uint)bits;
    }
  }
  sync();
  if (!failed[THREADS]) return;
  LOCAL_POINTER uint* low = (LOCAL_POINTER uint*)arena;
  LOCAL_POINTER uint* high = low + WORDS * COPIES;
  for (int l = 0; l < width; ++l) {
    if (!failed[l]) continue;
    sync();
    for (int i = me; i < WORDS * COPIES; i += THREADS) arena[i] = 0UL;
    if (me == 0) saw[0] = 0u;
    sync();
    const long wide_line = (long)group_x() * width + l;
    GLOBAL const float* row = input + input_offset + wide_line * result_stride;
    uint mine = 0u;
    for (long c = me; c < cols; c += THREADS)
      mine |= add_wide(row[c * col_stride], magnitude, low + me % COPIES, high + me % COPIES);
    if (mine) atomic_or(saw, mine);
    sync();
    ulong total = 0UL;
    if (me < WORDS) total = word_total(low, high, me, COPIES);
    sync();
    if (me < WORDS) {
      low[me * COPIES] = (uint)total;
      high[me * COPIES] = (uint)(total >> 32);
    }
    sync();
    if (me == 0) {
      const ulong bits = round_words(low, high, saw[0], f64 ? 53 : 24, f64 ? -1022 : -126);
      if (f64)
        ((GLOBAL ulong*)(output + output_offset))[wide_line * output_stride] = bits;
      else
        ((GLOBAL uint*)(output + output_offset))[wide_line * output_stride] = (uint)bits;
    }
  }
}
