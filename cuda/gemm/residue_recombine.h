// The Chinese remainder theorem: an integer from its residues, and its rounding to f32 where that
// is easy. Included where `tables` is known (residue_tables.h).
#pragma once

// d = the limbs of D, for each of the four elements whose residues are the bytes of y.
template <int N>
DEVICE void recombine(const uint (&y)[N], double (&d)[4][limbs_of(N)]) {
  constexpr int kLimbs = limbs_of(N);
  const Recombination& r = tables.recombination[N - FEWEST];
#pragma unroll
  for (int i = 0; i < 4 * kLimbs; ++i) d[i / kLimbs][i % kLimbs] = r.start[i % kLimbs];
#pragma unroll
  for (int p = 0; p < (N + 1) / 2; ++p) {
    const bool both = 2 * p + 1 < N;
    const uint second = both ? y[2 * p + 1 < N ? 2 * p + 1 : 0] : 0u;
    // The sum goes below the high bits of 2^17, or of 2^8: a f64 that is so much more.
    const uint pair = r.pair[p] << (both ? 3 : 12), bits = both ? 0x41000000u : 0x40700000u;
    const uint low = __byte_perm(y[2 * p], second, 0x5140);
    const uint high = __byte_perm(y[2 * p], second, 0x7362);
    const uint z[4] = {__dp2a_lo(pair, low, bits), __dp2a_hi(pair, low, bits),
                       __dp2a_lo(pair, high, bits), __dp2a_hi(pair, high, bits)};
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const double term = as_double((ulong)z[e] << 32);
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

// *result = D rounded, where D is `sum` up to 4 units of its last place, and up to `error`. False
// if another number may be nearest, or if D is 0 or the result is the least normal number or less.
// shift: (how far D's unit is below 1) << 20. The last bits of a f64 tell how far the next boundary
// between two f32 is.
DEVICE bool round_plain(double sum, int shift, float error, float* result) {
  const uint high = (uint)(as_ulong(sum) >> 32), low = (uint)as_ulong(sum);
  *result = (float)as_double((ulong)(high - shift) << 32 | low);
  // In units of sum's last place.
  const float off = error * as_float(0x59000000u - (high >> 20) * 0x800000u);
  const float far = fabsf((float)((int)(low & 0x1fffffff) - 0x10000000));
  return (far > fmaf(off, 1.0001f, 4.0f)) & (off < 1e8f) & (fabsf(as_float(high)) > 1.0f) &
         (fabsf(*result) > 0x1p-126f) & (fabsf(*result) < INFINITY);
}
