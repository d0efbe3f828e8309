// cpu's gemm rungs against the definition, bit by bit, on every SIMD target this machine has: sizes
// around the tiles, all layouts, broadcast operands, blocked k. Guard zones around C and every
// element between its rows must survive. random_test.cpp has special values and vectors on each
// target, by the conformance cases.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "backends/kit/bits.hpp"
#include "enclosed.hpp"
#include "gemm/kernels.hpp"
#include "oracle/gemm.hpp"
#include "rung.hpp"
#include "simd_targets.hpp"

namespace trine::cpu {
namespace {

template <class T>
constexpr trine_dtype dtype_of() {
  if constexpr (std::is_same_v<T, float>) return TRINE_F32;
  if constexpr (std::is_same_v<T, double>) return TRINE_F64;
  return TRINE_I32;
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 2654435761u + 1) {}
  std::uint64_t bits() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return state_ >> 24;
  }
  // Floats of wide exponents, so that the order of a sum shows.
  template <class T>
  T value() {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(bits());
    } else {
      const auto mantissa = static_cast<T>(static_cast<double>(bits() % 2000003) / 1000001.0 - 1);
      return std::ldexp(mantissa, static_cast<int>(bits() % 16) - 8);
    }
  }

 private:
  std::uint64_t state_;
};

enum class Layout { kRows, kColumns, kPaddedRows, kPaddedColumns, kBroadcastRow, kBroadcastColumn };

// A matrix with its memory, guards before, between and behind.
template <class T>
struct Operand {
  std::vector<T> memory;
  trine_view view{};

  Operand(std::int64_t rows, std::int64_t cols, std::int64_t batch, Layout layout, Random& random) {
    const bool by_row =
        layout == Layout::kRows || layout == Layout::kPaddedRows || layout == Layout::kBroadcastRow;
    const bool broadcast = layout >= Layout::kBroadcastRow;
    const std::int64_t pad =
        layout == Layout::kPaddedRows || layout == Layout::kPaddedColumns ? 5 : 0;
    const std::int64_t line = (by_row ? cols : rows) + pad;
    view.rows = rows;
    view.cols = cols;
    view.batch = batch;
    view.row_stride = by_row ? (broadcast ? 0 : line) : 1;
    view.col_stride = by_row ? 1 : (broadcast ? 0 : line);
    view.batch_stride = line * (by_row ? rows : cols) + pad;
    constexpr std::int64_t kGuard = 7;  // odd: rows are misaligned
    memory.resize(static_cast<std::size_t>(2 * kGuard + batch * view.batch_stride + 1));
    for (T& x : memory) x = random.value<T>();
    view.offset = kGuard * sizeof(T);
    view.memory = memory.data();
  }

  T& at(std::vector<T>& data, std::int64_t b, std::int64_t i, std::int64_t j) const {
    return data[view.offset / sizeof(T) +
                static_cast<std::size_t>(b * view.batch_stride + i * view.row_stride +
                                         j * view.col_stride)];
  }
};

template <class T>
T chain_step(T a, T b, T c) {
  if constexpr (std::is_integral_v<T>)
    return a * b + c;
  else
    return std::fma(a, b, c);
}

// The content that C's memory should have afterwards, guards included.
template <class T>
std::vector<T> expected(Operand<T>& a, Operand<T>& b, Operand<T>& c, T alpha, T beta,
                        bool continues) {
  std::vector<T> result = c.memory;
  for (std::int64_t x = 0; x < c.view.batch; ++x) {
    for (std::int64_t i = 0; i < c.view.rows; ++i) {
      for (std::int64_t j = 0; j < c.view.cols; ++j) {
        T& out = c.at(result, x, i, j);
        T t = 0;
        if (alpha != T(0) && (a.view.cols > 0 || continues)) {
          if (continues) t = out;
          for (std::int64_t k = 0; k < a.view.cols; ++k) {
            t = chain_step<T>(a.at(a.memory, x, i, k), b.at(b.memory, x, k, j), t);
          }
          t = alpha * (t + T(0));
        }
        out = beta == T(0) ? t : chain_step<T>(beta, out, t);
      }
    }
  }
  return result;
}

template <class T>
bool same_bits(const std::vector<T>& x, const std::vector<T>& y) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (kit::bits_of(x[i]) != kit::bits_of(y[i])) return false;
  }
  return true;
}

struct Case {
  std::int64_t m, n, k, batch = 1;
  Layout a = Layout::kRows, b = Layout::kRows, c = Layout::kRows;
  double alpha = 1, beta = 0;
  bool smallest = false;   // blocks and tiles, instead of the defaults
  bool continues = false;  // its chains begin at C
  bool exact = false;      // each element is rounded once

