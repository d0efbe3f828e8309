// Sums of f32 by plain additions of doubles, sixteen lanes at a time. A double has 29 bits more than an
// f32, so 2^n of them whose exponents differ by no more than 29 - n add up in any order without rounding:
//
//   |x| < 2^(most + 1), in units of 2^(least - 23)      2^n * 2^(most + 1) <= 2^53 * 2^(least - 23)
//
// So a lane keeps its least and its largest term, and one question is asked for many. Sums begin with -0,
// which is neutral. After cpu/reduce/exact_plain-inl.hpp, where the processor's inexact flag answers;
// OpenCL C can't read it.
#pragma once

#define PLAIN 16         // lanes: a line of memory
#define PLAIN_TERMS 256  // of each column

typedef struct Plain {
  uint16 most, least;  // bits of magnitudes; of the least 1 less, so that zeros don't count
  double8 low, high;
} Plain;

DEVICE Plain plain_zero() {
  Plain s;
  s.most = 0u;
  s.least = 0xffffffffu;
  s.low = s.high = -0.0;
  return s;
}

DEVICE void plain_add(Plain* s, uint16 bits, float8 low, float8 high, bool magnitude) {
  bits &= 0x7fffffffu;
  s->most = max(s->most, bits);
  s->least = min(s->least, bits - 1u);
  if (magnitude) {
    low = fabs(low);
    high = fabs(high);
  }
  s->low += convert_double8(low);
  s->high += convert_double8(high);
}

// Loaded twice, which has fewer instructions than taking a vector apart: 8 instead of 13 of those that two
// ports share. The halves first: LLVM would make them of the whole, element by element.
typedef uint16 Bits16 ALIGNED(4);
typedef float8 Floats8 ALIGNED(4);
DEVICE void plain_add_line(Plain* s, GLOBAL const float* p, bool magnitude) {
  const float8 low = *(GLOBAL const Floats8*)p, high = *(GLOBAL const Floats8*)(p + LANES);
  plain_add(s, *(GLOBAL const Bits16*)p, low, high, magnitude);
}

// Has no lane of 2^bits terms lost anything, or met a NaN or an infinity?
DEVICE bool plain_is_exact(const Plain* s, int bits) {
  const int16 span = as_int16(s->most >> 23) - as_int16(s->least >> 23);
  return !any_bit8(as_ulong8(span > 29 - bits | s->most >= 0x7f800000u));
}

// Adds `count` neighbours. `magnitude` is a constant: a branch in the loop has PoCL load element by element.
INLINED void plain_add_row_of(Plain* s, GLOBAL const float* p, long count, bool magnitude) {
  Plain sum = *s;
  for (; count >= PLAIN; count -= PLAIN, p += PLAIN) {
    call_ahead(p);
    plain_add_line(&sum, p, magnitude);
  }
  if (count > 0) {
    float x[PLAIN];
    for (int l = 0; l < PLAIN; ++l) x[l] = l < count ? p[l] : -0.0f;
    plain_add(&sum, as_uint16(vload16(0, x)), vload8(0, x), vload8(1, x), magnitude);
  }
  *s = sum;
}

DEVICE void plain_add_row(Plain* s, GLOBAL const float* p, long count, bool magnitude) {
  if (magnitude)
    plain_add_row_of(s, p, count, true);
  else
    plain_add_row_of(s, p, count, false);
}

// Adds up to `count` times PLAIN_ROW neighbours and tells how many times it did: not those that would lose
// something.
DEVICE long add_plainly(Expansion8* sum, GLOBAL const float* p, long count, bool magnitude,
                        ulong8* lost) {
  for (long done = 0; done < count; ++done, p += PLAIN_ROW) {
    Plain s = plain_zero();
    plain_add_row(&s, p, PLAIN_ROW, magnitude);
    if (!plain_is_exact(&s, 6) || any_bit8(*lost)) return done;
    *lost |= expansion_add8(sum, s.low);
    *lost |= expansion_add8(sum, s.high);
  }
  return count;
}

// Eight lanes of a and eight of b become four and four.
DEVICE double8 add_pairs(double8 a, double8 b) {
  return (double8)(a.even, b.even) + (double8)(a.odd, b.odd);
}

// The sums of up to eight whole rows, `step` apart; false: they may be rounded.
DEVICE bool plain_rows(GLOBAL const float* p, long step, int rows, long count, bool magnitude,
                       double8* sums) {
  double8 row[LANES];
  Plain s = plain_zero();
  for (int r = 0; r < LANES; ++r) row[r] = 0.0;
  for (int r = 0; r < rows; ++r) {
    s.low = s.high = -0.0;
    plain_add_row(&s, p + r * step, count, magnitude);
    row[r] = s.low + s.high;
  }
  // Lanes meet, so they are all asked together.
  uint most[PLAIN], least[PLAIN];
  vstore16(s.most, 0, most);
  vstore16(s.least, 0, least);
  for (int l = 1; l < PLAIN; ++l) {
    most[0] = max(most[0], most[l]);
    least[0] = min(least[0], least[l]);
  }
  const int bits = 32 - clz((uint)count - 1u);  // count <= 2^bits
  if (most[0] >= 0x7f800000u || (int)(most[0] >> 23) - (int)(least[0] >> 23) > 29 - bits)
    return false;
  *sums = add_pairs(add_pairs(add_pairs(row[0], row[1]), add_pairs(row[2], row[3])),
                    add_pairs(add_pairs(row[4], row[5]), add_pairs(row[6], row[7])));
  return true;
}

// Adds `rows` rows, `step` apart, of 16 * groups neighbouring columns, and calls for the next four rows, or, without
// gaps, for what follows; rows and magnitude are constants.
INLINED void plain_add_columns_of(Plain* s, int groups, GLOBAL const float* p, long step, int rows,
                                  bool dense, bool magnitude) {
  for (int g = 0; g < groups; ++g, p += PLAIN) {
    Plain sum = s[g];
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      if (dense)
        call_ahead(p + r * step);
      else
        prefetch_far(p + (r + 4) * step);
      plain_add_line(&sum, p + r * step, magnitude);
    }
    s[g] = sum;
  }
}

// Adds `terms` rows, four at a time.
DEVICE void plain_add_columns(Plain* s, int groups, GLOBAL const float* p, long step, int terms,
                              bool magnitude) {
  const bool dense = step == groups * PLAIN;
  for (; magnitude && terms > 0; --terms, p += step)
    plain_add_columns_of(s, groups, p, step, 1, dense, true);
  for (; terms >= 4; terms -= 4, p += 4 * step)
    plain_add_columns_of(s, groups, p, step, 4, dense, false);
  for (; terms > 0; --terms, p += step) plain_add_columns_of(s, groups, p, step, 1, dense, false);
}
