// `trine ladder`: the steps from the naive kernel to the default, each verified, each beside the
// roof.
#include "ladder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "bench/cases/cases.hpp"
#include "bench/cases/operations.hpp"
#include "bench/ui/commands.hpp"
#include "bench/ui/error.hpp"
#include "bench/ui/screen.hpp"
#include "bench/ui/table.hpp"

namespace trine::bench {
namespace {

struct Options {
  Cases cases;
  Measuring measuring;
  std::vector<std::string> rungs;
  std::string like, source;
  bool peers = false;
};

std::string ratio_to(const Result* figure, double seconds) {
  return figure && seconds > 0 ? ratio_text(seconds / *figure->kernel) : "-";
}

void print_climb(const Runner& runner, const Problem& problem,
                 const std::vector<std::vector<Result>>& rungs) {
  const std::string method(common_method(rungs));
  say("\n{} on {}, steps by the {} launch", to_string(problem), runner.device().id(), method);
  std::vector<std::vector<std::string>> rows{
      {"rung", "time", "single", "sustained", "rate", "step", "cumulative", "of roof", "verified"}};
  double before = 0, first = 0;
  for (const std::vector<Result>& results : rungs) {
    const Result* stepped = figure_of(results, method);
    const Result& any = results.front();
    rows.push_back(line_of({any.rung.empty() ? any.requested : any.rung}, results, method,
                           {ratio_to(stepped, before), ratio_to(stepped, first)}));
    if (any.built_in) rows.back().back() += ", built-in";
    if (!stepped) continue;
    before = *stepped->kernel;
    if (first == 0) first = before;
  }
  print_table(rows, 1, kWideColumns);
  if (std::any_of(rungs.begin(), rungs.end(), is_above_roof)) say("{}", kAboveRoofNote);
  for (const auto& results : rungs) print_reasons(results);
  std::fflush(stdout);
}

bool has_tables(const Publication& document, const std::vector<Operation>& operations) {
  return std::any_of(document.tables.begin(), document.tables.end(),
                     [&](const Table& table) { return is_one_of(table, operations); });
}

int ladder(const Options& o, const CLI::App& app) {
  if (!o.source.empty()) return show_source(o.source, operations_of(o.cases));
  const Publication* like = o.like.empty() ? nullptr : find_document(o.like);
  if (!o.like.empty() && !like)
    throw Refusal(fmt::format("--like takes 000, 001, 002, 003 or 004, not '{}'", o.like));
  Cases cases = o.cases;
  const bool access = std::erase(cases.operations, "access") > 0;
  for (const std::string& word : cases.operations)  // parse_operation() wouldn't think of it
    if (const auto meant = did_you_mean(word, std::array{"access"}); !meant.empty())
      throw Refusal(fmt::format("no operation is called '{}'.{}", word, meant));
  if (access && (like || cases != Cases{} || !o.rungs.empty() || o.peers))
    throw Refusal(
        "`ladder access` has its own cases and rungs; it only accepts devices and measuring "
        "options");
  if (like && !has_tables(*like, operations_of(cases)))
    throw Refusal(fmt::format("document {} has no table of {}", like->number,
                              fmt::join(cases.operations, " or ")));
  if (!access) check_options(app, operations_of(cases));
  Chosen<Problem> chosen;
  if (!like && !access)
    chosen = chosen_of(cases.operations, [&](Operation operation) {
      Cases of_operation = cases;
      of_operation.operations = {std::string(name(operation))};
      if (cases.sizes.empty()) of_operation.sizes = {describe(operation).default_sizes.back()};
      return problems_of(of_operation).all;
    });
  const std::vector<Device> devices =
      start(o.measuring.devices, o.rungs, operations_of(cases), o.peers || o.like == "002");
  use_tuning(false);  // a ladder ends with the backend's own choice

  Control control(o.measuring.limit);
  LadderRun run(control, o.measuring.budget, o.measuring.seed);
  if (access) show_access(run, devices);
  if (like)
    for (const Device& device : devices) reproduce(run, device, *like, operations_of(cases));
  for (const Problem& problem : chosen.all)
    for (const Device& device : devices) {
      if (control.stop()) break;
      Runner runner(device, o.measuring.budget);
      climb(run, runner, problem, o.rungs.empty() ? ladder_of(device, problem, o.peers) : o.rungs);
    }
  if (run.sampled) say("{}", kSampledNote);
  return finish(run.document, control, o.measuring.json,
                chosen.complete ? outcome_of(run.document.results) : Outcome::failed);
}

}  // namespace

void climb(LadderRun& run, const Runner& runner, const Problem& problem,
           const std::vector<std::string>& rungs) {
  std::vector<std::vector<Result>> measured;
  for (const std::string& rung : rungs) {
    std::vector<Result> results = run.measure(runner, problem, rung);
    if (results.empty()) break;
    measured.push_back(std::move(results));
  }
  if (!measured.empty()) print_climb(runner, problem, measured);
}

Command add_ladder(CLI::App& app) {
  auto o = std::make_shared<Options>();
  add_case_options(app, o->cases);
  app.get_option("operations")
      ->description(
          "reduce, transpose, gemm (default: all), or access: the rates of different patterns of "
          "access");
  app.add_option("--like", o->like,
                 "repeat a source document's tables, its figures beside today's: 000 … 004")
      ->excludes("--dtype", "--size", "--function", "--map", "--axis", "--layout", "--values",
                 "--result-dtype", "--batch", "--numerics");
  add_measuring_options(app, o->measuring);
  add_list(app, "--rung", o->rungs, "these rungs, in this order (default: the whole ladder)");
  app.add_flag("--peers", o->peers,
               "add the vendors' kernels as the last rungs: cuBLAS, CUB, CLBlast, OpenBLAS");
  app.get_option("--like")->excludes("--rung", "--peers");
  CLI::Option* source = app.add_option(
      "--source", o->source,
      "print the source of a rung's kernel, or of a header of it, in CUDA and in OpenCL");
  for (CLI::Option* other : app.get_options())
    if (other != source && other->nonpositional() && other != app.get_help_ptr())
      source->excludes(other);
  return [o, &app] { return ladder(*o, app); };
}

}  // namespace trine::bench