  std::string text() const {
    return std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k) + " batch " +
           std::to_string(batch) + " layouts " + std::to_string(int(a)) + std::to_string(int(b)) +
           std::to_string(int(c)) + " alpha " + std::to_string(alpha) + " beta " +
           std::to_string(beta) + (smallest ? " smallest blocks" : "") +
           (continues ? " continued" : "") + (exact ? " exact" : "");
  }
};

// A call and what it should leave in C's memory.
template <class T>
struct Call {
  const Case& x;
  Operand<T> a, b, c;
  T alpha, beta;
  std::vector<T> want;

  explicit Call(const Case& of)
      : Call(of, Random(static_cast<std::uint64_t>(of.m * 131 + of.n * 31 + of.k))) {}

 private:
  Call(const Case& of, Random random)
      : x(of),
        a(x.m, x.k, x.batch, x.a, random),
        b(x.k, x.n, x.batch, x.b, random),
        c(x.m, x.n, x.batch, x.c, random),
        alpha(static_cast<T>(x.alpha)),
        beta(static_cast<T>(x.beta)),
        want(wanted()) {}

  std::vector<T> wanted() {
    if (!x.exact) return expected<T>(a, b, c, alpha, beta, x.continues);
    std::vector<T> result = c.memory;
    oracle::reference(descriptor(result.data()));
    return result;
  }

 public:
  // The call on C in this memory.
  trine_gemm descriptor(T* memory) const {
    trine_gemm op{};
    op.size = sizeof op;
    op.numerics = x.exact ? TRINE_EXACT : TRINE_REPRODUCIBLE;
    op.dtype = dtype_of<T>();
    std::memcpy(&op.alpha, &alpha, sizeof alpha);
    std::memcpy(&op.beta, &beta, sizeof beta);
    op.a = a.view;
    op.b = b.view;
    op.c = c.view;
    op.c.memory = memory;
    op.flags = x.continues ? TRINE_CONTINUES : 0;
    return op;
  }
};

template <class T>
void check(const GemmRung& rung, const Call<T>& call, Parallel& parallel) {
  const Case& x = call.x;
  std::vector<T> memory = call.c.memory;
  const trine_gemm op = call.descriptor(memory.data());
  if (trine_untaken(rung.row.takes, &op) || (rung.refuses && rung.refuses(op, nullptr))) return;

  std::vector<std::int64_t> parameters;
  for (const trine_parameter& p : rung.parameters()) {
    std::vector<std::int64_t> values;
    values.reserve(std::size_t(p.value_count));
    for (std::int32_t i = 0; i < p.value_count; ++i) values.push_back(number_of(p.values[i]));
    parameters.push_back(x.smallest ? *std::min_element(values.begin(), values.end()) : values[0]);
  }
  const std::size_t bytes =
      rung.workspace_bytes ? rung.workspace_bytes(op, parameters.data(), parallel.threads()) : 0;
  // Poison: what a workspace holds must not matter, and nothing may lie beyond it.
  std::vector<unsigned char> workspace(bytes + 128, 0xff);
  auto address = (reinterpret_cast<std::uintptr_t>(workspace.data()) + 63) / 64 * 64;
  rung.run(op, parameters.data(), reinterpret_cast<void*>(address), parallel);

  EXPECT_TRUE(same_bits(memory, call.want)) << rung.row.name << " " << x.text();
  for (std::size_t i = address - reinterpret_cast<std::uintptr_t>(workspace.data()) + bytes;
       i < workspace.size(); ++i) {
    ASSERT_EQ(workspace[i], 0xff) << rung.row.name << " wrote past its workspace: " << x.text();
  }
}

// With beta = 0 also as the continuation of a chain.
template <class T>
void check_all(const Case& x) {
  if (x.beta == 0 && !x.continues && !x.exact) {
    Case continued = x;
    continued.continues = true;
    check_all<T>(continued);
  }
  if (std::is_floating_point_v<T> && !x.continues && !x.exact) {
    Case exact = x;
    exact.exact = true;
    check_all<T>(exact);
  }
  const Call<T> call(x);
  Serial serial;
  TakingTurns turns;
  for (const GemmRung& rung : gemm_rungs()) {
    check(rung, call, serial);
    check(rung, call, turns);
  }
}

class CpuGemm : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override { hwy::SetSupportedTargetsForTest(GetParam()); }
  void TearDown() override { hwy::SetSupportedTargetsForTest(0); }
};

