// The rung `residues`: its tables, which kernels and row share, and its row on made-up devices.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <string_view>

#include "backends/gpu/gemm_exact.hpp"
#include "backends/gpu/kernels/gemm/residue_tables.h"
#include "tests/faults/abi_objects.hpp"

namespace {

using namespace trine::gpu;
using namespace trine::gpu::residues;
using std::fma;

// The words of CUDA that residue_recombine.h uses.
#define DEVICE [[maybe_unused]] static
using uint = unsigned int;
constexpr Tables tables = tables_of_residues();
double as_double(uint64_t bits) { return std::bit_cast<double>(bits); }
uint64_t as_ulong(double x) { return std::bit_cast<uint64_t>(x); }
float as_float(uint bits) { return std::bit_cast<float>(bits); }
uint byte_of(uint64_t x, uint i) { return static_cast<uint>(x >> 8 * i) & 255; }
uint __byte_perm(uint x, uint y, uint selector) {
  const uint64_t both = static_cast<uint64_t>(y) << 32 | x;
  uint result = 0;
  for (uint i = 0; i < 4; ++i) result |= byte_of(both, selector >> 4 * i & 7) << 8 * i;
  return result;
}
uint dp2a(uint pair, uint bytes, uint first) {
  return (pair & 0xffff) * byte_of(bytes, first) + (pair >> 16) * byte_of(bytes, first + 1);
}
uint __dp2a_lo(uint pair, uint bytes, uint sum) { return sum + dp2a(pair, bytes, 0); }
uint __dp2a_hi(uint pair, uint bytes, uint sum) { return sum + dp2a(pair, bytes, 2); }
#include "cuda/gemm/residue_recombine.h"

__extension__ typedef __int128 Signed;
int modulo(Signed x, int m) { return static_cast<int>((x % m + m) % m); }

TEST(Residues, ModuliAreCoprimeBytes) {
  for (int i = 0; i < MOST; ++i) {
    EXPECT_LE(kModuli[i], 256);
    for (int j = 0; j < i; ++j) EXPECT_EQ(std::gcd(kModuli[i], kModuli[j]), 1) << i << " " << j;
  }
}

TEST(Residues, SumsOfBytesReduceIntegers) {
  std::mt19937_64 random(1);
  for (int moduli = FEWEST; moduli <= MOST; ++moduli)
    for (int of_b = 0; of_b < 2; ++of_b)
      for (int q = 0; q < moduli; ++q)
        for (int round = 0; round < 2000; ++round) {
          const Reduction& r = tables.reduction[moduli - FEWEST][of_b][q];
          const double most = tables.bound[moduli - FEWEST];
          int64_t x = static_cast<int64_t>(std::ldexp(double(random()), -64) * most);
          if (round % 2 == 1) x = -x;
          if (round < 600) x = round - 300;
          const auto bits = static_cast<uint64_t>(x + (int64_t{1} << 52));
          uint sum = r.start;
          for (uint i = 0; i < 8; ++i)
            sum += byte_of(bits, i) * byte_of(static_cast<uint64_t>(r.high) << 32 | r.low, i);
          const float quotient = fma(std::bit_cast<float>(sum), r.inverse, 12582912.0f);
          const auto residue = static_cast<int8_t>(sum + std::bit_cast<uint>(quotient) *
                                                             static_cast<uint>(r.negative));
          const int m = kModuli[q];
          const auto others =
              static_cast<int>(product_of(moduli) / static_cast<Wide>(m) % static_cast<Wide>(m));
          EXPECT_EQ(modulo(of_b ? Signed{residue} * others : Signed{residue}, m), modulo(x, m))
              << x << " modulo " << m;
        }
}

template <int N>
void recombine_random() {
  std::mt19937_64 random(N);
  const auto half = static_cast<Signed>(product_of(N) / 2 / 256 * 255);
  for (int round = 0; round < 1000; ++round) {
    Signed wanted[4];
    uint y[N] = {};
    for (uint e = 0; e < 4; ++e) {
      const Signed wide = static_cast<Signed>(Wide{random()} << 64 | random());
      wanted[e] = round == 0 ? Signed{e} - 2 : round == 1 ? (e % 2 ? half : -half) : wide % half;
      if (round > 2 && round % 3 == 0) wanted[e] >>= random() % 100;
      for (int q = 0; q < N; ++q) {
        const int m = kModuli[q];
        const auto others =
            static_cast<int>(product_of(N) / static_cast<Wide>(m) % static_cast<Wide>(m));
        int residue = modulo(wanted[e] % m * inverse_of(others, m), m);
        if (residue == 0 && round % 2 == 0 && m < 256) residue = m;  // as the products may leave it
        y[q] |= static_cast<uint>(residue) << 8 * e;
      }
    }
    double d[4][limbs_of(N)];
    recombine<N>(y, d);
    for (int e = 0; e < 4; ++e) {
      Signed sum = 0;
      for (int l = 0; l < limbs_of(N); ++l)
        sum += static_cast<Signed>(d[e][l]) * (Signed{1} << limb_bits(N) * l);
      EXPECT_TRUE(sum == wanted[e]) << N << " moduli, round " << round;
    }
  }
}

TEST(Residues, RecombineToTheInteger) {
  recombine_random<7>();
  recombine_random<8>();
  recombine_random<9>();
  recombine_random<10>();
  recombine_random<11>();
  recombine_random<12>();
  recombine_random<13>();
}

/// Is (sum ± width) 2^-scale one f32, or overflow, at both ends?
bool rounds_alike(double sum, double width, int scale, float* result) {
  const auto from = static_cast<long double>(sum) - width,
             to = static_cast<long double>(sum) + width;
  *result = static_cast<float>(std::ldexp(from, -scale));
  return std::bit_cast<uint>(*result) ==
         std::bit_cast<uint>(static_cast<float>(std::ldexp(to, -scale)));
}

/// Certain elements have the bits of both ends of the interval, and most are certain.
TEST(Residues, PlainRoundingIsCertainOnlyWhereItIs) {
  std::mt19937_64 random(3);
  int certain = 0, plain = 0;
  for (int round = 0; round < 400000; ++round) {
    const int exponent = static_cast<int>(random() % 80);
    double sum = std::ldexp(static_cast<double>(random() >> 11 | uint64_t{1} << 52), exponent - 52);
    if (round % 4 == 1) sum = static_cast<float>(sum);  // a power of two's neighbours, too
    if (round % 8 == 5)
      sum = std::ldexp(1.0, exponent) * (1 + std::ldexp(double(random() % 9) - 4, -28));
    if (round % 16 == 3) sum = std::ldexp(double(1 << 25 | random() % (1 << 25) | 1), exponent);
    if (random() % 2) sum = -sum;
    const double unit = std::ldexp(1.0, std::ilogb(sum) - 52);
    const auto error =
        round % 3 == 0 ? 0.0f : static_cast<float>(std::ldexp(unit, int(random() % 32)));
    int scale = exponent + static_cast<int>(random() % 40) - 20;
    if (round % 5 == 0) scale += random() % 2 ? 126 : -127;
    float result, wanted;
    const bool is_certain = round_plain(sum, scale * (1 << 20), error, &result);
    const bool alike = rounds_alike(sum, error + 4 * unit, scale, &wanted);
    if (is_certain) {
      EXPECT_TRUE(alike) << sum << " ± " << error << " 2^-" << scale;
      EXPECT_EQ(result, wanted);
      EXPECT_TRUE(std::isnormal(result));
    }
    certain += is_certain, plain += alike && std::isnormal(wanted);
  }
  EXPECT_GT(certain, plain * 9 / 10);
  float result;
  EXPECT_FALSE(round_plain(0.0, 0, 0, &result));
  EXPECT_FALSE(round_plain(0.0, 30 << 20, 0, &result));
  EXPECT_FALSE(round_plain(4096.0, 0, INFINITY, &result));
  EXPECT_FALSE(round_plain(4096.0, 0, NAN, &result));
  EXPECT_TRUE(round_plain(4096.0, 12 << 20, 0, &result) && result == 1.0f);
}

/// Reduced sums are in [0, m]: the quotient by multiplication is the floor, or one less.
TEST(Residues, MultiplicationDividesSums) {
  std::mt19937_64 random(2);
  for (int q = 0; q < MOST; ++q)
    for (int round = 0; round < 20000; ++round) {
      int64_t sum = static_cast<int64_t>(random() >> 33) - (1 << 30);
      if (round < 1000) sum = int64_t{round - 500} * kModuli[q];
      const int64_t quotient = sum * tables.magic[q] >> 38;
      const int64_t left = sum - quotient * kModuli[q];
      EXPECT_TRUE(left >= 0 && left <= kModuli[q]) << sum << " by " << kModuli[q];
    }
}

struct Asked {
  const Variant& variant = gemm_cuda_variants()[1];
  trine_device_facts facts = faults::gpu();
  trine_selection selection{};
  Target target{kCuda, &facts};

