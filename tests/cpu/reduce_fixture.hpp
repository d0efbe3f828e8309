// The tests of the reduce rungs run them with these: views of every kind, values, threads without
// Kokkos.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "reduce/problem.hpp"
#include "rung.hpp"
#include "simd_targets.hpp"
#include "with_kokkos.hpp"

namespace trine::cpu {

// Real threads without Kokkos, so that the test can use more than the machine has.
class Threads final : public Parallel {
 public:
  explicit Threads(int threads) : Parallel(threads) {}

 private:
  void run(std::int64_t count, RunChunk run_chunk, void* body, Order) override {
    std::atomic<std::int64_t> next{0};
    std::vector<std::thread> pool;
    pool.reserve(std::size_t(threads()));
    for (int t = 0; t < threads(); ++t)
      pool.emplace_back([&, t] {
        for (std::int64_t i = next++; i < count; i = next++) run_chunk(body, i, t);
      });
    for (std::thread& thread : pool) thread.join();
  }
};

inline const ReduceRung& rung(const char* name) {
  for (const ReduceRung& row : reduce_rungs())
    if (std::strcmp(row.row.name, name) == 0) return row;
  throw std::runtime_error(name);
}

template <class T>
constexpr std::uint32_t dtype_of() {
  if (std::is_same_v<T, float>) return TRINE_F32;
  if (std::is_same_v<T, double>) return TRINE_F64;
  if (std::is_same_v<T, std::int32_t>) return TRINE_I32;
  if (std::is_same_v<T, std::int64_t>) return TRINE_I64;
  return std::is_same_v<T, std::uint32_t> ? TRINE_U32 : TRINE_U64;
}

struct Shape {
  std::int64_t rows, cols, row_stride, col_stride;
};

inline std::int64_t result_count(Shape s, trine_axis axis) {
  return axis == TRINE_ALL ? 1 : axis == TRINE_EACH_ROW ? s.rows : s.cols;
}

// Each byte of a workspace has this value before a rung runs, as if an earlier user had left it.
inline std::byte workspace_holds{0xa5};

// Runs a rung over a strided view of `data`, and of `second` for a product; results are R.
template <class R, class Data>
std::vector<R> reduce(const char* name, const Data& data, Shape s, trine_axis axis,
                      trine_function function, trine_map map, std::uint32_t result, int threads,
                      const Data* second = nullptr, Shape second_shape = {}) {
  using T = std::remove_cvref_t<decltype(*data.data())>;
  const std::int64_t outputs = result_count(s, axis);
  std::vector<R> results(static_cast<std::size_t>(outputs));
  trine_reduce op{};
  op.size = sizeof op;
  op.numerics = TRINE_REPRODUCIBLE;
  op.function = function;
  op.map = map;
  op.axis = axis;
  op.dtype = dtype_of<T>();
  op.result_dtype = result;
  op.input = {const_cast<T*>(data.data()), 0, s.rows, s.cols, 1, s.row_stride, s.col_stride, 0};
  if (second)
    op.second = {const_cast<T*>(second->data()), 0, s.rows, s.cols, 1, second_shape.row_stride,
                 second_shape.col_stride,        0};
  op.output = {results.data(), 0, outputs, 1, 1, 1, 1, 0};
  const ReduceRung& row = rung(name);
  const std::size_t bytes = row.workspace_bytes ? row.workspace_bytes(op, nullptr, threads) : 0;
  std::vector<std::byte> memory(bytes + 64, workspace_holds);
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
  void* workspace = reinterpret_cast<void*>((address + 63) / 64 * 64);
  if (threads == 1) {
    Serial serial;
    row.run(op, nullptr, workspace, serial);
  } else {
    Threads pool(threads);
    row.run(op, nullptr, workspace, pool);
  }
  return results;
}

// The elements of result `r` in the order of their index.
template <class T>
std::vector<T> elements(const std::vector<T>& data, Shape s, trine_axis axis, std::int64_t r) {
  std::vector<T> list;
  const bool row = axis == TRINE_EACH_ROW, column = axis == TRINE_EACH_COLUMN;
  for (std::int64_t i = row ? r : 0; i < (row ? r + 1 : s.rows); ++i)
    for (std::int64_t j = column ? r : 0; j < (column ? r + 1 : s.cols); ++j)
      list.push_back(data[static_cast<std::size_t>(i * s.row_stride + j * s.col_stride)]);
  return list;
}

inline constexpr trine_axis kAxes[] = {TRINE_ALL, TRINE_EACH_ROW, TRINE_EACH_COLUMN};

inline std::size_t extent(Shape s) {
  return static_cast<std::size_t>((s.rows - 1) * s.row_stride + (s.cols - 1) * s.col_stride + 1);
}

// Value classes: how far exponents spread, and whether sums cancel.
template <class T>
std::vector<T> values(std::size_t n, int spread, bool cancel, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> v(n);
  for (T& x : v) {
    const double m = 1 + static_cast<double>(random() >> 11) * 0x1p-53;
    const int e = spread == 0 ? 0 : static_cast<int>(random() % (2 * spread + 1)) - spread;
    x = static_cast<T>(std::ldexp(random() % 2 ? m : -m, e));
  }
  if (cancel)
    for (std::size_t i = 0; i + 1 < n; i += 2) v[n - 1 - i / 2] = -v[i / 2];
  return v;
}

// J. R. Shewchuk's expansion, as Python's fsum has it: finite values without overflow.
// `rest` tells what rounding cut off the sum before ties were decided.
inline double reference_sum(const std::vector<double>& values, double* rest = nullptr) {
  std::vector<double> partials;
  for (double x : values) {
    std::size_t kept = 0;
    for (double y : partials) {
      if (std::fabs(x) < std::fabs(y)) std::swap(x, y);
      const double high = x + y;
      const double low = y - (high - x);
      if (low != 0) partials[kept++] = low;
      x = high;
    }
    partials.resize(kept);
    partials.push_back(x);
  }
  double high = 0;
  std::size_t n = partials.size();
  while (n > 0) {
    const double x = high;
    const double y = partials[--n];
    high = x + y;
    const double low = y - (high - x);
    if (low != 0) {
      if (rest) {
        *rest = low;
        return high;
      }
      if (n > 0 && (low < 0) == (partials[n - 1] < 0) && partials[n - 1] != 0) {
        const double twice = low * 2;
        if (twice == (high + twice) - high) high += twice;
      }
      return high;
    }
  }
  return high;
}

// To f32 by way of an odd last bit where something was cut off, so that it is rounded once.
inline float reference_sum_f32(const std::vector<double>& values) {
  double low = 0;
  const double high = reference_sum(values, &low);
  auto bits = std::bit_cast<std::uint64_t>(high);
  if (low != 0 && bits % 2 == 0) bits += (low < 0) == (high < 0) ? 1 : std::uint64_t(-1);
  return static_cast<float>(std::bit_cast<double>(bits));
}

// On one SIMD target.
class ExactSum : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override { hwy::SetSupportedTargetsForTest(GetParam()); }
  void TearDown() override { hwy::SetSupportedTargetsForTest(0); }
};

inline std::string name_of(const testing::TestParamInfo<std::int64_t>& test) {
  return hwy::TargetName(test.param);
}

}  // namespace trine::cpu
