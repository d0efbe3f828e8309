// The parts of the operations' checks: whatever can be wrong with views, dtypes and numerics. A
// call that passes becomes the contract's descriptor, with its views' strides made canonical.
#pragma once

#include <cstddef>
#include <initializer_list>

#include "core/src/runtime/state.hpp"

namespace trine::detail {

/// A view and where its bytes lie, [first, last): in a buffer, or at an address in host memory.
struct Placed {
  const trine_view* view = nullptr;
  uint64_t first = 0, last = 0;  ///< addresses, or offsets in one and the same buffer
  uint32_t element = 0;
};

/// The name of a view for sentences ("reduce: output"), and its place in the contract's descriptor.
struct Role {
  const char* operation;
  const char* name;
  bool is_output;
  std::size_t offset = 0;
};

/// How strict the check of a planned call is.
enum class Mode { run, plan };

/// Checks one view of `element` bytes an element on its own and converts it. `alignment` is that of
/// its first byte. In plan mode the buffer may be missing. `device` is where it must be, if known.
/// Returns the bytes of the buffer that it touches, or none.
Placed check_view(const View& view, uint32_t element, uint32_t alignment, const Role& role,
                  const DeviceState* device, Mode mode, trine_view& out);

/// Bytes of one element; refuses a dtype that there isn't.
uint32_t element_of(Dtype dtype, const Role& role);

/// Extents and strides alone: bytes from the view's first element to the end of its last.
uint64_t check_shape(const trine_view& view, uint32_t element, const Role& role);

/// A view of the API, of host memory or not, in the contract's form; as yet without memory.
template <class AnyView>
trine_view shape_of(const AnyView& view) {
  return {nullptr,          0, view.rows, view.cols, view.batch, view.row_stride, view.col_stride,
          view.batch_stride};
}

/// Whether no two elements share memory: from the narrowest dimension on, each stride is longer
/// than all dimensions before it.
bool elements_apart(const trine_view& view, uint32_t element);

/// Strides along extents of 0 and 1 have no meaning: sets them so that there is a unit stride.
void make_canonical(trine_view& view);

inline bool is_empty(const trine_view& view) {
  return view.rows == 0 || view.cols == 0 || view.batch == 0;
}

/// Do two views share a byte?
bool overlap(const Placed& a, const Placed& b);

/// Are the views the very same elements of one buffer?
bool is_same(const View& a, const View& b);
/// Refuses an output that shares bytes with `other`.
void check_apart(const View& output, const Placed& out, const Role& out_role, const View& other,
                 const Placed& in, const Role& in_role);

/// `value` as the operand dtype, or a refusal: scalars are never rounded.
trine_scalar exact_scalar(double value, Dtype dtype, const Role& role);

/// A scalar in the contract's form, and where its element lies if it is one of device memory.
struct Number {
  Number(const Scalar& scalar, Dtype dtype, const Role& role, const DeviceState* device, Mode mode);
  Number(const Number&) = delete;  // `placed` points to `view`

  trine_view view{};
  Placed placed;
  trine_number number{};
};

/// body(T{0}), of the C++ type of a dtype's numbers; nothing for plain bits.
template <class Body>
void visit_number(Dtype dtype, Body&& body) {
  switch (dtype) {
    case Dtype::f32: return body(0.0f);
    case Dtype::f64: return body(0.0);
    case Dtype::i32: return body(int32_t{0});
    case Dtype::i64: return body(int64_t{0});
    case Dtype::u32: return body(uint32_t{0});
    case Dtype::u64: return body(uint64_t{0});
    default: return;
  }
}

/// Refuses numerics that only a named rung may have.
void check_numerics(Numerics numerics, const Role& role);
/// Whether one of the two strides is 1, or 0 for an input that may repeat.
void check_unit_stride(const trine_view& view, const Role& role, bool may_repeat = false);
bool one_of(Dtype dtype, std::initializer_list<Dtype> legal);

}  // namespace trine::detail
