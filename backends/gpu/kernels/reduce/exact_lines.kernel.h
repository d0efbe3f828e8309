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
#include "across_groups.h"
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

// The elements of a row or column, and the lane that takes some of them.
typedef struct Line {
  GLOBAL const float* from;
  long cols, col_stride;
  int lane, lane_bits;
  bool magnitude;
} Line;

// Adds this lane's elements, one of each chunk of lanes: neighbouring lanes have neighbouring
// lines.
DEVICE void add_across(Pair* sum, const Line* l) {
  const long step = l->col_stride << l->lane_bits;
  GLOBAL const float* p = l->from + l->lane * l->col_stride;
  for (long c = l->lane; c < l->cols; c += CHUNK << l->lane_bits) {
    float x[CHUNK];
    GLOBAL const float* q = p;
    if (c + ((CHUNK - 1) << l->lane_bits) < l->cols) {
#pragma unroll
      for (int k = 0; k < CHUNK; ++k) {
        x[k] = *q;
        q += step;
      }
    } else {
#pragma unroll
      for (int k = 0; k < CHUNK; ++k) {
        x[k] = -0.0f;
        if (c + (k << l->lane_bits) < l->cols) x[k] = *q;
        q += step;
      }
    }
    if (!pair_add_chunk(sum, x, CHUNK, l->magnitude)) {
      const long left = (l->cols - c + (1 << l->lane_bits) - 1) >> l->lane_bits;
      pair_add_slowly(sum, p, step, min_long(CHUNK, left), l->magnitude);
    }
    p += step * CHUNK;
  }
}

DEVICE void load_along(GLOBAL const Vector* p, int lane_bits, float* x) {
#pragma unroll
  for (int k = 0; k < 4; ++k) unpack(p[k << lane_bits], x + 4 * k);
}

// Adds this lane's elements of a row: vectors, of which the next ones are on their way, then those
// before the first and after the last vector.
DEVICE void add_along(Pair* sum, const Line* l) {
  const int lanes = 1 << l->lane_bits;
  const int head = (int)min_long(l->cols, (0 - (ulong)l->from / 4) % VECTOR);
  const long vectors = (long)((ulong)(l->cols - head) / VECTOR);
  GLOBAL const float* from = l->from + head;
  GLOBAL const Vector* p = (GLOBAL const Vector*)from;
  long v = l->lane;
  const long far = 3 << l->lane_bits, step = 4 << l->lane_bits;
  float x[CHUNK], next[CHUNK];
  if (v + far < vectors) load_along(p + v, l->lane_bits, x);
#pragma unroll 2
  for (; v + far < vectors; v += step) {
    if (v + step + far < vectors) load_along(p + v + step, l->lane_bits, next);
    if (!pair_add_chunk(sum, x, CHUNK, l->magnitude)) {
#pragma unroll 1
      for (int k = 0; k < 4; ++k)
        pair_add_slowly(sum, from + (v + (k << l->lane_bits)) * VECTOR, 1, VECTOR, l->magnitude);
    }
#pragma unroll
    for (int k = 0; k < CHUNK; ++k) x[k] = next[k];
  }
  for (; v < vectors; v += lanes) {
    unpack(p[v], x);
    if (!pair_add_chunk(sum, x, VECTOR, l->magnitude))
      pair_add_slowly(sum, from + v * VECTOR, 1, VECTOR, l->magnitude);
  }
  const int loose = (int)(l->cols - vectors * VECTOR);
#pragma unroll 1
  for (int k = l->lane; k < loose; k += lanes)
    pair_add_slowly(sum, from + (k < head ? k - head : vectors * VECTOR + k - head), 1, 1,
                    l->magnitude);
}

// Fetches a lane's first elements into the L2, while earlier launches end.
DEVICE void fetch_line(const Line* l, int across) {
#pragma unroll
  for (int k = 0; k < (across ? CHUNK : 4); ++k) {
    const long c = l->lane + ((long)k << l->lane_bits);
    if (across && c < l->cols) fetch_soon(l->from + c * l->col_stride);
    if (!across && c * VECTOR < l->cols) fetch_soon(l->from + c * VECTOR);
  }
}

