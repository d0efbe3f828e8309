// The exact sum in eight lanes: the narrow road of exact_sum_narrow.h in vectors of doubles. What
// doesn't fit goes into a superaccumulator of the work-item's own.
#pragma once
#include "exact_terms.h"
#include "state.h"

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

// expansion_add_product() in every lane.
DEVICE ulong8 expansion_add_product8(Expansion8* e, double8 x, double8 y) {
  const double8 product = x * y;
  const ulong8 magnitude = as_ulong8(product) & 0x7fffffffffffffffUL;
  const ulong8 lost = expansion_add8(e, product);
  double8 rest;
  e->mid = two_sum8(e->mid, fma(x, y, -product), &rest);
  e->lo = two_sum8(e->lo, rest, &rest);
  const long8 inexact =
      magnitude - ((ulong)55 << 52) >= ((ulong)1991 << 52) && x != 0.0 && y != 0.0;
  return lost | as_ulong8(rest) << 1 | as_ulong8(inexact);
}

// Adds CHUNK vectors of terms; lanes of the result are non-zero where something was lost.
DEVICE ulong8 add_chunk(Expansion8* sum, const T8* x, const T8* y) {
  ulong8 lost = 0UL;
#if T_float && !PRODUCTS
  uint16 most = 0u, least = 0xffffffffu;
  double8 even = -0.0, odd = -0.0;
  for (int k = 0; k < CHUNK; k += 2) {
    const uint16 bits = as_uint16((float16)(x[k], x[k + 1])) & 0x7fffffffu;
    most = max(most, bits);
    least = min(least, bits - 1u);  // zeros don't count
    even += convert_double8(x[k]);
    odd += convert_double8(x[k + 1]);
  }
  least = min(least, (uint16)(least.hi, least.lo));  // both sums of a lane are added to each other
  const int16 span = as_int16(most >> 23) - as_int16(least >> 23);
  if (!any_bit8(as_ulong8(span > 25 | most >= 0x7f800000u))) return expansion_add8(sum, even + odd);
#endif
  for (int k = 0; k < CHUNK; ++k) {
#if T_float && PRODUCTS
    lost |= expansion_add8(sum, convert_double8(x[k]) * convert_double8(y[k]));
#elif PRODUCTS
    lost |= expansion_add_product8(sum, x[k], y[k]);
#else
    lost |= expansion_add8(sum, convert_double8(x[k]));
#endif
  }
  return lost;
}

// Elements of a row that are added before a question, an eighth of them in a lane.
#define PLAIN_ROW 1024
#if KIND_SUM && T_float
#include "exact_vector_plain.h"
#elif KIND_SUM
#include "exact_vector_bins.h"
#endif

// Vectors of an input: lane l of vector i at p[i * step + l * stride].
typedef struct Vectors {
  GLOBAL const T* p;
  long step, stride;
} Vectors;

DEVICE Vectors vectors_at(GLOBAL const T* p, long step, long stride) {
  Vectors v;
  v.p = p;
  v.step = step;
  v.stride = stride;
  return v;
}

// CHUNK vectors from vector `i` of `count` on; lanes beyond `lanes` are filled.
DEVICE void load_vectors(const Vectors* v, long i, long count, int lanes, T fill, T8* x) {
  GLOBAL const T* p = v->p + i * v->step;
  if (v->stride == 1 && v->step == LANES)
    prefetch_chunk(p);
  else if (v->stride == 1)
    for (int k = 0; k < CHUNK; ++k) prefetch_line(p + (CHUNK + k) * v->step);
  if (i + CHUNK <= count && lanes == LANES) {
    for (int k = 0; k < CHUNK; ++k) x[k] = load_lanes(p + k * v->step, v->stride);
  } else {
    for (int k = 0; k < CHUNK; ++k)
      x[k] = load_some_lanes(p + k * v->step, v->stride, i + k < count ? lanes : 0, fill);
  }
}

