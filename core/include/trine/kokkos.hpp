/// Kokkos::View interop: a Trine view of a Kokkos::View's memory, and nothing else of Kokkos is
/// needed: only pointer, extents and strides pass, so the program's Kokkos and Trine's stay apart.
/// Fence your execution space before Trine reads, and wait() on the queue before Kokkos does.
#pragma once

#include <trine/buffer.hpp>

#include <type_traits>

namespace trine {

/// A rank-1 or rank-2 Kokkos::View (or anything with data(), extent(), stride(), span(), rank) whose
/// memory `device` can reach: HostSpace for cpu, CudaSpace for cuda.
template <class KokkosView>
View view_of(const Device& device, const KokkosView& kokkos) {
  using Element = std::remove_const_t<typename KokkosView::value_type>;
  // View::rank is an integral constant object in 4.x and an enumerator in 3.x.
  constexpr int rank = static_cast<int>(KokkosView::rank);
  static_assert(rank == 1 || rank == 2, "rank 1 or 2");
  View view;
  view.buffer =
      Buffer::adopt(device, const_cast<Element*>(kokkos.data()), kokkos.span() * sizeof(Element));
  view.dtype = dtype_of<Element>;
  view.rows = static_cast<int64_t>(kokkos.extent(0));
  view.row_stride = static_cast<int64_t>(kokkos.stride(0));
  view.cols = 1;
  if constexpr (rank == 2) {
    view.cols = static_cast<int64_t>(kokkos.extent(1));
    view.col_stride = static_cast<int64_t>(kokkos.stride(1));
  }
  return view;
}

}  // namespace trine