TEST_P(CpuGemm, agrees_at_every_size_around_its_tiles) {
  for (std::int64_t m : {0, 1, 2, 3, 5, 8, 13, 14, 15, 29}) {
    for (std::int64_t n : {0, 1, 7, 8, 15, 16, 17, 31, 32, 33, 48, 65}) {
      for (std::int64_t k : {0, 1, 2, 15, 17, 33}) {
        check_all<float>({m, n, k});
        check_all<double>({m, n, k});
        check_all<std::uint32_t>({m, n, k});
      }
    }
  }
}

TEST_P(CpuGemm, agrees_in_every_layout_and_for_every_alpha_and_beta) {
  for (int layouts = 0; layouts < 6 * 6 * 4; ++layouts) {
    const auto a = static_cast<Layout>(layouts % 6), b = static_cast<Layout>(layouts / 6 % 6);
    const auto c = static_cast<Layout>(layouts / 36);
    const double alpha = layouts % 5 == 0 ? 1.0 : layouts % 5 == 1 ? 0.0 : -0.7;
    const double beta = layouts % 3 == 0 ? 0.0 : layouts % 3 == 1 ? 1.0 : -1.3;
    for (bool smallest : {false, true}) {
      const Case x{19, 37, 35, 2, a, b, c, alpha, beta, smallest};
      check_all<float>(x);
      check_all<double>(x);
      check_all<std::uint32_t>(x);
    }
  }
}

TEST_P(CpuGemm, keeps_a_chain_exact_over_blocks_of_k) {
  for (double beta : {0.0, 2.5}) {
    for (Layout c : {Layout::kRows, Layout::kPaddedColumns}) {
      for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{21, 75, 1001},
                                    {1, 1300, 67},
                                    {15, 1600, 67},
                                    {700, 17, 67},
                                    {15, 40, 4200}}) {
        const Case x{m, n,    k,   1, Layout::kRows, m > 1 ? Layout::kColumns : Layout::kRows,
                     c, 3.25, beta};
        check_all<float>(x);
        check_all<double>(x);
        check_all<std::uint32_t>(x);
      }
    }
  }
}

TEST_P(CpuGemm, touches_its_operands_alone) {
  for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{3, 5, 7},
                                {13, 33, 9},
                                {17, 47, 31},
                                {9, 48, 33},
                                {1, 1, 100},
                                {2, 300, 50},
                                {300, 1, 50},
                                {1, 1300, 67},
                                {5, 31, 700},
                                {64, 64, 64}})
    for (const bool at_end : {false, true})
      for (const bool turned : {false, true}) {
        const Enclosed a(static_cast<std::size_t>(4 * m * k), at_end),
            b(static_cast<std::size_t>(4 * k * n), at_end),
            c(static_cast<std::size_t>(4 * m * n), at_end);
        const auto view = [&](const Enclosed& memory, std::int64_t rows, std::int64_t cols,
                              bool by_columns) {
          return trine_view{memory.data(),         0,          rows, cols, 1, by_columns ? 1 : cols,
                            by_columns ? rows : 1, rows * cols};
        };
        std::fill_n(reinterpret_cast<float*>(a.data()), m * k, 1.0f);
        std::fill_n(reinterpret_cast<float*>(b.data()), k * n, 2.0f);
        trine_gemm op{sizeof op,
                      TRINE_REPRODUCIBLE,
                      TRINE_F32,
                      0,
                      {},
                      {},
                      view(a, m, k, turned),
                      view(b, k, n, turned),
                      view(c, m, n, false),
                      0};
        op.alpha.bits = op.beta.bits = 0;
        op.alpha.f32 = 1;
        for (const GemmRung& row : gemm_rungs()) {
          std::vector<std::int64_t> values;
          for (const trine_parameter& p : row.parameters())
            values.push_back(number_of(p.values[0]));
          if (row.refuses && row.refuses(op, values.data())) continue;
          std::vector<char> workspace(
              row.workspace_bytes ? row.workspace_bytes(op, values.data(), 3) + 64 : 64);
          TakingTurns turns;
          void* aligned =
              workspace.data() + 64 - reinterpret_cast<std::uintptr_t>(workspace.data()) % 64;
          std::fill_n(reinterpret_cast<float*>(c.data()), m * n, -1.0f);
          const auto* const result = reinterpret_cast<const float*>(c.data());
          const auto* const end = result + m * n;
          const auto all = [&](std::int64_t value) {
            return std::all_of(result, end, [&](float x) { return x == float(value); });
          };
          op.flags = 0;
          row.run(op, values.data(), aligned, turns);
          EXPECT_TRUE(all(2 * k)) << row.row.name << " " << m << " " << n << " " << k;
          op.flags = TRINE_CONTINUES;
          row.run(op, values.data(), aligned, turns);
          EXPECT_TRUE(all(4 * k)) << row.row.name << " " << m << " " << n << " " << k;
        }
      }
}

