// The exact sum in lanes. A block of terms is cut at a few lines that all of its lanes share, and
// the parts between two lines add up in doubles without rounding. A bin is such a sum. It begins at
// an anchor, so large that its exponent never changes. It takes the multiples of its unit out of a
// term, exactly, and leaves less than a unit for the next bin (Demmel and Nguyen's indexed sums).
//
//   |x| < 2^(e + 1), 2^12 of them      anchor 1.5 * 2^(e + 14 - 40 b)      unit 2^(e - 38 - 40 b)
//
// The bins' sums go into words, a superaccumulator of the work-item's own. If the last bin leaves
// something, the elements of the block are added to the words one by one. So are the elements of a
// sum that is zero, because its sign depends on theirs.
#pragma once
#include "exact_terms.h"
#include "state.h"

#define RECORD (1 + WORDS)  // the flags; the words
#define DEPTH 64            // elements of a lane in a block
#define SHORT_DEPTH 32  // likewise where all are of one result: they stay in a CPU's first cache
#define TERMS \
  (PRODUCTS && T_DOUBLE ? 2 : 1)  // of an element: a product of doubles has its error, too
#define BINS (2 + T_DOUBLE + PRODUCTS)
#define ANCHOR(exponent, bin) \
  as_double((exponent) + ((ulong)(14 - 40 * (bin)) << 52) | (ulong)1 << 51)
#define MINUS_ZERO 0x8000000000000000UL
typedef PASTE(T, 16) T16;
// Magnitudes as integers: of floats that are added their own, else those of doubles.
#define NARROW (!T_DOUBLE && !PRODUCTS)
#if NARROW
#define MAGNITUDES(x, term) (as_uint16(x) & 0x7fffffffu)
typedef uint16 Magnitudes;
#else
#define MAGNITUDES(x, term) (as_ulong16(term) & 0x7fffffffffffffffUL)
typedef ulong16 Magnitudes;
#endif

// --- The words ----------------------------------------------------------------------

DEVICE void words_add(ulong* words, ulong mantissa, int position, bool negative) {
  if (mantissa == 0UL) return;
  if (position < 0) {
    mantissa >>= -position;
    position = 0;
  }
  const int w = position >> 5, shift = position & 31;
  const ulong sign = negative ? ~0UL : 0UL;  // (x ^ sign) - sign negates
  const ulong bottom = mantissa << shift, high = shift ? mantissa >> (64 - shift) : 0UL;
  words[w] += ((bottom & 0xffffffffUL) ^ sign) - sign;
  words[w + 1] += ((bottom >> 32) ^ sign) - sign;
  if (high) words[w + 2] += (high ^ sign) - sign;
}

DEVICE void words_add_double(ulong* words, double x) {
  int position;
  const ulong mantissa = mantissa_f64(as_ulong(x), &position);
  words_add(words, mantissa, position - 1074 - BASE, as_ulong(x) >> 63);
}

// Adds a term, x or x times y; returns its flags.
DEVICE uint words_add_term(ulong* words, T x, T y) {
#if PRODUCTS
  const Product p = product_of(x, y);
  words_add(words, p.low, p.position, p.negative);
  words_add(words, p.high, p.position + 64, p.negative);
  return p.flags;
#else
  const uint special = special_flags(x);
  if (special) return special | FLAG_NOT_MINUS_ZERO;
  words_add_double(words, x);
  return as_ulong((double)x) == MINUS_ZERO ? 0u : FLAG_NOT_MINUS_ZERO;
#endif
}

// Each word but the highest becomes a digit of 32 bits, so that there is room for 2^30 more.
DEVICE void words_carry(ulong* words) {
  for (int w = 0; w < WORDS - 1; ++w) {
    words[w + 1] += (ulong)((long)words[w] >> 32);
    words[w] &= 0xffffffffUL;
  }
}

// --- Blocks ----------------------------------------------------------------------

// A row of terms, and the magnitudes in many rows: the largest (larger where a term isn't exact),
// and the least but for zeros, less one.
typedef double16 Row[LANES / 16];
typedef struct Range {
  Magnitudes most, least;
} Range;

// Sixteen elements of an input, of which `count` are there.
INLINED T16 load_sixteen(GLOBAL const T* p, long stride, int count, T fill) {
  T x[16];
  if (stride == 1 && count >= 16) return vload16(0, p);
  for (int l = 0; l < 16; ++l) x[l] = l < count ? p[l * stride] : fill;
  return vload16(0, x);
}

