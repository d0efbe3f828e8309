// Reductions of many fields: this rank's parts, on the host or on a device, and which of their
// elements count.
#include <trine/fitting.hpp>

#include <cstring>

#include "fields_call.hpp"
#include "matrix.hpp"
#include "place.hpp"

namespace trine::mpi {
namespace detail {
namespace {

using trine::detail::Fitting;

constexpr int64_t kMostFields = int64_t{1} << 20;
constexpr int64_t kChosenAtOnce = int64_t{1} << 16;  // elements, by masks
constexpr int64_t kFew = 64;                         // elements

bool has_memory(const ConstHostView& view) { return view.data != nullptr; }
bool has_memory(const View& view) { return bool(view.buffer); }

/// The bytes from a view's beginning to its end, and some more.
template <AnyView V>
Fitting<int64_t> bytes_of(const V& v) {
  const auto end = Fitting(v.rows) * v.row_stride + Fitting(v.cols) * v.col_stride +
                   Fitting(v.batch) * v.batch_stride + 1;
  return end * int64_t{size_of(v.dtype)};
}

template <AnyView V>
void check_view(const char* which, const V& v) {
  for (const int64_t number : {v.rows, v.cols, v.batch, v.row_stride, v.col_stride, v.batch_stride})
    if (number < 0) refuse(which, " have an extent or a stride of ", number, ".");
  const auto count = Fitting(v.rows) * v.cols * v.batch;
  if (!bytes_of(v).fits() || !count.fits()) refuse(which, " exceed 2^63 bytes.");
  if (count.value_or(0) != 0 && !has_memory(v)) refuse(which, " have no memory.");
}

/// Checks weights or a mask.
template <AnyView V>
void check_beside(const char* which, const V& v, const V& values) {
  check_view(which, v);
  if (v.rows != values.rows || v.cols != values.cols || (v.batch != 1 && v.batch != values.batch))
    refuse(which, " are ", v.batch, " of ", v.rows, " x ", v.cols, " elements, and the fields are ",
           values.batch, " of ", values.rows, " x ", values.cols, ".");
}

template <class F>
FieldsAsked asked_of(Function function, std::span<const F> list) {
  FieldsAsked all = {.function = function};
  if (!list.empty()) all.dtype = list[0].values.dtype;
  if (function != Function::sum && function != Function::min && function != Function::max)
    refuse("fields have sums, min and max, not ", name(function), ".");
  if (!all.has_states()) Partial(function, all.dtype);  // refuses dtypes
  for (const auto& [values, weights, mask] : list) {
    check_view("the values", values);
    if (values.dtype != all.dtype)
      refuse("one call has fields of ", name(all.dtype), " and of ", name(values.dtype), ".");
    if (weights) {
      if (!all.has_states()) refuse("weights go with sums of f32 or f64.");
      check_beside("the weights", *weights, values);
      if (weights->dtype != all.dtype)
        refuse("the weights are of ", name(weights->dtype), ", and the values of ", name(all.dtype),
               ".");
    }
    if (mask) {
      check_beside("the masks", *mask, values);
      if (size_of(mask->dtype) > 8 || size_of(mask->dtype) == 0)
        refuse("the elements of a mask have 1, 2, 4 or 8 bytes.");
    }
    if (values.batch > kMostFields - all.count)
      refuse("a call has at most ", kMostFields, " fields.");
    all.count += values.batch;
    for (int64_t i = 0; i < values.batch; ++i)
      all.digest = digest({int64_t(all.digest), weights ? 1 : 0});
    if (weights) all.weighted += values.batch;
  }
  return all;
}

/// One of the fields; of weights and masks the one that serves it.
template <AnyView V>
V one_of(V fields, int64_t i) {
  const int64_t bytes = fields.batch == 1 ? 0 : i * fields.batch_stride * size_of(fields.dtype);
  fields.batch = 1, fields.batch_stride = 0;
  if constexpr (std::same_as<V, View>)
    fields.offset += uint64_t(bytes);
  else
    fields.data = static_cast<const std::byte*>(fields.data) + bytes;
  return fields;
}
template <AnyView V>
std::optional<V> one_of(const std::optional<V>& fields, int64_t i) {
  return fields ? std::optional(one_of(*fields, i)) : std::nullopt;
}

/// Whether the elements of each field, row by row, lie at one distance.
template <AnyView V>
bool has_one_stride(const V& v) {
  return v.rows == 1 || v.cols == 1 ||
         v.row_stride == (Fitting(v.cols) * v.col_stride).value_or(-1);
}
/// Such fields, `count` of them, as the rows of a matrix.
template <AnyView V>
V as_rows(V v, int64_t count) {
  if (v.cols == 1) v.col_stride = v.row_stride;
  v.cols *= v.rows;
  v.row_stride = v.batch == 1 ? 0 : v.batch_stride;
  v.rows = count;
  v.batch = 1, v.batch_stride = 0;
  return v;
}

/// Reduces fields without a mask: as the rows of one matrix where they lie so, else one by one.
template <class Place, AnyView V>
void reduce_whole(Place& place, Function function, V values, std::optional<V> weights,
                  const Slots& slots, int64_t first) {
  const int64_t count = values.batch;
  if (!has_one_stride(values)) {
    values = transposed(values);
    if (weights) weights = transposed(*weights);
  }
  if (count > 1 && has_one_stride(values) && (!weights || has_one_stride(*weights))) {
    if (weights) weights = as_rows(*weights, count);
    return place.reduce(function, Axis::each_row, as_rows(values, count), weights,
                        slots.of(first, count));
  }
  for (int64_t i = 0; i < count; ++i)
    place.reduce(function, Axis::all, one_of(values, i), one_of(weights, i),
                 slots.of(first + i, 1));
}

template <class Body>
auto with_bits_of(Dtype dtype, Body&& body) {
  switch (size_of(dtype)) {
    case 1: return body(uint8_t{});
    case 2: return body(uint16_t{});
    case 4: return body(uint32_t{});
    default: return body(uint64_t{});
  }
}

/// Copies the elements of a row whose mask is set, one behind the other; returns their number. `to`
/// has room for all of the row.
int64_t choose(const ConstHostView& row, const ConstHostView& mask, std::byte* to) {
  return with_bits_of(row.dtype, [&]<class T>(T element) {
    return with_bits_of(mask.dtype, [&]<class M>(M is_set) {
      const auto* from = static_cast<const std::byte*>(row.data);
      const auto* flag = static_cast<const std::byte*>(mask.data);
      const int64_t step = row.col_stride * int64_t{sizeof element};
      const int64_t flags_step = mask.col_stride * int64_t{sizeof is_set};
      int64_t count = 0;
      for (int64_t j = 0; j < row.cols; ++j, from += step, flag += flags_step) {
        std::memcpy(&element, from, sizeof element);
        std::memcpy(&is_set, flag, sizeof is_set);
        std::memcpy(to + count * int64_t{sizeof element}, &element, sizeof element);
        count += is_set != 0 ? 1 : 0;
      }
      return count;
    });
  });
}

/// Reduces the elements of host memory that a mask chooses, some thousands at a time.
class Chosen {
 public:
  Chosen(const FieldsAsked& asked, const HostOptions& options)
      : asked_(asked),
        options_(options),
        values_(size_t(kChosenAtOnce * size_of(asked.dtype))),
        weights_(asked.weighted == 0 ? 0 : values_.size()) {
    options_.numerics = Numerics::reproducible;
  }

