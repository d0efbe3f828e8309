// kokkos: what one writes first with Kokkos's hierarchy of a league, its teams and their lanes.
//
//   TeamPolicy          a member of the league: kRows rows of C by a strip of columns
//   TeamThreadRange     the rows, one after the other, while the strip of B stays in the cache
//   ThreadVectorRange   the columns: each lane runs the chain of its own result
//
// Against blocked, the partials stay in registers for all of k. Lanes over k, as a Kokkos user would
// sum, would need another order of the sum. Where the elements of B's rows are no neighbours, lanes
// gain nothing and the rung is naive by strips.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "gemm/kokkos.cpp"
#include <algorithm>

#include "gemm/chain-inl.hpp"
#include "gemm/rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {
namespace {

constexpr int kVectors = 4;  // a strip's width: so many chains of each lane are in flight at once
constexpr int64_t kRows = 64;

template <class T>
int64_t strip_width() {
  return kVectors * static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
}

// The chains of row i from column j on. A strip that ends early loads its vectors by mask.
template <bool kWhole, class T>
void strip_row(const gemm::Problem<T>& p, int64_t i, int64_t j, int64_t columns, T* chains) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Mask<decltype(d)> mask[kVectors];
  hn::Vec<decltype(d)> acc[kVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
    mask[v] = hn::FirstN(d, static_cast<size_t>(std::max<int64_t>(0, columns - v * lanes)));
    acc[v] = hn::Zero(d);
  }
  for (int64_t k = 0; k < p.depth(); ++k) {
    const auto a = hn::Set(d, *p.a.at(i, k));
    const T* b = p.b.at(k, j);
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      if constexpr (kWhole) {
        acc[v] = step(d, a, hn::LoadU(d, b + v * lanes), acc[v]);
      } else {
        acc[v] = step(d, a, hn::MaskedLoad(mask[v], d, b + v * lanes), acc[v]);
      }
    }
  }
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) hn::Store(acc[v], d, chains + v * lanes);
}

template <class T>
void member(const gemm::Problem<T>& p, int64_t i0, int64_t j0) {
  HWY_ALIGN T chains[kVectors * hn::MaxLanes(hn::ScalableTag<T>())];
  const int64_t width = strip_width<T>(), columns = std::min(width, p.n - j0);
  for (int64_t i = i0; i < std::min(i0 + kRows, p.m); ++i) {
    if (p.b.col_stride != 1) {
      for (int64_t j = 0; j < columns; ++j) chains[j] = chain(p, i, j0 + j);
    } else if (columns == width) {
      strip_row<true>(p, i, j0, columns, chains);
    } else {
      strip_row<false>(p, i, j0, columns, chains);
    }
    finish_row(p, i, j0, columns, chains);
  }
}

void kokkos_league(const trine_gemm& op, Parallel& parallel) {
  gemm::visit_dtype(op.dtype, [&]<class T>() {
    const gemm::Extents c = gemm::extents_along_rows(op.c);
    const int64_t width = strip_width<T>();
    const int64_t strips = (c.n + width - 1) / width, blocks = (c.m + kRows - 1) / kRows;
    parallel.parallel_for(op.c.batch * blocks * strips, [&](int64_t index, int) {
      const gemm::Problem<T> p = gemm::problem_along_rows<T>(op, index / (blocks * strips));
      member(p, index % blocks * kRows, index / blocks % strips * width);
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
