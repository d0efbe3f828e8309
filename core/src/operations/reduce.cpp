// reduce: sums, products and extrema of a view's elements, its rows or its columns; the dot product
// of two views.
#include <cstddef>
#include <cstring>
#include <limits>

#include "operations.hpp"

namespace trine::detail {
namespace {

constexpr Role kInput{"reduce", "input", false, offsetof(trine_reduce, input)};
constexpr Role kSecond{"reduce", "second", false, offsetof(trine_reduce, second)};
constexpr Role kOutput{"reduce", "output", true, offsetof(trine_reduce, output)};
constexpr Role kOperands[] = {kInput, kOutput};
constexpr Role kOfProduct[] = {kInput, kSecond, kOutput};
constexpr Field kKey[] = {kFunction, kMap, kAxis, kDtype, kResult, kLayout, kNumerics};

// The classes of a calibration. Sizes are odd, because programs' sizes are seldom multiples of a
// tile, and powers of two share cache sets. 1 is a special case; the next size is the first of
// those that behave alike. Time and memory limit how far up the grid is measured.
constexpr Function kFunctions[] = {Function::sum, Function::prod, Function::max, Function::argmax};
constexpr Axis kAxes[] = {Axis::all, Axis::each_row, Axis::each_column};
constexpr Dtype kDtypes[] = {Dtype::f32, Dtype::f64, Dtype::i32, Dtype::i64};
const std::vector<double> kElements{17,    65,     257,     1025,    4097,     16385,
                                    65537, 262145, 1048577, 4194305, 16777217, 67108865};

/// As trine_writes_states() in ops.h.
bool writes_states(const Reduce& op) {
  return op.function == Function::sum && one_of(op.input.dtype, {Dtype::f32, Dtype::f64}) &&
         op.output.dtype == Dtype::u64;
}

void check_dtypes(const Reduce& op) {
  if (op.function < Function::sum || op.function > Function::argmax) {
    refuse("reduce: there is no function ", static_cast<uint32_t>(op.function), ".");
  }
  if (op.map < Map::identity || op.map > Map::product) {
    refuse("reduce: there is no map ", static_cast<uint32_t>(op.map), ".");
  }
  if (op.axis < Axis::all || op.axis > Axis::each_column) {
    refuse("reduce: there is no axis ", static_cast<uint32_t>(op.axis), ".");
  }
  if ((op.map == Map::square || op.map == Map::product) && op.function != Function::sum) {
    refuse("reduce: map ", name(op.map), " needs function sum, not ", name(op.function), ".");
  }
  if (!one_of(op.input.dtype,
              {Dtype::f32, Dtype::f64, Dtype::i32, Dtype::i64, Dtype::u32, Dtype::u64})) {
    refuse("reduce: input: ", name(op.input.dtype),
           " can't be reduced; f32, f64, i32, i64, u32 and u64 can.");
  }
  if (writes_states(op)) return;
  const Dtype natural = result_dtype(op.function, op.map, op.input.dtype);
  const bool wide =
      op.function == Function::sum && op.input.dtype == Dtype::f32 && op.output.dtype == Dtype::f64;
  if (op.output.dtype != natural && !wide) {
    refuse("reduce: output: ", name(op.function), " with map ", name(op.map), " of ",
           name(op.input.dtype), " gives ", name(natural), ", the output is ",
           name(op.output.dtype), ".");
  }
}

/// `second` is for the map product alone, and must match the input.
void check_second(const Reduce& op) {
  const View &x = op.input, &y = op.second;
  const bool is_there = y.buffer || y.rows != 0 || y.cols != 0;
  const bool is_of_nothing = x.rows == 0 && x.cols == 0;  // whose second input must be empty
  if (op.map != Map::product) {
    if (is_there)
      refuse("reduce: second: map ", name(op.map), " takes one input; product takes two.");
    return;
  }
  if (!one_of(x.dtype, {Dtype::f32, Dtype::f64}))
    refuse("reduce: map product takes f32 and f64, the input is ", name(x.dtype), ".");
  if (!is_there && !is_of_nothing) {
    refuse("reduce: second: map product takes a second input of the input's shape, ", x.rows, " x ",
           x.cols, "; there is none.");
  }
  if (y.dtype != x.dtype)
    refuse("reduce: second: ", name(y.dtype), ", but the input is ", name(x.dtype), ".");
  if (y.rows != x.rows || y.cols != x.cols || y.batch != x.batch) {
    refuse("reduce: second: ", y.rows, " x ", y.cols, ", but the input is ", x.rows, " x ", x.cols,
           ".");
  }
}

/// The bits of the result of no elements.
uint64_t identity(const trine_reduce& reduce) {
  uint64_t bits = 0;
  visit_number(static_cast<Dtype>(reduce.result_dtype), [&]<class T>(T value) {
    using L = std::numeric_limits<T>;
    switch (reduce.function) {
      case TRINE_SUM: break;
      case TRINE_PROD: value = 1; break;
      case TRINE_MIN: value = L::has_infinity ? L::infinity() : L::max(); break;
      case TRINE_MAX: value = L::has_infinity ? -L::infinity() : L::lowest(); break;
      default: value = static_cast<T>(-1);
    }
    std::memcpy(&bits, &value, sizeof value);
  });
  return bits;
}

class ReduceDescription final : public Description {
 public:
  constexpr ReduceDescription()
      : Description({.operation = Operation::reduce,
                     .descriptor_bytes = sizeof(trine_reduce),
                     .key_fields = kKey,
                     .key_extents = 2,
                     .most_alignment = 8,
                     .is_cut = false,
                     .reads_only = true,
                     .moves_bits = false,
                     .has_scalars = false,
                     .largest_side = 0x1p40,
                     .size_words = " elements"}) {}

