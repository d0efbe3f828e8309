// The options that name cases, shared by the commands that measure, and the problems they make.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "bench/ui/error.hpp"
#include "problem.hpp"

namespace trine::bench {

/// The words of the command line; an empty list stands for the defaults.
struct Cases {
  std::vector<std::string> operations, dtypes, sizes, functions, maps, axes, layouts, values,
      numerics;
  std::string result_dtype;
  int64_t batch = 1;
  friend bool operator==(const Cases&, const Cases&) = default;
};

void add_case_options(CLI::App& app, Cases& cases);
/// The words that --numerics takes, as its help names them.
inline constexpr char kNumericsHelp[] =
    "reduce, gemm: reproducible, fast (bits may differ) or exact (gemm: rounded once)";
/// An option that takes words apart by spaces or commas, "rung:a=1,b=2" excepted. `target` outlives
/// the parsing.
void add_list(CLI::App& app, const char* option, std::vector<std::string>& target,
              const char* help);

/// --json, which refuses a file that can't be written before anything is done.
void add_json(CLI::App& app, std::string& path, const char* help);

/// The options that every measuring command takes beside them.
struct Measuring {
  std::vector<std::string> devices;
  std::string json;
  uint64_t seed = 1;
  double budget = 0.05,
         limit = 0;  ///< seconds: of one figure at least, of all at most (0: no limit)
};
/// --time-limit.
void add_time_limit(CLI::App& app, double& limit);
/// --device, --seed, --min-time, --time-limit, --json.
void add_measuring_options(CLI::App& app, Measuring& measuring);

/// Throws Refusal where an option was given that belongs to other operations alone than these:
/// --function to a gemm.
void check_options(const CLI::App& app, const std::vector<Operation>& operations);

/// All of them where no word names any.
std::vector<Operation> operations_of(const std::vector<std::string>& words);
inline std::vector<Operation> operations_of(const Cases& cases) {
  return operations_of(cases.operations);
}

/// The work of a command, operation by operation, before anything is measured.
template <class Item>
struct Chosen {
  std::vector<Item> all;
  bool complete = true;  ///< false: an operation that was named is left out
};

/// One line on stderr.
void tell_left_out(Operation operation, const Refusal& why);

/// Calls `make` for each of the operations that are named, or of all, and joins the lists that it
/// gives. An operation for which it throws Refusal is left out, and stderr is told so; if every one
/// is, the first Refusal is thrown.
template <class Make, class Items = std::invoke_result_t<Make, Operation>>
Chosen<typename Items::value_type> chosen_of(const std::vector<std::string>& words, Make make) {
  Chosen<typename Items::value_type> chosen;
  std::vector<std::pair<Operation, Refusal>> left_out;
  for (const Operation operation : operations_of(words)) {
    try {
      for (auto& item : make(operation)) chosen.all.push_back(std::move(item));
    } catch (const Refusal& why) { left_out.emplace_back(operation, why); }
  }
  if (chosen.all.empty() && !left_out.empty()) throw left_out.front().second;
  for (const auto& [operation, why] : left_out) tell_left_out(operation, why);
  chosen.complete = left_out.empty() || words.empty();
  return chosen;
}

/// Every combination of what was named, by chosen_of(). If a batch or numerics are asked for,
/// operations that weren't named and have none are left out without a word.
Chosen<Problem> problems_of(const Cases& cases);

/// `base` with every function, map, axis, layout, numerics and value class named.
std::vector<Problem> variations(const Cases& cases, const Problem& base);

/// Problems that differ in size alone together, smallest first.
std::vector<std::vector<Problem>> grouped(std::vector<Problem> problems);

}  // namespace trine::bench
