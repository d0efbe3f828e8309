// An operation's arrays, cut into parts that have the shape of a View. For the files that call the
// library.
#pragma once

#include "calls.hpp"
#include "parts.hpp"

#include <initializer_list>

namespace trine::python {

/// Views of an operation's arrays: extents and strides that all parts share.
struct Shape {
  const Array* array = nullptr;
  int64_t rows = 1, cols = 1, batch = 1;
  int64_t row_stride = 1, col_stride = 1, batch_stride = 0;

  HostView on_host(int64_t first) const {
    return {array->host(first), array->dtype(), rows,        cols, batch,
            row_stride,         col_stride,     batch_stride};
  }
  View on_device(int64_t first, const Buffer& buffer) const {
    return {buffer,     array->dtype(), array->offset_of(first), rows, cols, batch, row_stride,
            col_stride, batch_stride};
  }
};

struct Named {
  const char* name;
  const Array* array;
};

/// The dtypes that have products.
constexpr const char* kMultiplied = "float32, float64 and int32";

/// An operation over two or three arrays, the output last.
struct Plan {
  /// Refuses what the library couldn't see, because parts are all that it is shown.
  Plan(const char* word, std::initializer_list<Named> all);

  const char* operation;
  std::vector<Named> arrays;
  std::array<Shape, kArrays> shapes;
  std::vector<Axes> parts;  ///< what one view can't hold

  const Array& output() const { return *arrays.back().array; }
  /// The arrays' memory for one operation on `device`; empty handles for the host's.
  std::array<Buffer, kArrays> buffers(const Device& device) const;
  /// The views of the part whose elements begin at `first`.
  std::array<View, kArrays> on_device(const std::array<int64_t, kArrays>& first,
                                      const std::array<Buffer, kArrays>& buffers) const;
  std::array<HostView, kArrays> on_host(const std::array<int64_t, kArrays>& first) const;

  /// Refuses an output whose elements overlap, or that shares memory with an input: later parts may
  /// not read memory that earlier ones write.
  void check_output() const;
  /// Refuses elements that Trine only moves; `done` and `can` are the words for what they can't be,
  /// and which can.
  void check_numbers(const char* done, std::string_view can) const;
  /// The device of the arrays, empty for the host's memory; `call` may not name another.
  const Device& device(const Call& call) const;
};

/// The way of reduce() where the reduced axes are more than a view has: it adds the elements of
/// each result part by part to a state, whose result has the bits of the whole. `kept` and
/// `reduced` are all axes; the order of `reduced` counts for products of floats and for positions.
void reduce_in_states(Plan& plan, Function function, Map map, const std::vector<Axes>& kept,
                      std::vector<Axes> reduced, const Call& call);

}  // namespace trine::python
