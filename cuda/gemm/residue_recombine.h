// The Chinese remainder theorem: an integer from its residues. Included where `tables` is known
// (residue_tables.h).
#pragma once

// d = the limbs of D, for each of the four elements whose residues are the bytes of y.
template <int N>
DEVICE void recombine(const uint (&y)[N], double (&d)[4][limbs_of(N)]) {
  constexpr int kLimbs = limbs_of(N);
  const Recombination& r = tables.recombination[N - FEWEST];
#pragma unroll
  for (int i = 0; i < 4 * kLimbs; ++i) d[i / kLimbs][i % kLimbs] = 0;
#pragma unroll
  for (int p = 0; p < (N + 1) / 2; ++p) {
    const uint second = 2 * p + 1 < N ? y[2 * p + 1 < N ? 2 * p + 1 : 0] : 0u, pair = r.pair[p];
    const uint low = __byte_perm(y[2 * p], second, 0x5140);
    const uint high = __byte_perm(y[2 * p], second, 0x7362);
    const uint z[4] = {__dp2a_lo(pair, low, 0u), __dp2a_hi(pair, low, 0u),
                       __dp2a_lo(pair, high, 0u), __dp2a_hi(pair, high, 0u)};
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const double term = as_double(0x4330000000000000ul | z[e]) - 0x1p52;
#pragma unroll
      for (int l = 0; l < kLimbs; ++l) d[e][l] = fma(term, r.limb[p][l], d[e][l]);
    }
  }
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    double products = 0;
#pragma unroll
    for (int l = 0; l < kLimbs; ++l) products = fma(d[e][l], r.weight[l], products);
    products = (products + 0x1.8p52) - 0x1.8p52;
#pragma unroll
    for (int l = 0; l < kLimbs; ++l) d[e][l] = fma(-products, r.product[l], d[e][l]);
  }
}
