#include "problem.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "bench/ui/error.hpp"

namespace trine::bench {
namespace {

void check_reduce(const Problem& p) {
  if (size_of(p.dtype) < 4 || p.dtype > Dtype::u64)
    throw Refusal(
        fmt::format("reduce has no dtype {}; it takes f32 f64 i32 i64 u32 u64", name(p.dtype)));
  if (p.map == Map::square && p.function != Function::sum)
    throw Refusal("map square goes with function sum alone");
  if (p.batch != 1) throw Refusal("reduce takes one matrix; reduce a batch with axis each_row");
}

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

oracle::Operation dense_plan(const Problem& p) {
  const auto dtype = uint32_t(p.dtype);
  switch (p.operation) {
    case Operation::reduce:
      return oracle::plan_reduce(uint32_t(p.function), uint32_t(p.map), uint32_t(p.axis), dtype,
                                 p.size.rows, p.size.cols);
    case Operation::transpose:
      return oracle::plan_transpose(size_of(p.dtype), p.size.rows, p.size.cols, p.batch);
    default:
      return oracle::plan_gemm(dtype, p.size.rows, p.size.cols, p.size.depth, p.alpha, p.beta,
                               p.batch);
  }
}

}  // namespace

std::string default_layout(Operation operation) {
  switch (operation) {
    case Operation::reduce: return "r";
    case Operation::transpose: return "rr";
    default: return "rrr";
  }
}

void check_memory(const Problem& p, bool verifies) {
  const auto rows = double(p.size.rows), cols = double(p.size.cols), depth = double(p.size.depth);
  const double elements = p.operation == Operation::gemm ? rows * depth + depth * cols + rows * cols
                          : p.operation == Operation::transpose ? 2 * rows * cols
                                                                : rows * cols;
  const double bytes = elements * double(p.batch) * size_of(p.dtype);
  // The most of it that is alive at once: a transpose on a device in the host's memory has the data, its
  // outputs, those that are expected, and those of data that the rung hasn't seen.
  const double copies = !verifies ? 2 : p.operation == Operation::reduce ? 3 : 4.5;
  const double memory = double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGE_SIZE));
  if (copies * bytes > 0.9 * memory)
    throw Refusal(fmt::format(
        "{} has operands of {:.1f} GiB, and {} takes {:.1f}; this machine has {:.1f} GiB",
        to_string(p), bytes / 0x1p30, verifies ? "verifying it" : "running it",
        copies * bytes / 0x1p30, memory / 0x1p30));
}

void check(const Problem& p) {
  try {
    oracle::values_named(p.values);
  } catch (const std::invalid_argument& error) { throw Refusal(error.what()); }
  const std::string model = default_layout(p.operation);
  if (p.layout.size() != model.size() || p.layout.find_first_not_of("rc") != std::string::npos)
    throw Refusal(fmt::format(
        "layout '{}': {} takes {} of r (row-major) and c (column-major), one an operand", p.layout,
        name(p.operation), model.size()));
  if (p.operation == Operation::reduce) check_reduce(p);
  if (p.operation == Operation::gemm && p.dtype != Dtype::f32 && p.dtype != Dtype::f64 &&
      p.dtype != Dtype::i32)
    throw Refusal(fmt::format("gemm has no dtype {}; it takes f32 f64 i32", name(p.dtype)));
}

oracle::Operation plan(const Problem& p) {
  oracle::Operation op = dense_plan(p);
  std::visit([&](auto& descriptor) { descriptor.numerics = uint32_t(p.numerics); }, op);
  if (auto* reduce = std::get_if<trine_reduce>(&op)) reduce->result_dtype = uint32_t(p.result);
  const std::vector<oracle::Operand> operands = oracle::operands(op);
  for (size_t i = 0; i < p.layout.size(); ++i)
    *operands[i].view = in_layout(*operands[i].view, p.layout[i]);
  if (p.shared_b) operands[1].view->batch_stride = 0;
  if (p.operation != Operation::gemm) {
    space_out(*operands[0].view, p.stride_in, p.offset_in * size_of(p.dtype));
    if (p.operation == Operation::transpose)
      space_out(*operands[1].view, p.stride_out, p.offset_out * size_of(p.dtype));
  }
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

DeviceOperation device_operation(const Problem& p, const std::vector<Place>& places) {
  oracle::Operation op = plan(p);
  const std::vector<oracle::Operand> operands = oracle::operands(op);
  const auto view = [&](size_t i) {
    const trine_view& v = *operands[i].view;
    return View{places[i].buffer,
                Dtype(operands[i].dtype),
                places[i].offset + v.offset,
                v.rows,
                v.cols,
                v.batch,
                v.row_stride,
                v.col_stride,
                v.batch_stride};
  };
  switch (p.operation) {
    case Operation::reduce: return Reduce{p.function, p.map, p.axis, view(0), view(1), p.numerics};
    case Operation::transpose: return Transpose{view(0), view(1)};
    default: return Gemm{p.alpha, p.beta, view(0), view(1), view(2), p.numerics};
  }
}

DeviceOperation planned(const Problem& p) {
  return device_operation(p, std::vector<Place>(operand_bytes(p).size()));
}

std::string tuned_call(const Problem& p) {
  return std::visit([](const auto& op) { return trine::tuned_call(op); }, planned(p));
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

bool rated_by_flops(const Problem& p) { return p.operation == Operation::gemm; }

std::string to_string(const Problem& p) {
  std::string text(name(p.operation));
  if (p.operation == Operation::reduce) {
    text += fmt::format(" {}", name(p.function));
    if (p.map != Map::identity) text += fmt::format(" {}", name(p.map));
    if (p.axis != Axis::all) text += fmt::format(" {}", name(p.axis));
  }
  text += fmt::format(" {} {}", name(p.dtype), to_string(p.operation, p.size));
  if (p.batch != 1) text += fmt::format(" batch {}", p.batch);
  if (p.layout != default_layout(p.operation)) text += " " + p.layout;
  if (p.stride_in != 1 || p.stride_out != 1)
    text += fmt::format(" stride {} to {}", p.stride_in, p.stride_out);
  if (p.offset_in != 0 || p.offset_out != 0)
    text += fmt::format(" offset {} to {}", p.offset_in, p.offset_out);
  if (p.values != "uniform") text += " " + p.values;
  return text;
}

}  // namespace trine::bench
