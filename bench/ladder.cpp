// `trine ladder`: the steps from the naive kernel to the default, each verified, each beside the roof.
#include "ladder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "best.hpp"
#include "cases.hpp"
#include "commands.hpp"
#include "error.hpp"
#include "peers.hpp"
#include "table.hpp"

namespace trine::bench {
namespace {

struct Options {
  Cases cases;
  Measuring measuring;
  std::vector<std::string> rungs;
  std::string like;
  bool peers = false;
};

std::vector<std::string> row_of(const std::vector<Result>& results, std::string_view method,
                                double before, double first) {
  const Result& any = results.front();
  std::vector<std::string> row{any.rung.empty() ? any.requested : any.rung};
  row.resize(8, "-");
  row[7] = verdict_text(results.back());
  if (any.built_in) row[7] += ", built-in choice";
  const Result *single = figure_of(results, "single"), *stepped = figure_of(results, method);
  if (!single || !stepped) return row;
  const Result* sustained = figure_of(results, "sustained");
  row[1] = time_text(single->kernel);
  if (sustained) row[2] = time_text(sustained->kernel);
  row[3] = rate_text(*stepped);
  if (before > 0) row[4] = ratio_text(before / *stepped->kernel);
  if (first > 0) row[5] = ratio_text(first / *stepped->kernel);
  row[6] = share_text(*stepped, 1);
  return row;
}

void print_climb(const Runner& runner, const Problem& problem,
                 const std::vector<std::vector<Result>>& rungs) {
  std::vector<const std::vector<Result>*> all;
  all.reserve(rungs.size());
  for (const std::vector<Result>& results : rungs) all.push_back(&results);
  const std::string_view method = common_method(all);
  std::printf("\n%s on %s, steps by the %s\n", to_string(problem).c_str(),
              runner.device().id().c_str(),
              method == "single" ? "single launch" : "sustained launch");
  std::vector<std::vector<std::string>> rows{
      {"rung", "time", "sustained", "rate", "step", "cumulative", "of roof", "verified"}};
  double before = 0, first = 0;
  for (const std::vector<Result>& results : rungs) {
    rows.push_back(row_of(results, method, before, first));
    const Result* stepped = figure_of(results, method);
    if (!stepped) continue;
    before = *stepped->kernel;
    if (first == 0) first = before;
  }
  print_table(rows, 1);
  for (const auto& results : rungs) print_reasons(results);
  std::fflush(stdout);
}

/// The size at which each ladder is shown where none is named.
std::string default_size(Operation operation) {
  return operation == Operation::reduce      ? "2^24"
         : operation == Operation::transpose ? "4096"
                                             : "1024";
}

bool has_tables(const SourceDocument& document, const std::vector<Operation>& operations) {
  return std::any_of(document.tables.begin(), document.tables.end(),
                     [&](const Table& table) { return is_one_of(table, operations); });
}

int ladder(const Options& o) {
  if (!o.measuring.json.empty()) check_writable(o.measuring.json);
  const SourceDocument* like = o.like.empty() ? nullptr : find_document(o.like);
  if (!o.like.empty() && !like)
    throw Refusal(fmt::format("--like takes 000, 001, 002, 003 or 004, not '{}'", o.like));
  Cases cases = o.cases;
  const bool access = std::erase(cases.operations, "access") > 0;
  if (access && (like || cases != Cases{} || !o.rungs.empty() || o.peers))
    throw Refusal(
        "`ladder access` has its own cases and rungs: it takes devices, and how to measure");
  if (like && !has_tables(*like, operations_of(cases)))
    throw Refusal(fmt::format("document {} has no table of {}", like->number,
                              fmt::join(cases.operations, " or ")));
  std::vector<Problem> problems;
  if (!like && !access)
    for (Operation operation : operations_of(cases)) {
      Cases of_operation = cases;
      of_operation.operations = {std::string(name(operation))};
      if (cases.sizes.empty()) of_operation.sizes = {default_size(operation)};
      for (Problem& p : problems_of(of_operation)) problems.push_back(std::move(p));
    }
  const std::string peer_text = o.peers || o.like == "002" ? load_peers() : std::string();
  const std::vector<Device> devices = chosen_devices(o.measuring.devices);
  check_rungs(o.rungs, devices, operations_of(cases));
  print_heading(devices);
  std::printf("%s", peer_text.c_str());
  use_tuning(false);  // a ladder ends with the backend's own choice

  Control control(o.measuring.limit);
  LadderRun run(control, o.measuring.budget, o.measuring.seed);
  if (access) show_access(run, devices);
  if (like)
    for (const Device& device : devices) reproduce(run, device, *like, operations_of(cases));
  for (const Problem& problem : problems)
    for (const Device& device : devices) {
      if (control.stop()) break;
      Runner runner(device, o.measuring.budget);
      climb(run, runner, problem, o.rungs.empty() ? ladder_of(device, problem, o.peers) : o.rungs);
    }
  if (run.sampled) std::printf("%s\n", kSampledNote);
  return finish(run.document, control, o.measuring.json, outcome_of(run.document.results));
}

}  // namespace

void climb(LadderRun& run, Runner& runner, const Problem& problem,
           const std::vector<std::string>& rungs) {
  std::vector<std::vector<Result>> measured;
  for (const std::string& rung : rungs) {
    if (run.control.stop()) break;
    measured.push_back(run.measure(runner, problem, rung));
  }
  if (!measured.empty()) print_climb(runner, problem, measured);
}

Command add_ladder(CLI::App& app) {
  auto o = std::make_shared<Options>();
  add_case_options(app, o->cases);
  app.get_option("operations")
      ->description(
          "reduce, transpose, gemm (default: all), or access: how patterns of access decide the "
          "rate");
  app.add_option("--like", o->like,
                 "a source document's sizes and parameters, its figures beside today's: 000 … 004")
      ->excludes("--dtype", "--size", "--function", "--map", "--axis", "--layout", "--values",
                 "--result-dtype");
  add_measuring_options(app, o->measuring);
  add_list(app, "--rung", o->rungs, "these rungs, in this order (default: the whole ladder)");
  app.add_flag("--peers", o->peers,
               "the vendors' kernels as the last rungs: cuBLAS, CUB, CLBlast, OpenBLAS");
  app.get_option("--like")->excludes("--rung", "--peers");
  return [o] { return ladder(*o); };
}

}  // namespace trine::bench
