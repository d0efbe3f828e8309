// `trine roof`: what each device can do at best, measured and beside the data sheet, and where
// every rung of the three ladders stands under it.
#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "bench/cases/cases.hpp"
#include "bench/cases/operations.hpp"
#include "bench/timing/roofline.hpp"
#include "bench/timing/side_by_side.hpp"
#include "bench/ui/commands.hpp"
#include "bench/ui/error.hpp"
#include "bench/ui/screen.hpp"
#include "bench/ui/table.hpp"

namespace trine::bench {
namespace {

struct Options {
  Measuring measuring;
  std::vector<std::string> dtypes{"f32", "f64"}, operations;
  std::string size;
  bool points = true;
};

std::string value_text(const DeviceRoof& roof, double value) {
  return roof.unit == "s" ? time_text(value) : rate_text(value, roof.unit);
}

void print_roofs(const Device& device, const std::vector<DeviceRoof>& roofs) {
  say("\nRoofs of {}", device.id());
  std::vector<std::vector<std::string>> rows{
      {"roof", "dtype", "memory", "measured", "nominal", "share"}};
  for (const DeviceRoof& roof : roofs)
    rows.push_back({roof.what, roof.dtype ? std::string(name(*roof.dtype)) : "", roof.memory,
                    value_text(roof, roof.value),
                    roof.nominal ? value_text(roof, *roof.nominal) : "-",
                    percent_text(roof.value, roof.nominal.value_or(0))});
  print_table(rows);
}

Problem problem_of(const Options& o, const Device& device, Operation operation, Dtype dtype) {
  const Description& description = describe(operation);
  const std::string& size = !o.size.empty()                          ? o.size
                            : device.facts().kind == DeviceKind::gpu ? description.gpu_roof_size
                                                                     : description.cpu_roof_size;
  Problem p = bench::problem_of(operation, dtype, parse_size(operation, size));
  check(p);
  check_memory(p, true);
  return p;
}

std::string ridge_text(const char* which, const Ceilings& ceilings, const Problem& problem) {
  if (ceilings.ridge() == 0) return {};
  return fmt::format("; {0} {1:.3g} {2}/byte ({3:.3g} {2}/{4})", which, ceilings.ridge(),
                     operation_word(problem.dtype), ceilings.ridge() * size_of(problem.dtype),
                     name(problem.dtype));
}

std::vector<std::string> row_of(const Result& r, const Ceilings& measured,
                                const Ceilings& nominal) {
  std::vector<std::string> row{r.rung.empty() ? r.requested : r.rung, r.method};
  if (!r.kernel) {
    row.resize(8, "-");
    row.back() = verdict_text(r);
    return row;
  }
  const double seconds = *r.kernel;
  const double done = flops(r.problem) / seconds;
  row.insert(
      row.end(),
      {time_text(seconds), rate_text(r),
       done > 0 ? rate_text(done, fmt::format("{}/s", operation_word(r.problem.dtype))) : "-",
       percent_text(r.rate, measured.at(r.problem)), percent_text(r.rate, nominal.at(r.problem)),
       verdict_text(r)});
  if (r.built_in) row.back() += ", built-in";
  return row;
}

/// Every rung of one ladder as a point under the device's roofs.
void print_points(const Problem& problem, const std::vector<Result>& results,
                  const std::vector<DeviceRoof>& roofs, const Device& device) {
  const Ceilings measured = measured_ceilings(roofs, problem),
                 nominal = nominal_ceilings(roofs, problem);
  say("\n{} on {}: {:.3g} {}/byte{}{}", to_string(problem), device.id(), intensity(problem),
      operation_word(problem.dtype), ridge_text("ridge at", measured, problem),
      ridge_text("nominal", nominal, problem));
  std::vector<std::vector<std::string>> rows{{"rung", "method", "kernel", "rate", "operations",
                                              "of measured roof", "of nominal", "verified"}};
  for (const Result& result : results) rows.push_back(row_of(result, measured, nominal));
  print_table(rows, 2, {"operations"});
  print_reasons(results);
  std::fflush(stdout);
}

void show_ladder(LadderRun& run, const Device& device, const Problem& problem,
                 const std::vector<DeviceRoof>& roofs) {
  Runner runner(device, run.budget);
  std::vector<Result> results;
  for (const std::string& rung : ladder_of(device, problem, true)) {
    if (run.control.stop()) break;
    for (Result& result : run.measure(runner, problem, rung)) results.push_back(std::move(result));
  }
  if (!results.empty()) print_points(problem, results, roofs, device);
}

int roof(const Options& o) {
  std::vector<Dtype> dtypes;
  for (const std::string& word : o.dtypes) dtypes.push_back(parse_dtype(word));
  const std::vector<Device> devices = chosen_devices(o.measuring.devices);
  const auto [ladders, complete] = chosen_of(o.operations, [&](Operation operation) {
    std::vector<std::pair<Device, Problem>> all;
    for (const Device& device : devices)
      for (const Dtype dtype : dtypes)
        all.emplace_back(device, problem_of(o, device, operation, dtype));
    return all;
  });
  print_heading(devices);
  Control control(o.measuring.limit);
  LadderRun run(control, o.measuring.budget, o.measuring.seed);
  run.document.command = "roof";
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  use_tuning(false);  // a ladder ends with the backend's own choice
  for (const Device& device : devices) {
    const std::vector<DeviceRoof> roofs = device_roofs(device, control);
    control.show("");
    if (!roofs.empty()) print_roofs(device, roofs);
    for (const DeviceRoof& roof : roofs) all.push_back(to_json(roof));
    for (const auto& [where, problem] : ladders)
      if (o.points && where == device) show_ladder(run, device, problem, roofs);
  }
  if (run.sampled) say("{}", kSampledNote);
  run.document.arrays["roofs"] = all;
  return finish(run.document, control, o.measuring.json,
                complete ? outcome_of(run.document.results, !all.empty()) : Outcome::failed);
}

}  // namespace

Command add_roof(CLI::App& app) {
  auto o = std::make_shared<Options>();
  app.add_option("operations", o->operations, "rungs of reduce, transpose, gemm (default: all)");
  o->measuring.budget = 0.02;  // of a point
  add_measuring_options(app, o->measuring);
  add_list(app, "--dtype", o->dtypes, "dtypes of the rungs (default: f32 f64)");
  app.add_option("--size", o->size, "size for the rungs of all operations (default: modest sizes)");
  app.add_flag("--points,!--no-points", o->points, "measure every rung, or only the roofs");
  return [o, &app] {
    for (const char* of_points : {"operations", "--dtype", "--size"})
      if (!o->points && app.get_option(of_points)->count() > 0)
        throw Refusal(fmt::format("{} is for the rungs, which --no-points leaves out", of_points));
    return roof(*o);
  };
}

}  // namespace trine::bench