  explicit Asked(int32_t moduli = 0) { selection.values[0] = moduli; }
  std::string refusal(const trine_gemm& op) const {
    const trine_call call{sizeof call, TRINE_GEMM, &op};
    const char* reason = reason_against(variant, {target, selection, call, nullptr});
    return reason ? reason : "";
  }
  uint64_t bytes(const trine_gemm& op) const {
    const trine_call call{sizeof call, TRINE_GEMM, &op};
    return variant.workspace_bytes({target, selection, call, nullptr});
  }
  Plan plan(const trine_gemm& op) const {
    const trine_call call{sizeof call, TRINE_GEMM, &op};
    const trine_workspace workspace{sizeof workspace, nullptr, 256, bytes(op)};
    Plan plan;
    variant.plan({target, selection, call, &workspace}, plan);
    return plan;
  }
};

trine_gemm exact_of(int64_t m, int64_t n, int64_t k, int64_t batch = 1,
                    uint32_t dtype = TRINE_F32) {
  trine_gemm op{};
  op.size = sizeof op;
  op.dtype = dtype;
  op.numerics = TRINE_EXACT;
  op.alpha.f32 = 1;
  op.a = {nullptr, 0, m, k, batch, k, 1, m * k};
  op.b = {nullptr, 0, k, n, batch, n, 1, k * n};
  op.c = {nullptr, 0, m, n, batch, n, 1, m * n};
  return op;
}

TEST(ResiduesRow, RefusesWhatItCannot) {
  const Asked asked;
  EXPECT_EQ(asked.refusal(exact_of(300, 300, 300)), "");
  EXPECT_EQ(asked.refusal(exact_of(0, 300, 300)), "");
  const char* const other = "residues is for f32 of numerics exact";
  EXPECT_EQ(asked.refusal(exact_of(300, 300, 300, 1, TRINE_F64)), other);
  trine_gemm op = exact_of(300, 300, 300);
  op.numerics = TRINE_REPRODUCIBLE;
  EXPECT_EQ(asked.refusal(op), other);
  for (const auto& [m, n, k, batch] :
       {std::tuple<int64_t, int64_t, int64_t, int64_t>{400000, 10, 400000, 1},
        {10, 400000, 400000, 1},
        {300000, 300000, 10, 1},
        {1, 1, INT64_C(1) << 40, 1},
        {4096, 4096, 4096, 5000}})
    EXPECT_NE(asked.refusal(exact_of(m, n, k, batch)), "") << m;
}

TEST(ResiduesRow, PlansItsKernelsInOrder) {
  const trine_gemm op = exact_of(300, 257, 131, 3);
  const Plan chosen = Asked().plan(op), forced = Asked(4).plan(op);
  ASSERT_EQ(chosen.launch_count, 6);
  ASSERT_EQ(forced.launch_count, 5);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(chosen.launches[static_cast<size_t>(i)].entry, i);
  EXPECT_NE(chosen.launches[5].other, nullptr) << "the last one is another rung's";
  // 512 padded rows and columns of 3 matrices, 32 in a group; 3 cuts of the sample; 2 steps'
  // blocks; 2 x 2 pairs of tiles.
  EXPECT_EQ(chosen.launches[0].grid[0], 3u * 32 + 3);
  EXPECT_EQ(forced.launches[0].grid[0], 3u * 32);
  EXPECT_EQ(chosen.launches[2].grid[0], 3u * 32 * 2);
  EXPECT_EQ(chosen.launches[3].grid[0], 132u);
  EXPECT_EQ(chosen.launches[4].grid[0], 3u * 4 * 2 * 16);
  trine_gemm scaled = op;
  scaled.alpha.f32 = 0;
  EXPECT_EQ(Asked().plan(scaled).launch_count, 1) << "nothing is multiplied";
  EXPECT_EQ(Asked().plan(exact_of(0, 257, 131)).launch_count, 0);
}

TEST(ResiduesRow, HasAByteForEachModulusInTheWorkspace) {
  const trine_gemm op = exact_of(1024, 1024, 1024);
  const uint64_t all = Asked().bytes(op), seven = Asked(1).bytes(op);
  EXPECT_LT(all, ((MOST * 3u + 4) << 20) + (1 << 19)) << "and a copy of B";
  EXPECT_GT(all, (MOST * 3u + 4) << 20);
  EXPECT_LT(seven, (FEWEST * 3u << 20) + (1 << 19));
  EXPECT_GT(seven, FEWEST * 3u << 20);
  trine_gemm turned = op;
  std::swap(turned.b.row_stride, turned.b.col_stride);
  EXPECT_LT(Asked().bytes(turned), (MOST * 3u << 20) + (1 << 19)) << "B is its own copy";
  EXPECT_EQ(Asked().bytes(exact_of(0, 4, 4)), 0u);
}

/// Large exact products of f32 on CUDA get it, unless the workspace takes too much memory.
TEST(ResiduesRow, IsForLargeExactProducts) {
  Asked asked;
  const auto is_first = [&](const trine_gemm& op, Backends backend = kCuda) {
    return std::string_view(prefer_gemm({backend, &asked.facts}, op).all[0].variant->name) ==
           "residues";
  };
  for (const int64_t n : {64, 512, 1024}) EXPECT_FALSE(is_first(exact_of(n, n, n))) << n;
  for (const int64_t n : {1792, 2047, 2048, 4096, 8192})
    EXPECT_TRUE(is_first(exact_of(n, n, n))) << n;
  EXPECT_TRUE(is_first(exact_of(4096, 4096, 1024)));
  EXPECT_FALSE(is_first(exact_of(4096, 4096, 64)));
  EXPECT_FALSE(is_first(exact_of(8, 8192, 8192)));
  trine_gemm op = exact_of(4096, 4096, 4096);
  EXPECT_FALSE(is_first(op, kOpencl));
  op.numerics = TRINE_REPRODUCIBLE;
  EXPECT_FALSE(is_first(op));
  op.numerics = TRINE_EXACT;
  op.alpha.f32 = 0;
  EXPECT_FALSE(is_first(op));
  asked.facts.max_buffer_bytes = uint64_t{4} << 30;
  EXPECT_FALSE(is_first(exact_of(8192, 8192, 8192)));
}

}  // namespace
