/// Views of Kokkos::Views, for programs that use Kokkos themselves.
///
/// Only pointer, extents and strides pass to Trine. The program's Kokkos (any version) and the one
/// inside Trine's cpu backend don't meet, and this header includes nothing of Kokkos.
/// Order of work: fence the execution space before Trine reads, and wait() on the queue before Kokkos
/// reads. examples/kokkos_program.cpp is a whole program:
///   Kokkos::fence();
///   trine::run(queue, trine::Reduce{.input = trine::view_of(device, x), .output = trine::view_of(device, total)});
///   queue.wait();
#pragma once

#include <trine/buffer.hpp>

#include <type_traits>

namespace trine {

/// The Trine view of a Kokkos::View of rank 1 (a vector, n x 1) or rank 2 (a matrix, any layout).
///
/// `device` must be able to reach the memory: "cpu" for HostSpace, "cuda:…" for CudaSpace. The memory
/// stays Kokkos's and must outlive the returned view and all work on it. A type with the same members
/// (data(), extent(), stride(), span(), rank, value_type) works too. Throws Error (invalid_argument)
/// for an empty device.
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