  void reduce(ConstHostView values, std::optional<ConstHostView> weights, ConstHostView mask,
              uint64_t* slot) {
    if (values.rows > values.cols) {  // rows are long
      values = transposed(values), mask = transposed(mask);
      if (weights) weights = transposed(*weights);
    }
    ExactSum sum;
    Partial partial(asked_.function, asked_.dtype);
    const auto add = [&] {
      const ConstHostView x = chosen(values_);
      if (!asked_.has_states())
        partial.add(x, 0, options_);
      else if (weights)
        sum.add_dot(x, chosen(weights_), options_);
      else
        sum.add(x, Map::identity, options_);
      count_ = 0;
    };
    for (int64_t i = 0; i < values.rows; ++i)
      for (int64_t j = 0, cols = 0; j < values.cols; j += cols) {
        cols = std::min(values.cols - j, kChosenAtOnce - count_);
        const ConstHostView flags = block(mask, i, j, 1, cols);
        const int64_t end = count_ * size_of(asked_.dtype);
        if (weights) choose(block(*weights, i, j, 1, cols), flags, weights_.data() + end);
        count_ += choose(block(values, i, j, 1, cols), flags, values_.data() + end);
        if (count_ == kChosenAtOnce) add();
      }
    if (count_ != 0) add();
    if (asked_.has_states())
      std::ranges::copy(sum.state(), slot);
    else
      *slot = partial.state()[1];
  }