  Views views(void* any) const override {
    auto& op = *static_cast<Reduce*>(any);
    if (op.map == Map::product) return {{&op.input, &op.second, &op.output}, kOfProduct};
    return {{&op.input, &op.output}, kOperands};
  }

  void tell(const void* any, Receipt& receipt) const override {
    const auto& op = *static_cast<const Reduce*>(any);
    receipt.function = name(op.function);
    receipt.map = name(op.map);
    receipt.axis = name(op.axis);
    receipt.numerics = name(op.numerics);
  }

  void check(const void* any, const DeviceState* device, Mode mode,
             Descriptor& all) const override {
    const auto& op = *static_cast<const Reduce*>(any);
    trine_reduce& out = all.reduce;
    check_numerics(op.numerics, kInput);
    check_dtypes(op);
    if (op.input.batch != 1 || op.output.batch != 1) refuse("reduce: views have a batch of 1.");
    check_second(op);
    out.second = {};
    check_views(any, device, mode, all);
    const int64_t results = op.axis == Axis::all        ? 1
                            : op.axis == Axis::each_row ? op.input.rows
                                                        : op.input.cols;
    const int64_t words = writes_states(op) ? TRINE_EXACT_WORDS : 1;
    if (op.output.rows != results || op.output.cols != words) {
      refuse("reduce: output: ", op.output.rows, " x ", op.output.cols, ", but ", name(op.axis),
             " of ", op.input.rows, " x ", op.input.cols, " gives ", results, " x ", words,
             words == 1 ? "." : ", a state a row.");
    }
    if (words > 1 && op.output.col_stride != 1)
      refuse("reduce: output: states need a column stride of 1, not ", op.output.col_stride, ".");
    out.size = sizeof out;
    out.numerics = static_cast<uint32_t>(
        op.numerics == Numerics::exact ? Numerics::reproducible : op.numerics);  // sums are exact
    out.function = static_cast<uint32_t>(op.function);
    out.map = static_cast<uint32_t>(op.map);
    out.axis = static_cast<uint32_t>(op.axis);
    out.dtype = static_cast<uint32_t>(op.input.dtype);
    out.result_dtype = static_cast<uint32_t>(op.output.dtype);
    out.reserved = 0;
  }

