// Exact products on every SIMD target of this machine against the oracle, bit by bit: all classes
// of values, ties and their neighbours, cancellation, the ends of the range, long sums.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "enclosed.hpp"
#include "gemm/exact.hpp"
#include "gemm/residues.hpp"
#include "gemm/rungs.hpp"
#include "oracle/operation.hpp"
#include "oracle/values.hpp"
#include "rung.hpp"
#include "simd_targets.hpp"

namespace trine::cpu {
namespace {

class CpuExactGemm : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override {
    is_best_target = GetParam() == hwy::SupportedAndGeneratedTargets().front();
    hwy::SetSupportedTargetsForTest(GetParam());
  }
  void TearDown() override { hwy::SetSupportedTargetsForTest(0); }

 public:
  static inline bool is_best_target = false;
};

trine_gemm plan(std::uint32_t dtype, std::int64_t m, std::int64_t n, std::int64_t k,
                double alpha = 1, double beta = 0) {
  auto op = std::get<trine_gemm>(oracle::plan_gemm(dtype, m, n, k, alpha, beta));
  op.numerics = TRINE_EXACT;
  return op;
}

// Runs a rung on the operands, with the last or the first of its parameters' values.
void run(const GemmRung& rung, const trine_gemm& op, bool smallest, Parallel& parallel) {
  std::vector<std::int64_t> parameters;
  for (const trine_parameter& p : rung.parameters())
    parameters.push_back(number_of(p.values[smallest ? 1 : 0]));
  const std::size_t bytes =
      rung.workspace_bytes ? rung.workspace_bytes(op, parameters.data(), parallel.threads()) : 0;
  std::vector<unsigned char> workspace(bytes + 64, 0xff);
  const auto address = (reinterpret_cast<std::uintptr_t>(workspace.data()) + 63) / 64 * 64;
  rung.run(op, parameters.data(), reinterpret_cast<void*>(address), parallel);
}

// `residues` with this number of moduli, or its own choice, and without tiles where there are none.
template <int kModuli>
void run_residues(const trine_gemm& op, const std::int64_t* parameters, void* workspace,
                  Parallel& parallel) {
  const auto p = gemm::problem_along_rows<float>(op, 0);
  auto* const memory = static_cast<std::byte*>(workspace);
  const bool usual = p.product && std::isfinite(p.alpha) && std::isfinite(p.beta);
  const int moduli = !usual ? 0 : kModuli != 0 ? kModuli : gemm::choose_moduli(p);
  if (moduli == 0) return gemm::multiply_exactly(op, 0, parameters[0], memory, parallel);
  const bool has_tiles = gemm::lacks_tiles() == nullptr;
  gemm::multiply_residues(*gemm::residue_kernels(has_tiles), moduli, p, memory, parallel);
}

std::vector<GemmRung> exact_rungs(const trine_gemm& op) {
  std::vector<GemmRung> rungs;
  for (const GemmRung& rung : gemm_rungs()) {
    if (rung.workspace_bytes == gemm::residues_workspace_bytes) {
      if (op.dtype != TRINE_F32 || op.a.cols > 1 << 16 || !CpuExactGemm::is_best_target ||
          gemm::residue_kernels(false) == nullptr)
        continue;
      for (GemmRung::Run* const run :
           {run_residues<0>, run_residues<4>, run_residues<7>, run_residues<13>}) {
        rungs.push_back(rung);
        rungs.back().run = run;
      }
    } else if (trine_untaken(rung.row.takes, &op) == nullptr) {
      rungs.push_back(rung);
    }
  }
  return rungs;
}

// Every rung that takes exact products against the oracle, on operands that `fill` makes.
void check(const trine_gemm& of, const std::function<void(oracle::HostOperation&)>& fill,
           const std::string& what) {
  oracle::HostOperation want{oracle::Operation(of)};
  fill(want);
  oracle::reference(want.op);
  Serial serial;
  TakingTurns turns;
  for (const GemmRung& rung : exact_rungs(of)) {
    for (const bool smallest : {false, true}) {
      oracle::HostOperation got{oracle::Operation(of)};
      fill(got);
      run(rung, std::get<trine_gemm>(got.op), smallest,
          smallest ? static_cast<Parallel&>(turns) : serial);
      const oracle::Difference d =
          oracle::check(want.op, std::get<trine_gemm>(got.op).c, TRINE_REPRODUCIBLE);
      EXPECT_TRUE(d.none()) << rung.row.name << " " << what << " " << oracle::title(want.op) << " "
                            << d.sentence();
    }
  }
}

TEST_P(CpuExactGemm, every_class_of_values_and_any_alpha_and_beta) {
  for (const std::uint32_t dtype : {TRINE_F32, TRINE_F64}) {
    const bool is_f32 = dtype == TRINE_F32;
    const double most = is_f32 ? double(std::numeric_limits<float>::max())
                               : std::numeric_limits<double>::max(),
                 least = is_f32 ? 0x1p-149 : 0x1p-1074,
                 infinity = std::numeric_limits<double>::infinity();
    const double scalars[][2] = {{1, 0},         {1, 1},        {-2, 0},     {0, 1.0 / 3},
                                 {1.0 / 3, -.7}, {least, 1},    {1, -least}, {most, -most},
                                 {-1, infinity}, {infinity, 1}, {0, 0},      {-1, -1}};
    for (const oracle::Values values : oracle::all_values())
      for (const auto& [alpha, beta] : scalars)
        check(
            plan(dtype, 15, 19, 37, alpha, beta),
            [&](oracle::HostOperation& host) { oracle::fill(host.op, values, 3); },
            std::string(oracle::name_of(values)) + " alpha " + std::to_string(alpha) + " beta " +
                std::to_string(beta));
  }
}

// Sums of these products and zeros, far from each other, in all elements; negated in every other
// row.
template <class T>
void sums_of(std::uint32_t dtype, std::int64_t k, double alpha, double beta, T c,
             const std::vector<std::pair<T, T>>& terms, const char* what) {
  constexpr std::int64_t kRows = 3, kColumns = 17;
  const auto fill = [&](oracle::HostOperation& host) {
    const auto& op = std::get<trine_gemm>(host.op);
    auto* const a = static_cast<T*>(op.a.memory);
    auto* const b = static_cast<T*>(op.b.memory);
    std::fill_n(a, kRows * k, T(0));
    std::fill_n(b, kColumns * k, T(0));
    std::fill_n(static_cast<T*>(op.c.memory), kRows * kColumns, c);
    const auto count = static_cast<std::int64_t>(terms.size());
    for (std::int64_t t = 0; t < count; ++t) {
      const auto& [x, y] = terms[static_cast<std::size_t>(t)];
      const std::int64_t at = t * (k - 1) / std::max<std::int64_t>(1, count - 1);
      for (std::int64_t i = 0; i < kRows; ++i) a[i * k + at] = i == 1 ? -x : x;
      std::fill_n(b + at * kColumns, kColumns, y);
    }
  };
  check(plan(dtype, kRows, kColumns, k, alpha, beta), fill, what);
}

template <class T>
void check_ties(std::uint32_t dtype, T u) {  // u: half a unit in the last place of 1
  const T tiny = std::numeric_limits<T>::denorm_min();
  const T least = sizeof(T) == sizeof(float) ? T(0x1p-60) : T(0x1p-500);
  for (const std::int64_t k : {5, 700, 3000}) {
    sums_of<T>(dtype, k, 1, 0, T(0), {{1, 1}, {u, 1}}, "tie down");
    sums_of<T>(dtype, k, 1, 0, T(0), {{1 + 2 * u, 1}, {u, 1}}, "tie up");
    sums_of<T>(dtype, k, 1, 0, T(0), {{1, 1}, {u, 1}, {tiny, tiny}}, "a hair above a tie");
    sums_of<T>(dtype, k, 1, 0, T(0), {{1, 1}, {u, 1}, {tiny, -tiny}}, "a hair below a tie");
    sums_of<T>(dtype, k, 1, 0, T(0), {{1, 1}, {u, 1}, {u * u, u}}, "a bit above a tie");
    sums_of<T>(dtype, k, 1, 0, T(0), {{1 + u * 2, 1}, {u, 1}, {u * u, -u}}, "a bit below a tie");
    sums_of<T>(dtype, k, 1, 1, T(1), {{u, 1}}, "a tie by beta");
    sums_of<T>(dtype, k, 1, 1, T(1), {{u, 1}, {tiny, tiny}}, "a hair above a tie by beta");
    sums_of<T>(dtype, k, u / 4, T(3), T(1) / T(3), {{5, 1}, {u, u}}, "alpha far below beta");
    sums_of<T>(dtype, k, tiny, 0, T(0), {{tiny, -tiny}}, "less than nothing");
    sums_of<T>(dtype, k, least, 0, T(0), {{1, 1 / least}, {u, 1 / least}, {tiny, tiny}},
               "a hair above a tie, by a small alpha");
    sums_of<T>(dtype, k, 1 + 2 * u, 0, T(0), {{1 - u, 1}, {2 * u, u}}, "alpha's tail");
    sums_of<T>(dtype, k, T(1) / T(3), T(1) / T(3), T(-3), {{3, 1}, {u, tiny}}, "what alpha left");
    sums_of<T>(dtype, k, 1, 0, T(0), {{1, 1}, {tiny, tiny}, {1, -1}}, "all but a hair");
    sums_of<T>(dtype, k, -1, 0, T(0), {{1, 1}, {tiny, tiny}, {1, -1}}, "less than a hair");
    sums_of<T>(dtype, k, -1, -1, T(0), {{1, 1}, {1, -1}}, "an exact zero");
    sums_of<T>(dtype, k, 1, 0, T(0), {{tiny, T(0.5)}}, "half of the least number");
    sums_of<T>(dtype, k, 1, 0, T(0), {{tiny, T(0.5)}, {tiny, T(1)}}, "a tie of the least numbers");
    sums_of<T>(dtype, k, 1, 0, T(0), {{tiny, T(0.5)}, {tiny, tiny}}, "a hair above the half");
    const T most = std::numeric_limits<T>::max();
    sums_of<T>(dtype, k, 1, 0, T(0), {{most, 1}, {most, u / 2}}, "just below the range's end");
    sums_of<T>(dtype, k, 1, 0, T(0), {{most, 1}, {most, u}}, "at the range's end");
    sums_of<T>(dtype, k, 1, 0, T(0), {{most, most}, {most, -most}, {1, 3}}, "back into range");
    sums_of<T>(dtype, k, u, 0, T(0), {{most, 2}, {most, 1}}, "into range by alpha");
    sums_of<T>(dtype, k, 2, -2, most, {{most, 1}, {u, 1}}, "into range by beta");
  }
}

TEST_P(CpuExactGemm, ties_hairs_and_the_ends_of_the_range) {
  check_ties<float>(TRINE_F32, 0x1p-24f);
  check_ties<double>(TRINE_F64, 0x1p-53);
}

TEST_P(CpuExactGemm, long_sums) {
  for (const std::uint32_t dtype : {TRINE_F32, TRINE_F64})
    for (const oracle::Values values :
         {oracle::Values::kUniform, oracle::Values::kSmall, oracle::Values::kCancelModerate,
          oracle::Values::kHalfway, oracle::Values::kTail, oracle::Values::kDrift})
      for (const std::int64_t k : {2047, (1 << 17) + 3})
        check(
            plan(dtype, 2, 3, k),
            [&](oracle::HostOperation& host) { oracle::fill(host.op, values, 9); },
            oracle::name_of(values));
}

void check_size(std::uint32_t dtype, std::int64_t m, std::int64_t n, std::int64_t k,
                oracle::Values values) {
  check(
      plan(dtype, m, n, k, -1.7, k % 2 == 0 ? 0 : 0.3),
      [&](oracle::HostOperation& host) { oracle::fill(host.op, values, 5); },
      oracle::name_of(values));
}

// Chunks and panels of C, tiles of k and the moduli's reductions, each with a rest.
TEST_P(CpuExactGemm, blocks_of_residues) {
  for (const auto& [m, n, k] :
       {std::array<std::int64_t, 3>{33, 65, 70}, {300, 5, 130}, {3, 530, 65}, {40, 34, 2113}})
    for (const oracle::Values values : {oracle::Values::kUniform, oracle::Values::kSmall})
      check_size(TRINE_F32, m, n, k, values);
  // A second band of rows: with so many steps the first one has 1024.
  if (is_best_target && gemm::residue_kernels(false) != nullptr)
    check_size(TRINE_F32, 1060, 3, 16400, oracle::Values::kUniform);
}

// Blocks of C have 4096 rows and columns, or a few more.
TEST_P(CpuExactGemm, blocks_of_c) {
  for (const std::uint32_t dtype : {TRINE_F32, TRINE_F64})
    for (const oracle::Values values : {oracle::Values::kProductTies, oracle::Values::kMirrored}) {
      check_size(dtype, 4123, 3, 9, values);
      check_size(dtype, 3, 4123, 9, values);
    }
}

// Each row and column is one large byte again and again. So sums grow until a reduction in f32 is
// wrong, unless there was one before.
TEST(CpuResidues, are_reduced_before_their_sums_are_too_large) {
  const auto* const kernels = gemm::residue_kernels(gemm::lacks_tiles() == nullptr);
  if (kernels == nullptr) GTEST_SKIP() << "no vectors for residues";
  constexpr std::int64_t kSide = gemm::kSide, kMost = 1 << 16;
  alignas(64) static std::int8_t a[kSide * kMost], b[kSide * kMost];
  alignas(64) static std::int8_t c[gemm::tables::MOST][kSide][kSide];
  const auto byte_of = [](std::int64_t i) { return static_cast<int>(i < 16 ? 127 - i : i - 144); };
  for (std::int64_t x = 0; x < kSide * kMost; ++x) {
    a[x] = static_cast<std::int8_t>(byte_of(x / gemm::kDeep % kSide));
    b[x] = static_cast<std::int8_t>(byte_of(x / 1024 % 2 * 16 + x / 4 % 16));
  }
  const gemm::Moduli moduli(gemm::tables::MOST);
  for (const std::int64_t depth : {std::int64_t{3136}, kMost}) {
    kernels->multiply(moduli, {{a, 0}, {b, 0}, {c[0][0], sizeof c[0]}, 1, 1, depth});
    for (int q = 0; q < moduli.count; ++q)
      for (std::int64_t i = 0; i < kSide; ++i)
        for (std::int64_t j = 0; j < kSide; ++j)
          EXPECT_EQ((depth * byte_of(i) * byte_of(j) - c[q][i][j]) % gemm::tables::kModuli[q], 0)
              << gemm::tables::kModuli[q] << ": " << depth << " times " << byte_of(i) << " * "
              << byte_of(j);
  }
}

// Sums that the bound leaves open are taken from the terms.
TEST_P(CpuExactGemm, sums_that_cancel_to_little) {
  for (const std::uint32_t dtype : {TRINE_F32, TRINE_F64})
    check(
        plan(dtype, 16, 33, 64, -3, 5),
        [&](oracle::HostOperation& host) {
          oracle::fill(host.op, oracle::Values::kCancelModerate, 4);
          const auto& op = std::get<trine_gemm>(host.op);
          oracle::fill_line({oracle::Values::kConstant, 2}, dtype, 64 * 33, op.b.memory);
        },
        "cancels");
}

std::string name_of_target(const testing::TestParamInfo<std::int64_t>& info) {
  return hwy::TargetName(info.param);
}

INSTANTIATE_TEST_SUITE_P(targets, CpuExactGemm,
                         testing::ValuesIn(hwy::SupportedAndGeneratedTargets()), name_of_target);

}  // namespace
}  // namespace trine::cpu
