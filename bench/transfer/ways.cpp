#include "ways.hpp"

#include <fmt/format.h>
#include <trine/abi.h>

#include <algorithm>
#include <cstdio>

#include "bench/stats/measure.hpp"
#include "bench/timing/side_by_side.hpp"
#include "bench/ui/screen.hpp"

namespace trine::bench {
namespace {

constexpr int64_t kGranule = 64;  ///< rows: the cpu's part is a multiple of so many

Result described(const Device& device, const Problem& problem, const Way& way) {
  Result result;
  result.problem = problem;
  result.device = device.id() + (way.cpu_rows != 0 ? "+cpu" : "");
  result.memory = way.memory;
  result.roof = roof_of(device, problem);
  return result;
}

MeasuredWay measure_way(const WaySettings& o, const Device& device, const Problem& problem,
                        Expectation& expectation, const Way& way) {
  MeasuredWay m{way, {}, described(device, problem, way)};
  try {
    m.result.take(choice_of(device, problem));
    HostRun run(device, problem, expectation, way.memory == "pinned" || way.memory == "pipelined");
    set_way(run, way);
    m.pass = measure_passes(run, expectation, o.budget, m.result);
    if (m.result.verified) m.result.failure = impossible(timeline_of(m, 0));
    m.result.verified = m.result.failure.empty();
  } catch (const Error& error) {
    if (error.status() != Status::unsupported && error.status() != Status::out_of_memory) throw;
    m.result.skipped = true;
    m.result.failure = error.what();
  }
  return m;
}

/// One problem on one device, all ways.
class Session {
 public:
  Session(const WaySettings& o, const Device& device, const Problem& problem,
          Expectation& expectation, Control& control)
      : o_(o), device_(device), problem_(problem), expectation_(expectation), control_(control) {}

  std::vector<MeasuredWay> measure() {
    const std::string wrong = scrutinize(device_);
    for (Way& way : ways_of(device_, problem_.operation)) {
      if (control_.stop()) break;
      show(way.memory);
      way.chunks = o_.chunks;
      measured_.push_back(measured(device_, way, wrong));
    }
    if (o_.overlap_cpu && !control_.stop()) overlap_cpu();
    return std::move(measured_);
  }

 private:
  /// Ways are checked by their outputs; what else may be wrong with a kernel or its clock shows on resident data.
  /// Empty, or what is.
  std::string scrutinize(const Device& device) {
    if (control_.stop()) return {};
    control_.show(fmt::format("{} on {} with resident data", to_string(problem_), device.id()));
    Runner runner(device, o_.budget);
    const std::vector<Result> results = measure_rung(runner, problem_, expectation_, "", false);
    if (results.front().skipped) {
      control_.show("");
      say("{}: only the outputs of {} are checked, as its resident data was refused: {}",
          device.id(), to_string(problem_), results.front().failure);
    }
    return failure_of(results);
  }

  /// `wrong`: what scrutiny found.
  MeasuredWay measured(const Device& device, const Way& way, const std::string& wrong) {
    MeasuredWay m = measure_way(o_, device, problem_, expectation_, way);
    if (m.result.verified && !wrong.empty()) {
      m.result.verified = false;
      m.result.failure = wrong;
    }
    return m;
  }

  void show(const std::string& what) {
    control_.show(fmt::format("{} on {} {}", to_string(problem_), device_.id(), what));
  }

