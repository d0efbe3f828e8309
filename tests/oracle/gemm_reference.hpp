// Tests of the gemm reference share this: it is compared with the elements that a test expects.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <vector>

#include "oracle/bits.hpp"
#include "oracle/operation.hpp"

namespace trine::oracle {

template <class T>
T at(const trine_view& v, int64_t i, int64_t j) {
  return load<T>(origin(v) + element_offset(v, sizeof(T), 0, i, j));
}

/// Compares the reference of all of C, and that of samples, with expected(i, j). The reference
/// overwrites C.
template <class T, class Expected>
void compare_references(HostOperation& host, uint64_t seed, Expected&& expected_at) {
  const trine_gemm g = std::get<trine_gemm>(host.op);
  std::vector<T> expected;
  for (int64_t i = 0; i < g.c.rows; ++i)
    for (int64_t j = 0; j < g.c.cols; ++j) expected.push_back(expected_at(i, j));
  trine_view view = dense_rows(g.c.rows, g.c.cols);
  view.memory = expected.data();

  const std::vector<Position> samples = sample_positions(g.c, 100, seed);
  std::vector<T> sampled(samples.size());
  reference_at(g, samples, sampled.data());
  reference(host.op);

  const Difference d = compare(g.dtype, view, g.c);
  EXPECT_TRUE(d.none()) << d.sentence();
  for (size_t s = 0; s < samples.size(); ++s) {
    const T whole = at<T>(g.c, samples[s].row, samples[s].col);
    using Bits = typename FloatBits<T>::Bits;
    EXPECT_TRUE(std::bit_cast<Bits>(whole) == std::bit_cast<Bits>(sampled[s]) || whole != whole);
  }
}

}  // namespace trine::oracle
