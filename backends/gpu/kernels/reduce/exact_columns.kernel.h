// Idea: few columns of a matrix without gaps. Vectors come as they lie, so that a work-item keeps
// the same four columns, each in two doubles that begin at 1.5 * 2^52 of their units: four elements
// that add up without rounding are cut at the first one's, the rest goes to the second. Elements
// that don't fit go one by one into digits in local memory, whose sums have no order, and so
// do the doubles in the end; groups add their digits to those in the workspace, and the last one
// rounds. No element is read twice, whatever the exponents. It beats `exact` there because that one
// loads element by element, three groups a multiprocessor. Requires: f64; sums of 4, 8, 16 or 32
// columns of f32; NVIDIA for one launch (elsewhere a second launch finishes).
#define T float
typedef float4 Vector;
#define VECTOR 4
#define ALL_OF(x) make_float4(x, x, x, x)
#define VECTOR_AT(p) make_float4((p)[0], (p)[1], (p)[2], (p)[3])
#define VECTORS 4  // that a work-item loads at once
#define CHUNK (VECTOR * VECTORS)
#define SPAN ((long)THREADS * VECTORS)
#define CHUNK_BITS 0  // of tile.h's walks, of which there are none

// Digits of 16 bits in words of 32: each takes 2^15 additions without a carry.
#define DIGITS 26
#define DIGIT_BITS 16
#define BASE \
  (-149 - 64)  // digit 0 weighs 2^BASE: units of the second double may lie below a float's last bit
#define COPIES 32  // for neighbouring work-items
#define DIGIT_STEP (VECTOR * COPIES)
// Chunks between two carries: elements add to a digit 2^13 times at most, doubles half as often.
// Fewer on a CPU, so that tests get there.
#define DIGIT_CHUNKS ((1 << (HAVE_WARPS ? 13 : 11)) / (THREADS / COPIES * VECTORS))
#define CONTROL_WORDS \
  64  // of the workspace, in front of its digits: how many groups have added theirs

#define WINDOW_BITS 32    // between the units of a column's two doubles
#define WINDOW_MARGIN 4u  // exponents that may still come
#define MOST_TOP 254u     // of finite numbers

#include "across_groups.h"
#include "digits.h"
#include "exact.h"
#include "tile.h"
#include "vectors.h"
#include "windows.h"

typedef struct Column {
  double first, second;
  uint top;    // the largest biased exponent that fits
  uint minus;  // its sign bit is set while all elements have theirs
} Column;

DEVICE double column_line(uint top, int k) { return window_line(top + (1023u - 127u), k); }

DEVICE void window_open(Column* c, uint top) {
  c->top = top;
  c->first = column_line(top, 0);
  c->second = column_line(top, 1);
}

DEVICE void window_close(const Column* c, LOCAL_POINTER uint* digits) {
  const long low = (long)(as_ulong(c->second) - as_ulong(column_line(c->top, 1)));
  const long high = (long)(as_ulong(c->first) - as_ulong(column_line(c->top, 0))) + (low >> 32);
  const int position = (int)c->top + 1 - 127 - 2 * WINDOW_BITS - BASE;
  if (high == 0 && (uint)low == 0u) return;
  digits_add(digits, (ulong)(uint)low, position, 0u, 3);
  digits_add(digits, (ulong)(high < 0 ? -high : high), position + 32, (uint)(high >> 63), 5);
}

// Four elements of a column, whose exponents are `most` at most and, but for zeros, `least` at
// least.
typedef struct Four {
  float x[VECTORS];
  uint most, least;
} Four;

DEVICE Four four_of(Column* c, const float* x) {
  Four f;
  f.most = 0u;
  f.least = 0xffffffffu;
#pragma unroll
  for (int k = 0; k < VECTORS; ++k) {
    f.x[k] = x[k * VECTOR];
    const uint magnitude = as_uint(f.x[k]) & 0x7fffffffu;
    f.most = f.most > magnitude ? f.most : magnitude;
    f.least = f.least < magnitude - 1u ? f.least : magnitude - 1u;
    c->minus &= as_uint(f.x[k]);
  }
  f.most >>= 23;
  f.least >>= 23;
  return f;
}