 private:
  ConstHostView chosen(const std::vector<std::byte>& memory) const {
    return host_vector(memory.data(), asked_.dtype, count_);
  }

  FieldsAsked asked_;
  HostOptions options_;
  std::vector<std::byte> values_, weights_;
  int64_t count_ = 0;
};

/// Adds up few elements at once: a call on host data takes longer than that. False where their
/// exponents lie too far from each other.
bool add_few(Axis axis, const ConstHostView& values, const HostView& states) {
  auto* state = static_cast<uint64_t*>(states.data);
  Window sum;
  for (int64_t i = 0; i < values.rows; ++i) {
    for (int64_t j = 0; j < values.cols; ++j) {
      const ConstHostView element = block(values, i, j, 1, 1);
      float as_float = 0;
      double value = 0;
      if (values.dtype == Dtype::f32)
        OnHost::take(element, &as_float), value = as_float;
      else
        OnHost::take(element, &value);
      sum.merge(Window(value));
    }
    if (axis == Axis::all && i + 1 < values.rows) continue;
    if (sum.is_too_wide()) return false;
    state = std::ranges::copy(std::exchange(sum, {}).state(), state).out;
  }
  return true;
}

/// Host memory, and calls on host data.
class FieldsOnHost {
 public:
  using View = ConstHostView;
  explicit FieldsOnHost(const HostOptions& options) : place_(options) {}

  void begin(Channel& channel, const Slots&) {
    place_.begin();
    place_.device(channel);  // which may be asked for nothing else
  }
  void reduce(Function function, Axis axis, const View& values, const std::optional<View>& weights,
              const HostView& to) const {
    const bool has_few = to.cols > 1 && values.rows <= kFew && values.rows * values.cols <= kFew;
    if (has_few && !weights && !place_.tells_more() && add_few(axis, values, to)) return;
    if (weights)
      dot(values, *weights, to, axis, place_.options());
    else
      trine::reduce(function, Map::identity, axis, values, to, place_.options());
  }
  void end(const Slots&) const noexcept {}

  const HostOptions& options() const noexcept { return place_.options(); }
  static View on_host(const View& view, std::vector<std::byte>&) noexcept { return view; }

 private:
  OnHost place_;
};

/// A device's memory; the states or values come from there together.
class FieldsOnDevice {
 public:
  using View = trine::View;
  explicit FieldsOnDevice(Queue& queue) : queue_(queue) {}

  void begin(Channel&, const Slots& slots) {
    slots_ = slots.at;
    buffer_ = Buffer::of<uint64_t>(queue_.device(), slots.count * slots.words);
  }
  void reduce(Function function, Axis axis, const View& values, const std::optional<View>& weights,
              const HostView& to) {
    const View there = {
        buffer_,      to.dtype, uint64_t(static_cast<uint64_t*>(to.data) - slots_) * 8,
        to.rows,      to.cols,  1,
        to.row_stride};
    trine::run(queue_, Reduce{.function = function,
                              .map = weights ? Map::product : Map::identity,
                              .axis = axis,
                              .input = values,
                              .output = there,
                              .second = weights.value_or(View{})});
  }
  void end(const Slots& slots) {
    const int64_t words = slots.count * slots.words;
    trine::copy(queue_, vector(buffer_, Dtype::u64, words),
                host_vector(slots.at, Dtype::u64, words));
    queue_.wait();
  }

