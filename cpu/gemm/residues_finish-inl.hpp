// Products from their residues, rounded, for residues_amx.cpp.
#pragma once

#include "gemm/exact.hpp"
#include "gemm/residues_convert-inl.hpp"

HWY_PUSH_ATTRIBUTES(TRINE_TILES_TARGET)
namespace trine::cpu::gemm {
namespace {

// The exact sum of two doubles.
HWY_INLINE __m512d two_sum(__m512d a, __m512d b, __m512d& error) {
  const __m512d sum = _mm512_add_pd(a, b), c = _mm512_sub_pd(sum, a);
  error = _mm512_add_pd(_mm512_sub_pd(a, _mm512_sub_pd(sum, c)), _mm512_sub_pd(b, c));
  return sum;
}

// Eight elements: limbs of their products, their bounds, and c; the rounded ones, where certain.
struct Rounding {
  __m512d alpha, beta;
  bool reads_c;

  HWY_INLINE __mmask8 round(__m512d high, __m512d low, __m512d bound, __m256 c, __m256& to) const {
    __m512d t = _mm512_mul_pd(alpha, high), r = t, error = _mm512_setzero_pd();
    const __m512d tail = _mm512_fmadd_pd(alpha, low, _mm512_fmsub_pd(alpha, high, t));
    __mmask8 certain = 0;
    bound = _mm512_mul_pd(_mm512_abs_pd(alpha), bound);
    if (reads_c) {
      const __m512d u = _mm512_mul_pd(beta, _mm512_cvtps_pd(c));
      r = two_sum(t, u, error);
      // an infinity or NaN in C, where the product is finite
      certain = _mm512_cmp_pd_mask(_mm512_abs_pd(u), _mm512_set1_pd(HUGE_VAL), _CMP_NLT_UQ) &
                _mm512_cmp_pd_mask(bound, _mm512_set1_pd(HUGE_VAL), _CMP_LT_OQ);
    }
    bound = _mm512_add_pd(bound, _mm512_abs_pd(_mm512_add_pd(error, tail)));
    certain |= _mm512_cmp_pd_mask(bound, _mm512_setzero_pd(), _CMP_EQ_OQ);
    const __m512d width = _mm512_fmadd_pd(_mm512_abs_pd(r), _mm512_set1_pd(0x1p-52),
                                          _mm512_mul_pd(bound, _mm512_set1_pd(1 + 0x1p-40)));
    const __m256 least = _mm512_cvtpd_ps(_mm512_sub_pd(r, width)),
                 most = _mm512_cvtpd_ps(_mm512_add_pd(r, width));
    to = _mm512_cvtpd_ps(_mm512_add_pd(r, _mm512_setzero_pd()));  // an exact zero is +0
    return certain |
           (_mm256_cmpeq_epi32_mask(_mm256_castps_si256(least), _mm256_castps_si256(most)) &
            _mm256_cmp_ps_mask(least, most, _CMP_ORD_Q));
  }
};

// The integers of 16 elements from their residues, by pairs of moduli, as sums of two doubles; the
// second one is nearly right.
template <int kLimbs>
struct Remainder {
  explicit Remainder(const Moduli& moduli) : count(moduli.count) {
    const tables::Recombination& r = moduli.recombination;
    const double base = std::ldexp(1.0, tables::limb_bits(count));
    for (int l = 0; l < kLimbs; ++l) {
      unit[l] = _mm512_set1_pd(std::pow(base, l));
      product[l] = _mm512_set1_pd(r.product[l]);
      weight[l] = _mm512_set1_pd(r.weight[l]);
      for (int p = 0; p < tables::PAIRS; ++p) limb[p][l] = _mm512_set1_pd(r.limb[p][l]);
    }
    for (int p = 0; p < tables::PAIRS; ++p)
      numbers[p] = _mm512_set1_epi32(static_cast<int>(r.pair[p]));
  }

