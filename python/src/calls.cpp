// Cutting arrays into views, and running the library on them without the interpreter's lock.
#include "calls.hpp"

#include <bit>
#include <cmath>
#include <utility>

#include "flight.hpp"
#include "plan.hpp"
#include "streams.hpp"

namespace trine::python {
namespace {

/// Runs `on_host(views, options)` on each part, or `on_device(views)`'s operation.
template <class OnHost, class Operation>
Answer run(const Plan& plan, const Call& call, OnHost&& on_host, Operation&& operation) {
  if (!plan.parts.empty()) plan.check_output();
  const Device& device = plan.device(call);
  const std::array<Buffer, kArrays> buffers = plan.buffers(device);
  const bool pinned =
      std::ranges::all_of(plan.arrays, [](const Named& one) { return one.array->pinned(); });
  const auto views = [&](const std::array<int64_t, kArrays>& first) {
    return plan.on_device(first, buffers);
  };
  Ordered ordered(plan, call);
  const Flight flight;
  if (call.asks) {
    const std::vector<Device> named =
        call.device == "auto" ? std::vector<Device>{} : std::vector{open(call.device)};
    return place(operation(views({})), device ? Where::device : call.where, call.repeats, named);
  }
  if (device) {
    ordered.run([&] {
      each_part(plan.parts, [&](const auto& first) {
        trine::run(ordered.queue(), operation(views(first)), call.rung);
      });
    });
    return {};
  }
  const HostOptions options{
      .device = call.device, .rung = call.rung, .numerics = call.numerics, .pinned = pinned};
  each_part(plan.parts, [&](const auto& first) { on_host(plan.on_host(first), options); });
  return {};
}

/// The f32 nearest to a number, ties to even, whatever the caller's thread rounds to and flushes;
/// what is beyond all f32 stays as it is, for the library to refuse.
double nearest_f32(double value) {
  const auto bits = std::bit_cast<uint64_t>(value);
  const int exponent = int(bits >> 52 & 0x7ff) - 1023;
  if (exponent > 127) return value;                       // Inf and NaN, too
  const int dropped = 29 + std::max(0, -126 - exponent);  // bits of the significand that f32 lacks
  if (dropped > 53) return std::copysign(0.0, value);
  const uint64_t implied = uint64_t{1} << 52, significand = (bits & (implied - 1)) | implied;
  const uint64_t half = uint64_t{1} << (dropped - 1), rest = significand & (2 * half - 1);
  uint64_t kept = significand >> dropped;
  kept += rest > half || (rest == half && kept % 2 == 1) ? 1 : 0;
  return std::copysign(std::ldexp(double(kept), exponent - 52 + dropped), value);
}

}  // namespace

Answer reduce(Function function, Map map, const Array& input, const Array* second,
              const Array& output, const std::vector<size_t>& axes, bool keepdims,
              const Call& call) {
  Plan plan("reduce", {{"input", &input}, {"second", second}, {"output", &output}});
  plan.check_numbers("reduced", known_dtypes());
  const size_t last = plan.arrays.size() - 1;
  std::vector<Axes> kept, reduced;
  for (size_t d = 0, out = 0; d < input.rank(); ++d) {
    const bool gone = std::ranges::find(axes, d) != axes.end();
    Axes axis{input.shape()[d], {input.strides()[d]}};
    if (second) axis.strides[1] = second->strides()[d];
    if (!gone) axis.strides[last] = output.strides()[out];
    out += !gone || keepdims ? 1 : 0;
    (gone ? reduced : kept).push_back(axis);
  }
  // Positions count for arg…, and products of floats are rounded in order.
  const bool floats = input.dtype() == Dtype::f32 || input.dtype() == Dtype::f64;
  const bool any_order = function < Function::argmin && !(function == Function::prod && floats);
  kept = joined(std::move(kept), true);
  reduced = joined(std::move(reduced), any_order);
  if (reduced.size() > 2 && !call.asks) {
    reduce_in_states(plan, function, map, kept, std::move(reduced), call);
    return {};
  }
  Axes row{1, {1, 1, 1}}, inner = row;  // of the views
  Axis axis = Axis::all;
  if (reduced.size() >= 2) {
    inner = take_last(reduced), row = take_last(reduced);
  } else {
    if (!reduced.empty()) inner = reduced[0];
    if (!kept.empty()) {
      row = take(kept, longer);
      plan.shapes[last].rows = row.extent, plan.shapes[last].row_stride = row.strides[last];
      axis = Axis::each_row;
      if (row.strides[0] < inner.strides[0]) std::swap(row, inner), axis = Axis::each_column;
    }
  }
  for (size_t a = 0; a < last; ++a)
    plan.shapes[a] = {a == 0 ? &input : second, row.extent,      inner.extent, 1,
                      row.strides[a],           inner.strides[a]};
  plan.parts = std::move(kept);
  return run(
      plan, call,
      [&](const auto& views, const HostOptions& options) {
        if (second) return dot(views[0], views[1], views[2], axis, options);
        trine::reduce(function, map, axis, views[0], views[1], options);
      },
      [&](const auto& views) {
        Reduce operation{function, map, axis, views[0], views[last], call.numerics};
        if (second) operation.second = views[1];
        return operation;
      });
}

Answer transpose(const Array& input, const Array& output, const std::vector<size_t>& axes,
                 const Call& call) {
  Plan plan("transpose", {{"input", &input}, {"output", &output}});
  std::vector<Axes> all;
  for (size_t d = 0; d < output.rank(); ++d)
    all.push_back({output.shape()[d], {input.strides()[axes[d]], output.strides()[d]}});
  all = joined(std::move(all), true);
  const auto nearer = [](size_t array) {  // a stride of 1 first, then by size, 0 last
    return [array](const Axes& a, const Axes& b) {
      return uint64_t(a.strides[array]) - 1 < uint64_t(b.strides[array]) - 1;
    };
  };
  // The input's rows become the output's columns: along them, the output has its unit stride.
  const Axes down = take(all, nearer(1)), along = take(all, nearer(0));
  const Axes batch = take(all, longer);
  plan.parts = std::move(all);
  plan.shapes[0] = {&input,          down.extent,      along.extent,    batch.extent,
                    down.strides[0], along.strides[0], batch.strides[0]};
  plan.shapes[1] = {&output,          along.extent,    down.extent,     batch.extent,
                    along.strides[1], down.strides[1], batch.strides[1]};
  return run(
      plan, call,
      [](const auto& views, const HostOptions& options) {
        trine::transpose(views[0], views[1], options);
      },
      [](const auto& views) {
        return Transpose{views[0], views[1]};
      });
}

Answer matmul(double alpha, const Array& a, const Array& b, double beta, const Array& output,
              const Call& call) {
  Plan plan("gemm", {{"a", &a}, {"b", &b}, {"c", &output}});
  plan.check_numbers("multiplied", kMultiplied);
  if (a.dtype() == Dtype::f32) alpha = nearest_f32(alpha), beta = nearest_f32(beta);
  // A vector is a row or a column, of the output too; what is left are batches.
  const bool row = a.rank() == 1, column = b.rank() == 1;
  const bool without_rows[] = {row, false, row}, without_cols[] = {false, column, column};
  std::array<size_t, kArrays> batches{};
  for (size_t i = 0; i < kArrays; ++i) {
    Shape& shape = plan.shapes[i];
    size_t d = shape.array->rank();
    const auto next = [&](int64_t& extent, int64_t& stride) {
      --d, extent = shape.array->shape()[d];
      stride =
          std::max<int64_t>(shape.array->strides()[d], 0);  // negative where there is one element
    };
    if (!without_cols[i]) next(shape.cols, shape.col_stride);
    if (!without_rows[i]) next(shape.rows, shape.row_stride);
    batches[i] = d;
  }
  std::vector<Axes> parts(batches[2]);
  for (size_t d = 0; d < parts.size(); ++d) {
    parts[d].extent = output.shape()[d];
    for (size_t i = 0; i < kArrays; ++i) {  // from the right, as NumPy broadcasts
      const Array& array = *plan.shapes[i].array;
      const size_t missing = batches[2] - batches[i];
      if (d >= missing && array.shape()[d - missing] != 1)
        parts[d].strides[i] = array.strides()[d - missing];
    }
  }
  parts = joined(std::move(parts), true);
  const Axes batch = take(parts, longer);
  for (size_t i = 0; i < kArrays; ++i)
    plan.shapes[i].batch = batch.extent, plan.shapes[i].batch_stride = batch.strides[i];
  plan.parts = std::move(parts);
  return run(
      plan, call,
      [&](const auto& views, const HostOptions& options) {
        gemm(alpha, views[0], views[1], beta, views[2], options);
      },
      [&](const auto& views) {
        return Gemm{alpha, beta, views[0], views[1], views[2], call.numerics};
      });
}

}  // namespace trine::python