  void overlap_cpu() {
    const auto pipelined = std::ranges::find_if(
        measured_, [](const MeasuredWay& m) { return m.way.memory == "pipelined"; });
    if (pipelined == measured_.end() || !pipelined->result.verified) return;
    const Way without = pipelined->way;
    Way way = without;
    const Device helper = open("cpu");
    const std::string wrong = scrutinize(helper);
    if (control_.stop()) return;
    show("with the cpu");
    const MeasuredWay cpu = measured(helper, {"shared"}, wrong);
    if (!cpu.result.verified) return measured_.push_back(cpu);
    double device_all = pipelined->pass.seconds, cpu_all = cpu.pass.seconds;
    const auto balance = [&] {
      way.cpu_rows = balanced_rows(problem_.size.rows, device_all, cpu_all);
      return way.cpu_rows != 0;
    };
    // The two slow each other down: what each took beside the other corrects its part.
    for (int turn = 0; balance() && turn < 3; ++turn) {
      HostRun run(device_, problem_, expectation_, true);
      set_way(run, way);
      run.once();
      const Pass pass = run.once();
      double device_end = 0;
      for (const Span& span : pass.spans)
        if (span.lane != Lane::cpu) device_end = std::max(device_end, span.end);
      const double share = double(way.cpu_rows) / double(problem_.size.rows);
      device_all = device_end / (1 - share);
      cpu_all = busy(pass.spans, Lane::cpu) / share;
    }
    if (way.cpu_rows == 0) {
      control_.show("");
      say("{}: the cpu computes nothing, as its part of {} would be less than {} rows",
          device_.id(), to_string(problem_), kGranule);
      return;
    }
    MeasuredWay with = measure_way(o_, device_, problem_, expectation_, way);
    if (with.result.verified) with.gain = gain(without, with);
    measured_.push_back(std::move(with));
  }

  /// In turns, so that a machine that is slower for a while is so for both.
  double gain(const Way& without, MeasuredWay& with) {
    constexpr int kTurns = 7;
    HostRun plain(device_, problem_, expectation_, true),
        helped(device_, problem_, expectation_, true);
    set_way(plain, without);
    set_way(helped, with.way);
    Samples plain_times, helped_times;
    const auto once = [&](HostRun& run, int turn, Samples& times) {
      const int w = turn % expectation_.windows();
      run.poison();
      const double seconds = run.once(uint64_t(w) * Expectation::kShift).seconds;
      if (with.result.failure.empty())
        with.result.failure = expectation_.check(w, run.output(), with.result.numerics);
      if (turn != 0) times.seconds.push_back(seconds);  // the first one doesn't count
    };
    for (int turn = 0; turn <= kTurns; ++turn) {
      once(plain, turn, plain_times);
      once(helped, turn, helped_times);
    }
    with.result.verified = with.result.failure.empty();
    return plain_times.median() / helped_times.median();
  }

  const WaySettings& o_;
  Device device_;
  const Problem& problem_;
  Expectation& expectation_;
  Control& control_;
  std::vector<MeasuredWay> measured_;
};

}  // namespace

bool in_place(const Device& device) {
  const Facts& facts = device.facts();
  return facts.kind == DeviceKind::cpu && (facts.capabilities & TRINE_CAN_SHARE_MEMORY) != 0;
}

std::vector<Way> ways_of(const Device& device, Operation operation) {
  std::vector<Way> ways;
  if (device.backend() != "cpu") ways = {{"pageable"}, {"pinned"}};
  if (!ways.empty() && operation != Operation::reduce) ways.push_back({"pipelined"});
  if (in_place(device)) ways.push_back({"shared"});
  return ways;
}

void set_way(HostRun& run, const Way& way) {
  run.options.in_place = way.memory == "shared";
  run.options.overlap = way.memory == "pipelined";
  run.options.chunks = way.chunks;
  run.cpu_rows = way.cpu_rows;
}

int strips_of(const Pass& pass) {
  int strips = 0;
  for (const Span& span : pass.spans) strips = std::max(strips, span.index + 1);
  return strips;
}

std::vector<MeasuredWay> measure_ways(const WaySettings& settings, const Device& device,
                                      const Problem& problem, Expectation& expectation,
                                      Control& control) {
  return Session(settings, device, problem, expectation, control).measure();
}

Timeline timeline_of(const MeasuredWay& m, double alone) {
  Timeline timeline{.problem = m.result.problem,
                    .device = m.result.device,
                    .memory = m.way.memory,
                    .seconds = m.pass.seconds,
                    .spans = m.pass.spans};
  if (m.way.cpu_rows == 0) {
    timeline.share = alone / timeline.seconds;
  } else {
    timeline.gain = m.gain;
    timeline.cpu_rows = double(m.way.cpu_rows) / double(m.result.problem.size.rows);
  }
  return timeline;
}

int64_t balanced_rows(int64_t total, double device, double cpu) {
  const auto rows = int64_t(double(total) * device / (device + cpu)) / kGranule * kGranule;
  return std::clamp<int64_t>(rows, 0, std::max<int64_t>(total - kGranule, 0));
}

}  // namespace trine::bench