  HWY_INLINE void get(const std::int8_t* from, int64_t stride, __m512d high[2],
                      __m512d low[2]) const {
    __m512d sum[2][kLimbs];
    for (int l = 0; l < kLimbs; ++l) sum[0][l] = sum[1][l] = _mm512_setzero_pd();
    const auto bytes = [&](const std::int8_t* at) {
      return _mm512_cvtepi8_epi32(_mm_load_si128(reinterpret_cast<const __m128i*>(at)));
    };
    for (int p = 0; 2 * p < count; ++p, from += 2 * stride) {
      const __m512i y = bytes(from);
      const __m512i z = 2 * p + 1 < count ? bytes(from + stride) : _mm512_setzero_si512();
      const __m512i both = _mm512_mask_blend_epi16(0xaaaaaaaa, y, _mm512_slli_epi32(z, 16));
      const __m512i x = _mm512_madd_epi16(both, numbers[p]);
      const __m512d half[2] = {_mm512_cvtepi32_pd(_mm512_castsi512_si256(x)),
                               _mm512_cvtepi32_pd(_mm512_extracti32x8_epi32(x, 1))};
      for (int l = 0; l < kLimbs; ++l)
        for (int h = 0; h < 2; ++h) sum[h][l] = _mm512_fmadd_pd(half[h], limb[p][l], sum[h][l]);
    }
    for (int h = 0; h < 2; ++h) {
      __m512d q = _mm512_mul_pd(sum[h][0], weight[0]);
      for (int l = 1; l < kLimbs; ++l) q = _mm512_fmadd_pd(sum[h][l], weight[l], q);
      q = _mm512_roundscale_pd(q, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
      __m512d rest[kLimbs], error;
      for (int l = 0; l < kLimbs; ++l)
        rest[l] = _mm512_mul_pd(_mm512_fnmadd_pd(q, product[l], sum[h][l]), unit[l]);
      high[h] = two_sum(rest[kLimbs - 1], rest[kLimbs - 2], low[h]);
      if (kLimbs == 3) {
        high[h] = two_sum(high[h], rest[0], error);
        low[h] = _mm512_add_pd(low[h], error);
      }
    }
  }

  int count;
  __m512d unit[kLimbs], product[kLimbs], weight[kLimbs], limb[tables::PAIRS][kLimbs];
  __m512i numbers[tables::PAIRS];
};

template <int kLimbs>
void finish_with(const Moduli& moduli, const ResidueBlock& block, Bounds a, Bounds b,
                 const Problem<float>& p, int64_t i0, int64_t j0) {
  const Remainder<kLimbs> remainder(moduli);
  const Rounding rounding{_mm512_set1_pd(p.alpha), _mm512_set1_pd(p.beta), p.reads_c};
  const int64_t rows = std::min(p.m - i0, block.row_panels * kSide);
  const int64_t columns = std::min(p.n - j0, block.column_panels * kSide);
  for (int64_t j = 0; j < columns; j += 16) {
    const std::int8_t* const panel =
        block.c.data + j / kSide * block.row_panels * kSide * kSide + j % kSide;
    for (int64_t i = 0; i < rows; ++i) {
      __m512d high[2], low[2];
      remainder.get(panel + i * kSide, block.c.stride, high, low);
      const __m512d a_norm = _mm512_set1_pd(a.norm[i]), a_lost = _mm512_set1_pd(a.lost[i]);
      const __m512d a_unit = _mm512_set1_pd(a.unit[i]);
      for (int h = 0; h < 2 && j + 8 * h < columns; ++h) {
        const int64_t x = j + 8 * h;
        const auto valid =
            static_cast<__mmask8>(_bzhi_u32(0xff, unsigned(std::min<int64_t>(8, columns - x))));
        // The loss by scaling, and by how much the pair may be off.
        const __m512d unit = _mm512_mul_pd(a_unit, _mm512_loadu_pd(b.unit + x));
        __m512d bound = _mm512_mul_pd(_mm512_abs_pd(low[h]), _mm512_set1_pd(0x1p-52));
        bound = _mm512_fmadd_pd(a_lost, _mm512_loadu_pd(b.norm + x), bound);
        bound = _mm512_fmadd_pd(a_norm, _mm512_loadu_pd(b.lost + x), bound);
        float* const c = p.c.at(i0 + i, j0 + x);
        const __m256 old = p.reads_c ? _mm256_maskz_loadu_ps(valid, c) : _mm256_setzero_ps();
        __m256 to;
        const __mmask8 certain =
            valid & rounding.round(_mm512_mul_pd(high[h], unit), _mm512_mul_pd(low[h], unit),
                                   _mm512_mul_pd(bound, unit), old, to);
        _mm256_mask_storeu_ps(c, certain, to);
        for (unsigned open = valid & ~certain; open != 0; open &= open - 1) {
          const int64_t column = x + __builtin_ctz(open);
          *p.c.at(i0 + i, j0 + column) = open_element(p, i0 + i, j0 + column);
        }
      }
    }
  }
}

void finish(const Moduli& moduli, const ResidueBlock& block, Bounds a, Bounds b,
            const Problem<float>& p, int64_t i, int64_t j) {
  (moduli.limbs == 2 ? finish_with<2> : finish_with<3>)(moduli, block, a, b, p, i, j);
}

}  // namespace
}  // namespace trine::cpu::gemm
HWY_POP_ATTRIBUTES
