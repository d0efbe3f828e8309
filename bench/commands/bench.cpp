// `trine bench`: the same verified launches as Google Benchmark's cases, with its flags and its
// JSON, so that its compare.py and the dashboards that read it can follow Trine.
//
// Google Benchmark counts the iterations; the time of each is the device's. When all repetitions of
// a case are through, and before any reporter hears of them, its outputs and clocks are judged: a
// figure that isn't verified is reported as an error. Cases that an early end leaves out
// aren't reported at all.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>

#include "bench/cases/cases.hpp"
#include "bench/cases/operations.hpp"
#include "bench/timing/launches.hpp"
#include "bench/timing/side_by_side.hpp"
#include "bench/ui/commands.hpp"
#include "bench/ui/control.hpp"
#include "bench/ui/error.hpp"
#include "bench/ui/output.hpp"
#include "bench/ui/screen.hpp"

namespace trine::bench {
namespace {

struct Options {
  Cases cases;
  std::vector<std::string> devices, rungs;
  bool peers = false;
  uint64_t seed = 1;
  double limit = 0;
};

/// The memory and the queue of a case, made when its first launch is due.
struct Work {
  Work(const Device& device, const Problem& of, uint64_t seed, const std::string& rung)
      : problem(of), queue(device), expectation(of, seed), launches(queue, of, expectation, rung) {
    expectation.prepare();  // between two launches nothing is to take long
  }

  /// Empty, or the error in the outputs or, of a `whole` measurement, in the times. Nothing can be
  /// launched afterwards.
  std::string verdict(bool whole) {
    if (launches.samples().empty()) return whole ? "it was never launched" : "";
    if (!whole) return launches.failure();
    Result result;
    result.problem = problem;
    result.roof = roof_of(queue.device(), problem, launches.output_bytes());
    set_figure(result, launches.samples(), launches.samples().median());
    settle_roof(
        queue.device(), launches.output_bytes(), [&] { return launches.once(); }, result);
    std::string wrong = launches.failure();
    if (wrong.empty()) wrong = launches.validate_timing(*result.kernel, *result.kernel);
    return wrong.empty() ? above_roof(queue.device(), result) : wrong;
  }

  const Problem problem;
  Queue queue;
  Expectation expectation;
  Launches launches;
};

/// One case of Google Benchmark: a rung on a device.
struct Case {
  std::string name;
  Device device;
  Problem problem;
  std::string rung;
  Choice choice;
  uint64_t seed;
  std::shared_ptr<Work> work;             ///< between the first iteration and the verdict
  bool judged = false, measured = false;  ///< measured: to the end, and judged to the end
  std::string failure;

