// `trine sweep`: sizes, rungs and every combination of their parameters, each verified; with --best
// the fastest goes into the device's tuning table, where selection finds it.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "bench/cases/cases.hpp"
#include "bench/timing/best.hpp"
#include "bench/timing/side_by_side.hpp"
#include "bench/ui/commands.hpp"
#include "bench/ui/error.hpp"
#include "bench/ui/screen.hpp"
#include "bench/ui/table.hpp"

namespace trine::bench {
namespace {

constexpr int kRounds = 3;

struct Options {
  Cases cases;
  Measuring measuring;
  std::vector<std::string> rungs;
  bool best = false, forget = false;
};

std::string saved_rung(const Device& device, const std::string& call) {
  for (const Tuned& row : tuning(device).rows)
    if (row.call == call) return row.rung;
  return {};
}

/// The configurations of the rungs named, in the order of the ladder; throws where a parameter
/// isn't one.
std::vector<std::string> named_configurations(const Options& o, const Device& device,
                                              Operation operation) {
  std::vector<std::string> all;
  for (const RungInfo& rung : device.rungs(operation))
    for (const std::string& word : o.rungs) {
      if (bare(word) != rung.name) continue;
      const size_t begin = std::min(rung.name.size() + 1, word.size());
      for (const std::string& each : configurations(rung, word.substr(begin))) all.push_back(each);
    }
  return all;
}

/// The rungs to try: the backend's own choice first, the table's rung, then every configuration.
std::vector<std::string> candidates(const Options& o, const Device& device,
                                    const Problem& problem) {
  std::vector<std::string> all{choice_of(device, problem).rung()};
  const auto add = [&](const std::string& rung) {
    if (!rung.empty() && std::find(all.begin(), all.end(), rung) == all.end()) all.push_back(rung);
  };
  if (o.best) add(saved_rung(device, tuning_key(problem)));
  for (const std::string& named : named_configurations(o, device, problem.operation)) add(named);
  if (!o.rungs.empty()) return all;
  for (const RungInfo& rung : device.rungs(problem.operation))
    if (rung.numerics != Numerics::vendor)
      for (const std::string& each : configurations(rung)) add(each);
  return all;
}

std::string date_text() { return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr))); }

/// The method by which the rungs that may be chosen are compared.
std::string_view method_of(const Swept& swept) {
  std::vector<std::vector<Result>> chosen;
  for (const Trial& trial : swept.trials)
    if (may_be_chosen(trial.results.front().numerics, swept.problem.numerics))
      chosen.push_back(trial.results);
  return common_method(chosen);
}

/// The fastest that may be chosen, by one measurement each.
size_t fastest_of(const Swept& swept, std::string_view method) {
  size_t fastest = 0;
  for (size_t i = 1; i < swept.trials.size(); ++i) {
    const Result* figure = swept.trials[i].figure(method);
    if (!figure || !may_be_chosen(figure->numerics, swept.problem.numerics)) continue;
    if (*figure->kernel < *swept.trials[fastest].figure(method)->kernel) fastest = i;
  }
  return fastest;
}

/// In words the findings of the rounds of a rung and the built-in choice.
std::string match(const Trial& challenger, const Trial& built_in, const Rounds& rounds) {
  const double seconds = rounds.challenger_seconds(), before = rounds.standing_seconds();
  const std::string times = fmt::format("{} against {} of the built-in choice {}",
                                        time_text(seconds), time_text(before), built_in.rung);
  if (rounds.is_gain())
    return fmt::format("{}: {}, {}", challenger.rung, times, ratio_text(before / seconds));
  return fmt::format("no gain: in {} more rounds {} took {}{}", kRounds, challenger.rung, times,
                     seconds < before ? ", but the difference is within their variation" : "");
}

class Sweep {
 public:
  explicit Sweep(const Options& options) : o_(options), control_(options.measuring.limit) {}

  int run() {
    Chosen<Problem> chosen = problems_of(o_.cases);
    const std::vector<std::vector<Problem>> groups = grouped(std::move(chosen.all));
    const std::vector<Device> devices = chosen_devices(o_.measuring.devices);
    check_rungs(o_.rungs, devices, operations_of(o_.cases));
    for (const Device& device : devices)
      for (const auto& group : groups) named_configurations(o_, device, group.front().operation);
    std::vector<Runner> runners;
    for (const Device& device : devices) {
      if (o_.best && tuning(device).path.empty())
        throw Refusal(
            "--best has no folder to write to: set TRINE_DATA_DIR, XDG_DATA_HOME or HOME");
      runners.emplace_back(device, o_.measuring.budget);
    }
    print_heading(devices);
    use_tuning(false);  // the backends' own choices are what the others are held against
    for (const auto& group : groups) sweep_group(group, runners);
    for (const std::string& path : paths_)
      say("Saved for {}; later calls use it (TRINE_TUNING=off ignores it).", path);
    return finish(document_, control_, o_.measuring.json,
                  chosen.complete && verified_ && saved_all_ ? outcome_of(document_.results)
                                                             : Outcome::failed);
  }

