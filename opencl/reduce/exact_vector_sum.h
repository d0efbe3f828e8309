// The exact sum in eight lanes: the narrow road of exact_sum_narrow.h in vectors of doubles. What
// doesn't fit goes into a superaccumulator of the work-item's own.
#pragma once
#include "exact.h"

#if KIND_SQUARES
#define SQUARES 1
#else
#define SQUARES 0
#endif
#if T_float
#define BASE (SQUARES ? -298 : -149)
#define WORDS (SQUARES ? 20 : 11)
#else
#define BASE (SQUARES ? -2148 : -1074)
#define WORDS (SQUARES ? 101 : 67)
#endif
#define RECORD (4 + WORDS)  // hi, mid, lo, what was seen; or words
#define MINUS_ZERO 0x8000000000000000UL

#include "exact_vector_table.h"

typedef struct Expansion8 {
  double8 hi, mid, lo;
} Expansion8;

DEVICE double8 two_sum8(double8 a, double8 b, double8* error) {
  const double8 sum = a + b;
  const double8 b_part = sum - a;
  *error = (a - (sum - b_part)) + (b - b_part);
  return sum;
}

DEVICE ulong8 expansion_add8(Expansion8* e, double8 x) {
  double8 rest;
  e->hi = two_sum8(e->hi, x, &rest);
  e->mid = two_sum8(e->mid, rest, &rest);
  e->lo = two_sum8(e->lo, rest, &rest);
  return as_ulong8(rest) << 1;
}

// Adds CHUNK vectors; lanes of the result are non-zero where something was lost.
DEVICE ulong8 add_chunk(Expansion8* sum, const T8* x) {
  ulong8 lost = 0UL;
#if T_float && !SQUARES
  uint8 most = 0u, least = 0xffffffffu;
  double8 even = -0.0, odd = -0.0;
  for (int k = 0; k < CHUNK; k += 2) {
    const uint8 a = as_uint8(x[k]) & 0x7fffffffu, b = as_uint8(x[k + 1]) & 0x7fffffffu;
    most = max(most, max(a, b));
    least = min(least, min(a - 1u, b - 1u));  // zeros don't count
    even += convert_double8(x[k]);
    odd += convert_double8(x[k + 1]);
  }
  const int8 span = as_int8(most >> 23) - as_int8(least >> 23);
  if (!any(span > 25 || most >= 0x7f800000u)) return expansion_add8(sum, even + odd);
#endif
  for (int k = 0; k < CHUNK; ++k) {
#if T_float && SQUARES
    const double8 v = convert_double8(x[k]);
    lost |= expansion_add8(sum, v * v);
#elif SQUARES
    const double8 square = x[k] * x[k];
    lost |= expansion_add8(sum, square) | expansion_add8(sum, fma(x[k], x[k], -square));
    const ulong8 magnitude = as_ulong8(x[k]) & 0x7fffffffffffffffUL;
    lost |= select((ulong8)0UL, magnitude, magnitude - ((ulong)539 << 52) >= ((ulong)995 << 52));
#else
    lost |= expansion_add8(sum, convert_double8(x[k]));
#endif
  }
  return lost;
}

DEVICE T8 mapped(T8 x, bool magnitude) { return magnitude ? fabs(x) : x; }

// Adds `count` vectors `step` elements apart; lanes beyond `lanes` stay neutral. Stops at a loss.
DEVICE ulong8 add_vectors(Expansion8* sum, GLOBAL const T* p, long count, long step, long stride,
                          int lanes, bool magnitude) {
  ulong8 lost = 0UL;
  T8 x[CHUNK];
  const bool dense = stride == 1 && step == LANES;
  for (long i = 0; i < count && !any(lost != 0UL); i += CHUNK, p += CHUNK * step) {
    if (dense) prefetch_chunk(p);
    if (i + CHUNK <= count && lanes == LANES) {
      for (int k = 0; k < CHUNK; ++k) x[k] = mapped(load_lanes(p + k * step, stride), magnitude);
    } else {
      for (int k = 0; k < CHUNK; ++k)
        x[k] = mapped(load_some_lanes(p + k * step, stride, i + k < count ? lanes : 0, (T)-0.0),
                      magnitude);
    }
    lost |= add_chunk(sum, x);
  }
  return lost;
}

