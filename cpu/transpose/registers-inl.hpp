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

#if HWY_TARGET <= HWY_AVX3

// Two blocks of each of two vectors, as the instruction numbers them. (g++ 12 warns of a variable
// in the form without a mask; the instruction is the same.)
template <int kBlocks, class D, class V = hn::Vec<D>>
HWY_INLINE V blocks_of(D d, V low, V high) {
  const hn::Repartition<uint64_t, D> words;
  const auto l = hn::BitCast(words, low), h = hn::BitCast(words, high);
  return hn::BitCast(d, decltype(l){_mm512_maskz_shuffle_i64x2(0xff, l.raw, h.raw, kBlocks)});
}

#endif

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
    constexpr int kLower = 0x44, kUpper = 0xee, kEven = 0x88, kOdd = 0xdd;
    const V ab_low = blocks_of<kLower>(d, a, b), ce_low = blocks_of<kLower>(d, c, e);
    const V ab_high = blocks_of<kUpper>(d, a, b), ce_high = blocks_of<kUpper>(d, c, e);
    v[0] = blocks_of<kEven>(d, ab_low, ce_low);
    v[step] = blocks_of<kOdd>(d, ab_low, ce_low);
    v[2 * step] = blocks_of<kEven>(d, ab_high, ce_high);
    v[3 * step] = blocks_of<kOdd>(d, ab_high, ce_high);
  }
}

// `load(i)` gives row i of the tile, which has as many rows as a vector has elements of kBytes;
// `put(i, v)` takes row i of the result. Their order is the one in which the fewest rows wait in
// memory for a register.
template <int kBytes, class D, class Load, class Put>
HWY_INLINE void transpose_tile(D d, Load load, Put put) {
  constexpr int kVector = static_cast<int>(hn::MaxLanes(D()) * sizeof(hn::TFromD<D>));
  constexpr int kBlocks = HWY_MAX(1, kVector / 16);
  constexpr int kPerBlock = HWY_MIN(kVector, 16) / kBytes;
  hn::Vec<D> rows[kBlocks * kPerBlock];
#pragma GCC unroll 4
  for (int g = 0; g < kBlocks; ++g) {
#pragma GCC unroll 16
    for (int i = g * kPerBlock; i < (g + 1) * kPerBlock; ++i) rows[i] = load(i);
    transpose_within_blocks<kPerBlock>(d, rows + g * kPerBlock);
  }
#pragma GCC unroll 16
  for (int i = 0; i < kPerBlock; ++i) {
    transpose_blocks<kBlocks>(d, rows + i, kPerBlock);
#pragma GCC unroll 4
    for (int b = 0; b < kBlocks; ++b) put(b * kPerBlock + i, rows[b * kPerBlock + i]);
  }
}

// Transposes the rows in place.
template <int kBytes, class D, class V = hn::Vec<D>>
HWY_INLINE void transpose_registers(D d, V* HWY_RESTRICT rows) {
  transpose_tile<kBytes>(
      d, [&](int i) { return rows[i]; }, [&](int i, V v) { rows[i] = v; });
}

#endif  // HWY_SCALAR

}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