// Makes the terms of `count` elements of each input, in one row, or, with their errors, in two.
INLINED Range terms_of(Row* to, GLOBAL const T* p, long stride, GLOBAL const T* q,
                       long second_stride, int count, int options, Range range) {
  for (int g = 0; g < LANES / 16; ++g) {
    T16 x = load_sixteen(p + g * 16 * stride, stride, count - g * 16, (T)-0.0);
    if (options & MAP_ABS) x = fabs(x);
    double16 term = convert_double16(x);
#if PRODUCTS
#if KIND_DOT
    const double16 y = convert_double16(
        load_sixteen(q + g * 16 * second_stride, second_stride, count - g * 16, (T)0));
#else
    const double16 y = term;
#endif
    const double16 z = term;
    term *= y;
#if T_double
    to[1][g] = -fma(-z, y, term);  // its zero is -0
    const long16 inexact =
        MAGNITUDES(x, term) - ((ulong)55 << 52) >= ((ulong)1991 << 52) && z != 0.0 && y != 0.0;
    range.most |= as_ulong16(inexact);
#endif
#endif
    to[0][g] = term;
    range.most = max(range.most, MAGNITUDES(x, term));
    if (NARROW) range.least = min(range.least, MAGNITUDES(x, term) - 1);
  }
  return range;
}

// The sums of the lanes of `depth` rows, a double for each bin; false: they aren't exact.
// It prefetches the next block, whose rows begin `step` apart at `next`.
DEVICE bool block_sums(const Row* term, int depth, int groups, Range range, GLOBAL const T* next,
                       long step, Row* sum) {
  ulong most = 0UL, least = ~0UL, left = 0UL, each[16];
  vstore16(convert_ulong16(range.most), 0, each);
  for (int l = 0; l < 16; ++l) most = max(most, each[l]);
  vstore16(convert_ulong16(range.least), 0, each);
  for (int l = 0; l < 16; ++l) least = min(least, each[l]);
  // The first bin of floats takes all where the least is not far below.
  const bool near = NARROW && (int)(most >> 23) - (int)(least >> 23) <= 15;
  const ulong exponent =
      NARROW ? (most >> 23) + (most < 0x7f800000UL ? 896 : 2047) << 52 : most >> 52 << 52;
  if (exponent - ((ulong)200 << 52) > (ulong)1800 << 52) return false;
  for (int g = 0; g < groups; ++g) {
    double16 bin[BINS];
    ulong16 lost = 0UL;
    for (int k = 0; k < BINS; ++k) bin[k] = ANCHOR(exponent, k);
    for (int i = 0; i < depth; ++i) {
      double16 x = term[i][g];
      for (int l = 0; l < 16; l += LINE) prefetch_line(next + i * step + g * 16 + l);
      if (near) {
        bin[0] += x;
        continue;
      }
#pragma unroll
      for (int k = 0; k < BINS; ++k) {
        const double16 more = bin[k] + x;
        x -= more - bin[k];
        bin[k] = more;
      }
      lost |= as_ulong16(x);
    }
    for (int k = 0; k < BINS; ++k) sum[k][g] = bin[k] - ANCHOR(exponent, k);
    vstore16(lost << 1, 0, each);
    for (int l = 0; l < 16; ++l) left |= each[l];
  }
  return left == 0UL;
}

// --- The sums of a piece ------------------------------------------------------------

DEVICE void store(const Job* j, long result, const ulong* words, uint flags) {
  const bool f64 = T_DOUBLE || (j->options & RESULT_F64);
  if (j->options & STATES) {
    GLOBAL ulong* state = (GLOBAL ulong*)j->output + result * j->output_stride;
    if (state_begin(state, flags))
      for (int w = 0; w < WORDS; ++w) state_add(state, (long)words[w], BASE + 32 * w);
  } else {
    store_sum(j->output, result * j->output_stride, f64,
              round_words((const long*)words, WORDS, BASE, flags, f64));
  }
}

// Adds `count` elements to the words one by one.
DEVICE uint add_slowly(const Job* j, ulong* words, GLOBAL const T* p, long stride,
                       GLOBAL const T* q, long second_stride, long count) {
  uint flags = 0u;
  for (long i = 0; i < count; ++i) {
    const T x = p[i * stride], y = q[i * second_stride];
    flags |= j->options & MAP_ABS ? words_add_term(words, fabs(x), y) : words_add_term(words, x, y);
  }
  words_carry(words);
  return flags;
}

// How lanes lie over an input: on neighbouring elements of one result, or each on a result.
typedef struct Strided {
  GLOBAL const T* p;
  long stride;   // to the next lane
  long step;     // of a lane, to its next element
  long element;  // of a result, to its next element
} Strided;

