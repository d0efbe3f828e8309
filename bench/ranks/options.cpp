#include "options.hpp"

#include "bench/cases/operations.hpp"
#include "bench/ui/error.hpp"

namespace trine::bench::ranks {
namespace {

/// Large enough that the work is more than the messages' latency, small enough for a laptop.
std::string default_size(Operation operation, Axis axis) {
  if (operation == Operation::gemm) return "1024";
  if (operation == Operation::transpose) return "2048";
  return axis == Axis::all ? "2^22" : "2^18";
}

Problem problem(Operation operation, Axis axis, const std::string& dtype, const std::string& size) {
  Problem p = bench::problem_of(operation, parse_dtype(dtype), parse_size(operation, size),
                                Function::sum, axis);
  if (p.dtype != Dtype::f32 && p.dtype != Dtype::f64)
    throw Refusal(fmt::format("ranks compares f32 and f64 with MPI and ScaLAPACK, not {}", dtype));
  if (operation == Operation::reduce) p.size = {p.size.rows * p.size.cols, 1, 0};
  if (axis == Axis::each_column) p.size = {1, p.size.rows, 0};
  // One message has a vector, or a part of one of several ranks: MPI counts it by an int.
  const int64_t counted = operation == Operation::reduce
                              ? (axis == Axis::each_column ? p.size.cols : 0)
                              : p.size.rows * p.size.cols / 2;
  if (counted > INT32_MAX)
    throw Refusal(fmt::format("{} elements of {} are more than MPI counts", counted, size));
  check(p);
  return p;
}

template <class Words>
Words or_else(const Words& words, const Words& defaults) {
  return words.empty() ? defaults : words;
}

}  // namespace

void add_options(CLI::App& app, Options& o) {
  add_list(app, "operations", o.operations, "reduce, transpose, gemm (default: all)");
  o.measuring.budget = 0.25;
  add_measuring_options(app, o.measuring);
  app.get_option("--device")
      ->description(
          "by rank, and again from the first: cpu:threads=1, cuda:0 (default: the cpu with a "
          "rank's "
          "share of the cores)");
  app.get_option("--min-time")
      ->description("shortest measuring time of a figure, all rounds, in s");
  add_list(app, "--dtype", o.dtypes, "f32, f64 (default: f64)");
  add_list(app, "--size", o.sizes, "N, RxC or MxNxK; suffixes k, M, G and 2^k");
  add_list(
      app, "--axis", o.axes,
      "reduce: all, an array over the ranks, and each_column, a vector a rank (default: both)");
  app.add_option("--block", o.block, "rows and columns of a block of the matrices")
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--rounds", o.rounds, "rounds of all in turn")->check(CLI::Range(1, 10000));
  app.add_flag("--resident", o.resident,
               "the data lies on the devices, beside the same calls on host data");
  app.add_flag(
      "--model", o.model,
      "predict the same from the link and one rank, beside what was measured, and up to 10^4 "
      "ranks on a fat tree");
}

std::vector<Problem> problems_of(const Options& o) {
  std::vector<Problem> all;
  for (const Operation operation : operations_of(o.operations)) {
    std::vector<Axis> axes{Axis::all};
    if (operation == Operation::reduce) {
      axes.clear();
      for (const std::string& word : or_else(o.axes, {"all", "each_column"}))
        axes.push_back(parse_axis(word));
      if (std::ranges::count(axes, Axis::each_row) > 0)
        throw Refusal("over ranks a sum is of all or of each_column, a vector a rank");
    }
    for (const Axis axis : axes)
      for (const std::string& dtype : or_else(o.dtypes, {"f64"}))
        for (const std::string& size : or_else(o.sizes, {default_size(operation, axis)}))
          all.push_back(problem(operation, axis, dtype, size));
  }
  return all;
}

}  // namespace trine::bench::ranks