// Leaves the sum of a line's lanes in its first one.
DEVICE void lanes_add(Pair* sum, int lane, int lanes, int width, int across,
                      LOCAL_POINTER double* his) {
  LOCAL_POINTER double* mids = his + THREADS;
  const int me = local_x();
  int step = across ? width : 1, others = lanes;  // how many sums there are, and how far apart
#if HAVE_WARPS
  if (!across) {
    for (int mask = 1; mask < lanes && mask < 32; mask *= 2) {
      const double hi = shuffle_xor_f64(sum->hi, mask), mid = shuffle_xor_f64(sum->mid, mask);
      pair_add(sum, hi, mid);
    }
    step = 32;
    others = lanes / 32;
  }
#endif
  his[me] = sum->hi;
  mids[me] = sum->mid;
  sync();
  for (int near = others / 2; near > 0; near /= 2) {
    if (lane < (across ? near : near * step)) {
      pair_add(sum, his[me + near * step], mids[me + near * step]);
      his[me] = sum->hi;
      mids[me] = sum->mid;
    }
    sync();
  }
}

// The bits of a line's sum by way of a superaccumulator, for work-item 0.
DEVICE ulong add_again(const Line* l, LOCAL_POINTER ulong* arena, LOCAL_POINTER uint* group_flags,
                       bool f64) {
  LOCAL_POINTER uint* low = (LOCAL_POINTER uint*)arena;
  LOCAL_POINTER uint* high = low + WORDS * COPIES;
  const int me = local_x(), copy = me % COPIES;
  words_clear(me, arena);
  if (me == 0) group_flags[0] = 0u;
  sync();
  uint flags = 0u;
  for (long c = me; c < l->cols; c += THREADS) {
    const float x = l->from[c * l->col_stride];
    flags |= words_add_term(l->magnitude ? fabs(x) : x, x, low + copy, high + copy);
  }
  if (flags) atomic_or(group_flags, flags);
  words_total(me, low, high);
  return me == 0 ? total_bits(low, high, group_flags[0], f64) : 0UL;
}

KERNEL_BOUNDED(exact_lines, THREADS, 1, GROUPS)
(REDUCE_PARAMETERS) {
  LOCAL ulong arena[WORDS * COPIES > 2 * THREADS ? WORDS * COPIES : 2 * THREADS];
  LOCAL uint failed[THREADS + 1], group_flags[1];
  const int me = local_x(), lanes = 1 << lane_bits;
  const int result = across ? me & (width - 1) : me >> lane_bits;
  const long first = (long)group_x() * width, line = first + result;
  const bool f64 = options & RESULT_F64;
  Line l;
  l.from = input + input_offset + line * result_stride;
  l.cols = cols;
  l.col_stride = col_stride;
  l.lane = across ? me / width : me & (lanes - 1);
  l.lane_bits = lane_bits;
  l.magnitude = options & MAP_ABS;
  Pair sum;
  sum.hi = -0.0;
  sum.mid = 0.0;
  failed[me] = 0u;
  if (me == 0) failed[THREADS] = 0u;
  if (line < results) fetch_line(&l, across);
  await_earlier_launches();
  if (line < results && across) add_across(&sum, &l);
  if (line < results && !across) add_along(&sum, &l);
  lanes_add(&sum, l.lane, lanes, width, across, (LOCAL_POINTER double*)arena);
  output += output_offset;
  if (l.lane == 0 && line < results) {
    if (sum.hi != sum.hi)
      failed[result] = failed[THREADS] = 1u;
    else
      store_sum(output, line * output_stride, f64, pair_round(&sum, f64));
  }
  sync();
  if (!failed[THREADS]) return;
  for (int k = 0; k < width; ++k) {
    if (!failed[k]) continue;
    l.from = input + input_offset + (first + k) * result_stride;
    const ulong bits = add_again(&l, arena, group_flags, f64);
    if (me == 0) store_sum(output, (first + k) * output_stride, f64, bits);
  }
}
