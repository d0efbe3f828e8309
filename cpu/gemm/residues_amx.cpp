// The inner parts of products by residues, for AVX-512 and AMX's tiles of bytes: conversion
// (residues_convert-inl.hpp), products of bytes, and what follows (residues_finish-inl.hpp).
#include "gemm/residues.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__GNUC__) && !defined(__clang__)  // of what g++'s own headers leave undefined
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include "gemm/residues_convert-inl.hpp"
#include "gemm/residues_finish-inl.hpp"

HWY_PUSH_ATTRIBUTES(TRINE_TILES_TARGET)
namespace trine::cpu::gemm {
namespace {

// A block of sums to reduce to bytes, which are added to those of earlier steps.
struct Reduction {
  const std::int32_t* from;
  std::int8_t* to;
  bool adds;

  HWY_INLINE void run(const Modulus& m, int first, int end) const {
    for (int v = first; v < end; ++v) {
      auto* const at = reinterpret_cast<__m128i*>(to + v * 16);
      __m512i x = _mm512_load_si512(from + v * 16);
      if (adds) x = _mm512_add_epi32(x, _mm512_cvtepi8_epi32(_mm_load_si128(at)));
      _mm_store_si128(at, _mm512_cvtepi32_epi8(m.reduce(x)));
    }
  }
};
constexpr int kVectors = kSide * kSide / 16;  // of a block of sums

// Lines to fetch into the second cache, some at each step.
struct Soon {
  const std::int8_t* at;
  int64_t bytes;  // a step

  HWY_INLINE void step() {
    for (int64_t x = 0; x < bytes; x += 64) _mm_prefetch(at + x, _MM_HINT_T1);
    at += bytes;
  }
};

// Bytes of a panel of A and of one of B.
struct Pair {
  const std::int8_t *a, *b;

  Pair from(int64_t of_a, int64_t of_b) const { return {a + of_a, b + of_b}; }
};

// Sums of a block of C over some steps, while the block before is reduced. Tiles of the next step,
// at last of what comes `then`, are loaded as soon as those of this one have been used.
struct Tiles {
  static void begin() {
    struct alignas(64) {
      std::uint8_t palette, start, reserved[14];
      std::uint16_t bytes[16];
      std::uint8_t rows[16];
    } shape{};
    shape.palette = 1;
    std::fill_n(shape.bytes, 8, std::uint16_t{64});
    std::fill_n(shape.rows, 8, std::uint8_t{16});
    _tile_loadconfig(&shape);
  }
  static void end() { _tile_release(); }

  static HWY_INLINE void load(Pair at) {
    _tile_loadd(4, at.a, 64);
    _tile_loadd(5, at.a + 1024, 64);
    _tile_stream_loadd(6, at.b, 64);
    _tile_stream_loadd(7, at.b + 1024, 64);
  }

  static HWY_INLINE void sum(Pair at, Pair then, int steps, std::int32_t* c, const Modulus& m,
                             Reduction before, Soon soon) {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    const int each = before.from ? (kVectors + steps - 1) / steps : 0;
    int reduced = 0;
    for (int s = 1; s <= steps; ++s) {
      at = s < steps ? at.from(kTileBlock, kTileBlock) : then;
      _tile_dpbssd(0, 4, 6);
      _tile_dpbssd(2, 5, 6);
      _tile_stream_loadd(6, at.b, 64);
      _tile_dpbssd(1, 4, 7);
      _tile_loadd(4, at.a, 64);
      _tile_dpbssd(3, 5, 7);
      _tile_stream_loadd(7, at.b + 1024, 64);
      _tile_loadd(5, at.a + 1024, 64);
      soon.step();
      const int end = std::min(kVectors, reduced + each);
      before.run(m, reduced, end);
      reduced = end;
    }
    constexpr int kBytes = kSide * 4;
    _tile_stored(0, c, kBytes);
    _tile_stored(1, c + 16, kBytes);
    _tile_stored(2, c + 16 * kSide, kBytes);
    _tile_stored(3, c + 16 * kSide + 16, kBytes);
  }
};

// The same without tiles, for tests.
struct EmulatedTiles {
  static void begin() {}
  static void end() {}
  static void load(Pair) {}

