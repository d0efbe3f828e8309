#include "options.hpp"

#include "bench/cases/operations.hpp"
#include "bench/ui/error.hpp"

namespace trine::bench::ranks {
namespace {

bool is_vector_a_rank(const Problem& p) {
  return describe(p.operation).has_function && p.axis == Axis::each_column;
}

Problem problem(Operation operation, Axis axis, const std::string& dtype, const std::string& size,
                const std::string& numerics) {
  Problem p = bench::problem_of(operation, parse_dtype(dtype), parse_size(operation, size),
                                Function::sum, axis);
  if (p.dtype != Dtype::f32 && p.dtype != Dtype::f64)
    throw Refusal(fmt::format("ranks takes f32 and f64, not {}", dtype));
  const int64_t elements = p.size.rows * p.size.cols;
  const bool is_vector = describe(operation).is_vector;
  if (is_vector) p.size = {elements, 1, 0};
  if (is_vector_a_rank(p)) p.size = {1, elements, 0};
  // MPI counts by an int what one message has: a vector, or a part of a matrix on several ranks.
  const int64_t counted = is_vector_a_rank(p) ? elements : is_vector ? 0 : elements / 2;
  if (counted > INT32_MAX)
    throw Refusal(fmt::format("{} elements of {} are more than MPI counts", counted, size));
  p.numerics = parse_numerics(numerics);
  if (p.numerics == Numerics::fast)
    throw Refusal("ranks compares bits: it takes numerics reproducible and exact, not fast");
  check(p);
  return p;
}

using Words = std::vector<std::string>;
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
          "by rank, and again from the first: cpu:threads=1, cuda:0 (default: the cpu "
          "with a rank's share of the cores)");
  app.get_option("--min-time")
      ->description("shortest measuring time of a figure, all rounds, in s");
  add_list(app, "--dtype", o.dtypes, "f32, f64 (default: f64)");
  add_list(app, "--size", o.sizes, "N, RxC or MxNxK; suffixes k, M, G and 2^k");
  add_list(
      app, "--axis", o.axes,
      "reduce: all, an array over the ranks, and each_column, a vector a rank (default: both)");
  add_list(app, "--numerics", o.numerics,
           "gemm, reduce: reproducible or exact (gemm: rounded once)");
  app.add_option("--block", o.block, "rows and columns of a block of the matrices")
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--rounds", o.rounds, "rounds of all in turn")->check(CLI::Range(1, 10000));
  app.add_flag("--model", o.model,
               "predict the same from the link and one rank, beside what was measured, and up to "
               "10^4 ranks on a fat tree");
}

std::vector<Problem> problems_of(const Options& o) {
  std::vector<Problem> all;
  for (const Operation operation : operations_of(o.operations)) {
    const bool has_axes = describe(operation).has_function;
    const Words of_numerics =
        or_else(describe(operation).moves_bits ? Words() : o.numerics, {"reproducible"});
    for (const std::string& along :
         has_axes ? or_else(o.axes, {"all", "each_column"}) : Words{"all"}) {
      const Axis axis = parse_axis(along);
      if (axis == Axis::each_row)
        throw Refusal("over ranks a sum is of all or of each_column, a vector a rank");
      for (const std::string& dtype : or_else(o.dtypes, {"f64"}))
        for (const std::string& size : or_else(o.sizes, {describe(operation).cpu_roof_size}))
          for (const std::string& word : of_numerics)
            all.push_back(problem(operation, axis, dtype, size, word));
    }
  }
  return all;
}

}  // namespace trine::bench::ranks
