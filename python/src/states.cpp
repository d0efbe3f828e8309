// Sums and other reductions in parts, by states that merge.
#include <bit>
#include <cstring>

#include "flight.hpp"
#include "plan.hpp"
#include "streams.hpp"

namespace trine::python {
namespace {

/// Where parts of arrays are added: on the queue of an array's device, or from the host's memory.
class Adder {
 public:
  Adder(const Plan& plan, const Call& call)
      : plan_(plan),
        device_(plan.device(call)),
        buffers_(plan.buffers(device_)),
        ordered_(plan, call) {
    if (device_ && !call.rung.empty())
      throw Error(Status::unsupported, std::string(plan.operation) +
                                           ": of data on a device, Trine chooses the rung; '" +
                                           call.rung + "' can't be asked for.");
    options_ = {.device = call.device, .rung = call.rung, .numerics = call.numerics};
  }

  /// work() adds and writes, in the order of the arrays' other work.
  template <class Work>
  void run(Work&& work) {
    device_ ? ordered_.run(work) : work();
  }

  /// Adds the part whose elements begin at `first`; of two arrays their products.
  void add(ExactSum& sum, Map map, bool products, const std::array<int64_t, kArrays>& first) {
    if (device_) {
      const auto views = plan_.on_device(first, buffers_);
      products ? sum.add_dot(ordered_.queue(), views[0], views[1])
               : sum.add(ordered_.queue(), views[0], map);
    } else {
      const auto views = plan_.on_host(first);
      products ? sum.add_dot(views[0], views[1], options_) : sum.add(views[0], map, options_);
    }
  }
  /// The same; the elements have the indices from `index` on.
  void add(Partial& partial, int64_t index, const std::array<int64_t, kArrays>& first) {
    if (device_)
      partial.add(ordered_.queue(), plan_.on_device(first, buffers_)[0], index);
    else
      partial.add(plan_.on_host(first)[0], index, options_);
  }
  /// Writes a result to the last array.
  void write(const uint64_t& result, const std::array<int64_t, kArrays>& at) {
    const size_t last = plan_.arrays.size() - 1;
    if (device_)
      fill(ordered_.queue(), plan_.on_device(at, buffers_)[last], &result);
    else
      std::memcpy(plan_.output().host(at[last]), &result, size_of(plan_.output().dtype()));
  }

 private:
  const Plan& plan_;
  const Device& device_;
  std::array<Buffer, kArrays> buffers_;
  HostOptions options_;
  Ordered ordered_;
  Flight flight_;  ///< from here on without the interpreter's lock
};

/// Views of two axes of the first `count` arrays, which all parts share.
void set_shapes(Plan& plan, size_t count, const Axes& row, const Axes& inner) {
  for (size_t a = 0; a < count; ++a)
    plan.shapes[a] = {plan.arrays[a].array, row.extent,      inner.extent, 1,
                      row.strides[a],       inner.strides[a]};
}

}  // namespace

void reduce_in_states(Plan& plan, Function function, Map map, const std::vector<Axes>& kept,
                      std::vector<Axes> reduced, const Call& call) {
  const Array& output = plan.output();
  const size_t last = plan.arrays.size() - 1;
  const bool products = last == 2;
  const Axes inner = take_last(reduced), row = take_last(reduced);
  set_shapes(plan, last, row, inner);
  plan.check_output();
  const Partial none(function, plan.arrays[0].array->dtype(), products ? Map::identity : map);
  uint64_t value = 0;
  none.result(output.dtype(), &value);  // refuses an output of another dtype
  Call exactly = call;
  if (call.numerics == Numerics::fast)
    exactly.numerics = Numerics::reproducible;  // one of any orders
  Adder adder(plan, exactly);
  std::vector<uint64_t> results;
  const auto reduce_one = [&](const auto& result_at) {
    Partial partial = none;
    ExactSum sum;
    int64_t index = 0;
    each_part(reduced, [&](auto first) {
      for (size_t a = 0; a < last; ++a) first[a] += result_at[a];
      products ? adder.add(sum, map, true, first) : adder.add(partial, index, first);
      index += row.extent * inner.extent;
    });
    if (products)
      value = output.dtype() == Dtype::f32 ? std::bit_cast<uint32_t>(sum.round<float>())
                                           : std::bit_cast<uint64_t>(sum.round<double>());
    else
      partial.result(output.dtype(), &value);
    results.push_back(value);
  };
  adder.run([&] {
    each_part(kept, reduce_one);
    auto next = results.begin();  // all are there: nothing but a device fails any more
    each_part(kept, [&](const auto& at) { adder.write(*next++, at); });
  });
}

void add(ExactSum& sum, Map map, const Array& x, const Array* second, const Call& call) {
  Plan plan("sum", {{"x", &x}, {"y", second}});
  plan.check_numbers("added", "float32 and float64");
  std::vector<Axes> axes;
  for (size_t d = 0; d < x.rank(); ++d)
    axes.push_back({x.shape()[d], {x.strides()[d], second ? second->strides()[d] : 0}});
  axes = joined(std::move(axes), true);
  const Axes inner = take(axes, longer), row = take(axes, longer);
  set_shapes(plan, plan.arrays.size(), row, inner);
  ExactSum part;
  {
    Adder adder(plan, call);
    adder.run([&] {
      each_part(axes, [&](const auto& first) { adder.add(part, map, second != nullptr, first); });
    });
  }
  sum.merge(part);  // with the interpreter's lock again
}

void add(Partial& partial, const Array& x, int64_t first, const Call& call) {
  Plan plan("Partial", {{"x", &x}});
  plan.check_numbers("reduced", known_dtypes());
  std::vector<Axes> axes;
  for (size_t d = 0; d < x.rank(); ++d) axes.push_back({x.shape()[d], {x.strides()[d]}});
  axes = joined(std::move(axes), false);  // indices count in C's order
  const Axes inner = take_last(axes), row = take_last(axes);
  set_shapes(plan, 1, row, inner);
  Partial part(partial.function(), partial.dtype(), partial.map());
  {
    Adder adder(plan, call);
    adder.run([&] {
      each_part(axes, [&](const auto& at) {
        adder.add(part, first, at);
        first += row.extent * inner.extent;  // after the call, which refuses what overflows
      });
    });
  }
  partial.merge(part);  // with the interpreter's lock again
}

}  // namespace trine::python
