// The CUDA rung `residues` on the host: its kernels run over emulated.hpp, but the product, which
// only tensor cores can compute, is a loop here. Each element that isn't marked must be the real
// number, rounded once.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "backends/gpu/kernels/gemm/residue_tables.h"
#include "emulated.hpp"
using namespace trine::gpu::residues;

// The host's headers have other words of these names.
namespace cuda {
#include "prelude.hpp"

// The words that only CUDA has.
#define __constant__
#define __device__
#define __noinline__
using float2 = emulated::Numbers<float, 2>;
DEVICE float2 make_float2(float x, float y) { return {x, y}; }
DEVICE uint max(uint a, uint b) { return a > b ? a : b; }
template <class Any>
Any __shfl_xor_sync(uint, Any value, int mask) {
  uint words[sizeof(Any) / 4];
  std::memcpy(words, &value, sizeof value);
  for (uint& word : words) word = shuffle_xor(word, mask);
  std::memcpy(&value, words, sizeof value);
  return value;
}
DEVICE uint __reduce_or_sync(uint all, uint x) {
  for (int mask = 16; mask > 0; mask /= 2) x |= __shfl_xor_sync(all, x, mask);
  return x;
}
DEVICE uint __reduce_max_sync(uint all, uint x) {
  for (int mask = 16; mask > 0; mask /= 2) x = max(x, __shfl_xor_sync(all, x, mask));
  return x;
}
DEVICE bool __any_sync(uint all, bool any) { return __reduce_or_sync(all, any) != 0; }
template <class Any>
void atomicAdd(Any* to, Any x) {
  *to += x;
}
template <class Any>
Any __ldcg(const Any* from) {
  return *from;
}
template <class Any>
Any __ldcs(const Any* from) {
  return *from;
}
DEVICE uint byte_of(ulong x, uint i) { return static_cast<uint>(x >> 8 * i) & 255; }
DEVICE uint __byte_perm(uint x, uint y, uint selector) {
  uint result = 0;
  for (uint i = 0; i < 4; ++i)
    result |= byte_of(static_cast<ulong>(y) << 32 | x, selector >> 4 * i & 7) << 8 * i;
  return result;
}
DEVICE uint __dp4a(uint x, uint y, uint sum) {
  for (uint i = 0; i < 4; ++i) sum += byte_of(x, i) * byte_of(y, i);
  return sum;
}
DEVICE uint dp2a(uint pair, uint bytes, uint first, uint sum) {
  return sum + (pair & 0xffff) * byte_of(bytes, first) + (pair >> 16) * byte_of(bytes, first + 1);
}
DEVICE uint __dp2a_lo(uint pair, uint bytes, uint sum) { return dp2a(pair, bytes, 0, sum); }
DEVICE uint __dp2a_hi(uint pair, uint bytes, uint sum) { return dp2a(pair, bytes, 2, sum); }
#define T float
#define T_float 1
#include "cuda/gemm/residues.cu"
#undef T
}  // namespace cuda

