#include "modes.hpp"

#include <fmt/format.h>
#include <trine/abi.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "bench/cases/operations.hpp"
#include "bench/stats/measure.hpp"
#include "bench/ui/screen.hpp"

namespace trine::bench {
namespace {

constexpr int64_t kGranule = 64;  ///< rows: the cpu's part is a multiple of so many

/// Clocks round, and the device's isn't the host's: by so much spans may be off.
double slack(const Pass& pass) { return 2e-6 + pass.seconds / 100; }

std::vector<Span> of_lane(const std::vector<Span>& spans, Lane lane) {
  std::vector<Span> found;
  std::ranges::copy_if(spans, std::back_inserter(found),
                       [lane](const Span& span) { return span.lane == lane; });
  std::ranges::sort(found, {}, &Span::begin);
  return found;
}

/// Measures `mode` on a device; `wrong`: the known error of the kernel or its clock, or empty.
MeasuredMode measured_on(const Device& on, const Problem& problem, Expectation& expectation,
                         double budget, const TransferMode& mode, const std::string& wrong) {
  MeasuredMode m{mode, {}, {}, {}};
  m.result.problem = problem;
  m.result.device = on.id() + (mode.cpu_rows != 0 ? "+cpu" : "");
  m.result.memory = mode.memory;
  m.result.roof = roof_of(on, problem);
  try {
    m.result.take(choice_of(on, problem));
    HostRun run(on, problem, expectation.inputs(),
                mode.memory == "pinned" || mode.memory == "pipelined");
    set_mode(run, mode);
    m.pass = measure_passes(run, expectation, budget, m.result);
    if (m.result.verified) m.result.failure = wrong.empty() ? impossible(m.pass) : wrong;
    m.result.verified = m.result.failure.empty();
  } catch (const Error& error) {
    if (error.status() != Status::unsupported && error.status() != Status::out_of_memory) throw;
    m.result.skipped = true;
    m.result.failure = error.what();
  }
  return m;
}

/// One problem on one device, all ways, each in a step (Control::step).
struct Session {
  const ModeSettings& settings;
  Device device;
  const Problem& problem;
  const Expected& expectation;
  Control& control;
  std::vector<MeasuredMode> measured = {};

  std::vector<MeasuredMode> measure() {
    const std::string wrong = validate_timing(device);
    for (TransferMode& mode : modes_of(device, problem.operation)) {
      show(mode.memory);
      mode.chunks = settings.chunks;
      if (std::optional<MeasuredMode> m = measure_on(device, mode, wrong))
        measured.push_back(*std::move(m));
    }
    if (settings.overlap_cpu && !control.stop()) overlap_cpu();
    return std::move(measured);
  }

  std::optional<MeasuredMode> measure_on(const Device& on, const TransferMode& mode,
                                         const std::string& wrong) {
    return Control::step([on, p = problem, e = expectation, budget = settings.budget, mode, wrong] {
      return measured_on(on, p, *e, budget, mode, wrong);
    });
  }

  /// Modes are checked by their outputs; other errors of a kernel or its clock show on resident
  /// data. Empty where there is none.
  std::string validate_timing(const Device& on) {
    if (control.stop()) return {};
    control.show(fmt::format("{} on {} with resident data", to_string(problem), on.id()));
    Runner runner(on, settings.budget);
    const std::vector<Result> results = measure_rung(runner, problem, expectation, "", false);
    if (results.empty()) return {};
    if (results.front().skipped) {
      control.show("");
      say("{}: only the outputs of {} are checked, as its resident data was refused: {}", on.id(),
          to_string(problem), results.front().failure);
    }
    return failure_of(results);
  }

  void show(const std::string& what) {
    control.show(fmt::format("{} on {} {}", to_string(problem), device.id(), what));
  }

