#include "problem.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "bench/ui/error.hpp"
#include "operations.hpp"

namespace trine::bench {
namespace {

/// A dense view of the same shape in the order of `letter`.
trine_view in_layout(const trine_view& view, char letter) {
  return letter == 'c' ? oracle::dense_columns(view.rows, view.cols, view.batch)
                       : oracle::dense_rows(view.rows, view.cols, view.batch);
}

/// A vector's elements `stride` apart, `offset` bytes behind the start.
void space_out(trine_view& view, int64_t stride, int64_t offset) {
  if (view.cols == 1 && view.rows > 1) view.row_stride = stride;
  if (view.rows == 1 && view.cols > 1) view.col_stride = stride;
  view.offset = uint64_t(offset);
}

}  // namespace

Dtype default_result(const Problem& p) {
  return describe(p.operation).has_function ? result_dtype(p.function, p.map, p.dtype) : p.dtype;
}

Problem problem_of(Operation operation, Dtype dtype, const Size& size, Function function,
                   Axis axis) {
  Problem p;
  p.operation = operation;
  p.function = function;
  p.axis = axis;
  p.dtype = dtype;
  p.result = default_result(p);
  p.size = size;
  p.layout = describe(operation).layout;
  return p;
}

void check_memory(const Problem& p, bool verifies, int processes) {
  double bytes = 0;
  for (const uint64_t operand : operand_bytes(p)) bytes += double(operand);
  const double copies = processes * (verifies ? describe(p.operation).copies : 2);
  const double memory = double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGE_SIZE));
  if (copies * bytes > 0.9 * memory)
    throw Refusal(fmt::format(
        "{} has operands of {:.1f} GiB, and {} takes {:.1f} GiB; this machine has {:.1f} GiB",
        to_string(p), bytes / 0x1p30, verifies ? "verifying it" : "running it",
        copies * bytes / 0x1p30, memory / 0x1p30));
}

void check(const Problem& p) {
  try {
    oracle::values_named(p.values);
  } catch (const std::invalid_argument& error) { throw Refusal(error.what()); }
  const Description& description = describe(p.operation);
  if (p.layout.size() != description.layout.size() ||
      p.layout.find_first_not_of("rc") != std::string::npos)
    throw Refusal(fmt::format(
        "layout '{}': {} takes {} of r (row-major) and c (column-major), one an operand", p.layout,
        name(p.operation), description.layout.size()));
  const std::vector<Dtype>& dtypes = description.dtypes;
  if (!dtypes.empty() && std::ranges::find(dtypes, p.dtype) == dtypes.end()) {
    std::string names;
    for (const Dtype dtype : dtypes) names += fmt::format(" {}", name(dtype));
    throw Refusal(
        fmt::format("{} has no dtype {}; it takes{}", name(p.operation), name(p.dtype), names));
  }
  if ((p.map == Map::square || p.map == Map::product) && p.function != Function::sum)
    throw Refusal(fmt::format("map {} needs function sum", name(p.map)));
  if (p.map == Map::product && p.dtype != Dtype::f32 && p.dtype != Dtype::f64)
    throw Refusal(fmt::format("map product takes f32 and f64, not {}", name(p.dtype)));
  if (p.numerics == Numerics::study || p.numerics == Numerics::vendor)
    throw Refusal(
        fmt::format("numerics {}: ask for reproducible, fast or exact, and for the rungs "
                    "of the others by name",
                    name(p.numerics)));
  if (p.batch != 1 && !description.is_batched)
    throw Refusal(
        fmt::format("--batch is for transpose and gemm; {} takes one matrix: give the batch as its "
                    "rows, `--axis each_row --size ROWSxLENGTH`",
                    name(p.operation)));
}

oracle::Operation plan(const Problem& p) {
  oracle::Operation op = describe(p.operation).plan(p);
  std::visit([&](auto& descriptor) { descriptor.numerics = uint32_t(p.numerics); }, op);
  const std::vector<oracle::Operand> operands = oracle::operands(op);
  std::string letters = p.layout;
  if (p.map == Map::product) letters += letters;  // both inputs lie alike
  for (size_t i = 0; i < operands.size(); ++i) {
    trine_view& view = *operands[i].view;
    if (i < letters.size()) view = in_layout(view, letters[i]);
    const bool is_output = i + 1 == operands.size();
    space_out(view, is_output ? p.stride_out : p.stride_in,
              (is_output ? p.offset_out : p.offset_in) * size_of(p.dtype));
  }
  if (p.shared_b) operands[1].view->batch_stride = 0;
  return op;
}