namespace {
using namespace cuda;

enum Data { kUniform, kNormal, kSpread, kIntegers, kSparse, kOneLoses };
struct Case {
  int64_t m, n, k;
  Data data;
  int moduli = 0;  // 0: the kernels choose
  bool a_turned = false, b_turned = false, copied = false;
  float alpha = 1, beta = 0;
  int each_shift = 0;
};

std::vector<float> values(std::size_t count, Data data, std::mt19937& random) {
  std::normal_distribution<float> normal;
  std::vector<float> all(count);
  for (float& x : all) {
    x = normal(random);
    if (data == kUniform) x = static_cast<float>(random() >> 8) * 0x1p-24f;
    if (data == kSpread) x = std::ldexp(x, static_cast<int>(random() % 41) - 20);
    if (data == kIntegers) x = static_cast<float>(random() % 4096) - 2048;
    if (data == kSparse && random() % 3 != 0) x = 0;
  }
  return all;
}

template <auto kKernel>
void run(const std::vector<uint64_t>& arguments, int64_t groups, int items) {
  emulated::run([](const uint64_t* a) { emulated::invoke_of<kKernel>(kKernel, a); }, arguments,
                static_cast<int>(groups), items);
}
uint64_t word(auto x) {
  uint64_t bits = 0;
  std::memcpy(&bits, &x, sizeof x);
  return bits;
}

/// Residues of lane i at step l lie at this byte of a matrix.
int64_t residue_at(int64_t blocks, int64_t i, int64_t l) {
  return (i / LANES * blocks + l / STEPS) * BLOCK + i % LANES * STEPS +
         ((l % STEPS / 16) ^ (i % 8)) * 16 + l % 16;
}
/// And those of C's element (i, j), as tensor cores leave sums.
int64_t sum_at(int64_t cols, int64_t i, int64_t j) {
  const int64_t r = i % 64, c = j % 256;
  return (i / 128 * (cols / 256) + j / 256) * TILE_BYTES + i % 128 / 64 * (TILE_BYTES / 2) +
         c / 32 * 2048 + (r / 16 * 32 + r % 8 * 4 + c % 8 / 2) * 16 + c % 32 / 8 * 4 +
         r % 16 / 8 * 2 + c % 2;
}

/// Does the work of residues_product.
void multiply(const Layout& at, uchar* space, const Case& c) {
  const auto count = reinterpret_cast<Decision*>(space)->moduli;
  for (int64_t i = 0; i < at.lanes; ++i)
    reinterpret_cast<Side*>(space + at.sides)[i] =
        side_of(reinterpret_cast<Lane*>(space + at.sums) + i, c.k, tables.bound[count - FEWEST]);
  for (unsigned q = 0; q < count; ++q) {
    const auto* a = reinterpret_cast<int8_t*>(space + at.a + q * at.a_modulus);
    const auto* b = reinterpret_cast<int8_t*>(space + at.b + q * at.b_modulus);
    for (int64_t i = 0; i < c.m; ++i)
      for (int64_t j = 0; j < c.n; ++j) {
        int sum = 0;
        for (int64_t l = 0; l < at.blocks * STEPS; ++l)
          sum += a[residue_at(at.blocks, i, l)] * b[residue_at(at.blocks, j, l)];
        const int rest = sum % kModuli[q];
        space[at.c + q * at.c_modulus + sum_at(at.cols, i, j)] =
            static_cast<uchar>(rest < 0 ? rest + kModuli[q] : rest);
      }
  }
}

void check(const Case& c, uint32_t seed) {
  std::mt19937 random(seed);
  const auto [m, n, k] = std::tuple(c.m, c.n, c.k);
  std::vector<float> a = values(m * k, c.data, random), b = values(k * n, c.data, random);
  const std::vector<float> old = values(m * n, kNormal, random);
  std::vector<float> result = old;
  const int64_t a_row = c.a_turned ? 1 : k, a_col = c.a_turned ? m : 1;
  const int64_t b_row = c.b_turned ? 1 : n, b_col = c.b_turned ? k : 1;
  for (int64_t l = 1; l < k && c.data == kOneLoses; ++l) {
    for (int64_t i = 0; i < m; ++i) a[i * a_row + l * a_col] *= l == 1 ? 0x1p-22f : 0;
    for (int64_t j = 0; j < n; ++j) b[l * b_row + j * b_col] *= l == 1 ? 1 : 0;
  }
  // Bounds of lanes, marks, then the residues' own, in doubles.
  const int64_t marks = 2 * (m + n), own = (marks + (m * n + 63) / 64 + 31) / 32 * 32;
  const Layout at = layout_of(m, n, k, 1, 1, 1, c.moduli);
  const int64_t copy = round_up(at.bytes, 256);
  std::vector<double> memory(own + copy / 8 + n * k, -1.0);
  uchar* const space = reinterpret_cast<uchar*>(memory.data() + own);
  const auto arguments = [&](bool of_operands, std::vector<uint64_t> more) {
    std::vector<uint64_t> all = {word(m * k), word(n * k)};
    if (of_operands)
      all = {word(a.data()), 0, word(m * k), word(a_row), word(a_col),
             word(b.data()), 0, word(n * k), word(b_row), word(b_col)};
    for (const uint64_t one : {word(memory.data()), word(own * 8), word(m), word(n), word(k),
                               uint64_t{1}, word(c.moduli)})
      all.push_back(one);
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  run<residues_norms>(arguments(true, {word((marks - own) * 8), word((m * n + 31) / 32)}),
                      at.lanes / PATCH * at.norm_cuts + at.sample_cuts, WORKERS);
  auto* const decision = reinterpret_cast<Decision*>(space);
  if (c.moduli == 0)
    run<residues_choose>(arguments(true, {1}), (k + CHOOSE_STEPS - 1) / CHOOSE_STEPS, WORKERS);
  if (c.copied) decision->copied = 1;
  const int64_t each = int64_t{1} << c.each_shift;
  run<residues_convert>(
      arguments(true, {word(c.each_shift), word(-own), word(2 * m - own), word(copy)}),
      at.lanes / PATCH * ((at.blocks + each - 1) >> c.each_shift), WORKERS);
  if (decision->copied != 0)
    for (int64_t j = 0; j < n; ++j)
      for (int64_t l = 0; l < k; ++l)
        ASSERT_EQ(reinterpret_cast<float*>(space + copy)[j * k + l], b[l * b_row + j * b_col]);
  multiply(at, space, c);
  run<residues_reconstruct>(
      arguments(false, {word(result.data()), 0, word(m * n), word(n), word(c.alpha), word(c.beta),
                        word(c.beta != 0 ? MULTIPLY | ADD_C : MULTIPLY), word((marks - own) * 8)}),
      at.rows / 128 * (at.cols / 256) * 16, RECONSTRUCTORS);

  __extension__ typedef __float128 Quad;
  int64_t marked = 0;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      const int64_t e = i * n + j;
      if (reinterpret_cast<uint*>(memory.data() + marks)[e / 32] >> e % 32 & 1) {
        ++marked;
        ASSERT_EQ(as_uint(result[e]), as_uint(old[e])) << "a marked element was stored";
        continue;
      }
      Quad sum = 0;
      for (int64_t l = 0; l < k; ++l)
        sum += Quad{a[i * a_row + l * a_col]} * Quad{b[l * b_row + j * b_col]};
      sum = Quad{c.alpha} * sum + Quad{c.beta} * Quad{c.beta == 0 ? 0 : old[e]};
      ASSERT_EQ(as_uint(result[e]), as_uint(static_cast<float>(sum) + 0.0f)) << i << ", " << j;
    }
  if (c.moduli == 0) EXPECT_LE(marked, 4 + m * n / 100) << "the sample takes enough moduli";
}

TEST(EmulatedResidues, RoundsWhatItDoesntMarkOnce) {
  const Case cases[] = {
      {.m = 70, .n = 90, .k = 200, .data = kUniform},
      {.m = 70, .n = 90, .k = 129, .data = kIntegers},
      {.m = 33, .n = 65, .k = 131, .data = kNormal, .copied = true},
      {.m = 70, .n = 91, .k = 513, .data = kSparse},
      {.m = 33, .n = 65, .k = 600, .data = kNormal, .copied = true, .each_shift = 2},
      {.m = 40, .n = 270, .k = 300, .data = kSpread, .a_turned = true, .b_turned = true},
      {.m = 130, .n = 40, .k = 300, .data = kNormal, .a_turned = true, .copied = true},
      {.m = 71, .n = 91, .k = 200, .data = kNormal, .alpha = -0.7f, .beta = 1.3f},
      {.m = 41, .n = 51, .k = 200, .data = kIntegers, .b_turned = true, .alpha = 2},
      {.m = 41, .n = 51, .k = 20, .data = kSparse, .alpha = -1, .beta = -0.0f},
      {.m = 1, .n = 1, .k = 1, .data = kNormal},
      {.m = 20, .n = 20, .k = 5000, .data = kNormal, .each_shift = 2},
  };
  uint32_t seed = 0;
  for (const Case& c : cases) {
    SCOPED_TRACE(seed);
    check(c, seed++);
  }
}

TEST(EmulatedResidues, MarksMoreWithTooFewModuli) {
  for (int moduli = FEWEST; moduli <= MOST; ++moduli) {
    SCOPED_TRACE(moduli);
    check({.m = 40, .n = 50, .k = 300, .data = moduli % 2 ? kSpread : kNormal, .moduli = moduli},
          7);
    // Where one element of A loses, errors are as large as their bounds.
    check({.m = 120, .n = 130, .k = 7, .data = kOneLoses, .moduli = moduli}, 8);
  }
}

}  // namespace
