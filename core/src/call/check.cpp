// The three operations' checks: dtypes, shapes, views, scalars.
#include "check.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>

#include "backends/kit/bits.hpp"

namespace trine::detail {
namespace {

void check_numerics(Numerics numerics, const char* operation) {
  if (numerics != Numerics::reproducible && numerics != Numerics::fast) {
    refuse(operation,
           ": numerics can be asked for as 'reproducible' or 'fast'; study and vendor "
           "rungs are run by naming them.");
  }
}

bool one_of(Dtype dtype, std::initializer_list<Dtype> legal) {
  for (const Dtype candidate : legal) {
    if (dtype == candidate) return true;
  }
  return false;
}

/// gemm's kernels walk one of the two directions in steps of 1.
bool has_unit_stride(const trine_view& view) {
  return is_empty(view) || view.row_stride == 1 || view.col_stride == 1;
}

void check_unit_stride(const trine_view& view, const Role& role, bool may_repeat) {
  if (has_unit_stride(view)) return;
  if (may_repeat && (view.row_stride == 0 || view.col_stride == 0)) return;
  refuse(role.operation, ": ", role.name, " has strides ", view.row_stride, " and ",
         view.col_stride, "; one of them must be 1.");
}

void check_reduce_dtypes(const Reduce& op) {
  if (op.function < Function::sum || op.function > Function::argmax) {
    refuse("reduce: there is no function ", static_cast<uint32_t>(op.function), ".");
  }
  if (op.map < Map::identity || op.map > Map::square) {
    refuse("reduce: there is no map ", static_cast<uint32_t>(op.map), ".");
  }
  if (op.axis < Axis::all || op.axis > Axis::each_column) {
    refuse("reduce: there is no axis ", static_cast<uint32_t>(op.axis), ".");
  }
  if (op.map == Map::square && op.function != Function::sum) {
    refuse("reduce: square goes with sum alone, not with ", name(op.function), ".");
  }
  if (!one_of(op.input.dtype,
              {Dtype::f32, Dtype::f64, Dtype::i32, Dtype::i64, Dtype::u32, Dtype::u64})) {
    refuse("reduce: input: ", name(op.input.dtype),
           " can't be reduced; f32, f64, i32, i64, u32 and u64 can.");
  }
  const Dtype natural = result_dtype(op.function, op.map, op.input.dtype);
  const bool wide =
      op.function == Function::sum && op.input.dtype == Dtype::f32 && op.output.dtype == Dtype::f64;
  if (op.output.dtype != natural && !wide) {
    refuse("reduce: output: ", name(op.function), " with map ", name(op.map), " of ",
           name(op.input.dtype), " gives ", name(natural), ", the output is ",
           name(op.output.dtype), ".");
  }
}

/// The f32 of that value, if there is one: by its bits, since the caller's thread may round or flush otherwise.
std::optional<float> exact_f32(double value) {
  const auto bits = std::bit_cast<uint64_t>(value);
  const uint32_t sign = static_cast<uint32_t>(bits >> 63) << 31;
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023;
  const uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);
  if (kit::is_zero(value)) return std::bit_cast<float>(sign);
  if (exponent == 1024) return static_cast<float>(value);  // an infinity or a NaN
  if (exponent > 127 || exponent < -149) return std::nullopt;
  const bool normal = exponent >= -126;
  const int shift = normal ? 29 : 29 - 126 - exponent;
  const uint64_t significand = normal ? fraction : fraction | uint64_t{1} << 52;
  if (significand & ((uint64_t{1} << shift) - 1)) return std::nullopt;
  const uint32_t biased = normal ? static_cast<uint32_t>(exponent + 127) << 23 : 0;
  return std::bit_cast<float>(sign | biased | static_cast<uint32_t>(significand >> shift));
}

/// `value` as the operand dtype, or a refusal: alpha and beta are never rounded.
trine_scalar check_scalar(double value, Dtype dtype, const char* which) {
  trine_scalar scalar{};
  bool exact = true;
  if (dtype == Dtype::f64) {
    scalar.f64 = value;
  } else if (dtype == Dtype::f32) {
    const std::optional<float> narrow = exact_f32(value);
    exact = narrow.has_value();
    scalar.f32 = narrow.value_or(0);
  } else {
    exact = value >= INT32_MIN && value <= INT32_MAX && value == std::trunc(value);
    scalar.i32 = exact ? static_cast<int32_t>(value) : 0;
  }
  if (!exact) {
    char digits[40];
    std::snprintf(digits, sizeof digits, "%.17g", value);
    refuse("gemm: ", which, " = ", static_cast<const char*>(digits), " has no exact ", name(dtype),
           " value; round it where you mean to (0.1f).");
  }
  return scalar;
}

}  // namespace