  static HostOptions options() { return {}; }
  /// A copy of a field with what lies between its elements.
  ConstHostView on_host(const View& view, std::vector<std::byte>& copy) {
    const int64_t size = size_of(view.dtype);
    const bool is_empty = view.rows == 0 || view.cols == 0;
    const int64_t bytes =
        is_empty
            ? 0
            : ((view.rows - 1) * view.row_stride + (view.cols - 1) * view.col_stride + 1) * size;
    copy.resize(size_t(bytes));
    const HostView all = host_vector(copy.data(), Dtype::b8, bytes);
    trine::copy(queue_, vector(view.buffer, Dtype::b8, bytes, view.offset), all);
    queue_.wait();
    return {copy.data(), view.dtype, view.rows, view.cols, 1, view.row_stride, view.col_stride};
  }

 private:
  Queue queue_;
  Buffer buffer_;
  const uint64_t* slots_ = nullptr;
};

/// A rank's parts of the fields.
template <class Place, class F>
class Parts {
 public:
  template <class Where>
  Parts(Where& where, std::span<const F> list) : place_(where), list_(list) {}

  FieldsAsked asked(Function function) const { return asked_of(function, list_); }

  void reduce(const FieldsAsked& asked, const Slots& slots, Channel& channel) {
    place_.begin(channel, slots);
    for_each([&](const F& fields, int64_t first) {
      if (!fields.mask)
        reduce_whole(place_, asked.function, fields.values, fields.weights, slots, first);
    });
    place_.end(slots);
    std::optional<Chosen> chosen;
    for_each([&](const F& fields, int64_t first) {
      if (!fields.mask) return;
      if (!chosen) chosen.emplace(asked, place_.options());
      reduce_chosen(*chosen, fields, slots.at + first * slots.words, slots.words);
    });
    if (slots.words != 1) return;
    for (uint64_t& bits :
         std::span(slots.at, size_t(slots.count)))  // as Partials have their values
      bits = trine::detail::canonical(slots.dtype, bits);
  }

 private:
  template <class Body>
  void for_each(Body&& body) const {
    int64_t first = 0;
    for (const F& fields : list_) body(fields, std::exchange(first, first + fields.values.batch));
  }
  void reduce_chosen(Chosen& chosen, const F& fields, uint64_t* slot, int64_t words) {
    std::optional<ConstHostView> weights, mask;
    // Those of a batch of 1 serve all fields, and come from the device once.
    const auto take = [&](auto& here, const auto& there, int64_t i, auto& copy) {
      if (there && (i == 0 || there->batch != 1)) here = place_.on_host(one_of(*there, i), copy);
    };
    for (int64_t i = 0; i < fields.values.batch; ++i, slot += words) {
      take(weights, fields.weights, i, copies_[0]);
      take(mask, fields.mask, i, copies_[2]);
      chosen.reduce(place_.on_host(one_of(fields.values, i), copies_[1]), weights, *mask, slot);
    }
  }

  Place place_;
  std::span<const F> list_;
  std::vector<std::byte> copies_[3];
};

}  // namespace
}  // namespace detail

void reduce_fields(Function function, std::span<const Fields> fields, const HostView& results,
                   MPI_Comm comm, const HostOptions& options) {
  using namespace detail;
  Parts<FieldsOnHost, Fields> parts(options, fields);
  run<FieldsCall>(comm, function, parts, results);
}

void reduce_fields(Function function, Queue& queue, std::span<const DeviceFields> fields,
                   const HostView& results, MPI_Comm comm) {
  using namespace detail;
  Parts<FieldsOnDevice, DeviceFields> parts(queue, fields);
  run<FieldsCall>(comm, function, parts, results);
}

}  // namespace trine::mpi