  void overlap_cpu() {
    const auto pipelined = std::ranges::find_if(
        measured, [](const MeasuredMode& m) { return m.mode.memory == "pipelined"; });
    if (pipelined == measured.end() || !pipelined->result.verified) return;
    const Device helper = open("cpu");
    const std::string wrong = validate_timing(helper);
    if (control.stop()) return;
    show("with the cpu");
    const std::optional<MeasuredMode> cpu = measure_on(helper, {"shared"}, wrong);
    if (!cpu) return;
    if (!cpu->result.verified) return measured.push_back(*cpu);
    TransferMode mode = pipelined->mode;
    mode.cpu_rows = balanced_rows(problem.size.rows, pipelined->pass.seconds, cpu->pass.seconds);
    if (mode.cpu_rows == 0) {
      control.show("");
      return say("{}: the cpu computes nothing, as its part of {} would be less than {} rows",
                 device.id(), to_string(problem), kGranule);
    }
    std::optional<MeasuredMode> with = measure_on(device, mode, "");
    if (!with) return;
    with->gain = pipelined->pass.seconds / with->pass.seconds;
    measured.push_back(*std::move(with));
  }
};

}  // namespace

bool in_place(const Device& device) {
  const Facts& facts = device.facts();
  return facts.kind == DeviceKind::cpu && (facts.capabilities & TRINE_CAN_SHARE_MEMORY) != 0;
}

std::vector<TransferMode> modes_of(const Device& device, Operation operation) {
  std::vector<TransferMode> ways;
  if (device.backend() != "cpu") ways = {{"pageable"}, {"pinned"}};
  if (!ways.empty() && describe(operation).is_cut) ways.push_back({"pipelined"});
  if (in_place(device)) ways.push_back({"shared"});
  return ways;
}

void set_mode(HostRun& run, const TransferMode& mode) {
  run.options.in_place = mode.memory == "shared";
  run.options.overlap = mode.memory == "pipelined";
  run.options.chunks = mode.chunks;
  run.cpu_rows = mode.cpu_rows;
}

int chunks_of(const Pass& pass) {
  int chunks = 0;
  for (const Span& span : pass.spans) chunks = std::max(chunks, span.index + 1);
  return chunks;
}

std::vector<MeasuredMode> measure_modes(const ModeSettings& settings, const Device& device,
                                        const Problem& problem, const Expected& expectation,
                                        Control& control) {
  return Session{settings, device, problem, expectation, control}.measure();
}

nlohmann::ordered_json to_json(const MeasuredMode& m, double share) {
  nlohmann::ordered_json spans = nlohmann::ordered_json::array();
  for (const Span& span : m.pass.spans)
    spans.push_back({{"lane", name(span.lane)},
                     {"index", span.index},
                     {"begin", span.begin},
                     {"end", span.end}});
  const Problem& problem = m.result.problem;
  nlohmann::ordered_json json = {{"operation", name(problem.operation)},
                                 {"dtype", name(problem.dtype)},
                                 {"shape", shape_json(problem)},
                                 {"device", m.result.device},
                                 {"memory", m.mode.memory},
                                 {"seconds", m.pass.seconds},
                                 {"spans", spans}};
  if (m.mode.cpu_rows == 0)
    json["share"] = share;
  else
    json["gain"] = m.gain, json["cpu_rows"] = m.cpu_share();
  return json;
}

std::string_view name(Lane lane) {
  constexpr std::string_view kNames[] = {"copy in", "kernel", "copy out", "cpu"};
  return kNames[size_t(lane)];
}

double overlapped(const std::vector<Span>& spans) {
  std::vector<std::pair<double, int>> edges;
  for (const Span& span : spans) {
    edges.emplace_back(span.begin, +1);
    edges.emplace_back(span.end, -1);
  }
  std::ranges::sort(edges);
  double seconds = 0;
  int open = 0;
  for (size_t i = 0; i + 1 < edges.size(); ++i) {
    open += edges[i].second;
    if (open > 1) seconds += edges[i + 1].first - edges[i].first;
  }
  return seconds;
}

std::string impossible(const Pass& pass) {
  const double off = slack(pass);
  for (const Lane lane : kLanes) {
    double passed = 0;
    for (const Span& span : of_lane(pass.spans, lane)) {
      if (span.end < span.begin)
        return fmt::format("chunk {} of '{}' ends before it begins", span.index, name(lane));
      if (span.begin < passed - off)
        return fmt::format("chunk {} of '{}' begins before the one in front of it has ended",
                           span.index, name(lane));
      passed = span.end;
    }
    if (passed > pass.seconds + off)
      return fmt::format("'{}' goes on after the pass has ended", name(lane));
  }
  return {};
}

std::vector<std::string> picture(const Pass& pass, int width) {
  std::vector<std::string> lines;
  const double scale = pass.seconds > 0 ? width / pass.seconds : 0;
  for (const Lane lane : kLanes) {
    if (!uses(pass.spans, lane)) continue;
    std::string line(size_t(width), ' ');
    for (const Span& span : of_lane(pass.spans, lane)) {
      // A short span still shows.
      const int begin = std::clamp(int(span.begin * scale), 0, width - 1);
      const int end = std::clamp(int(std::lround(span.end * scale)), begin + 1, width);
      for (int i = begin; i < end; ++i) line[size_t(i)] = char('0' + span.index % 10);
    }
    lines.push_back(fmt::format("{:<8} |{}|", name(lane), line));
  }
  return lines;
}

int64_t balanced_rows(int64_t total, double device, double cpu) {
  const auto rows = int64_t(double(total) * device / (device + cpu)) / kGranule * kGranule;
  return std::clamp<int64_t>(rows, 0, std::max<int64_t>(total - kGranule, 0));
}

}  // namespace trine::bench