TEST_P(CpuGemm, agrees_for_batches_of_four_by_four) {
  for (const Layout layout : {Layout::kRows, Layout::kColumns, Layout::kPaddedRows})
    for (const double beta : {0.0, -1.25})
      for (const std::int64_t batch : {2, 3, 150}) {
        const Case x{4, 4, 4, batch, layout, layout, layout, 0.75, beta};
        check_all<float>(x);
        check_all<double>(x);
        check_all<std::uint32_t>(x);
      }
}

template <class T>
void expect_tiles_of_every_width() {
  const gemm::Kernels<T>& kernels = gemm::kernels<T>();
  for (int vectors = 1; vectors <= 3; ++vectors)
    EXPECT_EQ(kernels.tiles(vectors).height_count > 0, vectors <= kernels.most_vectors) << vectors;
}

TEST_P(CpuGemm, has_no_tiles_in_place_wider_than_the_target_has_them) {
  expect_tiles_of_every_width<float>();
  expect_tiles_of_every_width<double>();
  expect_tiles_of_every_width<std::uint32_t>();
}

std::string target_name(const testing::TestParamInfo<std::int64_t>& info) {
  return hwy::TargetName(info.param);
}

INSTANTIATE_TEST_SUITE_P(targets, CpuGemm, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         target_name);

// Waking them takes 50 us at most, by the executor (kMost). A device of one thread wakes nobody.
TEST(CpuGemmRungs, products_of_ten_microseconds_wake_threads_if_these_can_share_them) {
  const auto is_small_for = [](std::uint32_t dtype, std::int64_t n, std::int64_t batch, int threads,
                               double hand_over, std::int64_t depth = 0) {
    trine_gemm op{};
    op.dtype = dtype;
    op.alpha.bits = 1;
    op.a.rows = op.a.cols = op.b.rows = op.b.cols = op.c.rows = op.c.cols = n;
    if (depth > 0) op.a.cols = op.b.rows = depth;
    op.a.row_stride = op.a.cols;
    op.b.row_stride = op.c.row_stride = n;
    op.a.col_stride = op.b.col_stride = op.c.col_stride = 1;
    op.a.batch = op.b.batch = op.c.batch = batch;
    return is_small(gemm_rungs().back().nanoseconds(op, threads), hand_over, threads);
  };
  for (const auto& [dtype, n] :
       {std::pair<std::uint32_t, std::int64_t>{TRINE_F32, 96}, {TRINE_I32, 64}}) {
    EXPECT_FALSE(is_small_for(dtype, n, 1, 2, 50e3));
    EXPECT_TRUE(is_small_for(dtype, n, 1, 1, 8e3));
    EXPECT_TRUE(is_small_for(dtype, n - 16, 1, 2, 8e3));
    EXPECT_FALSE(is_small_for(dtype, n, 2, 2, 50e3));
    EXPECT_TRUE(is_small_for(dtype, 16, 50, 2, 50e3));
    EXPECT_FALSE(is_small_for(dtype, 48, 16, 2, 50e3));
    EXPECT_TRUE(is_small_for(dtype, 4, 1, 2, 50e3, 1 << 15));
    EXPECT_TRUE(is_small_for(dtype, 1, 1, 2, 50e3, 1 << 19));
    EXPECT_FALSE(is_small_for(dtype, 64, 1, 2, 50e3, 1 << 9));
  }
  for (const std::uint32_t dtype : {TRINE_F32, TRINE_F64}) {
    EXPECT_FALSE(is_small_for(dtype, 128, 1, 16, 50e3));
    EXPECT_TRUE(is_small_for(dtype, 64, 1, 16, 8e3));
  }
}

// 2^28 products for each thread, and no extent below 1024.
TEST(CpuGemmRungs, residues_are_chosen_where_they_pay) {
  const auto pay = [](std::int64_t m, std::int64_t n, std::int64_t k, int threads) {
    trine_gemm op{};
    op.c.rows = m, op.c.cols = n, op.a.cols = k;
    return gemm_rungs().back().pays(op, threads);
  };
  EXPECT_TRUE(pay(1024, 1024, 1024, 4));
  EXPECT_FALSE(pay(1024, 1024, 1024, 5));
  EXPECT_TRUE(pay(2048, 2048, 2048, 32));
  EXPECT_FALSE(pay(1023, 1 << 20, 1024, 1));
  EXPECT_FALSE(pay(1 << 20, 1023, 1024, 1));
  EXPECT_FALSE(pay(1 << 14, 1 << 14, 1023, 1));
}

}  // namespace
}  // namespace trine::cpu