void check(const Reduce& op, const DeviceState* device, Mode mode, trine_reduce& out) {
  static constexpr Role in{"reduce", "input", false}, result{"reduce", "output", true};
  check_numerics(op.numerics, "reduce");
  check_reduce_dtypes(op);
  const uint32_t in_bytes = size_of(op.input.dtype), out_bytes = size_of(op.output.dtype);
  if (op.input.batch != 1 || op.output.batch != 1) refuse("reduce: views have a batch of 1.");
  const Extent from = check_view(op.input, in_bytes, in_bytes, in, device, mode, out.input);
  const Extent to = check_view(op.output, out_bytes, out_bytes, result, device, mode, out.output);
  const int64_t results = op.axis == Axis::all        ? 1
                          : op.axis == Axis::each_row ? op.input.rows
                                                      : op.input.cols;
  if (op.output.rows != results || op.output.cols != 1) {
    refuse("reduce: output: ", op.output.rows, " x ", op.output.cols, ", but ", name(op.axis),
           " of ", op.input.rows, " x ", op.input.cols, " gives ", results, " x 1.");
  }
  check_apart(op.output, {out.output, to.first, to.last, out_bytes}, result, op.input,
              {out.input, from.first, from.last, in_bytes}, in);
  out.size = sizeof out;
  out.numerics = static_cast<uint32_t>(op.numerics);
  out.function = static_cast<uint32_t>(op.function);
  out.map = static_cast<uint32_t>(op.map);
  out.axis = static_cast<uint32_t>(op.axis);
  out.dtype = static_cast<uint32_t>(op.input.dtype);
  out.result_dtype = static_cast<uint32_t>(op.output.dtype);
  out.reserved = 0;
}

void check(const Transpose& op, const DeviceState* device, Mode mode, trine_transpose& out) {
  static constexpr Role in{"transpose", "input", false}, result{"transpose", "output", true};
  const uint32_t bytes = size_of(op.input.dtype);
  if (bytes == 0)
    refuse("transpose: input: there is no dtype ", static_cast<uint32_t>(op.input.dtype), ".");
  if (size_of(op.output.dtype) != bytes) {
    refuse("transpose: elements of ", name(op.input.dtype), " and ", name(op.output.dtype),
           " differ in size.");
  }
  if (op.output.rows != op.input.cols || op.output.cols != op.input.rows ||
      op.output.batch != op.input.batch) {
    refuse("transpose: output: ", op.output.rows, " x ", op.output.cols, ", batch ",
           op.output.batch, ", but the input's transpose is ", op.input.cols, " x ", op.input.rows,
           ", batch ", op.input.batch, ".");
  }
  const uint32_t alignment = alignment_of(op, bytes);
  const Extent from = check_view(op.input, bytes, alignment, in, device, mode, out.input);
  const Extent to = check_view(op.output, bytes, alignment, result, device, mode, out.output);
  check_unit_stride(out.input, in, true);
  check_unit_stride(out.output, result, false);
  check_apart(op.output, {out.output, to.first, to.last, bytes}, result, op.input,
              {out.input, from.first, from.last, bytes}, in);
  out.size = sizeof out;
  out.numerics = TRINE_REPRODUCIBLE;
  out.element_size = bytes;
  out.reserved = 0;
}

void check(const Gemm& op, const DeviceState* device, Mode mode, trine_gemm& out) {
  static constexpr Role a{"gemm", "a", false}, b{"gemm", "b", false}, c{"gemm", "c", true};
  check_numerics(op.numerics, "gemm");
  const Dtype dtype = op.a.dtype;
  if (!one_of(dtype, {Dtype::f32, Dtype::f64, Dtype::i32})) {
    refuse("gemm: a: ", name(dtype), " can't be multiplied; f32, f64 and i32 can.");
  }
  if (op.b.dtype != dtype || op.c.dtype != dtype) {
    refuse("gemm: a, b and c have one dtype; here they are ", name(dtype), ", ", name(op.b.dtype),
           " and ", name(op.c.dtype), ".");
  }
  if (op.a.rows != op.c.rows || op.b.cols != op.c.cols || op.a.cols != op.b.rows) {
    refuse("gemm: a ", op.a.rows, " x ", op.a.cols, " times b ", op.b.rows, " x ", op.b.cols,
           " doesn't give c ", op.c.rows, " x ", op.c.cols, ".");
  }
  if (op.a.batch != op.c.batch || op.b.batch != op.c.batch) {
    refuse("gemm: batches of a, b and c differ: ", op.a.batch, ", ", op.b.batch, ", ", op.c.batch,
           "; repeat an input with a batch stride of 0.");
  }
  out.alpha = check_scalar(op.alpha, dtype, "alpha");
  out.beta = check_scalar(op.beta, dtype, "beta");
  const uint32_t bytes = size_of(dtype);
  const Extent from_a = check_view(op.a, bytes, bytes, a, device, mode, out.a);
  const Extent from_b = check_view(op.b, bytes, bytes, b, device, mode, out.b);
  const Extent to = check_view(op.c, bytes, bytes, c, device, mode, out.c);
  check_unit_stride(out.a, a, false);
  check_unit_stride(out.b, b, false);
  check_unit_stride(out.c, c, false);
  const Placed written{out.c, to.first, to.last, bytes};
  check_apart(op.c, written, c, op.a, {out.a, from_a.first, from_a.last, bytes}, a);
  check_apart(op.c, written, c, op.b, {out.b, from_b.first, from_b.last, bytes}, b);
  out.size = sizeof out;
  out.numerics = static_cast<uint32_t>(op.numerics);
  out.dtype = static_cast<uint32_t>(dtype);
  out.reserved = 0;
}

}  // namespace trine::detail
