// kokkos: what one writes first with Kokkos's hierarchy of a league, its teams and their lanes.
//
//   TeamPolicy          a member of the league: kMemberRows rows of C by a strip of columns
//   TeamThreadRange     the rows, a few at a time, while the strip of B stays in the cache
//   ThreadVectorRange   the columns: each lane runs the chain of its own result
//
// Against blocked, the partials stay in registers for all of k. Lanes over k, as a Kokkos user would
// sum, would need another order of the sum. Where the elements of B's rows are no neighbours, lanes
// gain nothing and the rung is naive by strips.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "gemm/kokkos.cpp"
#include <algorithm>

#include "gemm/rungs.hpp"
#include "simd.hpp"

#include "gemm/chain-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {
namespace {

constexpr int kVectors = 2;  // a strip's width
constexpr int kRows = 4;     // that a thread takes at once: each vector of B serves them all
constexpr int64_t kMemberRows = 64;

template <class T>
int64_t strip_width() {
  return kVectors * static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
}

// Continues the chains of kCount rows from result (i, j) on. A strip that ends early loads its vectors by
// mask.
template <int kCount, bool kWhole, class T>
void strip_rows(const gemm::Problem<T>& p, int64_t i, int64_t j, int64_t columns, T* chains) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Mask<decltype(d)> mask[kVectors];
  hn::Vec<decltype(d)> acc[kCount][kVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
    mask[v] = hn::FirstN(d, static_cast<size_t>(std::max<int64_t>(0, columns - v * lanes)));
#pragma GCC unroll 4
    for (int r = 0; r < kCount; ++r) acc[r][v] = hn::Load(d, chains + (r * kVectors + v) * lanes);
  }
  for (int64_t k = 0; k < p.depth(); ++k) {
    const T* from = p.b.at(k, j);
    hn::Vec<decltype(d)> b[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      if constexpr (kWhole) {
        b[v] = hn::LoadU(d, from + v * lanes);
      } else {
        b[v] = load_lanes(d, mask[v], from + v * lanes);
      }
    }
#pragma GCC unroll 4
    for (int r = 0; r < kCount; ++r) {
      const auto a = hn::Set(d, *p.a.at(i + r, k));
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) acc[r][v] = step(d, a, b[v], acc[r][v]);
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < kCount; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) hn::Store(acc[r][v], d, chains + (r * kVectors + v) * lanes);
  }
}

template <int kCount, class T>
void thread_rows(const gemm::Problem<T>& p, int64_t i, int64_t j) {
  HWY_ALIGN T chains[kCount * kVectors * hn::MaxLanes(hn::ScalableTag<T>())] = {};
  const int64_t width = strip_width<T>(), columns = std::min(width, p.n - j);
  for (int r = 0; r < kCount; ++r) begin_row(p, i + r, j, columns, chains + r * width);
  if (p.b.col_stride != 1) {
    for (int r = 0; r < kCount; ++r) {
      for (int64_t x = 0; x < columns; ++x) chains[r * width + x] = chain<T>(p, i + r, j + x);
    }
  } else if (columns == width) {
    strip_rows<kCount, true>(p, i, j, columns, chains);
  } else {
    strip_rows<kCount, false>(p, i, j, columns, chains);
  }
  for (int r = 0; r < kCount; ++r) finish_row(p, i + r, j, columns, chains + r * width);
}

template <class T>
void member(const gemm::Problem<T>& p, int64_t i, int64_t j) {
  const int64_t end = std::min(i + kMemberRows, p.m);
  for (; i + kRows <= end; i += kRows) thread_rows<kRows>(p, i, j);
  for (; i < end; ++i) thread_rows<1>(p, i, j);
}

void kokkos_league(const trine_gemm& op, Parallel& parallel) {
  gemm::visit_dtype(op.dtype, [&]<class T>() {
    const gemm::Extents c = gemm::extents_along_rows(op.c);
    const int64_t width = strip_width<T>();
    const int64_t strips = (c.n + width - 1) / width,
                  blocks = (c.m + kMemberRows - 1) / kMemberRows;
    parallel.parallel_for(op.c.batch * blocks * strips, [&](int64_t index, int) {
      const gemm::Problem<T> p = gemm::problem_along_rows<T>(op, index / (blocks * strips));
      member(p, index % blocks * kMemberRows, index / blocks % strips * width);
    });
  });
}

}  // namespace
}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trine::cpu {

HWY_EXPORT(kokkos_league);

void gemm::run_kokkos(const trine_gemm& op, const std::int64_t*, void*, Parallel& parallel) {
  HWY_DYNAMIC_DISPATCH(kokkos_league)(op, parallel);
}

}  // namespace trine::cpu
#endif
