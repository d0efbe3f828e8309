// Sums and other reductions in parts, by states that merge.
#include <bit>
#include <cstring>

#include "flight.hpp"
#include "plan.hpp"

namespace trine::python {
namespace {

void check_rung(const Plan& plan, const Device& device, const Call& call) {
  if (device && !call.rung.empty())
    throw Error(Status::unsupported, std::string(plan.operation) +
                                         ": of data on a device, Trine chooses the rung; '" +
                                         call.rung + "' can't be asked for.");
}

/// Calls on_host(views, options) or on_device(queue, views) for each part, on the queue of the first array.
template <class OnHost, class OnDevice>
void each_call(const Plan& plan, const Call& call, OnHost&& on_host, OnDevice&& on_device) {
  const Device& device = plan.device(call);
  check_rung(plan, device, call);
  const std::array<Buffer, kArrays> buffers = plan.buffers(device);
  const Flight flight;
  Queue queue = device ? Queue::adopt(device, plan.arrays[0].array->queue()) : Queue();
  const HostOptions options{.device = call.device, .rung = call.rung, .numerics = call.numerics};
  each_part(plan.parts, [&](const auto& first) {
    if (device)
      on_device(queue, plan.on_device(first, buffers));
    else
      on_host(plan.on_host(first), options);
  });
}

}  // namespace

void reduce_in_states(Plan& plan, Function function, Map map, const std::vector<Axes>& kept,
                      std::vector<Axes> reduced, const Call& call) {
  const size_t last = plan.arrays.size() - 1;
  const Array& output = plan.output();
  const Dtype dtype = plan.arrays[0].array->dtype(), kind = output.dtype();
  const bool products = last == 2;
  const Axes inner = take_last(reduced), row = take_last(reduced);
  for (size_t a = 0; a < last; ++a)
    plan.shapes[a] = {plan.arrays[a].array, row.extent,      inner.extent, 1,
                      row.strides[a],       inner.strides[a]};
  plan.check_output();
  const Partial none(function, dtype, products ? Map::identity : map);
  uint64_t value = 0;
  none.result(kind, &value);  // refuses an output of another dtype
  const Device& device = plan.device(call);
  check_rung(plan, device, call);
  const std::array<Buffer, kArrays> buffers = plan.buffers(device);
  const Flight flight;
  Queue queue = device ? Queue::adopt(device, output.queue()) : Queue();
  HostOptions options{.device = call.device, .rung = call.rung, .numerics = call.numerics};
  if (call.numerics == Numerics::fast)
    options.numerics = Numerics::reproducible;  // one of any orders
  std::vector<uint64_t> results;
  each_part(kept, [&](const auto& result_at) {
    Partial partial = none;
    ExactSum sum;
    int64_t index = 0;
    each_part(reduced, [&](auto first) {
      for (size_t a = 0; a < last; ++a) first[a] += result_at[a];
      if (device) {
        const auto views = plan.on_device(first, buffers);
        products ? sum.add_dot(queue, views[0], views[1]) : partial.add(queue, views[0], index);
      } else {
        const auto views = plan.on_host(first);
        products ? sum.add_dot(views[0], views[1], options) : partial.add(views[0], index, options);
      }
      index += row.extent * inner.extent;
    });
    if (products)
      value = kind == Dtype::f32 ? std::bit_cast<uint32_t>(sum.round<float>())
                                 : std::bit_cast<uint64_t>(sum.round<double>());
    else
      partial.result(kind, &value);
    results.push_back(value);
  });
  auto next = results.begin();  // all are there: nothing fails any more
  each_part(kept, [&](const auto& at) {
    const uint64_t& result = *next++;
    if (device)
      copy(queue, host_vector(&result, kind, 1), plan.on_device(at, buffers)[last]);
    else
      std::memcpy(output.host(at[last]), &result, size_of(kind));
  });
  if (device) queue.wait();
}

void add(ExactSum& sum, Map map, const Array& x, const Array* second, const Call& call) {
  Plan plan("sum", {{"x", &x}, {"y", second}});
  plan.check_numbers("added", "float32 and float64");
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
  plan.check_numbers("reduced", known_dtypes());
  std::vector<Axes> axes;
  for (size_t d = 0; d < x.rank(); ++d) axes.push_back({x.shape()[d], {x.strides()[d]}});
  axes = joined(axes, false);  // indices count in C's order
  const Axes inner = take_last(axes), row = take_last(axes);
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