  static void sum(Pair at, Pair, int steps, std::int32_t* c, const Modulus& m, Reduction before,
                  Soon) {
    const __m512i more = _mm512_set1_epi8(-128);  // 128, as instructions take A's bytes unsigned
    for (int64_t i = 0; i < kSide; ++i)
      for (int64_t h = 0; h < 2; ++h) {
        __m512i sum = _mm512_setzero_si512(), extra = sum;
        for (int64_t x = 0; x < steps * 16; ++x) {
          const int64_t block = x / 16 * kTileBlock;
          int four = 0;
          std::memcpy(&four, at.a + block + i * kDeep + x % 16 * 4, 4);
          const __m512i row = _mm512_xor_si512(_mm512_set1_epi32(four), more);
          const __m512i columns = _mm512_load_si512(at.b + block + h * 1024 + x % 16 * 64);
          sum = _mm512_dpbusd_epi32(sum, row, columns);
          extra = _mm512_dpbusd_epi32(extra, more, columns);
        }
        _mm512_store_si512(c + i * kSide + h * 16, _mm512_sub_epi32(sum, extra));
      }
    if (before.from) before.run(m, 0, kVectors);
  }
};

// A panel of A's steps stay in the first cache while B's panels stream from the second one. The
// next panel of A, and at the end the next modulus's panels of B, are fetched meanwhile.
template <class Tiles>
void multiply(const Moduli& moduli, const ResidueBlock& block) {
  alignas(64) std::int32_t sums[2][kSide * kSide];
  const int64_t panel = kSide * block.depth, tiles = block.depth / kDeep;
  Tiles::begin();
  for (int q = 0; q < moduli.count; ++q) {
    const Modulus m(moduli, false, q);
    const Pair all{block.a.data + q * block.a.stride, block.b.data + q * block.b.stride};
    const int64_t next_b = q + 1 < moduli.count ? block.b.stride : 0;
    const int64_t share = round_up(divide_up(kTileBlock, block.column_panels), 64);
    Reduction before{};
    int flip = 0;
    Tiles::load(all);
    for (int64_t i = 0; i < block.row_panels; ++i) {
      const bool is_last = i + 1 == block.row_panels;
      for (int64_t t = 0; t < tiles; t += kSteps) {
        const int steps = static_cast<int>(std::min(kSteps, tiles - t));
        const int64_t next_t = t + kSteps < tiles ? t + kSteps : 0;
        const int64_t next_row = (next_t == 0 && !is_last ? i + 1 : i) * panel;
        for (int64_t j = 0; j < block.column_panels; ++j) {
          const Pair at = all.from(i * panel + t * kTileBlock, j * panel + t * kTileBlock);
          const Pair then = j + 1 < block.column_panels
                                ? at.from(0, panel)
                                : all.from(next_row + next_t * kTileBlock, next_t * kTileBlock);
          const std::int8_t* const next_a =
              all.a + (i + 1) * panel + (t * block.column_panels + j * steps) * share;
          const Soon soon = is_last ? Soon{at.b + next_b, kTileBlock} : Soon{next_a, share};
          Tiles::sum(at, then, steps, sums[flip], m, before, soon);
          std::int8_t* const to =
              block.c.data + q * block.c.stride + (j * block.row_panels + i) * kSide * kSide;
          before = {sums[flip], to, t > 0};
          flip ^= 1;
        }
      }
    }
    before.run(m, 0, kVectors);
  }
  Tiles::end();
}

}  // namespace
}  // namespace trine::cpu::gemm
HWY_POP_ATTRIBUTES

namespace trine::cpu::gemm {
namespace {

constexpr const char* kNoTiles = "it needs a CPU with AMX's tiles of bytes (Sapphire Rapids)";

// Linux grants a process its tiles when asked, once.
const char* ask_for_tiles() {
  constexpr unsigned kTiles = 1u << 24 | 1u << 25;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (d & kTiles) != kTiles) return kNoTiles;
  constexpr int kRequest = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  if (syscall(SYS_arch_prctl, kRequest, kTileData) != 0)
    return "the system doesn't permit AMX's tiles to this process";
  return residue_kernels(false) ? nullptr : kNoTiles;
}

}  // namespace

const char* lacks_tiles() {
  static const char* const reason = ask_for_tiles();
  return reason;
}

const ResidueKernels* residue_kernels(bool has_tiles) {
  static constexpr ResidueKernels kTiles{convert, multiply<Tiles>, finish},
      kEmulated{convert, multiply<EmulatedTiles>, finish};
  static const bool has_vectors =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512vnni");
  if (!has_vectors) return nullptr;
  return has_tiles ? &kTiles : &kEmulated;
}

}  // namespace trine::cpu::gemm

#else

namespace trine::cpu::gemm {

const char* lacks_tiles() { return "it needs a CPU with AMX's tiles of bytes"; }
const ResidueKernels* residue_kernels(bool) { return nullptr; }

}  // namespace trine::cpu::gemm

#endif