// Do they add up without rounding, in the column's doubles?
DEVICE bool column_takes(const Column* c, const Four* f) {
  return f->most <= c->top && (int)(f->most - f->least) <= 25 &&
         f->least + 2u * WINDOW_BITS - 24u >= c->top;
}

DEVICE void column_add(Column* c, const Four* f) {
  const double sum = ((double)f->x[0] + (double)f->x[1]) + ((double)f->x[2] + (double)f->x[3]);
  const double next = c->first + sum;
  c->second += sum - (next - c->first);
  c->first = next;
}

// The same of any four elements; returns the flags of those that aren't finite.
DEVICE uint column_add_any(Column* c, const Four* f, LOCAL_POINTER uint* digits) {
  uint flags = 0u;
  if (f->most > c->top && f->most <= MOST_TOP) {
    window_close(c, digits);
    window_open(c, f->most + WINDOW_MARGIN < MOST_TOP ? f->most + WINDOW_MARGIN : MOST_TOP);
  }
  if (column_takes(c, f)) {
    column_add(c, f);
    return 0u;
  }
#pragma unroll
  for (int k = 0; k < VECTORS; ++k) {
    int position;
    const uint bits = as_uint(f->x[k]), magnitude = bits & 0x7fffffffu;
    const ulong mantissa = mantissa_f32(bits, &position);
    digits_add(digits, mantissa, position - 149 - BASE, (uint)((int)bits >> 31), 3);
    if (magnitude > 0x7f800000u) flags |= FLAG_NAN;
    if (magnitude == 0x7f800000u) flags |= bits >> 31 ? FLAG_MINUS_INFINITY : FLAG_PLUS_INFINITY;
  }
  return flags;
}

// Adds a group's share to its digits; `flags` are those of its four columns.
DEVICE void add_share(GLOBAL const float* from, long vectors, int splits, const bool magnitude,
                      LOCAL_POINTER uint* digits, int copy, uint* flags) {
  const int me = local_x();
  const bool aligned = (ulong)from % sizeof(Vector) == 0;
  const long step = splits * SPAN;
  Column column[VECTOR];
#pragma unroll
  for (int c = 0; c < VECTOR; ++c) {
    window_open(column + c, WINDOW_MARGIN);
    column[c].minus = 0xffffffffu;
    flags[c] = 0u;
  }
  float x[CHUNK], next[CHUNK];
  long v = group_x() * SPAN + me;
  load_vectors(from, v, THREADS, vectors, aligned, x);
  for (long end = group_x() * SPAN; end < vectors;) {
    end += DIGIT_CHUNKS * step;
#pragma unroll 2
    for (; v < end && v < vectors; v += step) {
      load_vectors(from, v + step, THREADS, vectors, aligned, next);
      if (magnitude) {
#pragma unroll
        for (int k = 0; k < CHUNK; ++k) x[k] = fabs(x[k]);
      }
      Four four[VECTOR];
      bool taken = true;
#pragma unroll
      for (int c = 0; c < VECTOR; ++c) {
        four[c] = four_of(column + c, x + c);
        taken = column_takes(column + c, four + c) && taken;
      }
      if (taken) {
#pragma unroll
        for (int c = 0; c < VECTOR; ++c) column_add(column + c, four + c);
      } else {
#pragma unroll
        for (int c = 0; c < VECTOR; ++c)
          flags[c] |= column_add_any(column + c, four + c, digits + c * COPIES + copy);
      }
#pragma unroll
      for (int k = 0; k < CHUNK; ++k) x[k] = next[k];
    }
    sync();
    if (end < vectors && me < DIGIT_STEP) digits_carry(digits + me);
    sync();
  }
#pragma unroll
  for (int c = 0; c < VECTOR; ++c) {
    window_close(column + c, digits + c * COPIES + copy);
    if (!(column[c].minus >> 31)) flags[c] |= FLAG_NOT_MINUS_ZERO;
  }
}

