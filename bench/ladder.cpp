// `trine ladder`: the steps from the naive kernel to the default, each verified, each beside the roof.
#include "ladder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "cases.hpp"
#include "commands.hpp"
#include "error.hpp"
#include "peers.hpp"
#include "table.hpp"

namespace trine::bench {
namespace {

struct Options {
  Cases cases;
  std::vector<std::string> devices, rungs;
  std::string like, json;
  bool peers = false;
  uint64_t seed = 1;
  double budget = 0.05, limit = 0;
};

const Result* of_method(const std::vector<Result>& results, const char* method) {
  for (const Result& r : results)
    if (r.verified && r.kernel && r.method == method && r.memory == "resident") return &r;
  return nullptr;
}

/// One method for all steps of a ladder: back to back where every rung has such a figure.
const char* common_method(const std::vector<std::vector<Result>>& rungs) {
  for (const auto& results : rungs)
    if (of_method(results, "single") && !of_method(results, "sustained")) return "single";
  return "sustained";
}

std::vector<std::string> row_of(const std::vector<Result>& results, const char* method,
                                double before, double first) {
  const Result& any = results.front();
  std::vector<std::string> row{any.rung.empty() ? any.requested : any.rung};
  row.resize(8, "-");
  row[7] = any.skipped ? "refused" : "WRONG";
  const Result *single = of_method(results, "single"), *stepped = of_method(results, method);
  if (!single || !stepped) return row;
  const Result* sustained = of_method(results, "sustained");
  row[1] = time_text(single->kernel);
  if (sustained) row[2] = time_text(sustained->kernel);
  row[3] = rate_text(stepped->rate, rated_by_flops(stepped->problem) ? "flop/s" : "B/s");
  if (before > 0) row[4] = ratio_text(before / *stepped->kernel);
  if (first > 0) row[5] = ratio_text(first / *stepped->kernel);
  if (stepped->roof.value > 0)
    row[6] = fmt::format("{:.1f}%", 100 * stepped->rate / stepped->roof.value);
  row[7] = single->numerics == Numerics::reproducible ? "same bits" : "within bound";
  if (results.back().verified) return row;
  row[7] = "WRONG";
  return row;
}

void print_climb(const Runner& runner, const Problem& problem,
                 const std::vector<std::vector<Result>>& rungs) {
  const char* method = common_method(rungs);
  std::printf("\n%s on %s, steps by the %s\n", to_string(problem).c_str(),
              runner.device().id().c_str(),
              std::string_view(method) == "single" ? "single launch" : "sustained launch");
  std::vector<std::vector<std::string>> rows{
      {"rung", "time", "sustained", "rate", "step", "cumulative", "of roof", "verified"}};
  double before = 0, first = 0;
  for (const std::vector<Result>& results : rungs) {
    rows.push_back(row_of(results, method, before, first));
    const Result* stepped = of_method(results, method);
    if (!stepped) continue;
    before = *stepped->kernel;
    if (first == 0) first = before;
  }
  print_table(rows, 1);
  for (const auto& results : rungs)
    for (const Result& r : results)
      if (!r.failure.empty())
        std::printf("%s: %s: %s\n", r.skipped ? "refused" : "WRONG",
                    (r.rung.empty() ? r.requested : r.rung).c_str(), r.failure.c_str());
  std::fflush(stdout);
}

/// The size at which each ladder is shown where none is named.
std::string default_size(Operation operation) {
  return operation == Operation::reduce      ? "2^24"
         : operation == Operation::transpose ? "4096"
                                             : "1024";
}

int ladder(const Options& o) {
  if (!o.json.empty()) check_writable(o.json);
  const SourceDocument* like = o.like.empty() ? nullptr : find_document(o.like);
  if (!o.like.empty() && !like)
    throw Refusal(fmt::format("--like takes 000, 001, 002, 003 or 004, not '{}'", o.like));
  Cases cases = o.cases;
  if (like && !cases.sizes.empty())
    throw Refusal("--like takes the document's sizes: leave --size out");
  const bool access = std::erase(cases.operations, "access") > 0;
  if (access && (like || !cases.operations.empty()))
    throw Refusal("`ladder access` stands alone: leave other operations and --like out");
  std::vector<Problem> problems;
  if (!like && !access)
    for (Operation operation : operations_of(cases)) {
      Cases of_operation = cases;
      of_operation.operations = {std::string(name(operation))};
      if (cases.sizes.empty()) of_operation.sizes = {default_size(operation)};
      for (Problem& p : problems_of(of_operation)) problems.push_back(std::move(p));
    }
  const std::string peer_text = o.peers || o.like == "002" ? load_peers() : std::string();
  const std::vector<Device> devices = chosen_devices(o.devices);
  check_rungs(o.rungs, devices, operations_of(cases));
  print_heading(devices);
  std::printf("%s", peer_text.c_str());

  Control control(o.limit);
  LadderRun run(control, o.budget, o.seed);
  for (const Device& device : devices) {
    if (like) reproduce(run, device, *like);
    if (access) show_access(run, device);
  }
  for (const Problem& problem : problems)
    for (const Device& device : devices) {
      if (control.stop()) break;
      Runner runner(device, o.budget);
      climb(run, runner, problem,
            o.rungs.empty() ? ladder_of(device, problem.operation, o.peers) : o.rungs);
    }
  return finish(run.document, control, o.json, run.verified ? kExitGood : kExitFailed);
}

}  // namespace

std::vector<Result> LadderRun::measure(Runner& runner, const Problem& problem,
                                       const std::string& rung, bool whole) {
  control.show(fmt::format("{} on {} {}", to_string(problem), runner.device().id(), rung));
  std::vector<Result> results = measure_rung(runner, problem, expect(problem), rung, whole);
  control.show("");
  for (const Result& result : results) {
    verified &= result.verified || result.skipped;
    document.results.push_back(result);
  }
  return results;
}

Expectation& LadderRun::expect(const Problem& problem) {
  const std::string name = to_string(problem) + std::string(trine::name(problem.result));
  if (!expectation_ || name != expected_) expectation_.emplace(problem, seed_);
  expected_ = name;
  return *expectation_;
}

std::vector<std::string> ladder_of(const Device& device, Operation operation, bool peers) {
  std::vector<std::string> rungs;
  for (const RungInfo& rung : device.rungs(operation))
    if (peers || rung.numerics != Numerics::vendor) rungs.push_back(rung.name);
  return rungs;
}

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
                 "a source document's sizes and parameters, its figures beside today's: 000 … 004");
  add_list(app, "--device", o->devices, "cpu, opencl:0, cuda:0 (default: all there are)");
  add_list(app, "--rung", o->rungs, "these rungs, in this order (default: the whole ladder)");
  app.add_option("--seed", o->seed, "seed of the random data");
  app.add_option("--min-time", o->budget, "least measuring time of a figure in seconds")
      ->check(CLI::Range(0.001, 60.0));
  app.add_option("--time-limit", o->limit, "end after so many seconds with what there is")
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--peers", o->peers,
               "the vendors' kernels as the last rungs: cuBLAS, CUB, CLBlast, OpenBLAS");
  app.add_option("--json", o->json, "write the results as JSON too")->type_name("FILE");
  return [o] { return ladder(*o); };
}

}  // namespace trine::bench
