#include "operations.hpp"

#include <algorithm>
#include <memory>

namespace trine::detail {

std::span<const Description* const> descriptions() {
#define TRINE_DESCRIPTION(VALUE, word, Struct) &describe(Struct{}),
  static const Description* const all[] = {TRINE_OPERATIONS(TRINE_DESCRIPTION)};
#undef TRINE_DESCRIPTION
  return all;
}

const Description& description_of(Operation operation) {
  for (const Description* description : descriptions())
    if (description->operation == operation) return *description;
  refuse("There is no operation ", static_cast<uint32_t>(operation), ".");
}

Views views_of(AnyValue& value) {
  return std::visit([](auto& op) { return describe(op).views(&op); }, value);
}

Placed Description::check_views(const void* op, const DeviceState* device, Mode mode,
                                Descriptor& out) const {
  const Views views = views_of(op);
  Placed placed[3];
  for (std::size_t i = 0; i < views.count(); ++i) {
    const uint32_t element = size_of(views[i].dtype);
    placed[i] = check_view(views[i], element, alignment(element), views.roles[i], device, mode,
                           view(out, views.roles[i]));
  }
  const std::size_t last = views.count() - 1;
  for (std::size_t i = 0; i < last; ++i)
    check_apart(views[last], placed[last], views.roles[last], views[i], placed[i], views.roles[i]);
  return placed[last];
}

void set_temporary(Descriptor& call, trine_view& operand, uint32_t element, bool is_input) {
  call.temporary = &operand;
  call.element = element;
  call.is_input = is_input;
  call.source = operand;
  const bool by_columns = operand.row_stride == 1 && operand.col_stride != 1;
  operand.memory = nullptr, operand.offset = 0;
  operand.row_stride = by_columns ? 1 : operand.cols;
  operand.col_stride = by_columns ? operand.rows : 1;
  operand.batch_stride = operand.rows * operand.cols;
  make_canonical(operand);
}

Work work_of(const AnyOperation& op) {
  const Views views = op.views();
  const std::size_t last = views.count() - 1;
  Work work{.operation = op.is.operation, .dtype = views[0].dtype, .bytes_out = bytes(views[last])};
  for (std::size_t i = 0; i < views.count(); ++i) {
    if (i < last) work.bytes_in += bytes(views[i]);
    work.operands[i] = memory_of(views[i], i == last);
  }
  if (op.is.reads_output(op.get())) work.bytes_in += work.bytes_out;
  op.is.size(op.get(), work);
  return work;
}

const std::vector<double>& calibrated_sides() {
  static const auto* const sides =
      new std::vector<double>{1, 2, 9, 33, 129, 513, 2049, 16385, 131073, 2097153};
  return *sides;
}

const std::vector<CallClass>& call_classes() {
  static const auto* const all = [] {
    auto made = std::make_unique<std::vector<CallClass>>();
    for (const Description* description : descriptions())
      for (CallClass& kind : description->classes()) made->push_back(std::move(kind));
    return made.release();
  }();
  return *all;
}

int class_of(Operation operation, Function function, Axis axis, Dtype dtype) {
  description_of(operation).standard(function, axis, dtype);
  const std::vector<CallClass>& all = call_classes();
  const auto found = std::ranges::find_if(all, [&](const CallClass& kind) {
    return kind.operation == operation && kind.function == function && kind.axis == axis &&
           kind.dtype == dtype;
  });
  return found == all.end() ? kNoClass : static_cast<int>(found - all.begin());
}

double elements(const View& view) {
  const auto extent = [](int64_t n, int64_t stride) {
    return n > 1 && stride == 0 ? 1.0 : double(n);
  };
  return extent(view.rows, view.row_stride) * extent(view.cols, view.col_stride) *
         extent(view.batch, view.batch_stride);
}

Work::Memory memory_of(const View& view, bool is_output) {
  static constexpr Role role{"place", "operand", false};
  const uint64_t span = check_shape(shape_of(view), size_of(view.dtype), role);
  const auto payload = static_cast<uint64_t>(std::min(bytes(view), 0x1p63));  // views may overlap
  return {span, goes_whole(span, payload, is_output) ? span : payload};
}

}  // namespace trine::detail