// Adds `count` vectors of terms; lanes beyond `lanes` stay neutral. Stops at a loss.
DEVICE ulong8 add_vectors(Expansion8* sum, Vectors first, Vectors second, long count, int lanes,
                          bool magnitude) {
  ulong8 lost = 0UL;
  T8 x[CHUNK];
  for (long i = 0; i < count && !any_bit8(lost); i += CHUNK) {
#if KIND_SUM
    const long plain = PLAIN_ROW / LANES;
    if (first.stride == 1 && first.step == LANES && i % plain == 0 && i + plain <= count) {
      const long done =
          add_plainly(sum, first.p + i * LANES, (count - i) / plain, magnitude, &lost);
      if (done > 0) {
        i += done * plain - CHUNK;
        continue;
      }
    }
#endif
    load_vectors(&first, i, count, lanes, (T)-0.0, x);
    if (magnitude)
      for (int k = 0; k < CHUNK; ++k) x[k] = fabs(x[k]);
#if KIND_DOT
    T8 y[CHUNK];
    load_vectors(&second, i, count, lanes, (T)0.0, y);  // -0 times 0 is -0
    lost |= add_chunk(sum, x, y);
#else
    lost |= add_chunk(sum, x, x);
#endif
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

DEVICE bool states_of(const Job* j) { return j->options & STATES; }

DEVICE void job_store(const Job* j, long result, ulong bits) {
  if (f64_of(j))
    ((GLOBAL ulong*)j->output)[result * j->output_stride] = bits;
  else
    ((GLOBAL uint*)j->output)[result * j->output_stride] = (uint)bits;
}

// The sum that the words hold, rounded or as a state.
DEVICE void job_store_words(const Job* j, long result, const ulong* words, uint saw) {
  if (!states_of(j)) return job_store(j, result, words_round(words, saw, f64_of(j)));
  GLOBAL ulong* state = (GLOBAL ulong*)j->output + result * j->output_stride;
  if (state_begin(state, saw))
    for (int w = 0; w < WORDS; ++w) state_add(state, (long)words[w], BASE + 32 * w);
}

// The wide road of one result.
DEVICE void sum_wide(const Job* j, long result) {
  ulong words[WORDS];
  uint saw = 0u;
  for (int w = 0; w < WORDS; ++w) words[w] = 0UL;
  for (long r = j->rows.from; r < j->rows.to; ++r) {
    GLOBAL const T* x = job_element(j, result, r, j->cols.from);
    GLOBAL const T* y = job_second(j, result, r, j->cols.from);
    const long count = j->cols.to - j->cols.from;
    const long step = j->tile.col_stride, second_step = j->second_tile.col_stride;
#if T_float || !PRODUCTS  // the product of doubles is more than a double
    if (step == 1 && second_step == 1 && count >= TABLE_WORTH) {
      saw |= words_add_row(words, x, y, count, magnitude_of(j));
      continue;
    }
#endif
    for (long c = 0; c < count; ++c)
      saw |= words_add_term(words, x[c * step], y[c * second_step], magnitude_of(j));
  }
  if (j->tile.splits == 1) return job_store_words(j, result, words, saw);
  GLOBAL ulong* record = job_record(j, result, j->tile.split, RECORD);
  record[3] = saw | SAW_WIDE;
  for (int w = 0; w < WORDS; ++w) {  // carried once: many records add up within 64 bits
    const ulong carry = w > 0 ? (ulong)((long)words[w - 1] >> 32) : 0UL;
    record[4 + w] = (w < WORDS - 1 ? words[w] & 0xffffffffUL : words[w]) + carry;
  }
}

#if T_float
// Stores `count` sums that doubles hold exactly.
DEVICE void store_sums(const Job* j, long result, int count, double8 sums) {
  double wide[LANES];
  float rounded[LANES];
  vstore8(sums, 0, wide);
  vstore8(convert_float8_rte(sums), 0, rounded);
  for (int l = 0; l < count; ++l)
    job_store(j, result + l, f64_of(j) ? as_ulong(wide[l]) : as_uint(rounded[l]));
}
#endif

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
    } else if (done[l] && !states_of(j)) {
      job_store(j, result + l, bits[l]);
    } else {
      ulong words[WORDS];
      for (int w = 0; w < WORDS; ++w) words[w] = 0UL;
      words_add_double(words, hi[l]);
      words_add_double(words, mid[l]);
      words_add_double(words, lo[l]);
      job_store_words(j, result + l, words, saw);
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
  const long length = j->cols.to - j->cols.from, vectors = length / LANES;
  const long stride = j->tile.col_stride, second_stride = j->second_tile.col_stride;
  ulong8 lost = 0UL;
  for (long r = j->rows.from; r < j->rows.to && !any_bit8(lost); ++r) {
    Vectors x = vectors_at(job_element(j, result, r, j->cols.from), LANES * stride, stride);
    Vectors y =
        vectors_at(job_second(j, result, r, j->cols.from), LANES * second_stride, second_stride);
    lost |= add_vectors(&sum, x, y, vectors, LANES, magnitude_of(j));
    x.p += vectors * x.step;
    y.p += vectors * y.step;
    if (length % LANES) lost |= add_vectors(&sum, x, y, 1, (int)(length % LANES), magnitude_of(j));
  }
  Expansion all = expansion_zero();
  double part[3 * LANES];
  vstore8(sum.hi, 0, part);
  vstore8(sum.mid, 1, part);
  vstore8(sum.lo, 2, part);
  ulong lossy = any_bit8(lost) ? 1UL : 0UL;
  for (int l = 0; l < 3 * LANES; ++l)
    if (l < LANES || part[l] != 0.0) lossy |= expansion_add(&all, part[l]);
  Expansion8 total;
  total.hi = all.hi;
  total.mid = all.mid;
  total.lo = all.lo;
  store_lanes(j, result, 1, &total, lossy != 0UL);
}

#if KIND_SUM && T_float
// Whole rows of no more than PLAIN_ROW neighbours, eight side by side.
DEVICE void reduce_rows(const Job* j, long from, long to) {
  for (; from < to; from += LANES) {
    const int count = (int)min((long)LANES, to - from);
    double8 sums;
    if (!states_of(j) && plain_rows(job_element(j, from, 0, 0), j->tile.result_stride, count,
                                    j->tile.cols, magnitude_of(j), &sums))
      store_sums(j, from, count, sums);
    else
      for (int r = 0; r < count; ++r) reduce_along(j, from + r);
  }
}

#define ACROSS 512
// A multiple of 16 neighbouring columns, up to ACROSS, row by row.
DEVICE void reduce_columns(const Job* j, long result, int count) {
  Plain plain[ACROSS / PLAIN];
  Expansion8 sum[ACROSS / LANES];
  ulong8 lost[ACROSS / LANES];
  const long step = j->tile.col_stride;
  const int groups = count / PLAIN;
  for (int v = 0; v < 2 * groups; ++v) {
    sum[v] = expansion_zero8();
    lost[v] = 0UL;
  }
  for (long c = j->cols.from; c < j->cols.to; c += PLAIN_TERMS) {
    const int terms = (int)min((long)PLAIN_TERMS, j->cols.to - c);
    GLOBAL const T* p = job_element(j, result, 0, c);
    for (int g = 0; g < groups; ++g) plain[g] = plain_zero();
    plain_add_columns(plain, groups, p, step, terms, magnitude_of(j));
    for (int v = 0; v < 2 * groups; ++v) {
      if (any_bit8(lost[v])) continue;
      if (plain_is_exact(&plain[v / 2], 8)) {
        lost[v] = expansion_add8(&sum[v], v % 2 ? plain[v / 2].high : plain[v / 2].low);
      } else {
        const Vectors x = vectors_at(p + v * LANES, step, 1);
        lost[v] = add_vectors(&sum[v], x, x, terms, LANES, magnitude_of(j));
      }
    }
  }
  for (int v = 0; v < 2 * groups; ++v)
    store_lanes(j, result + v * LANES, LANES, &sum[v], any_bit8(lost[v]));
}
#endif

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
        if (!any_bit8(lost[v]))
          lost[v] = add_vectors(&sum[v],
                                vectors_at(job_element(j, result + v * LANES, r, c),
                                           j->tile.col_stride, j->tile.result_stride),
                                vectors_at(job_second(j, result + v * LANES, r, c),
                                           j->second_tile.col_stride, j->second_tile.result_stride),
                                min((long)CHUNK, j->cols.to - c), min(LANES, count - v * LANES),
                                magnitude_of(j));
  for (int v = 0; v * LANES < count; ++v)
    store_lanes(j, result + v * LANES, min(LANES, count - v * LANES), &sum[v], any_bit8(lost[v]));
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
  job_store_words(j, result, words, saw & ~SAW_WIDE);
}