 private:
  void sweep_group(const std::vector<Problem>& group, std::vector<Runner>& runners) {
    std::vector<std::vector<Swept>> of_device(runners.size());
    for (const Problem& problem : group) {
      if (control_.stop()) break;
      const Expected expectation = expected(problem, o_.measuring.seed);
      for (size_t i = 0; i < runners.size() && !control_.stop(); ++i)
        of_device[i].push_back(sweep_one(runners[i], problem, expectation));
    }
    for (size_t i = 0; i < runners.size(); ++i) print_sweep(runners[i].device(), of_device[i]);
  }

  Swept sweep_one(const Runner& runner, const Problem& problem, const Expected& expectation) {
    Swept swept;
    swept.problem = problem;
    std::vector<std::string> rungs;
    try {
      rungs = candidates(o_, runner.device(), problem);
    } catch (const Error& error) {
      if (error.status() != Status::unsupported) throw;
      swept.sentence = error.what();
      return swept;
    }
    Digests digests;
    for (size_t i = 0; i < rungs.size() && !control_.stop(); ++i) {
      control_.show(fmt::format("{} on {}: {} of {}, {}", to_string(problem), runner.device().id(),
                                i + 1, rungs.size(), rungs[i]));
      std::vector<Result> results = measure_rung(runner, problem, expectation, rungs[i], false);
      if (results.empty()) break;
      digests.compare(results);
      swept.trials.push_back({rungs[i], {std::move(results)}});
    }
    if (control_.partial())
      swept.sentence = "ended before everything was tried";
    else
      decide(runner, expectation, swept);
    for (const Trial& trial : swept.trials) {
      verified_ &= failure_of(trial.results).empty();
      document_.results.insert(document_.results.end(), trial.results.begin(), trial.results.end());
    }
    if (o_.best) drop_wrong(runner.device(), swept);
    control_.show("");
    return swept;
  }

  /// The fastest by one measurement each is the best where more rounds say so, too: no rung comes
  /// into the table by luck.
  void decide(const Runner& runner, const Expected& expectation, Swept& swept) {
    Trial& built_in = swept.trials.front();
    const std::string_view method = method_of(swept);
    if (!built_in.figure(method)) {
      swept.sentence = "the built-in choice failed, so there is nothing to compare with";
      return;
    }
    const double seconds = *built_in.figure(method)->kernel;
    Tuned row{tuning_key(swept.problem), {}, seconds, seconds, date_text()};
    Trial& fastest = swept.trials[fastest_of(swept, method)];
    if (&fastest == &built_in) {
      swept.sentence = fmt::format("no gain: the built-in choice {} is the fastest, {}",
                                   built_in.rung, time_text(seconds));
    } else {
      Rounds rounds;
      const std::string undecided = measure_rounds(runner, expectation, fastest, built_in, rounds);
      if (!undecided.empty()) {
        swept.sentence = undecided;
        return;
      }
      swept.sentence = match(fastest, built_in, rounds);
      row.default_seconds = rounds.standing_seconds();
      row.seconds = rounds.challenger_seconds();
      if (rounds.is_gain()) row.rung = fastest.rung;
    }
    swept.best = fastest.rung;
    keep(runner.device(), swept, row);
  }

