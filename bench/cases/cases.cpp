#include "cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <functional>

#include "bench/ui/error.hpp"
#include "bench/ui/output.hpp"
#include "bench/ui/screen.hpp"
#include "operations.hpp"

namespace trine::bench {
namespace {

std::vector<std::string> or_else(const std::vector<std::string>& words,
                                 const std::vector<std::string>& defaults) {
  return words.empty() ? defaults : words;
}

/// Each of the problems with each of the values named; as they are where there is none.
template <class T, class Parse>
void vary(std::vector<Problem>& problems, T Problem::*member, const std::vector<std::string>& words,
          Parse parse) {
  if (words.empty()) return;
  std::vector<Problem> varied;
  for (const Problem& problem : problems)
    for (const std::string& word : words) {
      varied.push_back(problem);
      varied.back().*member = parse(word);
    }
  problems = std::move(varied);
}

/// The second parameter of "rung:a=1,b=2", which the comma took apart.
bool is_parameter(const std::string& word) {
  return word.find('=') != std::string::npos && word.find(':') == std::string::npos;
}

}  // namespace

void add_list(CLI::App& app, const char* option, std::vector<std::string>& target,
              const char* help) {
  const auto take = [&target](const std::vector<std::string>& words) {
    target.clear();
    for (const std::string& word : words)
      if (is_parameter(word) && !target.empty() && target.back().find(':') != std::string::npos)
        target.back() += "," + word;
      else
        target.push_back(word);
  };
  app.add_option_function<std::vector<std::string>>(option, take, help)
      ->delimiter(',')
      ->expected(1, -1);
}

void add_case_options(CLI::App& app, Cases& c) {
  add_list(app, "operations", c.operations, "reduce, transpose, gemm (default: all)");
  add_list(app, "--dtype", c.dtypes, "f32 f64 i32 i64 u32 u64, for transpose b8 … b128 too");
  add_list(app, "--size", c.sizes, "N, RxC or MxNxK; suffixes k, M, G and 2^k");
  add_list(app, "--function", c.functions, "reduce: sum prod min max argmin argmax");
  add_list(app, "--map", c.maps, "reduce: identity abs square product (of two inputs: dot)");
  add_list(app, "--axis", c.axes, "reduce: all each_row each_column");
  add_list(app, "--layout", c.layouts,
           "r (row-major) or c (column-major) for each operand, as rr, rcr (default: all r)");
  add_list(app, "--values", c.values,
           "value class of the random data: uniform, wide, cancel, mixed, …");
  app.add_option("--result-dtype", c.result_dtype, "reduce: f64 for the sum of f32");
  app.add_option("--batch", c.batch, "transpose and gemm: so many matrices of the size in one call")
      ->check(CLI::PositiveNumber);
  add_list(app, "--numerics", c.numerics, kNumericsHelp);
}

void add_time_limit(CLI::App& app, double& limit) {
  app.add_option("--time-limit", limit, "end after this many seconds and keep what was measured")
      ->check(CLI::NonNegativeNumber);
}

void add_json(CLI::App& app, std::string& path, const char* help) {
  app.add_option("--json", path, help)->type_name("FILE")->each([](const std::string& given) {
    if (!given.empty()) check_writable(given);
  });
}

void add_measuring_options(CLI::App& app, Measuring& m) {
  add_list(app, "--device", m.devices,
           "cpu, cpu:threads=8, opencl:0, cuda:0 (default: all devices)");
  app.add_option("--seed", m.seed, "seed of the random data");
  app.add_option("--min-time", m.budget, "shortest measuring time of a figure, in seconds")
      ->check(CLI::Range(0.001, 60.0));
  add_time_limit(app, m.limit);
  add_json(app, m.json, "also write the results as JSON");
}

std::vector<Operation> operations_of(const std::vector<std::string>& words) {
  std::vector<Operation> all;
  for (const std::string& word : or_else(words, {TRINE_OPERATIONS(TRINE_WORD)})) {
    if (!word.empty() && word[0] >= '0' && word[0] <= '9')
      throw Refusal(fmt::format("no operation is called '{0}'. Did you mean '--size {0}'?", word));
    all.push_back(parse_operation(word));
  }
  return all;
}

void check_options(const CLI::App& app, const std::vector<Operation>& operations) {
  struct Belongs {
    const char* option;
    bool (*to)(const Description&);
  };
  constexpr auto kFunction = [](const Description& d) { return d.has_function; };
  constexpr auto kRounds = [](const Description& d) { return !d.moves_bits; };
  constexpr auto kFlops = [](const Description& d) { return d.by_flops; };
  constexpr auto kChunks = [](const Description& d) { return d.is_cut; };
  constexpr Belongs kOptions[] = {
      {"--function", kFunction},  {"--map", kFunction},
      {"--axis", kFunction},      {"--result-dtype", kFunction},
      {"--numerics", kRounds},    {"--alpha", kFlops},
      {"--beta", kFlops},         {"--chunks", kChunks},
      {"--overlap-cpu", kChunks}, {"--block", [](const Description& d) { return !d.is_vector; }}};
  const auto names = [](const std::vector<Operation>& some, const auto& are) {
    std::vector<std::string_view> named;
    for (const Operation operation : some)
      if (are(describe(operation))) named.push_back(name(operation));
    return named;
  };
  for (const Belongs& belongs : kOptions) {
    const CLI::Option* option = app.get_option_no_throw(belongs.option);
    if (option == nullptr || option->count() == 0 || !names(operations, belongs.to).empty())
      continue;
    throw Refusal(fmt::format("{} is an option of {}, not of {}", belongs.option,
                              fmt::join(names(operations_of(Cases()), belongs.to), " and "),
                              fmt::join(names(operations, std::not_fn(belongs.to)), " and ")));
  }
}

std::vector<Problem> variations(const Cases& c, const Problem& base) {
  const bool has_function = describe(base.operation).has_function;
  std::vector<Problem> all{base};
  if (has_function) {
    vary(all, &Problem::function, c.functions, parse_function);
    vary(all, &Problem::map, c.maps, parse_map);
    vary(all, &Problem::axis, c.axes, parse_axis);
  }
  if (!describe(base.operation).moves_bits)
    vary(all, &Problem::numerics, c.numerics, parse_numerics);
  vary(all, &Problem::layout, c.layouts, std::identity());
  vary(all, &Problem::values, c.values, std::identity());
  for (Problem& p : all) {
    p.result = default_result(p);
    if (c.batch != 1) p.batch = c.batch;
    if (has_function && !c.result_dtype.empty()) p.result = parse_dtype(c.result_dtype);
    check(p);
    check_memory(p, true);
  }
  return all;
}

void tell_left_out(Operation operation, const Refusal& why) {
  print_lines(fmt::format("{} is left out: {}", name(operation), why.what()), 2, stderr);
}

Chosen<Problem> problems_of(const Cases& c) {
  return chosen_of(c.operations, [&c](Operation operation) {
    const Description& has = describe(operation);
    const bool is_left_out =
        (c.batch != 1 && !has.is_batched) || (!c.numerics.empty() && has.moves_bits);
    std::vector<Problem> all;
    if (c.operations.empty() && is_left_out) return all;
    for (const std::string& dtype : or_else(c.dtypes, has.default_dtypes))
      for (const std::string& size : or_else(c.sizes, has.default_sizes))
        for (Problem& p :
             variations(c, problem_of(operation, parse_dtype(dtype), parse_size(operation, size))))
          all.push_back(std::move(p));
    return all;
  });
}

std::vector<std::vector<Problem>> grouped(std::vector<Problem> problems) {
  std::vector<std::vector<Problem>> groups;
  for (Problem& problem : problems) {
    const auto found = std::ranges::find_if(groups, [&](const std::vector<Problem>& group) {
      return kind_text(group.front()) == kind_text(problem);
    });
    (found == groups.end() ? groups.emplace_back() : *found).push_back(std::move(problem));
  }
  for (std::vector<Problem>& group : groups)
    std::ranges::stable_sort(
        group, [](const Problem& a, const Problem& b) { return footprint(a) < footprint(b); });
  return groups;
}

}  // namespace trine::bench
