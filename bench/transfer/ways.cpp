#include "ways.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "bench/stats/measure.hpp"
#include "bench/timing/side_by_side.hpp"

namespace trine::bench {
namespace {

Result described(const Device& device, const Problem& problem, const Way& way) {
  Result result;
  result.problem = problem;
  result.device = device.id() + (way.cpu_rows != 0 ? "+cpu" : "");
  result.memory = way.memory;
  result.roof = roof_of(device, problem);
  return result;
}

void settle(MeasuredWay& m, std::vector<Pass>& passes, const Samples& samples) {
  const auto middle = passes.begin() + std::ptrdiff_t(passes.size() / 2);
  std::ranges::nth_element(passes, middle, {}, &Pass::total);
  m.pass = *middle;
  const auto phase = [&](Lane lane) {
    return uses(m.pass.spans, lane) ? std::optional(busy(m.pass.spans, lane)) : std::nullopt;
  };
  m.result.alloc = m.pass.alloc;
  m.result.h2d = phase(Lane::copy_in);
  m.result.kernel = phase(Lane::kernel);
  m.result.d2h = phase(Lane::copy_out);
  m.result.total = m.pass.total();
  m.result.samples = int(samples.seconds.size());
  m.result.spread = samples.spread();
  m.result.rounds = {samples.median()};
  m.result.interval = samples.interval();
  m.result.roofs = {m.result.roof.value};
  m.result.rate = work(m.result.problem) / std::max(*m.result.kernel, 1e-12);
}

MeasuredWay measure_way(const WaySettings& o, const Device& device, const Problem& problem,
                        Expectation& expectation, const Way& way) {
  MeasuredWay m{way, {}, described(device, problem, way)};
  try {
    m.result.take(choice_of(device, problem));
    Pipeline pipeline(device, problem, expectation, way);
    int turn = 0;
    std::vector<Pass> passes;
    const auto once = [&] {
      const int w = turn++ % expectation.windows();
      passes.push_back(pipeline.once(w));
      const std::string wrong = expectation.check(w, pipeline.output(), m.result.numerics);
      if (w == 0) m.result.digest = expectation.digest(pipeline.output());
      if (m.result.failure.empty()) m.result.failure = wrong;
      return passes.back().total();
    };
    m.result.first = once();
    passes.clear();  // the first one compiles
    const Samples samples = measure(
        fmt::format("{} {} {}", device.id(), to_string(problem), way.memory), o.budget, 3, once);
    settle(m, passes, samples);
    if (m.result.failure.empty()) m.result.failure = impossible(timeline_of(m, 0));
    m.result.verified = m.result.failure.empty();
  } catch (const Error& error) {
    if (error.status() != Status::unsupported && error.status() != Status::out_of_memory) throw;
    m.result.skipped = true;
    m.result.failure = error.what();
  }
  return m;
}

/// The number of chunks of which one pass is the fastest.
int best_chunks(const Device& device, const Problem& problem, Expectation& expectation) {
  constexpr uint64_t kLeast =
      128 << 10;  // bytes a chunk: below, starting the copies is what counts
  int best = 2;
  double seconds = 0;
  for (const int chunks : {2, 4, 8, 16, 32}) {
    const bool small = footprint(problem) / uint64_t(chunks) < kLeast;
    if (chunks > 2 && (small || cuttable(problem) < chunks)) break;
    Pipeline pipeline(device, problem, expectation, {"pipelined", chunks});
    pipeline.once(0);
    const double once = std::min(pipeline.once(0).seconds, pipeline.once(0).seconds);
    if (seconds == 0 || once < seconds) best = chunks, seconds = once;
  }
  return best;
}

/// One problem on one device, all ways.
class Session {
 public:
  Session(const WaySettings& o, const Device& device, const Problem& problem,
          Expectation& expectation, Control& control)
      : o_(o), device_(device), problem_(problem), expectation_(expectation), control_(control) {}

  std::vector<MeasuredWay> measure() {
    const std::string wrong = scrutinize(device_);
    for (Way& way : ways_of(device_)) {
      if (control_.stop()) break;
      show(way.memory);
      if (way.memory == "pipelined") {
        try {
          way.chunks = o_.chunks;
          if (way.chunks == 0) way.chunks = best_chunks(device_, problem_, expectation_);
        } catch (const Error&) { way.chunks = 2; }  // measuring it says why
      }
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
      std::printf("%s: only the outputs of %s are checked, as its resident data was refused: %s\n",
                  device.id().c_str(), to_string(problem_).c_str(),
                  results.front().failure.c_str());
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
      way.cpu_rows = balanced_rows(problem_, way.chunks, device_all, cpu_all);
      return way.cpu_rows != 0;
    };
    // The two slow each other down: what each took beside the other corrects its part.
    for (int turn = 0; balance() && turn < 3; ++turn) {
      Pipeline pipeline(device_, problem_, expectation_, way);
      pipeline.once(0);
      const Pass pass = pipeline.once(0);
      double device_end = 0;
      for (const Span& span : pass.spans)
        if (span.lane != Lane::cpu) device_end = std::max(device_end, span.end);
      const double share = double(way.cpu_rows) / double(cuttable(problem_));
      device_all = device_end / (1 - share);
      cpu_all = busy(pass.spans, Lane::cpu) / share;
    }
    if (way.cpu_rows == 0) {
      control_.show("");
      std::printf("%s: the cpu's part of %s would be less than %lld rows: none\n",
                  device_.id().c_str(), to_string(problem_).c_str(),
                  static_cast<long long>(granule(problem_)));
      return;
    }
    MeasuredWay with = measure_way(o_, device_, problem_, expectation_, way);
    if (with.result.verified) with.gain = gain(without, with);
    measured_.push_back(std::move(with));
  }

  /// In turns, so that a machine that is slower for a while is so for both.
  double gain(const Way& without, MeasuredWay& with) {
    constexpr int kTurns = 7;
    Pipeline plain(device_, problem_, expectation_, without);
    Pipeline helped(device_, problem_, expectation_, with.way);
    Samples plain_times, helped_times;
    const auto once = [&](Pipeline& pipeline, int turn, Samples& times) {
      const int w = turn % expectation_.windows();
      const double seconds = pipeline.once(w).seconds;
      if (with.result.failure.empty())
        with.result.failure = expectation_.check(w, pipeline.output(), with.result.numerics);
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
    timeline.cpu_rows = double(m.way.cpu_rows) / double(cuttable(m.result.problem));
  }
  return timeline;
}

int64_t balanced_rows(const Problem& problem, int chunks, double device, double cpu) {
  const int64_t total = cuttable(problem), step = granule(problem);
  const auto rows = int64_t(double(total) * device / (device + cpu)) / step * step;
  const int64_t most = total - std::max<int64_t>(chunks, step);
  return std::clamp<int64_t>(rows, 0, std::max<int64_t>(most, 0));
}

}  // namespace trine::bench
