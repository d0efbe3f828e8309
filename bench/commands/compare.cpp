// `trine compare`: every device side by side on the same verified data, the kernel and the whole
// program apart, and one sentence on what the transfers cost.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "bench/cases/cases.hpp"
#include "bench/cases/npy.hpp"
#include "bench/cases/operations.hpp"
#include "bench/timing/expectation.hpp"
#include "bench/timing/json.hpp"
#include "bench/timing/observation.hpp"
#include "bench/timing/side_by_side.hpp"
#include "bench/ui/commands.hpp"
#include "bench/ui/control.hpp"
#include "bench/ui/error.hpp"
#include "bench/ui/screen.hpp"
#include "compare_graph.hpp"

namespace trine::bench {
namespace {

struct Options {
  Cases cases;
  Measuring measuring;
  std::vector<std::string> rungs, inputs;
  bool peers = false, graph = false;
  int rounds = 1;
};

constexpr int kMostRounds = 500;

std::vector<Array> arrays_of(const std::vector<std::string>& paths) {
  std::vector<Array> arrays;
  arrays.reserve(paths.size());
  for (const std::string& path : paths) arrays.push_back(read_npy(path));
  return arrays;
}

std::vector<std::vector<std::byte>> data_of(std::vector<Array> arrays) {
  std::vector<std::vector<std::byte>> data;
  data.reserve(arrays.size());
  for (Array& array : arrays) data.push_back(std::move(array.data));
  return data;
}

Chosen<Problem> problems(const Options& o, const std::vector<Array>& arrays) {
  if (arrays.empty()) return problems_of(o.cases);
  const std::vector<Operation> operations = operations_of(o.cases);
  const std::vector<std::string>& maps = o.cases.maps;
  const bool dot = std::ranges::count(maps, "product") > 0;
  const size_t inputs = inputs_of(operations[0], dot ? Map::product : Map::identity);
  if (operations.size() != 1 || arrays.size() != inputs || (dot && maps.size() != 1))
    throw Refusal(
        "--input takes one operation and its inputs: one array, or two for gemm and for reduce "
        "--map product");
  for (const Array& array : arrays)
    if (array.shape.size() > 2)
      throw Refusal("compare takes arrays of up to two dimensions; `trine run` takes batches");
  return {variations(o.cases, problem_of(operations[0], o.inputs, arrays))};
}

/// The rungs to run on a device: those named, else the default; with --peers the vendor's too.
std::vector<std::string> rungs_for(const Options& o, const Device& device, Operation operation) {
  std::vector<std::string> rungs = o.rungs.empty() ? std::vector<std::string>{""} : o.rungs;
  if (o.peers)
    for (const RungInfo& rung : device.rungs(operation))
      if (rung.numerics == Numerics::vendor &&
          std::find(rungs.begin(), rungs.end(), rung.name) == rungs.end())
        rungs.push_back(rung.name);
  return rungs;
}

bool is_named(const Options& o, const std::string& rung) {
  return rung.empty() || std::find(o.rungs.begin(), o.rungs.end(), rung) != o.rungs.end();
}

/// Every rung on the one device, replayed from graphs.
std::vector<Result> measure_graphs(const Options& o, const Runner& runner, const Problem& problem,
                                   const Expected& expectation, Control& control) {
  control.show(fmt::format("{} in graphs", to_string(problem)));
  return Control::step([=, rungs = rungs_for(o, runner.device(), problem.operation),
                        device = runner.device()] {
           return measure_in_graphs(device, problem, rungs, *expectation);
         })
      .value_or(std::vector<Result>());
}

/// Every rung on every device, on the same data.
std::vector<Result> measure(const Options& o, const std::vector<Runner>& runners,
                            const Problem& problem, const Expected& expectation, Control& control) {
  std::vector<Result> results;
  for (const Runner& runner : runners)
    for (const std::string& rung : rungs_for(o, runner.device(), problem.operation)) {
      if (control.stop()) return results;
      const std::string who = fmt::format("{} on {}{}{}", to_string(problem), runner.device().id(),
                                          rung.empty() ? "" : " ", rung);
      const auto show = [who](const char* what) {
        Control::show(fmt::format("{}: {}", who, what));
      };
      show("measuring");
      expectation->tell(show);
      for (Result& result : measure_rung(runner, problem, expectation, rung, true)) {
        // A peer that hasn't the operation is no news.
        if (!result.skipped || is_named(o, rung)) results.push_back(std::move(result));
      }
    }
  return results;
}

/// The results of one problem, a list a round.
struct Measured {
  std::vector<std::vector<Result>> rounds;
  bool sampled = false;
};

void check_graph(Options& o) {
  if (o.measuring.devices.empty()) o.measuring.devices = {"cuda:0"};
  for (const std::string& name : o.measuring.devices)
    if (o.measuring.devices.size() > 1 || !name.starts_with("cuda"))
      throw Refusal(fmt::format("--graph takes one device of cuda, not {}", name));
}

int compare(Options& o) {
  if (o.graph) check_graph(o);
  std::vector<Array> arrays = arrays_of(o.inputs);
  const auto [all, complete] = problems(o, arrays);
  const std::vector<Device> devices =
      start(o.measuring.devices, o.rungs, operations_of(o.cases), o.peers);
  if (!o.graph) say("{}", kLegend);
  std::vector<Runner> runners;
  runners.reserve(devices.size());
  for (const Device& device : devices) runners.emplace_back(device, o.measuring.budget);

  Document document{.command = "compare"};
  Control control(o.measuring.limit);
  const std::vector<std::vector<std::byte>> data = data_of(std::move(arrays));
  std::vector<Measured> measured(all.size());
  Report report;
  bool refused = !complete;  // some problem everywhere
  const auto conclude = [&](Measured& of) {
    std::vector<Result> results = combined(std::exchange(of.rounds, {}));
    // A default that refuses must not pass for a good run.
    refused |= !judge(results) && !control.partial();
    report.add(results, of.sampled);
    document.results.insert(document.results.end(), results.begin(), results.end());
  };
  try {
    for (int round = 1; round <= o.rounds && !control.stop(); ++round) {
      forget_roofs();
      for (size_t i = 0; i < all.size() && !control.stop(); ++i) {
        const Expected expectation = expected(all[i], o.measuring.seed, data);
        if (!expectation) break;
        measured[i].sampled = expectation->sampled();
        measured[i].rounds.push_back(
            o.graph ? measure_graphs(o, runners.front(), all[i], expectation, control)
                    : measure(o, runners, all[i], expectation, control));
        control.show("");
        if (round == o.rounds) conclude(measured[i]);
      }
    }
  } catch (const Error& error) {  // a device is lost: what was measured before is not
    control.show("");
    control.end(error.what());
    refused = true;
  }
  for (Measured& of : measured)  // where the last round ended early
    if (!of.rounds.empty()) conclude(of);
  report.finish();
  return finish(document, control, o.measuring.json,
                refused ? Outcome::failed : outcome_of(document.results));
}

}  // namespace

Command add_compare(CLI::App& app) {
  auto o = std::make_shared<Options>();
  add_case_options(app, o->cases);
  add_list(app, "--rung", o->rungs,
           "name or name:parameter=value (default: each device's own choice)");
  add_measuring_options(app, o->measuring);
  add_list(app, "--input", o->inputs, "real data (.npy): one array, or two for gemm");
  // These are the file's.
  app.get_option("--input")->excludes("--size", "--dtype", "--layout", "--values", "--batch");
  app.add_option("--rounds", o->rounds,
                 "measure all of it so often, in fresh memory: the interval (±) then comes from "
                 "the rounds")
      ->check(CLI::Range(1, kMostRounds));
  app.add_flag("--peers", o->peers,
               "measure the vendors' kernels beside them: cuBLAS, CUB, CLBlast, OpenBLAS");
  app.add_flag(
         "--graph", o->graph,
         "kernels alone on a device of cuda: launches replayed from a CUDA graph, each on data "
         "of its own")
      ->excludes("--rounds", "--input", "--min-time", "--json");
  return [o, &app] {
    check_options(app, operations_of(o->cases));
    return compare(*o);
  };
}

}  // namespace trine::bench