  /// Unless it has failed; what `step` throws is its failure.
  template <class Step>
  void attempt(Step step) {
    try {
      if (failure.empty()) step();
    } catch (const std::exception& error) { failure = error.what(); }
  }
  /// `whole`: a repetition came to its end.
  void judge(bool whole) {
    if (judged) return;
    judged = true;
    attempt([&] {
      if (!work) return;
      const auto verdict =
          Control::closing_step([own = work, whole] { return own->verdict(whole); });
      failure = verdict.value_or("");
      measured = verdict && whole;
    });
    work.reset();
  }
};
using Registered = std::deque<Case>;  // in their order; they stay where they are

Case* find(Registered& cases, const std::string& name) {
  for (Case& one : cases)
    if (one.name == name) return &one;
  return nullptr;
}

// --- Cases -------------------------------------------------------------------------------------

/// "reduce/sum/f32/2^20/cpu/exact": what has its default isn't said.
std::string name_of(const Problem& p, const Choice& choice, const std::string& rung) {
  std::string text(name(p.operation));
  const auto add = [&](std::string_view word) { text += fmt::format("/{}", word); };
  if (describe(p.operation).has_function) {
    add(name(p.function));
    if (p.map != Map::identity) add(name(p.map));
    if (p.axis != Axis::all) add(name(p.axis));
  }
  add(name(p.dtype));
  if (p.result == Dtype::f64 && p.dtype == Dtype::f32) add("to_f64");
  add(to_string(p.operation, p.size));
  if (p.batch != 1) add(fmt::format("batch:{}", p.batch));
  if (p.layout != describe(p.operation).layout) add(p.layout);
  if (p.numerics != Numerics::reproducible) add(name(p.numerics));
  if (p.values != "uniform") add(p.values);
  add(choice.device.id());
  add(rung.empty() ? choice.rung_name() : std::string_view(rung));
  return text;
}

void add_case(Registered& cases, const Options& o, const Device& device, const Problem& problem,
              const std::string& rung, bool named) {
  try {
    if (const char* reason = peer_refuses(device, problem, rung))
      throw Error(Status::unsupported, reason);
    const Choice choice = choice_of(device, problem, rung);
    const std::string name = name_of(problem, choice, rung);
    if (find(cases, name) == nullptr)
      cases.push_back({name, device, problem, rung, choice, o.seed, nullptr, false, false, {}});
  } catch (const Error& error) {
    if (error.status() != Status::unsupported && error.status() != Status::not_found) throw;
    // A peer that hasn't the operation, or a device that hasn't the rung, is no news.
    if (named && error.status() == Status::unsupported)
      std::fprintf(stderr, "refused: %s on %s%s%s: %s\n", to_string(problem).c_str(),
                   device.id().c_str(), rung.empty() ? "" : " ", rung.c_str(), error.what());
  }
}

Registered cases_of(const Options& o, const std::vector<Problem>& problems,
                    const std::vector<Device>& devices) {
  Registered cases;
  for (const Problem& problem : problems)
    for (const Device& device : devices) {
      for (const std::string& rung : o.rungs.empty() ? std::vector<std::string>{""} : o.rungs)
        add_case(cases, o, device, problem, rung, true);
      for (const RungInfo& info : device.rungs(problem.operation))
        if (o.peers && info.numerics == Numerics::vendor)
          add_case(cases, o, device, problem, info.name, false);
    }
  if (cases.empty()) throw Refusal("no rung takes any of these cases");
  return cases;
}

constexpr char kLeftOut[] = "left out";  // the error of what an early end cut off

/// The head of the JSON says once why it ends.
bool stop() {
  static bool said = false;
  if (!Control::stop()) return false;
  if (!std::exchange(said, true)) benchmark::AddCustomContext("partial", Control::why());
  return true;
}

void iterate(Case& one, benchmark::State& state) {
  Control::show(one.name);
  if (!one.work && !stop())
    one.attempt([&] {
      const auto work = Control::step(
          [device = one.device, problem = one.problem, seed = one.seed, rung = one.rung] {
            return std::make_shared<Work>(device, problem, seed, rung);
          });
      one.work = work.value_or(nullptr);
    });
  // Skipped in here alone: outside a repetition would have no iterations, and the statistics of
  // Google Benchmark abort where that isn't as many as in the others.
  for (auto _ : state) {  // NOLINT(clang-analyzer-deadcode.DeadStores): Google Benchmark's idiom
    if (one.failure.empty() && stop()) return state.SkipWithError(kLeftOut);
    one.attempt([&] { state.SetIterationTime(one.work->launches.once()); });
    if (!one.failure.empty()) return state.SkipWithError(one.failure.c_str());
  }
  const double total = work(one.problem) * double(state.iterations());
  if (rated_by_flops(one.problem))
    state.counters[rate_unit(one.problem) == "op/s" ? "OP/s" : "FLOP/s"] =
        benchmark::Counter(total, benchmark::Counter::kIsRate);
  else
    state.SetBytesProcessed(int64_t(total));
  const bool exact = one.choice.numerics == Numerics::reproducible;
  state.SetLabel(fmt::format("{}, {}", one.choice.rung(), exact ? "same bits" : "in bound"));
}

// --- Reports -----------------------------------------------------------------------------------

/// As SkipWithError() would have it.
template <class Run>
void fail(Run& run, const std::string& why) {
  run.report_label.clear();
  if constexpr (requires { run.error_occurred; }) {
    run.error_occurred = true;
    run.error_message = why;
  } else {  // from 1.8 on: SkippedWithError
    run.skipped = static_cast<decltype(run.skipped)>(2);
    run.skip_message = why;
  }
}

template <class Run>
bool is_left_out(const Run& run) {
  if constexpr (requires { run.error_occurred; })
    return run.error_occurred && run.error_message == kLeftOut;
  else
    return run.skip_message == kLeftOut;
}

/// Stands before one of Google Benchmark's reporters, which hears of a case after its verdict. JSON
/// says at its head whether the run ended early: it is written when all is known.
class Judging : public benchmark::BenchmarkReporter {
 public:
  /// `out`: where it writes, else the screen.
  Judging(std::unique_ptr<BenchmarkReporter> reporter, Registered& cases, const Control& control,
          std::ostream* out = nullptr)
      : reporter_(std::move(reporter)),
        out_(out),
        waits_(dynamic_cast<benchmark::JSONReporter*>(reporter_.get()) != nullptr),
        cases_(cases),
        control_(control) {}

