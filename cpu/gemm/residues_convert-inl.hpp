// Rows of A and columns of B as residues, for residues_amx.cpp, with vectors of 64 bytes.
//
// A block of a panel, kSide x kDeep: for A [2 tiles][16 rows][64 bytes], byte 4 l + j of a row is
// step 16 j + l; for B [2 tiles][16 l][16 columns][4 j]. The steps' order is another, but the same
// for both.
#pragma once

#include <immintrin.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "gemm/residues.hpp"
#include "hwy/base.h"

#define TRINE_TILES_TARGET \
  "prfchw,avx2,fma,bmi2,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,amx-tile,amx-int8"

HWY_PUSH_ATTRIBUTES(TRINE_TILES_TARGET)
namespace trine::cpu::gemm {
namespace {

using std::int64_t;

// An f32 of magnitude below 2^22 plus this is rounded to an integer, which its lowest bits hold.
constexpr float kRounder = 0x1.8p23f;

struct Modulus {
  __m512i low, high, start, number;
  __m512 reciprocal;

  Modulus(const Moduli& moduli, bool is_b, int q) {
    const tables::Reduction& r = moduli.reductions[is_b][q];
    low = _mm512_set1_epi32(static_cast<int>(r.low));
    high = _mm512_set1_epi32(static_cast<int>(r.high));
    start = _mm512_set1_epi32(static_cast<int>(r.start));
    number = _mm512_set1_epi32(-r.negative);
    reciprocal = _mm512_set1_ps(r.inverse);
  }

  // The low byte of each lane is right.
  HWY_INLINE __m512i reduce(__m512i x) const {
    const __m512 q = _mm512_fmadd_ps(_mm512_cvtepi32_ps(x), reciprocal, _mm512_set1_ps(kRounder));
    return _mm512_sub_epi16(x, _mm512_mullo_epi16(_mm512_castps_si512(q), number));
  }
};

HWY_INLINE __m512d doubles(__m512 x, int half) {
  return _mm512_cvtps_pd(half == 0 ? _mm512_castps512_ps256(x) : _mm512_extractf32x8_ps(x, 1));
}

// 16 scaled floats as integers plus 2^52; the squares of what that loses are added to `lost`.
struct Integers {
  __m512i low, high;

  HWY_INLINE void set(__m512 x, const __m512d scale[2], __m512d lost[2]) {
    const __m512d rounder = _mm512_set1_pd(0x1.8p52);
    __m512i bits[2];
    for (int h = 0; h < 2; ++h) {
      const __m512d y = _mm512_mul_pd(doubles(x, h), scale[h]), sum = _mm512_add_pd(y, rounder);
      const __m512d d = _mm512_sub_pd(y, _mm512_sub_pd(sum, rounder));
      lost[h] = _mm512_fmadd_pd(d, d, lost[h]);
      bits[h] = _mm512_castpd_si512(sum);
    }
    const __m512i even =
        _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    low = _mm512_permutex2var_epi32(bits[0], even, bits[1]);
    high =
        _mm512_permutex2var_epi32(bits[0], _mm512_add_epi32(even, _mm512_set1_epi32(1)), bits[1]);
    high = _mm512_sub_epi32(high, _mm512_set1_epi32(0x43280000));  // 0x1.8p52 is 2^52 more
  }
};

HWY_INLINE __m512i first_bytes(const __m512i x[4]) {
  const __mmask64 odd = 0xaaaaaaaaaaaaaaaa;
  const __m512i low = _mm512_mask_blend_epi8(odd, x[0], _mm512_slli_epi32(x[1], 8));
  const __m512i high = _mm512_mask_blend_epi8(odd, x[2], _mm512_slli_epi32(x[3], 8));
  return _mm512_mask_blend_epi16(0xaaaaaaaa, low, _mm512_slli_epi32(high, 16));
}

// Converts a panel's elements, 64 of them at a time: of A those of a row, of B those of 16 columns.
template <bool kIsB>
class Converter {
 public:
  Converter(const Moduli& moduli, Matrix<const float> from, int64_t k)
      : moduli_(moduli), from_(from), k_(k) {}

  void add_squares(int64_t i, int64_t rows, int64_t k, double* squares) {
    load(i, rows, k);
    each_line([&](const float* line, int64_t row, int64_t) {
      __m512d sum[2];
      begin(sum, squares + row);
      for (int j = 0; j < 4; ++j)
        for (int h = 0; h < 2; ++h) {
          const __m512d x = doubles(_mm512_loadu_ps(line + j * kBetween), h);
          sum[h] = _mm512_fmadd_pd(x, x, sum[h]);
        }
      end(sum, squares + row);
    });
  }

  void convert(int64_t i, int64_t rows, int64_t k, const double* scales, double* lost,
               Residues to) {
    load(i, rows, k);
    each_line([&](const float* line, int64_t row, int64_t offset) {
      __m512d sum[2];
      const __m512d scale[2] = {
          kIsB ? _mm512_loadu_pd(scales + row) : _mm512_set1_pd(scales[row]),
          kIsB ? _mm512_loadu_pd(scales + row + 8) : _mm512_set1_pd(scales[row])};
      begin(sum, lost + row);
      Integers x[4];
      for (int j = 0; j < 4; ++j) x[j].set(_mm512_loadu_ps(line + j * kBetween), scale, sum);
      end(sum, lost + row);
      std::int8_t* at = to.data + offset;
      for (int q = 0; q < moduli_.count; ++q, at += to.stride) {
        const Modulus m(moduli_, kIsB, q);
        __m512i r[4];
        for (int j = 0; j < 4; ++j)
          r[j] = m.reduce(_mm512_dpbusd_epi32(_mm512_dpbusd_epi32(m.start, x[j].low, m.low),
                                              x[j].high, m.high));
        __builtin_prefetch(at + kTileBlock, 1);
        _mm512_store_si512(at, first_bytes(r));
      }
    });
  }

