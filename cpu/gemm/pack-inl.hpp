// Packs panels of A and B: to[k * height + i] = from(i, k), zero for i >= rows, so that the
// register tile reads both operands as two ascending streams, whatever layout they came in.
#include "gemm/kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {

// from's rows are contiguous along the panel: a masked copy per k.
template <class T>
void pack_along(gemm::Matrix<const T> from, int64_t rows, int64_t k, int height, T* to) {
  const hn::ScalableTag<T> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int i = 0; i < height; i += lanes) {
    const auto valid = hn::FirstN(d, static_cast<size_t>(HWY_MAX(int64_t{0}, rows - i)));
    const auto wanted = hn::FirstN(d, static_cast<size_t>(height - i));
    const T* source = from.data + i;
    T* target = to + i;
    for (int64_t x = 0; x < k; ++x) {
      store_lanes(d, wanted, load_lanes(d, valid, source), target);
      source += from.col_stride;
      target += height;
    }
  }
}

// from is contiguous along k: square tiles are transposed in registers.
template <class T>
void pack_across(gemm::Matrix<const T> from, int64_t rows, int64_t k, int height, T* to) {
  const hn::ScalableTag<T> d;
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(d));
  for (int64_t x = 0; x < k; x += kLanes) {
    const int depth = static_cast<int>(HWY_MIN(int64_t{kLanes}, k - x));
    const auto valid = hn::FirstN(d, static_cast<size_t>(depth));
    for (int i = 0; i < height; i += kLanes) {
      hn::Vec<decltype(d)> tile[kLanes];
#pragma GCC unroll 16
      for (int r = 0; r < kLanes; ++r) {
        tile[r] = hn::Zero(d);
        if (i + r < rows) tile[r] = load_lanes(d, valid, from.at(i + r, x));
      }
      transpose_registers<sizeof(T)>(d, tile);
      const auto wanted = hn::FirstN(d, static_cast<size_t>(height - i));
#pragma GCC unroll 16
      for (int r = 0; r < kLanes; ++r) {
        if (r < depth) store_lanes(d, wanted, tile[r], to + (x + r) * height + i);
      }
    }
  }
}

template <class T>
void pack(gemm::Matrix<const T> from, int64_t rows, int64_t k, int height, T* to) {
  if (from.row_stride == 1 || rows == 1) return pack_along(from, rows, k, height, to);
  if (from.col_stride == 1 || k == 1) return pack_across(from, rows, k, height, to);
  for (int64_t x = 0; x < k; ++x) {  // broadcast: neither stride is 1
    for (int i = 0; i < height; ++i) to[x * height + i] = i < rows ? *from.at(i, x) : T(0);
  }
}

}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