  bool ReportContext(const Context& context) override {
    reporter_->SetOutputStream(out_ ? out_ : &text_);
    reporter_->SetErrorStream(out_ ? out_ : &remarks_);
    if (waits_) context_.emplace(context);
    const bool good = waits_ || reporter_->ReportContext(context);
    show();
    return good;
  }
  void ReportRuns(const std::vector<Run>& runs) override {
    control_.show("");
    std::vector<Run> judged;
    const bool whole = !std::all_of(runs.begin(), runs.end(), is_left_out<Run>);
    for (const Run& run : runs) {
      Case& one = *find(cases_, run.run_name.function_name);
      one.judge(whole);
      if (!one.measured) stop();
      if (one.failure.empty() && (is_left_out(run) || !one.measured)) continue;
      judged.push_back(run);
      if (!one.failure.empty()) fail(judged.back(), one.failure);
    }
    if (waits_)
      waiting_.push_back(std::move(judged));
    else
      reporter_->ReportRuns(judged);
    show();
  }
  void Finalize() override {
    if (waits_) reporter_->ReportContext(*context_);
    for (const std::vector<Run>& runs : waiting_) reporter_->ReportRuns(runs);
    reporter_->Finalize();
    show();
  }

 private:
  /// Prints its text for the screen. Lines for people are made to fit; JSON stays as it is.
  void show() {
    if (out_) return;
    for (const auto& [text, file] : {std::pair(&remarks_, stderr), std::pair(&text_, stdout)}) {
      std::string lines = std::exchange(*text, std::ostringstream()).str();
      if (waits_)
        std::fputs(lines.c_str(), file);
      else if (!lines.empty())
        print_lines(lines, 4, file);
    }
  }

