// Transposes a square tile in registers: rows[i] element j becomes rows[j] element i. An element is
// a lane, or a whole block (16 bytes).
//
// With L lanes in a 128-bit block and B blocks in a vector, L * B rows:
// 1. log2(L) rounds of interleaving v[i] with v[i + L/2] transpose L x L lanes inside each block
//    (a perfect shuffle applied log2(L) times), for each group of L rows;
// 2. a B x B transposition of whole blocks across the groups makes full output rows.
// L * B * (log2(L) + log2(B)) shuffles a tile.

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR  // one lane: nothing to do

template <int kBytes, class D, class V = hn::Vec<D>>
HWY_INLINE void transpose_registers(D, V*) {}

#else

template <int kLanesPerBlock, class D, class V = hn::Vec<D>>
HWY_INLINE void transpose_within_blocks(D d, V* HWY_RESTRICT v) {
#pragma GCC unroll 4
  for (int round = 1; round < kLanesPerBlock; round *= 2) {
    V next[kLanesPerBlock];
#pragma GCC unroll 16
    for (int i = 0; i < kLanesPerBlock / 2; ++i) {
      next[2 * i] = hn::InterleaveLower(d, v[i], v[i + kLanesPerBlock / 2]);
      next[2 * i + 1] = hn::InterleaveUpper(d, v[i], v[i + kLanesPerBlock / 2]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < kLanesPerBlock; ++i) v[i] = next[i];
  }
}

// Block b of vector g becomes block g of vector b; the vectors are v[0], v[step], v[2 step] …
template <int kBlocks, class D, class V = hn::Vec<D>>
HWY_INLINE void transpose_blocks(D d, V* HWY_RESTRICT v, int step) {
  static_assert(kBlocks == 1 || kBlocks == 2 || kBlocks == 4);
  if constexpr (kBlocks == 2) {
    const V a = v[0], b = v[step];
    v[0] = hn::ConcatLowerLower(d, b, a);
    v[step] = hn::ConcatUpperUpper(d, b, a);
  } else if constexpr (kBlocks == 4) {
    const V a = v[0], b = v[step], c = v[2 * step], e = v[3 * step];
    const V ab_even = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(b), a);  // a0 b0 a2 b2
    const V ab_odd = hn::OddEvenBlocks(b, hn::SwapAdjacentBlocks(a));   // a1 b1 a3 b3
    const V ce_even = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(e), c);
    const V ce_odd = hn::OddEvenBlocks(e, hn::SwapAdjacentBlocks(c));
    v[0] = hn::ConcatLowerLower(d, ce_even, ab_even);
    v[step] = hn::ConcatLowerLower(d, ce_odd, ab_odd);
    v[2 * step] = hn::ConcatUpperUpper(d, ce_even, ab_even);
    v[3 * step] = hn::ConcatUpperUpper(d, ce_odd, ab_odd);
  }
}

// `rows` holds as many vectors as a vector holds elements of kBytes.
template <int kBytes, class D, class V = hn::Vec<D>>
HWY_INLINE void transpose_registers(D d, V* HWY_RESTRICT rows) {
  constexpr int kVector = static_cast<int>(hn::MaxLanes(D()) * sizeof(hn::TFromD<D>));
  constexpr int kBlocks = HWY_MAX(1, kVector / 16);
  constexpr int kPerBlock = HWY_MIN(kVector, 16) / kBytes;
#pragma GCC unroll 4
  for (int g = 0; g < kBlocks; ++g) transpose_within_blocks<kPerBlock>(d, rows + g * kPerBlock);
#pragma GCC unroll 16
  for (int i = 0; i < kPerBlock; ++i) transpose_blocks<kBlocks>(d, rows + i, kPerBlock);
}

#endif  // HWY_SCALAR

}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
