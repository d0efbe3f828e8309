/// Views of Kokkos::Views and of mdspans, for programs that use them themselves.
///
/// Only pointer, extents and strides pass to Trine. The program's Kokkos (any version) and the one
/// inside Trine's cpu backend don't meet, and this header includes nothing of Kokkos.
/// Order of work: fence the execution space before Trine reads, and wait() on the queue before
/// Kokkos reads. examples/kokkos_program.cpp is a whole program:
///   Kokkos::fence();
///   trine::View in = trine::view_of(device, x), out = trine::view_of(device, total);
///   trine::run(queue, trine::Reduce{.input = in, .output = out});
///   queue.wait();
#pragma once

#include <trine/buffer.hpp>

#include <type_traits>

namespace trine {

namespace detail {
/// Pointer, extents and strides of a Kokkos::View or an mdspan.
template <class Array>
struct ArrayTraits {
  using Element = std::remove_const_t<typename Array::value_type>;
  /// View::rank is an enumerator in Kokkos 3, later an object that can be called, as mdspan's
  /// function.
  static constexpr int rank() {
    if constexpr (requires { Array::rank(); }) {
      return static_cast<int>(Array::rank());
    } else {
      return static_cast<int>(Array::rank);
    }
  }
  static auto* data(const Array& array) {
    if constexpr (requires { array.data_handle(); }) {
      return array.data_handle();
    } else {
      return array.data();
    }
  }
  static size_t span(const Array& array) {
    if constexpr (requires { array.mapping().required_span_size(); }) {
      return array.mapping().required_span_size();
    } else {
      return array.span();
    }
  }
  template <class V>
  static void shape(const Array& array, V& view) {
    constexpr int rank = ArrayTraits::rank();
    static_assert(1 <= rank && rank <= 3, "a vector, a matrix, or a batch of matrices");
    constexpr int first = rank == 3;  // the index of the row
    view.dtype = dtype_of<Element>;
    view.cols = 1;
    view.rows = static_cast<int64_t>(array.extent(first));
    view.row_stride = static_cast<int64_t>(array.stride(first));
    if constexpr (rank >= 2) {
      view.cols = static_cast<int64_t>(array.extent(first + 1));
      view.col_stride = static_cast<int64_t>(array.stride(first + 1));
    }
    if constexpr (rank == 3) {
      view.batch = static_cast<int64_t>(array.extent(0));
      view.batch_stride = static_cast<int64_t>(array.stride(0));
    }
  }
};
}  // namespace detail

/// The Trine view of a Kokkos::View or an mdspan of rank 1 (a vector, n x 1), rank 2 (a matrix, any
/// layout) or rank 3 (a batch of matrices, whose first index is that of the batch).
///
/// `device` must be able to reach the memory: "cpu" for HostSpace, "cuda:…" for CudaSpace. The
/// memory stays the program's and must outlive the returned view and all work on it. A type with
/// the same members works too: data(), extent(), stride(), span(), rank, value_type of a View, or
/// those of std::mdspan (tried: Kokkos 3.4's Views, and the reference implementation,
/// github.com/kokkos/mdspan of March 2024, with layout_right, layout_left and layout_stride, at
/// ranks 1 to 3). Throws Error (invalid_argument) for an empty device.
template <class Array>
View view_of(const Device& device, const Array& array) {
  using Traits = detail::ArrayTraits<Array>;
  using Element = typename Traits::Element;
  View view;
  view.buffer = Buffer::adopt(device, const_cast<Element*>(Traits::data(array)),
                              Traits::span(array) * sizeof(Element));
  Traits::shape(array, view);
  return view;
}

/// The same in host memory, for the calls of trine/host.hpp; of const elements a ConstHostView.
template <class Array>
auto host_view_of(const Array& array) {
  using Traits = detail::ArrayTraits<Array>;
  HostViewOf<decltype(Traits::data(array))> view;
  view.data = Traits::data(array);
  Traits::shape(array, view);
  return view;
}

}  // namespace trine