  std::unique_ptr<BenchmarkReporter> reporter_;
  std::ostream* out_;
  bool waits_;
  std::ostringstream text_, remarks_;
  std::optional<Context> context_;
  std::vector<std::vector<Run>> waiting_;
  Registered& cases_;
  const Control& control_;
};

/// A --benchmark_ flag's value, where the user gave it or the environment has it, as Google
/// Benchmark reads it.
std::string flag(const std::vector<std::string>& flags, const std::string& word) {
  std::string variable = word;
  std::transform(variable.begin(), variable.end(), variable.begin(), ::toupper);
  const char* from_environment = std::getenv(variable.c_str());
  std::string value = from_environment ? from_environment : "";
  for (const std::string& given : flags)
    if (given.starts_with("--" + word + "=")) value = given.substr(word.size() + 3);
  return value;
}

/// Hands the flags to Google Benchmark; `known` are the command's own. It would print its help and
/// exit for a value that it doesn't take.
void initialize(const std::vector<std::string>& flags, const std::vector<std::string>& known) {
  static std::string program = "trine bench";  // the reports name it, long after
  std::vector<std::string> words{fmt::format("--benchmark_color={}", has_color())};
  for (const std::string& given : flags) {
    if (!given.starts_with("--benchmark_") && !given.starts_with("--v="))
      throw Refusal(fmt::format("bench has no option '{}'; `trine bench --help` lists them.{}",
                                given, did_you_mean(given, known)));
    words.push_back(given);
  }
  // Google Benchmark gives its CSV up, which aborts on counters that the first case lacks.
  for (const char* format : {"benchmark_format", "benchmark_out_format"})
    if (flag(flags, format) == "csv") throw Refusal("bench writes JSON, not csv");
  // Google Benchmark would empty the file before there is anything to put there: run_cases() writes
  // it.
  if (!flag(flags, "benchmark_out").empty()) words.emplace_back("--benchmark_out=/dev/null");
  std::vector<char*> arguments{program.data()};
  for (std::string& word : words) arguments.push_back(word.data());
  int count = int(arguments.size());
  arguments.push_back(nullptr);
  benchmark::Initialize(&count, arguments.data(), [] {
    throw Refusal("Google Benchmark doesn't accept the value of one of the --benchmark_ flags");
  });
  if (count > 1)
    throw Refusal(fmt::format("Google Benchmark has no flag '{}', or doesn't accept its value",
                              arguments[1]));
}

void describe(const std::vector<Device>& devices, const std::string& peers) {
  benchmark::AddCustomContext("trine", version());
  for (const Device& device : devices)
    benchmark::AddCustomContext(device.id(),
                                fmt::format("{}, {}", device.facts().name, device.facts().driver));
  if (!peers.empty())
    benchmark::AddCustomContext("peers", peers.substr(0, peers.find_last_not_of('\n') + 1));
}

/// How many cases ran.
size_t run_cases(Registered& cases, const std::vector<std::string>& flags, Control& control) {
  benchmark::ClearRegisteredBenchmarks();
  for (Case& one : cases)
    benchmark::RegisterBenchmark(one.name.c_str(), [&](benchmark::State& state) {
      iterate(one, state);
    })->UseManualTime();
  std::unique_ptr<benchmark::BenchmarkReporter> console(benchmark::CreateDefaultDisplayReporter());
  Judging display(std::move(console), cases, control);
  const std::string out = flag(flags, "benchmark_out");
  if (out.empty()) return benchmark::RunSpecifiedBenchmarks(&display);
  std::ostringstream text;
  Judging file(std::make_unique<benchmark::JSONReporter>(), cases, control, &text);
  const size_t count = benchmark::RunSpecifiedBenchmarks(&display, &file);
  if (!text.str().empty()) write_whole(out, [&](std::ostream& whole) { whole << text.str(); });
  return count;
}

int bench(const Options& o, const CLI::App& app) {
  const std::vector<std::string> flags = app.remaining();
  initialize(flags, options_of(app));
  const std::string out = flag(flags, "benchmark_out");
  if (!out.empty()) check_writable(out);
  const std::string peers = o.peers ? load_peers() : std::string();
  const std::vector<Device> devices = chosen_devices(o.devices);
  check_rungs(o.rungs, devices, operations_of(o.cases));
  const auto [problems, complete] = problems_of(o.cases);
  Registered cases = cases_of(o, problems, devices);
  describe(devices, peers);
  Control control(o.limit);
  if (run_cases(cases, flags, control) == 0)
    throw Refusal(
        fmt::format("no case matches --benchmark_filter={}", flag(flags, "benchmark_filter")));
  // A list of the cases is whole without a measurement.
  Outcome outcome = control.partial() ? Outcome::nothing : Outcome::good;
  for (const Case& one : cases)
    if (one.measured) outcome = Outcome::good;
  for (const Case& one : cases) {
    if (one.failure.empty()) continue;
    print_lines(fmt::format("FAILED: {}: {}", one.name, one.failure), 2, stderr);
    outcome = Outcome::failed;
  }
  return ended(control, complete ? outcome : Outcome::failed, stderr);
}

}  // namespace

Command add_bench(CLI::App& app) {
  auto o = std::make_shared<Options>();
  add_case_options(app, o->cases);
  add_list(app, "--device", o->devices,
           "cpu, cpu:threads=8, opencl:0, cuda:0 (default: all devices)");
  add_list(app, "--rung", o->rungs,
           "name or name:parameter=value (default: each device's own choice)");
  app.add_option("--seed", o->seed, "seed of the random data");
  app.add_flag("--peers", o->peers,
               "measure the vendors' kernels too: cuBLAS, CUB, CLBlast, OpenBLAS");
  add_time_limit(app, o->limit);
  app.allow_extras();
  app.footer(
      "Google Benchmark's own options, as --flag=value: --benchmark_filter=REGEX "
      "--benchmark_list_tests=true\n"
      "--benchmark_min_time=SECONDS --benchmark_repetitions=N --benchmark_format=console|json\n"
      "--benchmark_out=FILE (JSON) --benchmark_time_unit=ns|us|ms|s …");
  return [o, &app] {
    check_options(app, operations_of(o->cases));
    return bench(*o, app);
  };
}

}  // namespace trine::bench