// The rounded sums of lanes that hold no more than two doubles; `done` tells which do.
DEVICE ulong8 round_lanes(const Expansion8* sum, bool f64, long8* done) {
  double8 rest, low, top = two_sum8(sum->hi, sum->mid, &rest);
  low = two_sum8(rest, sum->lo, &rest);
  top = two_sum8(top, low, &low);  // top + low is all, and top is their rounded sum
  *done = rest == 0.0 && isfinite(top);
  const long8 zero = top == 0.0, lonely = as_long8(sum->hi) == (long8)(long)MINUS_ZERO;
  top = select(top, select((double8)0.0, (double8)-0.0, lonely), zero);
  if (f64) return as_ulong8(top);
  // Rounded to odd first, so that rounding to f32 is the only one.
  const ulong8 bits = as_ulong8(top);
  const ulong8 outwards = select(bits - 1UL, bits + 1UL, (low > 0.0) == (top > 0.0));
  const ulong8 odd = select(bits, outwards, low != 0.0 && (bits & 1UL) == 0UL);
#if T_float
  return convert_ulong8(as_uint8(convert_float8_rte(as_double8(odd))));
#else
  return odd;
#endif
}

// --- The kernel --------------------------------------------------------------------------------------

DEVICE bool magnitude_of(const Job* j) { return j->options & MAP_ABS; }
DEVICE bool f64_of(const Job* j) { return sizeof(T) == 8 || (j->options & RESULT_F64); }

DEVICE void job_store(const Job* j, long result, ulong bits) {
  if (f64_of(j))
    ((GLOBAL ulong*)j->output)[result * j->output_stride] = bits;
  else
    ((GLOBAL uint*)j->output)[result * j->output_stride] = (uint)bits;
}

// The wide road of one result.
DEVICE void sum_wide(const Job* j, long result) {
  ulong words[WORDS];
  uint saw = 0u;
  for (int w = 0; w < WORDS; ++w) words[w] = 0UL;
  for (long r = j->rows.from; r < j->rows.to; ++r) {
    GLOBAL const T* row = job_element(j, result, r, 0);
    const long count = j->cols.to - j->cols.from;
#if T_float || !SQUARES  // the square of a double is more than a double
    if (j->tile.col_stride == 1 && count >= TABLE_WORTH) {
      saw |= words_add_row(words, row + j->cols.from, count, magnitude_of(j));
      continue;
    }
#endif
    for (long c = j->cols.from; c < j->cols.to; ++c)
      saw |= words_add_element(words, row[c * j->tile.col_stride], magnitude_of(j));
  }
  if (j->tile.splits == 1) return job_store(j, result, words_round(words, saw, f64_of(j)));
  GLOBAL ulong* record = job_record(j, result, j->tile.split, RECORD);
  record[3] = saw | SAW_WIDE;
  for (int w = 0; w < WORDS; ++w) {  // carried once: many records add up within 64 bits
    const ulong carry = w > 0 ? (ulong)((long)words[w - 1] >> 32) : 0UL;
    record[4 + w] = (w < WORDS - 1 ? words[w] & 0xffffffffUL : words[w]) + carry;
  }
}

// Stores `lanes` results from `result` on, one in each lane of a sum; a loss in one of them stopped all.
DEVICE void store_lanes(const Job* j, long result, int lanes, const Expansion8* sum, bool lost) {
  double hi[LANES], mid[LANES], lo[LANES];
  ulong bits[LANES];
  long done[LANES];
  long8 rounded;
  vstore8(round_lanes(sum, f64_of(j), &rounded), 0, bits);
  vstore8(rounded, 0, done);
  vstore8(sum->hi, 0, hi);
  vstore8(sum->mid, 0, mid);
  vstore8(sum->lo, 0, lo);
  for (int l = 0; l < lanes; ++l) {
    const uint saw = as_ulong(hi[l]) == MINUS_ZERO ? 0u : SAW_OTHER_THAN_MINUS_ZERO;
    if (lost) {
      sum_wide(j, result + l);
    } else if (j->tile.splits > 1) {
      GLOBAL ulong* record = job_record(j, result + l, j->tile.split, RECORD);
      record[0] = as_ulong(hi[l]);
      record[1] = as_ulong(mid[l]);
      record[2] = as_ulong(lo[l]);
      record[3] = saw;
    } else if (done[l]) {
      job_store(j, result + l, bits[l]);
    } else {
      ulong words[WORDS];
      for (int w = 0; w < WORDS; ++w) words[w] = 0UL;
      words_add_double(words, hi[l]);
      words_add_double(words, mid[l]);
      words_add_double(words, lo[l]);
      job_store(j, result + l, words_round(words, saw, f64_of(j)));
    }
  }
}

