// Idea: the last launch of an exact product. Warps walk the marks (certain.h) and compute each
// marked element: first as a chain of pairs, then, where that isn't certain either, in a
// superaccumulator (reduce/exact.h), whose sum, times alpha and plus beta c, is rounded once.
// Requires: f64; 128 work-items and 24 KiB of local memory. Without warps a work-item is one.
#define PLAIN_READS
#define KIND_DOT 1
#include "certain.h"
#include "reduce/exact_terms.h"
#include "reduce/shuffle.h"

#if HAVE_WARPS
#define LANES 32
#define WARPS 4
#define SYNC_LANES sync_warp()
#else
#define LANES 1
#define WARPS 1
#define SYNC_LANES
#endif
#define THREADS (LANES * WARPS)
// A warp's copies of its superaccumulator: each takes at most 2^29 terms.
#define EACH 4
#define COPIES (WARPS * EACH)
// The product's words times alpha, which weighs 2^ALPHA_BASE or a multiple.
#define ALPHA_BASE (T_DOUBLE ? -1074 : -149)
#define SCALED_WORDS (WORDS + (T_DOUBLE ? 70 : 10))
#if T_DOUBLE
#define MANTISSA_OF(x, position) mantissa_f64(as_ulong(x), position)
#define OF_BITS(bits) as_double(bits)
#else
#define MANTISSA_OF(x, position) mantissa_f32(as_uint(x), position)
#define OF_BITS(bits) as_float((uint)(bits))
#endif

// A row of A and a column of B, and how they become an element of C.
typedef struct Element {
  const GLOBAL T *x, *y;
  long x_stride, y_stride, k;
  T alpha, beta, old;
  int flags;
} Element;

// A warp's numbers in local memory: its copies of the words, COPIES apart, the words times alpha,
// WARPS apart, and the flags of its terms.
typedef struct Words {
  LOCAL_POINTER uint *low, *high, *scaled_low, *scaled_high, *flags;
} Words;

DEVICE double lanes_sum(double x) {
#if HAVE_WARPS
  for (int mask = LANES / 2; mask > 0; mask /= 2) x += shuffle_xor_f64(x, mask);
#endif
  return x;
}

DEVICE void add_scaled(const Words* w, ulong value, int position, bool negative) {
  accumulator_add(w->scaled_low, w->scaled_high, WARPS, value, position, negative);
}

// The total of word `i` of all copies.
DEVICE long word_of(const Words* w, int i) {
  ulong total = 0UL;
  for (int c = 0; c < EACH; ++c)
    total += (ulong)w->high[i * COPIES + c] << 32 | w->low[i * COPIES + c];
  return (long)total;
}

// The digits of a number of `count` words, its copies' words or those times alpha.
DEVICE Digits digits_of(const Words* w, bool scaled, bool* negative) {
  const int count = scaled ? SCALED_WORDS : WORDS;
  Digits d;
  *negative = false;
  for (int pass = 0; pass < 2; ++pass) {
    d = digits_none();
    for (int i = 0; i < count; ++i) {
      const long word =
          !scaled ? word_of(w, i)
                  : (long)((ulong)w->scaled_high[i * WARPS] << 32 | w->scaled_low[i * WARPS]);
      digits_read(&d, *negative ? -word : word);
    }
    if (!digits_end(&d)) break;
    *negative = true;
  }
  return d;
}

// The element where a NaN or an infinity takes part, as IEEE 754 has it: only signs count.
DEVICE T special_element(const Words* w, const Element* e, uint flags) {
  const uint both = FLAG_PLUS_INFINITY | FLAG_MINUS_INFINITY;
  const double infinity = as_double(0x7ff0000000000000UL);
  double sum = infinity, scaled = 0.0, kept = 0.0;
  if ((flags & FLAG_NAN) || (flags & both) == both) {
    sum = infinity - infinity;
  } else if (flags & both) {
    sum = flags & FLAG_PLUS_INFINITY ? infinity : -infinity;
  } else {
    bool negative;
    const Digits d = digits_of(w, false, &negative);
    sum = d.top_word < 0 ? 0.0 : negative ? -1.0 : 1.0;
  }
  if (flags || special_flags((double)e->alpha)) scaled = (double)e->alpha * sum;
  if (special_flags((double)e->beta) || special_flags((double)e->old))
    kept = (double)e->beta * (double)e->old;
  return (T)(scaled + kept);
}

