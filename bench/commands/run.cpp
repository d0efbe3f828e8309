// `trine run`: one operation on real data, the phases and the choice printed. The result is written
// in C order, to a temporary that is renamed, so a failed run leaves nothing.
#include <fmt/format.h>

#include <optional>

#include "bench/cases/cases.hpp"
#include "bench/cases/npy.hpp"
#include "bench/cases/operations.hpp"
#include "bench/stats/measure.hpp"
#include "bench/ui/commands.hpp"
#include "bench/ui/error.hpp"
#include "bench/ui/output.hpp"
#include "bench/ui/screen.hpp"
#include "bench/ui/table.hpp"

namespace trine::bench {
namespace {

struct Options {
  std::string operation, output, device = "auto", rung, function = "sum", map = "identity",
                                 axis = "all", result_dtype, numerics = "reproducible";
  std::vector<std::string> inputs;
  double alpha = 1, beta = 0;
};

/// The nearest value that the operands have: nobody types 0.100000001490116. Not inline: g++ 12 at
/// -O3 leaves the rounding out where it does this for two factors side by side.
[[gnu::noinline]] double nearest(double value, Dtype dtype) {
  return dtype == Dtype::f32 ? double(float(value)) : value;
}

Problem problem_of(const Options& o, const std::vector<Array>& arrays) {
  const Operation operation = parse_operation(o.operation);
  const Description& is = describe(operation);
  const bool gemm = is.by_flops;  // which may add a C, its third input
  const size_t least = inputs_of(operation, parse_map(o.map)), most = least + (gemm ? 1 : 0);
  if (arrays.size() < least || arrays.size() > most)
    throw Refusal(fmt::format("{}{} takes {}{} input{}, {} given", o.operation,
                              least > is.inputs ? " of a product" : "", least, gemm ? " or 3" : "",
                              least > 1 ? "s" : "", arrays.size()));
  if (gemm && arrays.size() < 3 && o.beta != 0)
    throw Refusal("beta is not 0, so C is needed as third input");
  Problem p = bench::problem_of(operation, o.inputs, arrays);
  if (is.has_function) {
    p.function = parse_function(o.function);
    p.map = parse_map(o.map);
    p.axis = parse_axis(o.axis);
    p.result = o.result_dtype.empty() ? result_dtype(p.function, p.map, p.dtype)
                                      : parse_dtype(o.result_dtype);
  }
  if (gemm) {
    p.alpha = nearest(o.alpha, p.dtype);
    p.beta = nearest(o.beta, p.dtype);
  }
  p.numerics = parse_numerics(o.numerics);
  check(p);
  check_memory(p, false);
  return p;
}

std::vector<int64_t> result_shape(const Problem& p, const Array& input) {
  const Description& is = describe(p.operation);
  if (is.has_function) {
    if (p.axis == Axis::all) return {};
    return {p.axis == Axis::each_row ? p.size.rows : p.size.cols};
  }
  if (is.turns && input.shape.size() < 2) return {1, p.size.rows};
  const int64_t rows = is.turns ? p.size.cols : p.size.rows;
  const int64_t cols = is.turns ? p.size.rows : p.size.cols;
  if (p.batch != 1 || input.shape.size() == 3) return {p.batch, rows, cols};
  return {rows, cols};
}

/// A column-major C comes back as its own transpose; the file has C order.
std::vector<std::byte> in_c_order(const Problem& p, std::vector<std::byte> data,
                                  const Device& device) {
  if (p.layout.back() != 'c' || describe(p.operation).has_function) return data;
  Problem turned = bench::problem_of(Operation::transpose, p.dtype, {p.size.cols, p.size.rows, 0});
  turned.batch = p.batch;
  std::vector<std::byte> ordered(data.size());
  call_on_host(turned, host_views(turned, {data.data(), ordered.data()}), {.device = device.id()});
  return ordered;
}

/// Seconds of the steps of a kind; none where there was no such step.
std::optional<double> seconds_of(const HostTrace& trace, HostStep::Kind kind) {
  std::optional<double> seconds;
  for (const HostStep& step : trace.steps)
    if (step.kind == kind) seconds = seconds.value_or(0) + step.end - step.begin;
  return seconds;
}

int run_one(const Options& o, const CLI::App& app) {
  check_options(app, {parse_operation(o.operation)});  // said before a file is read
  std::vector<Array> arrays;
  for (const std::string& path : o.inputs) arrays.push_back(read_npy(path));
  check_writable(o.output);
  const Problem p = problem_of(o, arrays);
  Array result;
  result.dtype = p.result;
  result.shape = result_shape(p, arrays[0]);
  if (describe(p.operation).moves_bits) result.descr = arrays[0].descr;
  const std::vector<uint64_t> bytes = operand_bytes(p);
  result.data =
      arrays.size() < bytes.size() ? std::vector<std::byte>(bytes.back()) : arrays.back().data;
  std::vector<void*> data;
  for (size_t i = 0; i + 1 < bytes.size(); ++i) data.push_back(arrays[i].data.data());
  data.push_back(result.data.data());

  HostTrace trace;
  Choice choice;
  std::string placement;
  const auto begin = Clock::now();
  call_on_host(p, host_views(p, data),
               {.device = o.device,
                .rung = o.rung,
                .numerics = p.numerics,
                .choice = &choice,
                .placement = &placement,
                .trace = &trace});
  const double total = seconds_since(begin);
  result.data = in_c_order(p, std::move(result.data), choice.device);
  write_npy(o.output, result);

  using enum HostStep::Kind;
  if (!placement.empty()) say("auto: {}", placement);
  say("{}\n{}", to_string(p), choice.sentence());
  say("alloc {}, host→device {}, kernel {}, device→host {}, total {} (a first call, compilation "
      "included)",
      time_text(trace.allocation), time_text(seconds_of(trace, copy_in)),
      time_text(seconds_of(trace, kernel)), time_text(seconds_of(trace, copy_out)),
      time_text(total));
  const bool is_plain = p.batch == 1 && p.alpha == 1 && p.beta == 0;
  say("wrote {}, not verified{}", o.output,
      is_plain ? ": `trine compare --input` compares such a call with the oracle" : "");
  return kExitGood;
}

}  // namespace

Command add_run(CLI::App& app) {
  auto o = std::make_shared<Options>();
  app.add_option("operation", o->operation, "reduce, transpose or gemm")->required();
  app.add_option("--input", o->inputs, "A.npy [B.npy [C.npy]], C or Fortran order")
      ->required()
      ->expected(1, 3);
  app.add_option("--output", o->output, "R.npy, written in C order")->required();
  app.add_option("--device", o->device, "auto, cpu, opencl:0, cuda:0 …");
  app.add_option("--rung", o->rung, "name or name:parameter=value,…");
  app.add_option("--function", o->function, "reduce: sum prod min max argmin argmax");
  app.add_option("--map", o->map, "reduce: identity abs square product (of two inputs: dot)");
  app.add_option("--axis", o->axis, "reduce: all each_row each_column");
  app.add_option("--result-dtype", o->result_dtype, "reduce: f64 for the sum of f32");
  app.add_option("--alpha", o->alpha, "gemm: factor of A B");
  app.add_option("--beta", o->beta, "gemm: factor of C");
  app.add_option("--numerics", o->numerics, kNumericsHelp);
  return [o, &app] { return run_one(*o, app); };
}

}  // namespace trine::bench
