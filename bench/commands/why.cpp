// `trine why`: where an operation of some size would run, in one sentence with its numbers, and the
// size from which on that changes.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "bench/cases/cases.hpp"
#include "bench/timing/side_by_side.hpp"
#include "bench/ui/commands.hpp"
#include "bench/ui/error.hpp"
#include "bench/ui/screen.hpp"
#include "bench/ui/table.hpp"
#include "why_trace.hpp"

namespace trine::bench {
namespace {

struct Options {
  std::string operation, size, dtype = "f32", function = "sum", axis = "all",
                               numerics = "reproducible", where = "host";
  std::vector<std::string> devices;
  int repeats = 1;
  TraceOptions trace;
};

Problem problem_of(const Options& o) {
  const Operation operation = parse_operation(o.operation);
  Problem p = bench::problem_of(operation, parse_dtype(o.dtype), parse_size(operation, o.size),
                                parse_function(o.function), parse_axis(o.axis));
  p.numerics = parse_numerics(o.numerics);
  check(p);
  return p;
}

const std::map<std::string, Where> kWhere{{"host", Where::host},
                                          {"host_pinned", Where::host_pinned},
                                          {"host_pipelined", Where::host_pipelined},
                                          {"device", Where::device}};

Placement placed(const Problem& problem, Where where, int repeats, const Buffer& buffer,
                 const std::vector<Device>& among) {
  std::vector<Place> places(operand_bytes(problem).size());
  places[0].buffer = buffer;  // the first operand's says where the data lives
  return std::visit([&](const auto& operation) { return place(operation, where, repeats, among); },
                    device_operation(problem, places));
}

/// Resident data runs where it lives: what it would take there, on each device.
std::vector<Candidate> resident(const Problem& problem, int repeats,
                                const std::vector<Device>& devices) {
  std::vector<Candidate> all;
  for (const Device& device : devices) {
    try {
      const Buffer there(device, operand_bytes(problem)[0]);
      all.push_back(placed(problem, Where::device, repeats, there, {}).candidates.at(0));
    } catch (const Error& error) {
      if (devices.size() == 1) throw;
      say("{} can't: {}", device.id(), error.what());
    }
  }
  if (all.empty()) throw Refusal("none of these devices can run it");
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  return all;
}

std::string resident_sentence(const std::vector<Candidate>& candidates) {
  std::string text = "Resident data runs where it lives. Predicted per run:";
  for (const Candidate& c : candidates)
    text += fmt::format("{} {} {} ({})", &c == &candidates[0] ? "" : ",", c.device.id(),
                        time_text(c.seconds), c.source);
  return text + ".";
}

/// Prints the times of the named devices, or of all where none was named, as `auto` had nothing to
/// choose from. `auto` counts a processor once, but several backends may see it.
std::vector<Candidate> print_all(const Problem& problem, Where where, int repeats,
                                 std::vector<Device> devices) {
  if (devices.empty()) devices = chosen_devices({});
  const Placement all = placed(problem, where, repeats, {}, devices);
  if (all.candidates.size() > 1)
    say("{}", all.sentence);
  else if (!all.candidates.empty())
    say("Predicted per run: {} {}.", all.device.id(), time_text(all.seconds));
  return all.candidates;
}

int why(Options& o, const CLI::App& app) {
  if (!o.trace.trace.empty()) {
    o.trace.devices = o.devices;
    o.trace.where = kWhere.at(o.where);
    return why_trace(o.trace);
  }
  if (o.operation.empty() || o.size.empty())
    throw Refusal("why needs an operation and --size, or --trace FILE");
  check_options(app, {parse_operation(o.operation)});
  const Problem problem = problem_of(o);
  const Where where = kWhere.at(o.where);
  std::vector<Device> devices;
  if (!o.devices.empty() || where == Where::device) devices = chosen_devices(o.devices);
  std::vector<Candidate> candidates;
  if (where == Where::device) {
    candidates = resident(problem, o.repeats, devices);
    say("{}", resident_sentence(candidates));
  } else {
    const Placement placement = placed(problem, where, o.repeats, {}, devices);
    candidates = placement.candidates;
    say("{}: {}", placement.device.id(), placement.sentence);
    if (candidates.size() < 2) candidates = print_all(problem, where, o.repeats, devices);
    say("{}", placement.choice.sentence());
  }
  // Break-even sizes are of one run over whole arrays, with the default numerics.
  if (o.repeats != 1 || problem.axis != Axis::all || problem.numerics != Numerics::reproducible)
    return kExitGood;
  for (size_t i = 1; i < candidates.size(); ++i)
    for (const Crossing& crossing : break_even(problem.operation, problem.function, problem.dtype,
                                               where, candidates[0].device, candidates[i].device))
      say("{}", crossing.sentence);
  return kExitGood;
}

}  // namespace

Command add_why(CLI::App& app) {
  auto o = std::make_shared<Options>();
  app.add_option("operation", o->operation, "reduce, transpose or gemm");
  app.add_option("--size", o->size, "N, RxC or MxNxK; suffixes k, M, G and 2^k");
  app.add_option("--dtype", o->dtype, "f32 f64 i32 i64 u32 u64, for transpose b8 … b128 too");
  app.add_option("--function", o->function, "reduce: sum prod min max argmin argmax");
  app.add_option("--axis", o->axis, "reduce: all each_row each_column");
  app.add_option("--numerics", o->numerics, kNumericsHelp);
  app.add_option("--where", o->where,
                 "place of the data: host, host_pinned, host_pipelined or device")
      ->check(CLI::IsMember(&kWhere));
  app.add_option("--repeats", o->repeats, "runs that share one transfer")
      ->check(CLI::Range(1, 1000000000));
  add_list(app, "--device", o->devices, "the candidates (default: those of `auto`)");
  app.add_option("--trace", o->trace.trace,
                 "a log of libtrine_blas: what the whole program would take (TRINE_BLAS_LOG)")
      ->type_name("FILE")
      ->excludes("operation", "--size", "--dtype", "--function", "--axis", "--numerics",
                 "--repeats");
  add_list(app, "--calibration", o->trace.calibrations,
           "with --trace: calibrations of other machines (`trine calibrate` says where they lie)");
  app.get_option("--calibration")->type_name("FILE")->needs("--trace");
  app.add_option("--json", o->trace.json, "with --trace: also write the answers as JSON")
      ->type_name("FILE")
      ->needs("--trace");
  return [o, &app] { return why(*o, app); };
}

}  // namespace trine::bench
