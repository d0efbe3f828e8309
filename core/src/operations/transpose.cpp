// transpose: bits moved from rows to columns.
#include <cstddef>

#include "operations.hpp"

namespace trine::detail {
namespace {

constexpr Role kOperands[] = {{"transpose", "input", false, offsetof(trine_transpose, input)},
                              {"transpose", "output", true, offsetof(trine_transpose, output)}};
constexpr Field kKey[] = {kDtype, kLayout, kNumerics};
constexpr Dtype kMoved[] = {Dtype::b8, Dtype::b16, Dtype::b32, Dtype::b64, Dtype::b128};

Dtype bits_of(std::size_t element) {
  for (const Dtype bits : kMoved)
    if (size_of(bits) == element) return bits;
  return Dtype::b128;
}

class TransposeDescription final : public Description {
 public:
  constexpr TransposeDescription()
      : Description({.operation = Operation::transpose,
                     .descriptor_bytes = sizeof(trine_transpose),
                     .key_fields = kKey,
                     .key_extents = 3,
                     .most_alignment = 4,  // bits are moved in words of 4 bytes
                     .is_cut = true,
                     .reads_only = false,
                     .moves_bits = true,
                     .has_scalars = false,
                     .largest_side = 0x1p20,
                     .size_words = " of n x n"}) {}

  Views views(void* any) const override {
    auto& op = *static_cast<Transpose*>(any);
    return {{&op.input, &op.output}, kOperands};
  }

  bool goes_in_place(const void* any) const override {
    const View& input = static_cast<const Transpose*>(any)->input;
    return input.rows == input.cols;
  }
  void tell(const void*, Receipt&) const override {}

  void check(const void* any, const DeviceState* device, Mode mode,
             Descriptor& all) const override {
    const auto& op = *static_cast<const Transpose*>(any);
    trine_transpose& out = all.transpose;
    const uint32_t bytes = element_of(op.input.dtype, kOperands[0]);
    if (size_of(op.output.dtype) != bytes) {
      refuse("transpose: elements of ", name(op.input.dtype), " and ", name(op.output.dtype),
             " differ in size.");
    }
    if (op.output.rows != op.input.cols || op.output.cols != op.input.rows ||
        op.output.batch != op.input.batch) {
      refuse("transpose: output: ", op.output.rows, " x ", op.output.cols, ", batch ",
             op.output.batch, ", but the input's transpose is ", op.input.cols, " x ",
             op.input.rows, ", batch ", op.input.batch, ".");
    }
    const bool in_place = is_same(op.input, op.output) && goes_in_place(any);
    if (in_place) {
      check_view(op.output, bytes, alignment(bytes), kOperands[1], device, mode, out.output);
      out.input = out.output;
    } else {
      check_views(any, device, mode, all);
    }
    check_unit_stride(out.input, kOperands[0], true);
    check_unit_stride(out.output, kOperands[1]);
    out.size = sizeof out;
    out.numerics = TRINE_REPRODUCIBLE;
    out.element_size = bytes;
    out.reserved = 0;
    if (in_place) set_temporary(all, out.input, bytes, true);
  }

  void size(const void* any, Work& work) const override {
    const auto& op = *static_cast<const Transpose*>(any);
    work.call_class = class_of(operation, {}, {}, op.input.dtype);
    work.extents[0] = double(op.input.rows) * double(op.input.batch);
    work.extents[1] = double(op.input.cols);
  }

  /// Cuts a batch between its matrices, else one matrix along the wider stride of the input.
  Cutting cutting(const void* any, const CutWish& wish) const override {
    const auto& op = *static_cast<const Transpose*>(any);
    const double moved = bytes(op.input) + bytes(op.output);
    const View &input = op.input, &output = op.output;
    Cutting chunks;
    if (input.batch > 1) {
      for (const Range& some : cut(input.batch, moved, 1, wish))
        chunks.push_back({{of_batch(input, some), of_batch(output, some)}});
      return chunks;
    }
    if (!wish.pinned)
      return {};  // on one side the chunks are narrow, which costs what overlapping saves
    const bool by_rows = input.row_stride >= input.col_stride;
    for (const Range& some : cut(by_rows ? input.rows : input.cols, moved, kGranule, wish)) {
      Part from = whole(input), to = whole(output);
      (by_rows ? from.rows : from.cols) = (by_rows ? to.cols : to.rows) = some;
      chunks.push_back({{from, to}});
    }
    return chunks;
  }

  void log(const Descriptor& call, Logged& entry) const override {
    entry.extents[0] = call.transpose.input.rows;
    entry.extents[1] = call.transpose.input.cols;
  }

  TuningKey key(const Descriptor& call) const override {
    const trine_transpose& op = call.transpose;
    TuningKey key{.extents = {op.input.rows, op.input.cols, op.input.batch, 1}};
    key.set(kDtype, static_cast<uint32_t>(bits_of(op.element_size)));
    return key.set_layout({&op.input, &op.output});
  }

  Empty empty(const Descriptor& call) const override { return {is_empty(call.transpose.output)}; }

  std::vector<CallClass> classes() const override {
    const std::vector<double>& side = calibrated_sides();
    std::vector<CallClass> all;
    for (const Dtype dtype : kMoved)
      all.push_back({operation, {}, {}, dtype, cat("transpose ", name(dtype)), {side, side}});
    return all;
  }

  void standard(Function&, Axis&, Dtype& dtype) const override {
    if (size_of(dtype) != 0) dtype = bits_of(size_of(dtype));
  }

  AnyValue sample(const CallClass& kind, const std::vector<double>& extents) const override {
    const auto rows = static_cast<int64_t>(extents[0]), cols = static_cast<int64_t>(extents[1]);
    return Transpose{row_major({}, kind.dtype, rows, cols), row_major({}, kind.dtype, cols, rows)};
  }
};

constexpr TransposeDescription kTranspose;

}  // namespace

const Description& describe(const Transpose&) { return kTranspose; }

}  // namespace trine::detail
