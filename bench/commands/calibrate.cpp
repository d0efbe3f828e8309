// `trine calibrate`: measures what placement decides from, once the results are seen to be right,
// saves it, and prints from which size on which device is faster.
#include <fmt/format.h>

#include <cstdio>
#include <optional>

#include "bench/cases/cases.hpp"
#include "bench/placement/placement.hpp"
#include "bench/timing/side_by_side.hpp"
#include "bench/ui/commands.hpp"
#include "bench/ui/error.hpp"
#include "bench/ui/screen.hpp"

namespace trine::bench {
namespace {

struct Options {
  std::vector<std::string> devices;
  int rounds = 3;
  double time_limit = 0;
  std::string json;
};

/// One GPU or CPU seen twice is two candidates only where both are named.
Calibrated measure_all(const Options& o, const std::vector<Device>& devices, Control& control) {
  CalibrateOptions options;
  options.rounds = o.rounds;
  options.proceed = [](std::string_view what, double done) {
    Control::show(fmt::format("{:.0f} %: {}", done * 100, what));
    return !Control::stop();
  };
  std::optional<Calibrated> done =
      Control::step([devices, options] { return calibrate(devices, options); });
  control.show("");
  return done.value_or(Calibrated());
}

/// The wrong ones, each a line.
std::vector<Result> print_wrong(std::vector<Result> results) {
  std::erase_if(results, [](const Result& r) { return r.verified || r.skipped; });
  for (const Result& r : results)
    say("WRONG: {}{}{}, {}{}: {}", r.device, r.rung.empty() ? "" : " by ", r.rung,
        to_string(r.problem), r.why.empty() ? "" : fmt::format(" ({})", r.why), r.failure);
  return results;
}

int run_calibrate(const Options& o, const std::vector<Device>& devices) {
  Control control(o.time_limit);
  Document document{.command = "calibrate"};
  document.results = print_wrong(check_choices(devices, control));
  if (!document.results.empty()) {
    say("Because of wrong results nothing was measured or saved; an earlier calibration stays. "
        "`trine sweep --best` removes a wrong rung from the tuning table.");
    return finish(document, control, o.json, Outcome::failed);
  }
  const Calibrated done = measure_all(o, devices, control);
  const bool nothing = done.rounds == 0;
  if (nothing) {
    say("No round was completed: nothing was saved; an earlier calibration stays.");
  } else {
    for (size_t i = 0; i < done.files.size(); ++i)
      say("{}: {} round{}, saved in {}", devices[i].id(), done.rounds, done.rounds == 1 ? "" : "s",
          done.files[i]);
    const std::vector<Crossing> crossings = all_crossings(devices);
    print_crossings(crossings);
    for (const Crossing& crossing : crossings)
      document.arrays["crossings"].push_back(to_json(crossing));
  }
  return finish(document, control, o.json, nothing ? Outcome::nothing : Outcome::good);
}

}  // namespace

Command add_calibrate(CLI::App& app) {
  auto o = std::make_shared<Options>();
  add_list(app, "--device", o->devices, "cpu, opencl:0, cuda:0 (default: all devices)");
  app.add_option("--rounds", o->rounds, "rounds of measurements; every figure is their median")
      ->check(CLI::Range(1, 99));
  app.add_option("--time-limit", o->time_limit,
                 "end after this many seconds; completed rounds count")
      ->check(CLI::NonNegativeNumber);
  add_json(app, o->json, "also write the break-even sizes as JSON");
  return [o] { return run_calibrate(*o, chosen_devices(o->devices)); };
}

}  // namespace trine::bench