 private:
  static constexpr int64_t kRow = kIsB ? kSide : kDeep;        // of the block, in elements
  static constexpr int64_t kBetween = kIsB ? 16 * kSide : 16;  // of the line's vectors

  // The block of rows from i and steps from k on, padded with zeros.
  HWY_INLINE void load(int64_t i, int64_t rows, int64_t k) {
    const Matrix<const float> from = kIsB ? from_.from(i, k).transposed() : from_.from(i, k);
    const int64_t steps = std::min(kDeep, k_ - k);
    const int64_t lines = kIsB ? steps : rows, length = kIsB ? rows : steps;
    if (lines * length < kTileBlock) std::memset(block_, 0, sizeof block_);
    if (from.col_stride == 1) {
      for (int64_t x = 0; x < lines; ++x) {
        const float* const line = from.at(x, 0);
        if (kIsB && k + kDeep + x < k_) {
          const float* const soon = line + kDeep * from.row_stride;
          __builtin_prefetch(soon);
          __builtin_prefetch(soon + 16);
        }
        for (int64_t y = 0; y < length; y += 16) {
          const auto mask = static_cast<__mmask16>(_bzhi_u32(0xffff, unsigned(length - y)));
          _mm512_store_ps(block_ + x * kRow + y, _mm512_maskz_loadu_ps(mask, line + y));
        }
      }
    } else {
      for (int64_t y = 0; y < length; ++y)
        for (int64_t x = 0; x < lines; ++x) block_[x * kRow + y] = *from.at(x, y);
    }
  }

  // Calls body(first vector, first row, offset of its bytes).
  template <class Body>
  HWY_INLINE void each_line(Body&& body) {
    for (int64_t x = 0; x < kSide; ++x) {
      if (kIsB)
        body(block_ + x / 2 * kSide + x % 2 * 16, x % 2 * 16, x % 2 * 1024 + x / 2 * 64);
      else
        body(block_ + x * kDeep, x, x * 64);
    }
  }

  static HWY_INLINE void begin(__m512d sum[2], const double* from) {
    for (int h = 0; h < 2; ++h) sum[h] = kIsB ? _mm512_loadu_pd(from + 8 * h) : _mm512_setzero_pd();
  }
  static HWY_INLINE void end(const __m512d sum[2], double* to) {
    if (!kIsB) *to += _mm512_reduce_add_pd(_mm512_add_pd(sum[0], sum[1]));
    for (int h = 0; kIsB && h < 2; ++h) _mm512_storeu_pd(to + 8 * h, sum[h]);
  }

  const Moduli& moduli_;
  Matrix<const float> from_;
  int64_t k_;
  alignas(64) float block_[kTileBlock];
};

// Steps of k outside, so that neighbouring panels' elements are read while their page is known.
template <bool kIsB>
void convert_rows(const Moduli& moduli, Matrix<const float> from, int64_t rows, int64_t k,
                  double largest, Residues to, Bounds bounds) {
  Converter<kIsB> converter(moduli, from, k);
  const int64_t padded = round_up(rows, kSide), depth = round_up(k, kDeep);
  const auto each_block = [&](auto&& body) {
    for (int64_t x = 0; x < k; x += kDeep)
      for (int64_t i = 0; i < rows; i += kSide) body(i, std::min(kSide, rows - i), x);
  };
  std::fill_n(bounds.norm, padded, 0.0);
  std::fill_n(bounds.lost, padded, 0.0);
  each_block([&](int64_t i, int64_t count, int64_t x) {
    converter.add_squares(i, count, x, bounds.norm + i);
  });
  constexpr double kMore = 1 + 1e-9;  // than sums of squares lose by rounding
  double scales[kConvertedPanels * kSide];
  for (int64_t i = 0; i < padded; ++i) {
    const double norm = std::sqrt(bounds.norm[i]) * kMore;
    scales[i] = norm > 0 && norm < HUGE_VAL ? std::ldexp(1.0, std::ilogb(largest / norm)) : 1;
    bounds.norm[i] = norm * scales[i];
    bounds.unit[i] = 1 / scales[i];
  }
  each_block([&](int64_t i, int64_t count, int64_t x) {
    converter.convert(i, count, x, scales + i, bounds.lost + i, to.from(i * depth + x * kSide));
  });
  for (int64_t i = 0; i < padded; ++i) {
    bounds.lost[i] = std::sqrt(bounds.lost[i]) * kMore;
    bounds.norm[i] += bounds.lost[i];
  }
}

void convert(const Moduli& moduli, bool is_b, Matrix<const float> from, int64_t rows, int64_t k,
             double largest, Residues to, Bounds bounds) {
  (is_b ? convert_rows<true> : convert_rows<false>)(moduli, from, rows, k, largest, to, bounds);
}

}  // namespace
}  // namespace trine::cpu::gemm
HWY_POP_ATTRIBUTES