// Adds a group's digits and flags to the workspace's.
DEVICE void add_to_workspace(LOCAL_POINTER const uint* digits,
                             LOCAL_POINTER const uint* group_flags, GLOBAL uint* words, int width,
                             int lane_bits) {
  const int quads = 1 << lane_bits,
            copies = COPIES >> lane_bits;  // of four columns; of each one's digits
  for (int i = local_x(); i < (DIGITS + 1) * width; i += THREADS) {
    const int d = i >> (lane_bits + 2), c = i & (width - 1);
    LOCAL_POINTER const uint* of = d < DIGITS ? digits + d * DIGIT_STEP : group_flags;
    long total = 0;
    uint any = 0u;
    for (int k = 0; k < copies; ++k) {  // starting elsewhere: other banks
      const uint one = of[c % VECTOR * COPIES + c / VECTOR + ((k + i) & (copies - 1)) * quads];
      total += (int)one;
      any |= one;
    }
    if (d == DIGITS && any) atomic_or(words + i, any);
    if (d == DIGITS - 1 && total) atomic_add(words + i, (uint)total);
    if (d < DIGITS - 1 && total) {
      atomic_add(words + i, (uint)total & 0xffffu);
      atomic_add(words + i + width, (uint)(total >> 16));
    }
  }
}

// The bits of a column's sum; leaves its words zero for the next call.
DEVICE ulong column_end(volatile GLOBAL uint* words, int width, const bool f64) {
  long word[DIGITS / 2];
#pragma unroll
  for (int w = 0; w < DIGITS / 2; ++w)
    word[w] = (long)(int)words[2 * w * width] + (long)(int)words[(2 * w + 1) * width] * 65536;
  const uint flags = words[DIGITS * width];
  for (int d = 0; d <= DIGITS; ++d) words[d * width] = 0u;
  long carry = 0;  // of all words: the sum's sign
#pragma unroll
  for (int w = 0; w < DIGITS / 2; ++w) carry = (word[w] + carry) >> 32;
  const bool negative = carry < 0;
  Digits d = digits_none();
#pragma unroll
  for (int w = 0; w < DIGITS / 2; ++w) digits_read(&d, negative ? -word[w] : word[w]);
  digits_end(&d);
  return result_bits(digits_round(&d, BASE, f64), negative, flags, f64);
}

KERNEL_BOUNDED(exact_columns, THREADS, 1, 1)
(REDUCE_PARAMETERS) {
  LOCAL uint digits[DIGITS * DIGIT_STEP], group_flags[DIGIT_STEP], is_last[1];
  const int me = local_x(), copy = me % COPIES;
  const bool f64 = options & RESULT_F64;
  GLOBAL uint* control = (GLOBAL uint*)(workspace + workspace_offset);
  GLOBAL uint* words = control + CONTROL_WORDS;  // DIGITS of each column, then its flags
  for (int i = me; i < DIGITS * DIGIT_STEP; i += THREADS) digits[i] = 0u;
  for (int i = me; i < DIGIT_STEP; i += THREADS) group_flags[i] = 0u;
  sync();
  await_earlier_launches();
  uint flags[VECTOR];
  add_share(input + input_offset, phase == FINISH ? 0 : cols << lane_bits, splits,
            options & MAP_ABS, digits, copy, flags);
#pragma unroll
  for (int c = 0; c < VECTOR; ++c)
    if (flags[c]) atomic_or(group_flags + c * COPIES + copy, flags[c]);
  sync();
  add_to_workspace(digits, group_flags, words, width, lane_bits);
  sync_memory();
  if (me == 0) {
    is_last[0] = phase == FINISH || (phase == WHOLE && take_ticket(control) == (uint)splits - 1u);
    if (is_last[0]) control[0] = 0u;
  }
  sync_memory();
  if (is_last[0] && me < width)
    store_sum(output + output_offset, me * output_stride, f64, column_end(words + me, width, f64));
}