// The element from superaccumulators. All lanes return it.
DEVICE T element_of_words(const Words* w, const Element* e, int lane) {
  SYNC_LANES;
  for (int i = lane; i < WORDS * EACH; i += LANES)
    w->low[i / EACH * COPIES + i % EACH] = w->high[i / EACH * COPIES + i % EACH] = 0u;
  for (int i = lane; i < SCALED_WORDS; i += LANES)
    w->scaled_low[i * WARPS] = w->scaled_high[i * WARPS] = 0u;
  if (lane == 0) *w->flags = 0u;
  SYNC_LANES;
  uint special = 0u;
  for (long l = lane; l < e->k; l += LANES) {
    const Product p = product_of(e->x[l * e->x_stride], e->y[l * e->y_stride]);
    const int copy = (lane + (int)(l >> 29)) % EACH;
    special |= p.flags & FLAGS_SPECIAL;
    accumulator_add(w->low + copy, w->high + copy, COPIES, p.low, p.position, p.negative);
    if (T_DOUBLE)
      accumulator_add(w->low + copy, w->high + copy, COPIES, p.high, p.position + 64, p.negative);
  }
  if (special) atomic_or(w->flags, special);
  SYNC_LANES;
  special = *w->flags;
  if (special || special_flags((double)e->alpha) || special_flags((double)e->beta) ||
      special_flags((double)e->old))
    return special_element(w, e, special);

  int position;
  const ulong alpha = MANTISSA_OF(e->alpha, &position);
  const ulong alpha_low = alpha & 0xffffffffUL, alpha_high = alpha >> 32;
  for (int i = lane; i < WORDS; i += LANES) {
    const long word = word_of(w, i);
    const ulong value = word < 0 ? 0UL - (ulong)word : (ulong)word;
    const ulong value_low = value & 0xffffffffUL, value_high = value >> 32;
    const bool negative = (word < 0) != (e->alpha < (T)0);
    const int at = 32 * i + position;
    add_scaled(w, value_low * alpha_low, at, negative);
    add_scaled(w, value_high * alpha_low, at + 32, negative);
    add_scaled(w, value_low * alpha_high, at + 32, negative);
    add_scaled(w, value_high * alpha_high, at + 64, negative);
  }
  if (lane == 0 && (e->flags & ADD_C)) {
    const Product p = product_of(e->beta, e->old);
    add_scaled(w, p.low, p.position - ALPHA_BASE, p.negative);
    if (T_DOUBLE) add_scaled(w, p.high, p.position - ALPHA_BASE + 64, p.negative);
  }
  SYNC_LANES;
  bool negative;
  const Digits d = digits_of(w, true, &negative);
  return OF_BITS(result_bits(digits_round(&d, BASE + ALPHA_BASE, T_DOUBLE), negative,
                             FLAG_NOT_MINUS_ZERO, T_DOUBLE));
}

DEVICE T element_of(const Words* w, const Element* e, const Bounds* b, int lane) {
  const double base = power_above(b->row[0]) * power_above(b->col[0]), begin = PAIR_BEGIN * base;
  double hi = begin, lo = 0.0;
#pragma unroll 4
  for (long l = lane; l < e->k; l += LANES)
    pair_add(&hi, &lo, (double)e->x[l * e->x_stride], (double)e->y[l * e->y_stride]);
  hi = lanes_sum(hi - begin), lo = lanes_sum(lo);
  T result;
  if (round_pair(hi, lo, pair_error(b->row, b->col, base, e->k), e->alpha, e->beta, e->old,
                 e->flags, &result))
    return result;
  return element_of_words(w, e, lane);
}

KERNEL_OF(one_by_one, THREADS, 1)(GEMM_ARGUMENTS, BOUNDS_ARGUMENTS, long words) {
  LOCAL uint low[WORDS * COPIES], high[WORDS * COPIES];
  LOCAL uint scaled_low[SCALED_WORDS * WARPS], scaled_high[SCALED_WORDS * WARPS];
  LOCAL uint flag[WARPS], found[THREADS];
  const int me = local_x(), warp = me / LANES, lane = me % LANES;
  const long warps = (long)groups_x() * WARPS;
  const long share = (words + warps - 1) / warps;
  const int each = share < LANES ? (int)share : LANES;
  Words w;
  w.low = low + warp * EACH, w.high = high + warp * EACH;
  w.scaled_low = scaled_low + warp, w.scaled_high = scaled_high + warp;
  w.flags = flag + warp;
  const GLOBAL uint* marks = (const GLOBAL uint*)(space + marks_at);

  await_earlier_launches();
  if (marks[0] == 0u) return;
  for (long first = ((long)group_x() * WARPS + warp) * each; first < words; first += warps * each) {
    SYNC_LANES;
    found[me] = lane < each && first + lane < words ? marks[1 + first + lane] : 0u;
    SYNC_LANES;
    for (int i = 0; i < each; ++i)
      for (uint bits = found[warp * LANES + i]; bits; bits &= bits - 1u) {
        const long bit = (first + i) * 32 + 31 - clz(bits & (0u - bits));
        const long of_all = bit / n, col = bit - of_all * n, batch = of_all / m,
                   row = of_all - batch * m;
        GLOBAL T* to = c + c_offset + batch * c_batch + row * c_row + col * c_col;
        const Bounds bounds = bounds_of(BOUNDS_PASSED, m, n, batch, row, col);
        Element e;
        e.x = a + a_offset + batch * a_batch + row * a_row;
        e.y = b + b_offset + batch * b_batch + col * b_col;
        e.x_stride = a_col, e.y_stride = b_row, e.k = k;
        e.alpha = alpha, e.beta = beta, e.flags = flags;
        e.old = flags & ADD_C ? *to : (T)0;
        const T result = element_of(&w, &e, &bounds, lane);
        SYNC_LANES;
        if (lane == 0) *to = result;
      }
  }
}