  void size(const void* any, Work& work) const override {
    const auto& op = *static_cast<const Reduce*>(any);
    // A dot product reads two elements for each term, and takes as long as a sum of twice as many.
    const double each = op.map == Map::product ? 2 : 1;
    const double rows = double(op.input.rows), cols = double(op.input.cols);
    const bool columns = op.axis == Axis::each_column, all = op.axis == Axis::all;
    work.call_class = class_of(operation, op.function, op.axis, op.input.dtype);
    work.extents[0] = all ? each * rows * cols : columns ? cols : rows;
    work.extents[1] = all ? 1 : each * (columns ? rows : cols);
  }

  void log(const Descriptor& call, Logged& entry) const override {
    const trine_reduce& op = call.reduce;
    entry.function = name(static_cast<Function>(op.function)).data();
    entry.dtype = name(static_cast<Dtype>(op.dtype)).data();
    entry.extents[0] = op.input.rows;
    entry.extents[1] = op.input.cols;
  }

  TuningKey key(const Descriptor& call) const override {
    const trine_reduce& op = call.reduce;
    const bool all = op.axis == TRINE_ALL;
    TuningKey key{.extents = {all ? op.input.rows * op.input.cols : op.input.rows,
                              all ? 1 : op.input.cols, 1, 1}};
    key.set(kFunction, op.function).set(kMap, op.map).set(kAxis, op.axis).set(kDtype, op.dtype);
    key.set(kResult, op.result_dtype);
    return op.map == TRINE_PRODUCT ? key.set_layout({&op.input, &op.second})
                                   : key.set_layout({&op.input});
  }

  Empty empty(const Descriptor& call) const override {
    const trine_reduce& op = call.reduce;
    if (is_empty(op.output)) return {true};
    if (!is_empty(op.input)) return {};
    return {true, &op.output, identity(op), trine_dtype_size(op.result_dtype)};
  }

  std::vector<CallClass> classes() const override {
    const std::vector<double>& side = calibrated_sides();
    std::vector<CallClass> all;
    for (const Function function : kFunctions)
      for (const Axis axis : kAxes)
        for (const Dtype dtype : kDtypes) {
          const bool one = axis == Axis::all;
          all.push_back({operation, function, axis, dtype,
                         cat("reduce ", name(function), " ", name(dtype), " ", name(axis)),
                         Extents(one ? 1 : 2, one ? kElements : side)});
        }
    return all;
  }

  void standard(Function& function, Axis&, Dtype& dtype) const override {
    if (function == Function::min) function = Function::max;
    if (function == Function::argmin) function = Function::argmax;
    if (dtype == Dtype::u32) dtype = Dtype::i32;
    if (dtype == Dtype::u64) dtype = Dtype::i64;
  }

  AnyValue sample(const CallClass& kind, const std::vector<double>& extents) const override {
    const auto n = [&](std::size_t d) { return static_cast<int64_t>(extents[d]); };
    const auto view = [&](Dtype dtype, int64_t rows, int64_t cols) {
      return row_major({}, dtype, rows, cols);
    };
    Reduce op;
    op.function = kind.function;
    op.axis = kind.axis;
    op.input = kind.axis == Axis::all        ? view(kind.dtype, n(0), 1)
               : kind.axis == Axis::each_row ? view(kind.dtype, n(0), n(1))
                                             : view(kind.dtype, n(1), n(0));
    op.output = view(result_dtype(kind.function, Map::identity, kind.dtype),
                     kind.axis == Axis::all ? 1 : n(0), 1);
    return op;
  }

  std::string_view noun(Function function) const override { return name(function); }
};

constexpr ReduceDescription kReduce;

}  // namespace

const Description& describe(const Reduce&) { return kReduce; }

}  // namespace trine::detail