DEVICE Expansion8 expansion_zero8() {
  Expansion8 e;
  e.hi = -0.0;
  e.mid = e.lo = 0.0;
  return e;
}

// One result: the lanes run along its rows and are added up at the end.
DEVICE void reduce_along(const Job* j, long result) {
  Expansion8 sum = expansion_zero8();
  const long length = j->cols.to - j->cols.from, vectors = length / LANES,
             stride = j->tile.col_stride;
  ulong8 lost = 0UL;
  for (long r = j->rows.from; r < j->rows.to && !any(lost != 0UL); ++r) {
    GLOBAL const T* p = job_element(j, result, r, j->cols.from);
    lost |= add_vectors(&sum, p, vectors, LANES * stride, stride, LANES, magnitude_of(j));
    if (length % LANES)
      lost |= add_vectors(&sum, p + vectors * LANES * stride, 1, 0, stride, (int)(length % LANES),
                          magnitude_of(j));
  }
  Expansion all = expansion_zero();
  double part[3 * LANES];
  vstore8(sum.hi, 0, part);
  vstore8(sum.mid, 1, part);
  vstore8(sum.lo, 2, part);
  ulong lossy = any(lost != 0UL) ? 1UL : 0UL;
  for (int l = 0; l < 3 * LANES; ++l)
    if (l < LANES || part[l] != 0.0) lossy |= expansion_add(&all, part[l]);
  Expansion8 total;
  total.hi = all.hi;
  total.mid = all.mid;
  total.lo = all.lo;
  store_lanes(j, result, 1, &total, lossy != 0UL);
}

// Up to 8 * ACROSS_VECTORS neighbouring results, one a lane, a chunk of elements of all at a time.
DEVICE void reduce_across(const Job* j, long result, int count) {
  Expansion8 sum[ACROSS_VECTORS];
  ulong8 lost[ACROSS_VECTORS];
  for (int v = 0; v < ACROSS_VECTORS; ++v) {
    sum[v] = expansion_zero8();
    lost[v] = 0UL;
  }
  for (long r = j->rows.from; r < j->rows.to; ++r)
    for (long c = j->cols.from; c < j->cols.to; c += CHUNK)
      for (int v = 0; v * LANES < count; ++v)
        if (!any(lost[v] != 0UL))
          lost[v] =
              add_vectors(&sum[v], job_element(j, result + v * LANES, r, c),
                          min((long)CHUNK, j->cols.to - c), j->tile.col_stride,
                          j->tile.result_stride, min(LANES, count - v * LANES), magnitude_of(j));
  for (int v = 0; v * LANES < count; ++v)
    store_lanes(j, result + v * LANES, min(LANES, count - v * LANES), &sum[v], any(lost[v] != 0UL));
}

// Adds the pieces of one result.
DEVICE void reduce_records(const Job* j, long result) {
  Expansion all = expansion_zero();
  ulong lost = 0UL;
  uint saw = 0u;
  for (int s = 0; s < j->tile.splits; ++s) {
    GLOBAL const ulong* record = job_record(j, result, s, RECORD);
    saw |= (uint)record[3];
    for (int k = 0; k < 3 && !(saw & SAW_WIDE); ++k)
      lost |= expansion_add(&all, as_double(record[k]));
  }
  ulong words[WORDS];
  for (int w = 0; w < WORDS; ++w) words[w] = 0UL;
  if (!lost && !(saw & SAW_WIDE)) {
    words_add_double(words, all.hi);
    words_add_double(words, all.mid);
    words_add_double(words, all.lo);
  } else {
    for (int s = 0; s < j->tile.splits; ++s) {
      GLOBAL const ulong* record = job_record(j, result, s, RECORD);
      if (record[3] & SAW_WIDE)
        for (int w = 0; w < WORDS; ++w) words[w] += record[4 + w];
      else
        for (int k = 0; k < 3; ++k) words_add_double(words, as_double(record[k]));
    }
  }
  job_store(j, result, words_round(words, saw & ~SAW_WIDE, f64_of(j)));
}
