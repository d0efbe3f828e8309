// Cutting arrays into views, and running the library on them without the interpreter's lock.
#include "calls.hpp"

#include <utility>

#include "flight.hpp"
#include "parts.hpp"

namespace trine::python {
namespace {

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

/// An operation over two or three arrays, the output last.
struct Plan {
  /// Refuses what the library couldn't see, because parts are all that it is shown.
  Plan(const char* word, std::initializer_list<Named> all);

  const char* operation;
  std::vector<Named> arrays;
  std::array<Shape, kArrays> shapes;
  std::vector<Axes> parts;  ///< what one view can't hold

  const Array& output() const { return *arrays.back().array; }
};

Plan::Plan(const char* word, std::initializer_list<Named> all) : operation(word) {
  for (const Named& one : all) {
    if (!one.array) continue;
    shapes[arrays.size()].array = one.array;
    arrays.push_back(one);
  }
  for (const auto& [name, array] : arrays) {
    for (size_t d = 0; d < array->rank(); ++d)
      if (array->strides()[d] < 0 && array->shape()[d] > 1)
        refuse(operation, ": ", name, ": strides are never negative: ", array->strides()[d],
               " along axis ", d, "; numpy.ascontiguousarray() makes a copy.");
    if (!(array->device() == output().device()))
      refuse(operation, ": ", name, " lies in ", array->place(), ", ", arrays.back().name, " in ",
             output().place(), "; Trine copies neither.");
  }
}

/// The views of the part whose elements begin at `first`.
std::array<View, kArrays> views_on_device(const Plan& plan,
                                          const std::array<int64_t, kArrays>& first,
                                          const std::array<Buffer, kArrays>& buffers) {
  std::array<View, kArrays> all;
  for (size_t a = 0; a < plan.arrays.size(); ++a)
    all[a] = plan.shapes[a].on_device(first[a], buffers[a]);
  return all;
}
std::array<HostView, kArrays> views_on_host(const Plan& plan,
                                            const std::array<int64_t, kArrays>& first) {
  std::array<HostView, kArrays> all;
  for (size_t a = 0; a < plan.arrays.size(); ++a) all[a] = plan.shapes[a].on_host(first[a]);
  return all;
}

/// What earlier parts write, later ones may not read.
void check_parts(const Plan& plan) {
  const auto& [name, output] = plan.arrays.back();
  if (plan.parts.empty() || output->size() == 0) return;
  if (!output->elements_apart())
    refuse(plan.operation, ": ", name, ": an output's elements may not overlap or repeat.");
  for (const Named& input : plan.arrays)
    if (input.array != output && output->meets(*input.array))
      refuse(plan.operation, ": ", name, " overlaps ", input.name,
             "; an output may share no memory with an input.");
}

/// The device of the arrays, empty for the host's memory; `call` may not name another.
const Device& device_of(const Plan& plan, const Call& call) {
  const Device& device = plan.output().device();
  if (device && call.device != "auto" && !(open(call.device) == device))
    refuse(plan.operation, ": the data lies on ", device.id(), ", device='", call.device,
           "' was asked for; Trine doesn't copy it there.");
  return device;
}

/// Runs `on_host(views, options)` on each part, or `on_device(views)`'s operation.
template <class OnHost, class Operation>
Answer run(const Plan& plan, const Call& call, OnHost&& on_host, Operation&& operation) {
  check_parts(plan);
  const Device& device = device_of(plan, call);
  std::array<Buffer, kArrays> buffers;
  bool pinned = true;
  for (size_t a = 0; a < plan.arrays.size(); ++a) {
    pinned = pinned && plan.arrays[a].array->pinned();
    if (device) buffers[a] = plan.arrays[a].array->buffer();
  }
  const auto views = [&](const std::array<int64_t, kArrays>& first) {
    return views_on_device(plan, first, buffers);
  };
  const Flight flight;
  if (call.asks) {
    const std::vector<Device> named =
        call.device == "auto" ? std::vector<Device>{} : std::vector{open(call.device)};
    return place(operation(views({})), device ? Where::device : call.where, call.repeats, named);
  }
  if (device) {
    Queue queue = Queue::adopt(device, plan.output().queue());
    each_part(plan.parts,
              [&](const auto& first) { trine::run(queue, operation(views(first)), call.rung); });
    queue.wait();
    return {};
  }
  const HostOptions options{
      .device = call.device, .rung = call.rung, .numerics = call.numerics, .pinned = pinned};
  each_part(plan.parts, [&](const auto& first) { on_host(views_on_host(plan, first), options); });
  return {};
}

}  // namespace

Answer reduce(Function function, Map map, const Array& input, const Array* second,
              const Array& output, const std::vector<size_t>& axes, bool keepdims,
              const Call& call) {
  Plan plan("reduce", {{"input", &input}, {"second", second}, {"output", &output}});
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
  // Positions count for arg…, and products are rounded in order.
  const bool any_order = function != Function::prod && function < Function::argmin;
  kept = joined(kept, true);
  reduced = joined(reduced, any_order);
  if (reduced.size() > 2)
    refuse(
        "reduce: input: the reduced axes don't lie as a matrix in memory, and Trine makes no copy; "
        "numpy.ascontiguousarray() does.");
  Axes row{1, {1, 1, 1}}, inner = row;  // of the views
  Axis axis = Axis::all;
  if (reduced.size() == 2) {
    row = reduced[0], inner = reduced[1];
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
  all = joined(all, true);
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
  parts = joined(parts, true);
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

namespace {

/// Calls on_host(views, options) or on_device(queue, views) for each part, on the queue of the first array.
template <class OnHost, class OnDevice>
void each_call(const Plan& plan, const Call& call, OnHost&& on_host, OnDevice&& on_device) {
  const Device& device = device_of(plan, call);
  if (device && !call.rung.empty())
    throw Error(Status::unsupported, std::string(plan.operation) +
                                         ": of data on a device, Trine chooses the rung; '" +
                                         call.rung + "' can't be asked for.");
  std::array<Buffer, kArrays> buffers;
  if (device)
    for (size_t a = 0; a < plan.arrays.size(); ++a) buffers[a] = plan.arrays[a].array->buffer();
  const Flight flight;
  Queue queue = device ? Queue::adopt(device, plan.arrays[0].array->queue()) : Queue();
  const HostOptions options{.device = call.device, .rung = call.rung, .numerics = call.numerics};
  each_part(plan.parts, [&](const auto& first) {
    if (device)
      on_device(queue, views_on_device(plan, first, buffers));
    else
      on_host(views_on_host(plan, first), options);
  });
}

}  // namespace

void add(ExactSum& sum, Map map, const Array& x, const Array* second, const Call& call) {
  Plan plan("sum", {{"x", &x}, {"y", second}});
  std::vector<Axes> axes;
  for (size_t d = 0; d < x.rank(); ++d)
    axes.push_back({x.shape()[d], {x.strides()[d], second ? second->strides()[d] : 0}});
  axes = joined(axes, true);
  const Axes inner = take(axes, longer), row = take(axes, longer);
  for (size_t a = 0; a < plan.arrays.size(); ++a)
    plan.shapes[a] = {plan.arrays[a].array, row.extent,      inner.extent, 1,
                      row.strides[a],       inner.strides[a]};
  plan.parts = std::move(axes);
  ExactSum part;
  each_call(
      plan, call,
      [&](const auto& views, const HostOptions& options) {
        if (second)
          part.add_dot(views[0], views[1], options);
        else
          part.add(views[0], map, options);
      },
      [&](Queue& queue, const auto& views) {
        if (second)
          part.add_dot(queue, views[0], views[1]);
        else
          part.add(queue, views[0], map);
      });
  sum.merge(part);
}

void add(Partial& partial, const Array& x, int64_t first, const Call& call) {
  Plan plan("Partial", {{"x", &x}});
  std::vector<Axes> axes;
  for (size_t d = 0; d < x.rank(); ++d) axes.push_back({x.shape()[d], {x.strides()[d]}});
  axes = joined(axes, false);  // indices count in C's order
  const auto last = [&] {
    if (axes.empty()) return Axes{};
    const Axes taken = axes.back();
    axes.pop_back();
    return taken;
  };
  const Axes inner = last(), row = last();
  plan.shapes[0] = {&x, row.extent, inner.extent, 1, row.strides[0], inner.strides[0]};
  plan.parts = std::move(axes);
  Partial part(partial.function(), partial.dtype(), partial.map());
  const int64_t count =
      row.extent * inner.extent;  // added after the call, which refuses what overflows
  each_call(
      plan, call,
      [&](const auto& views, const HostOptions& options) {
        part.add(views[0], first, options);
        first += count;
      },
      [&](Queue& queue, const auto& views) {
        part.add(queue, views[0], first);
        first += count;
      });
  partial.merge(part);
}

}  // namespace trine::python