std::vector<uint64_t> operand_bytes(const Problem& p) {
  oracle::Operation op = plan(p);
  std::vector<uint64_t> bytes;
  for (const oracle::Operand& operand : oracle::operands(op))
    bytes.push_back(operand.view->offset + oracle::extent_bytes(*operand.view, operand.dtype));
  return bytes;
}

oracle::Operation host_operation(const Problem& p, const std::vector<void*>& data) {
  oracle::Operation op = plan(p);
  const std::vector<oracle::Operand> operands = oracle::operands(op);
  for (size_t i = 0; i < data.size(); ++i) operands[i].view->memory = data[i];
  return op;
}

std::vector<HostView> host_views(const Problem& p, const std::vector<void*>& data) {
  oracle::Operation op = host_operation(p, data);
  std::vector<HostView> views;
  for (const oracle::Operand& operand : oracle::operands(op)) {
    const trine_view& v = *operand.view;
    views.push_back({static_cast<char*>(v.memory) + v.offset, Dtype(operand.dtype), v.rows, v.cols,
                     v.batch, v.row_stride, v.col_stride, v.batch_stride});
  }
  return views;
}

void call_on_host(const Problem& p, const std::vector<HostView>& views,
                  const HostOptions& options) {
  describe(p.operation).call_on_host(p, views, options);
}

DeviceOperation device_operation(const Problem& p, const std::vector<Place>& places) {
  oracle::Operation op = plan(p);
  std::vector<View> views;
  for (const oracle::Operand& operand : oracle::operands(op)) {
    const trine_view& v = *operand.view;
    const Place& place = places[views.size()];
    views.push_back({place.buffer, Dtype(operand.dtype), place.offset + v.offset, v.rows, v.cols,
                     v.batch, v.row_stride, v.col_stride, v.batch_stride});
  }
  return describe(p.operation).call(p, views);
}

DeviceOperation planned(const Problem& p) {
  return device_operation(p, std::vector<Place>(operand_bytes(p).size()));
}

std::string tuning_key(const Problem& p) {
  return std::visit([](const auto& op) { return trine::tuning_key(op); }, planned(p));
}

Choice choice_of(const Device& device, const Problem& problem, const std::string& rung) {
  return std::visit([&](const auto& op) { return choose(device, op, rung); }, planned(problem));
}

Choice launch(Queue& queue, const DeviceOperation& operation, const std::string& rung) {
  return std::visit([&](const auto& op) { return run(queue, op, rung); }, operation);
}

double work(const Problem& p) {
  return rated_by_flops(p) ? oracle::flops(plan(p)) : oracle::bytes_moved(plan(p));
}

uint64_t footprint(const Problem& p) {
  uint64_t bytes = 0;
  for (uint64_t operand : operand_bytes(p)) bytes += operand;
  return bytes;
}

bool rated_by_flops(const Problem& p) { return describe(p.operation).by_flops; }

const char* operation_word(Dtype dtype) {
  return dtype == Dtype::f32 || dtype == Dtype::f64 ? "flop" : "op";
}

std::string rate_unit(const Problem& p) {
  return rated_by_flops(p) ? fmt::format("{}/s", operation_word(p.dtype)) : "B/s";
}

std::string to_string(const Problem& p) {
  std::string text(name(p.operation));
  if (describe(p.operation).has_function) {
    text += fmt::format(" {}", name(p.function));
    if (p.map != Map::identity) text += fmt::format(" {}", name(p.map));
    if (p.axis != Axis::all) text += fmt::format(" {}", name(p.axis));
  }
  text += fmt::format(" {} {}", name(p.dtype), to_string(p.operation, p.size));
  if (p.batch != 1) text += fmt::format(" batch {}", p.batch);
  if (p.layout != describe(p.operation).layout) text += " " + p.layout;
  if (p.stride_in != 1 || p.stride_out != 1)
    text += fmt::format(" stride {} to {}", p.stride_in, p.stride_out);
  if (p.offset_in != 0 || p.offset_out != 0)
    text += fmt::format(" offset {} to {}", p.offset_in, p.offset_out);
  if (p.numerics != Numerics::reproducible) text += fmt::format(" {}", name(p.numerics));
  if (p.values != "uniform") text += " " + p.values;
  return text;
}

std::string kind_text(const Problem& p) {
  Problem sizeless = p;
  sizeless.size = {};
  return fmt::format("{} {}", to_string(sizeless), name(p.result));
}

}  // namespace trine::bench