DEVICE Strided strided_of(const Job* j, const Input* x, long result, long row, long col) {
  Strided s;
  s.p = place(x, result, row, col);
  s.stride = j->across ? x->result_stride : x->col_stride;
  s.step = j->across ? x->col_stride : LANES * x->col_stride;
  s.element = x->col_stride;
  return s;
}

// The sums of the lanes of `count` elements each, or of one result's `count` elements; false: they
// aren't exact.
DEVICE bool sums_of(const Job* j, const Strided* x, const Strided* y, int count, int lanes,
                    double (*part)[LANES]) {
  Row term[DEPTH * TERMS], sum[BINS];
  const int across = j->across, depth = across ? count : (count + LANES - 1) / LANES;
  const int whole = x->stride != 1 || y->stride != 1 ? 0
                    : !across                        ? count / LANES
                    : lanes == LANES                 ? depth
                                                     : 0;
  Range range;
  range.most = 0;
  range.least = ~(Magnitudes)0;
  for (int i = 0; i < whole; ++i)
    range = terms_of(term + i * TERMS, x->p + i * x->step, 1, y->p + i * y->step, 1, LANES,
                     j->options, range);
  for (int i = whole; i < depth; ++i)
    range = terms_of(term + i * TERMS, x->p + i * x->step, x->stride, y->p + i * y->step, y->stride,
                     across ? lanes : count - i * LANES, j->options, range);
  const int groups = across ? (lanes + 15) / 16 : LANES / 16;
  if (!block_sums(term, depth * TERMS, groups, range, x->p + depth * x->step, x->step, sum))
    return false;
  for (int k = 0; k < BINS; ++k) {
    for (int g = 1; g < groups && !across; ++g) sum[k][0] += sum[k][g];
    for (int g = 0; g < groups; ++g) vstore16(sum[k][g], g, part[k]);
    for (int l = 1; l < 16 && !across; ++l) part[k][0] += part[k][l];
  }
  return true;
}

// Adds `count` elements of each result to its words.
DEVICE void add_block(const Job* j, const Strided* x, const Strided* y, int count, int lanes,
                      ulong (*words)[WORDS], uint* flags) {
  double part[BINS][LANES];
  const bool exact = sums_of(j, x, y, count, lanes, part);
  for (int l = 0; l < lanes; ++l) {
    bool zero = true;
    for (int k = 0; k < BINS; ++k) zero = zero && part[k][l] == 0.0;
    if (!exact || zero) {
      flags[l] |= add_slowly(j, words[l], x->p + l * x->stride, x->element, y->p + l * y->stride,
                             y->element, count);
      continue;
    }
    flags[l] |= FLAG_NOT_MINUS_ZERO;
    for (int k = 0; k < BINS; ++k) words_add_double(words[l], part[k][l]);
  }
}

// Reduces this piece of `lanes` results, of which there is one where lanes lie along its elements.
DEVICE void reduce(const Job* j, long result, int lanes) {
  ulong words[LANES][WORDS];
  uint flags[LANES];
  for (int l = 0; l < lanes; ++l) {
    flags[l] = 0u;
    for (int w = 0; w < WORDS; ++w) words[l][w] = 0UL;
  }
  const int most = j->across ? DEPTH : SHORT_DEPTH * LANES;
  for (long row = j->first_row; row < j->end_row; ++row)
    for (long col = j->first_col; col < j->end_col; col += most) {
      const Strided x = strided_of(j, &j->input, result, row, col),
                    y = strided_of(j, &j->second, result, row, col);
      add_block(j, &x, &y, (int)min((long)most, j->end_col - col), lanes, words, flags);
    }
  for (int l = 0; l < lanes; ++l) {
    if (j->splits == 1) {
      store(j, result + l, words[l], flags[l]);
      continue;
    }
    GLOBAL ulong* record = job_record(j, result + l, j->split, RECORD);
    words_carry(words[l]);
    record[0] = flags[l];
    for (int w = 0; w < WORDS; ++w) record[1 + w] = words[l][w];
  }
}

// Puts the pieces of one result together.
DEVICE void reduce_records(const Job* j, long result) {
  ulong words[WORDS];
  uint flags = 0u;
  for (int w = 0; w < WORDS; ++w) words[w] = 0UL;
  for (int s = 0; s < j->splits; ++s) {
    GLOBAL const ulong* record = job_record(j, result, s, RECORD);
    flags |= (uint)record[0];
    for (int w = 0; w < WORDS; ++w) words[w] += record[1 + w];
  }
  store(j, result, words, flags);
}