  /// More of both in turns, so that a machine that slows down meets them alike. Empty, or why these
  /// don't tell which is faster: a rung may turn wrong as late as here.
  std::string measure_rounds(const Runner& runner, const Expected& expectation, Trial& challenger,
                             Trial& standing, Rounds& rounds) {
    const auto once_more = [&](Trial& trial) {
      const Problem& problem = trial.results.front().problem;
      control_.show(fmt::format("{} on {}: once more {}", to_string(problem), runner.device().id(),
                                trial.rung));
      std::vector<Result> results = measure_rung(runner, problem, expectation, trial.rung, false);
      if (results.empty()) return std::string("ended before the fastest was measured again");
      if (results.front().skipped)
        return fmt::format("{} was refused when it was measured again: {}", trial.rung,
                           results.front().failure);
      trial.add(std::move(results));
      return failure_of(trial.results).empty()
                 ? std::string()
                 : fmt::format("{} is WRONG when it is measured again", trial.rung);
    };
    for (int round = 0; round < kRounds; ++round)
      for (Trial* trial : {&challenger, &standing})
        if (std::string why = once_more(*trial); !why.empty()) return why;
    const auto mine = std::span(challenger.rounds).last(kRounds),
               theirs = std::span(standing.rounds).last(kRounds);
    std::vector<std::vector<Result>> both(mine.begin(), mine.end());
    both.insert(both.end(), theirs.begin(), theirs.end());
    const std::string_view method = common_method(both);
    for (const std::vector<Result>& round : mine)
      rounds.challenger.push_back(*figure_of(round, method));
    for (const std::vector<Result>& round : theirs)
      rounds.standing.push_back(*figure_of(round, method));
    return {};
  }

  /// Into the table, or out of it, and into the JSON.
  void keep(const Device& device, Swept& swept, const Tuned& row) {
    // Other rungs may beat the time that a few couldn't: only a whole sweep shows that there is
    // no gain. Where few were asked for, the saved one has been measured and is none.
    const bool gain = !row.rung.empty(), decides = gain || o_.rungs.empty();
    const std::string saved = o_.best ? saved_rung(device, row.call) : "";
    const bool kept = o_.best && decides && save(device, row);
    if (kept) swept.sentence += "; saved";
    const bool was_tried = std::ranges::any_of(swept.trials, [&](const Trial& trial) {
      return trial.rung == saved && trial.figure("single") != nullptr;
    });
    if (was_tried && !decides) drop(device, swept, saved, "no gain");
    document_.arrays["sweeps"].push_back({{"device", device.id()},
                                          {"call", row.call},
                                          {"default", swept.trials.front().rung},
                                          {"best", swept.best},
                                          {"default_seconds", row.default_seconds},
                                          {"seconds", row.seconds},
                                          {"gain", gain},
                                          {"saved", kept}});
  }

  /// Whether the row went into the device's table.
  bool save(const Device& device, const Tuned& row) {
    try {
      paths_.insert(fmt::format("{}: {}", device.id(), save_tuning(device, {row})));
      return true;
    } catch (const Error& error) {
      std::fprintf(stderr, "trine: not saved: %s\n", error.what());
      saved_all_ = false;
      return false;
    }
  }

  /// Without its row the built-in choice answers.
  void drop(const Device& device, Swept& swept, const std::string& saved, std::string_view why) {
    try {
      forget_tuning(device, tuning_key(swept.problem));
      swept.sentence += fmt::format("; the saved {} is {} and no longer in the table", saved, why);
    } catch (const Error& error) {
      fmt::print(stderr, "trine: {} is {} and still saved: {}\n", saved, why, error.what());
      saved_all_ = false;
    }
  }

  /// No call shall be given a rung that is known to be wrong.
  void drop_wrong(const Device& device, Swept& swept) {
    const std::string saved = saved_rung(device, tuning_key(swept.problem));
    for (const Trial& trial : swept.trials)
      if (trial.rung == saved && !failure_of(trial.results).empty())
        drop(device, swept, saved, "WRONG");
  }

  const Options& o_;
  Control control_;
  Document document_{.command = "sweep"};
  bool verified_ = true, saved_all_ = true;
  std::set<std::string> paths_;
};

int forget() {
  const std::vector<std::string> paths = forget_tuning();
  for (const std::string& path : paths) say("removed {}", path);
  if (paths.empty()) say("there is no tuning table");
  return kExitGood;
}

}  // namespace

Command add_sweep(CLI::App& app) {
  auto o = std::make_shared<Options>();
  add_case_options(app, o->cases);
  add_measuring_options(app, o->measuring);
  add_list(app, "--rung", o->rungs,
           "these rungs; name:parameter=value lets the other parameters vary (default: all)");
  app.add_flag("--best", o->best,
               "save the fastest rung of each size in the device's tuning table, if it is a gain");
  CLI::Option* forgets =
      app.add_flag("--forget", o->forget, "remove the tuning tables of all devices");
  for (CLI::Option* other : app.get_options())
    if (other != forgets && other != app.get_help_ptr()) forgets->excludes(other);
  return [o, &app] {
    check_options(app, operations_of(o->cases));
    return o->forget ? forget() : Sweep(*o).run();
  };
}

}  // namespace trine::bench
