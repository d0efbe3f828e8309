// `trine sweep`: sizes, rungs and every combination of their parameters, each verified; with --best the
// fastest goes into the device's tuning table, where selection finds it.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <set>

#include "best.hpp"
#include "cases.hpp"
#include "commands.hpp"
#include "error.hpp"
#include "rounds.hpp"
#include "side_by_side.hpp"
#include "table.hpp"

namespace trine::bench {
namespace {

constexpr int kRounds = 3;

struct Options {
  Cases cases;
  Measuring measuring;
  std::vector<std::string> rungs;
  bool best = false, forget = false;
};

/// One configuration at one size.
struct Trial {
  std::string rung;
  std::vector<Result> results;
  const Result* figure(std::string_view method) const { return figure_of(results, method); }
};

/// All of them at one size on one device. The first is the backend's own choice.
struct Swept {
  Problem problem;
  std::vector<Trial> trials;
  std::string best;      ///< the fastest that may be chosen; empty where the work ended before
  std::string sentence;  ///< what came of it
};

std::string saved_rung(const Device& device, const std::string& call) {
  for (const Tuned& row : tuning(device).rows)
    if (row.call == call) return row.rung;
  return {};
}

/// The configurations of the rungs named, in the order of the ladder; throws where a parameter isn't one.
std::vector<std::string> named_configurations(const Options& o, const Device& device,
                                              Operation operation) {
  std::vector<std::string> all;
  for (const RungInfo& rung : device.rungs(operation))
    for (const std::string& word : o.rungs) {
      const size_t colon = std::min(word.find(':'), word.size());
      if (word.substr(0, colon) != rung.name) continue;
      for (const std::string& each :
           configurations(rung, std::string_view(word).substr(std::min(colon + 1, word.size()))))
        all.push_back(each);
    }
  return all;
}

/// What is tried: the backend's own choice first, what the table has, then every configuration.
std::vector<std::string> candidates(const Options& o, const Device& device,
                                    const Problem& problem) {
  std::vector<std::string> all{chosen_rung(device, problem)};
  const auto add = [&](const std::string& rung) {
    if (!rung.empty() && std::find(all.begin(), all.end(), rung) == all.end()) all.push_back(rung);
  };
  if (o.best) add(saved_rung(device, tuned_call(problem)));
  for (const std::string& named : named_configurations(o, device, problem.operation)) add(named);
  if (!o.rungs.empty()) return all;
  for (const RungInfo& rung : device.rungs(problem.operation))
    if (rung.numerics != Numerics::vendor)
      for (const std::string& each : configurations(rung)) add(each);
  return all;
}

class Sweep {
 public:
  explicit Sweep(const Options& options) : o_(options), control_(options.measuring.limit) {}

  int run();

 private:
  void sweep_group(const std::vector<Problem>& group, std::vector<Runner>& runners);
  Swept sweep_one(Runner& runner, const Problem& problem, Expectation& expectation);
  void decide(Runner& runner, Expectation& expectation, Swept& swept);
  std::string measure_rounds(Runner& runner, Expectation& expectation, Trial& challenger,
                             Trial& standing, Rounds& rounds);
  void drop_wrong(const Device& device, Swept& swept);
  /// Whether the row went into the device's table.
  bool save(const Device& device, const Tuned& row);
  void print(const Device& device, const std::vector<Swept>& all) const;

  const Options& o_;
  Control control_;
  Document document_{.command = "sweep"};
  bool verified_ = true, saved_all_ = true;
  std::set<std::string> paths_;
};

std::string date_text() { return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr))); }

Swept Sweep::sweep_one(Runner& runner, const Problem& problem, Expectation& expectation) {
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
  for (size_t i = 0; i < rungs.size() && !control_.stop(); ++i) {
    control_.show(fmt::format("{} on {}: {} of {}, {}", to_string(problem), runner.device().id(),
                              i + 1, rungs.size(), rungs[i]));
    swept.trials.push_back({rungs[i], measure_rung(runner, problem, expectation, rungs[i], false)});
  }
  std::vector<Result> results;
  for (const Trial& trial : swept.trials)
    results.insert(results.end(), trial.results.begin(), trial.results.end());
  compare_digests(results);
  auto checked = results.begin();
  for (Trial& trial : swept.trials)
    for (Result& result : trial.results) result = *checked++;
  if (control_.partial())
    swept.sentence = "ended before all was tried";
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

/// More of both in turns, so that a machine that slows down meets them alike; their results become those of
/// all their rounds. Empty, or why these don't tell which is faster: a rung may turn wrong as late as here.
std::string Sweep::measure_rounds(Runner& runner, Expectation& expectation, Trial& challenger,
                                  Trial& standing, Rounds& rounds) {
  std::vector<std::vector<Result>> challengers{challenger.results}, standings{standing.results};
  const auto once_more = [&](const Trial& trial, std::vector<std::vector<Result>>& to) {
    if (control_.stop()) return std::string("ended before the fastest was measured again");
    const Problem& problem = trial.results.front().problem;
    control_.show(fmt::format("{} on {}: once more {}", to_string(problem), runner.device().id(),
                              trial.rung));
    std::vector<Result> results = measure_rung(runner, problem, expectation, trial.rung, false);
    if (results.front().skipped)
      return fmt::format("{} was refused when it was measured again: {}", trial.rung,
                         results.front().failure);
    to.push_back(std::move(results));
    return failure_of(to.back());
  };
  std::string why;
  for (int round = 0; round < kRounds && why.empty(); ++round) {
    why = once_more(challenger, challengers);
    if (why.empty()) why = once_more(standing, standings);
  }
  challenger.results = combined(challengers);
  standing.results = combined(standings);
  for (const Trial* trial : {&challenger, &standing})
    if (!failure_of(trial->results).empty())
      why = fmt::format("{} is WRONG when it is measured again", trial->rung);
  if (!why.empty()) return why;
  std::vector<const std::vector<Result>*> all;
  for (int round = 1; round <= kRounds; ++round)
    for (const auto* lists : {&challengers, &standings}) all.push_back(&(*lists)[size_t(round)]);
  const std::string_view method = common_method(all);
  for (size_t i = 0; i < all.size(); ++i)
    (i % 2 == 0 ? rounds.challenger : rounds.standing).push_back(*figure_of(*all[i], method));
  return {};
}

/// The method by which the rungs that may be chosen are compared.
std::string_view method_of(const Swept& swept) {
  std::vector<const std::vector<Result>*> all;
  for (const Trial& trial : swept.trials)
    if (may_be_chosen(trial.results.front().numerics, swept.problem.numerics))
      all.push_back(&trial.results);
  return common_method(all);
}

void Sweep::decide(Runner& runner, Expectation& expectation, Swept& swept) {
  const std::string_view method = method_of(swept);
  Trial &standing = swept.trials.front(), *best = nullptr;
  for (Trial& trial : swept.trials) {
    const Result* figure = trial.figure(method);
    if (!figure || !may_be_chosen(figure->numerics, swept.problem.numerics)) continue;
    if (!best || *figure->kernel < *best->figure(method)->kernel) best = &trial;
  }
  if (!best || !standing.figure(method)) {
    swept.sentence = "the built-in choice failed: nothing to compare with";
    return;
  }
  Tuned row{tuned_call(swept.problem),
            {},
            *standing.figure(method)->kernel,
            *standing.figure(method)->kernel,
            date_text()};
  swept.best = best->rung;
  if (best == &standing) {
    swept.sentence = fmt::format("no gain: the built-in choice {} is the fastest, {}",
                                 standing.rung, time_text(row.seconds));
  } else {
    Rounds rounds;
    swept.sentence = measure_rounds(runner, expectation, *best, standing, rounds);
    if (!swept.sentence.empty()) return swept.best.clear();
    row.seconds = rounds.challenger_seconds();
    row.default_seconds = rounds.standing_seconds();
    if (rounds.is_gain()) row.rung = best->rung;
    const std::string times =
        fmt::format("{} against {} of the built-in choice {}", time_text(row.seconds),
                    time_text(row.default_seconds), standing.rung);
    swept.sentence =
        rounds.is_gain()
            ? fmt::format("{}: {}, {}", best->rung, times,
                          ratio_text(row.default_seconds / row.seconds))
            : fmt::format("no gain: in {} more rounds {} took {}, no further apart than they vary",
                          kRounds, best->rung, times);
  }
  // What few rungs couldn't beat, others may: only a whole sweep says that there is no gain.
  const bool saved =
      o_.best && (!row.rung.empty() || o_.rungs.empty()) && save(runner.device(), row);
  if (saved) swept.sentence += "; saved";
  document_.arrays["sweeps"].push_back({{"device", runner.device().id()},
                                        {"call", row.call},
                                        {"default", standing.rung},
                                        {"best", best->rung},
                                        {"default_seconds", row.default_seconds},
                                        {"seconds", row.seconds},
                                        {"gain", !row.rung.empty()},
                                        {"saved", saved}});
}

bool Sweep::save(const Device& device, const Tuned& row) {
  try {
    paths_.insert(fmt::format("{}: {}", device.id(), save_tuning(device, {row})));
    return true;
  } catch (const Error& error) {
    std::fprintf(stderr, "trine: not saved: %s\n", error.what());
    saved_all_ = false;
    return false;
  }
}

/// No call shall be given a rung that is known to be wrong: without its row the built-in choice answers.
void Sweep::drop_wrong(const Device& device, Swept& swept) {
  const std::string call = tuned_call(swept.problem), saved = saved_rung(device, call);
  for (const Trial& trial : swept.trials) {
    if (trial.rung != saved || failure_of(trial.results).empty()) continue;
    try {
      forget_tuning(device, call);
      swept.sentence += fmt::format("; the saved {} is WRONG and no longer in the table", saved);
    } catch (const Error& error) {
      std::fprintf(stderr, "trine: %s is WRONG and still saved: %s\n", saved.c_str(), error.what());
      saved_all_ = false;
    }
  }
}

std::vector<std::string> row_of(const Swept& swept, const Trial& trial) {
  const Result& first = trial.results.front();
  std::vector<std::string> row{to_string(first.problem.operation, first.problem.size), trial.rung};
  row.resize(8, "-");
  const Result *single = trial.figure("single"), *sustained = trial.figure("sustained");
  row[7] = "WRONG";
  if (!single) return row;
  const Result& figure = sustained ? *sustained : *single;
  row[2] = time_text(single->kernel);
  if (sustained) row[3] = time_text(sustained->kernel);
  row[4] = rate_text(figure);
  row[5] = share_text(figure);
  const Trial& built_in = swept.trials.front();
  const std::string_view method = common_method({&trial.results, &built_in.results});
  if (const Result* standing = built_in.figure(method))
    row[6] = ratio_text(*standing->kernel / *trial.figure(method)->kernel);
  row[7] = verdict_text(figure);
  if (&trial == &built_in) row[7] += ", built-in choice";
  if (trial.rung == swept.best) row[7] += ", best";
  return row;
}

void Sweep::print(const Device& device, const std::vector<Swept>& all) const {
  if (all.empty()) return;
  std::string title = to_string(all.front().problem);
  const std::string size = to_string(all.front().problem.operation, all.front().problem.size);
  title.erase(title.find(" " + size), size.size() + 1);
  std::printf("\n%s on %s\n", title.c_str(), device.id().c_str());
  std::vector<std::vector<std::string>> rows{
      {"size", "rung", "kernel", "sustained", "rate", "of roof", "vs built-in", "verified"}};
  std::set<std::string> notes;
  for (const Swept& swept : all) {
    std::vector<const Trial*> order;
    for (const Trial& trial : swept.trials) {
      const Result& first = trial.results.front();
      if (first.skipped) {
        notes.insert(fmt::format("refused: {}", first.failure));
        continue;
      }
      order.push_back(&trial);
      const std::string wrong = failure_of(trial.results);
      if (!wrong.empty())
        notes.insert(fmt::format("WRONG: {} at {}: {}", trial.rung,
                                 to_string(first.problem.operation, first.problem.size), wrong));
    }
    // The fastest single launch first, those that are wrong last.
    std::stable_sort(order.begin(), order.end(), [](const Trial* a, const Trial* b) {
      const Result *left = a->figure("single"), *right = b->figure("single");
      return left && (!right || *left->kernel < *right->kernel);
    });
    for (const Trial* trial : order) rows.push_back(row_of(swept, *trial));
  }
  print_table(rows, 2);
  for (const std::string& line : notes) std::printf("%s\n", line.c_str());
  for (const Swept& swept : all)
    std::printf("%s: %s.\n", to_string(swept.problem.operation, swept.problem.size).c_str(),
                swept.sentence.c_str());
  std::fflush(stdout);
}

void Sweep::sweep_group(const std::vector<Problem>& group, std::vector<Runner>& runners) {
  std::vector<std::vector<Swept>> of_device(runners.size());
  for (const Problem& problem : group) {
    if (control_.stop()) break;
    Expectation expectation(problem, o_.measuring.seed);
    for (size_t i = 0; i < runners.size() && !control_.stop(); ++i)
      of_device[i].push_back(sweep_one(runners[i], problem, expectation));
  }
  for (size_t i = 0; i < runners.size(); ++i) print(runners[i].device(), of_device[i]);
}

int Sweep::run() {
  if (!o_.measuring.json.empty()) check_writable(o_.measuring.json);
  const std::vector<std::vector<Problem>> groups = grouped(problems_of(o_.cases));
  const std::vector<Device> devices = chosen_devices(o_.measuring.devices);
  check_rungs(o_.rungs, devices, operations_of(o_.cases));
  for (const Device& device : devices)
    for (const auto& group : groups) named_configurations(o_, device, group.front().operation);
  std::vector<Runner> runners;
  for (const Device& device : devices) {
    if (o_.best && tuning(device).path.empty())
      throw Refusal("--best has no folder to write to: set TRINE_DATA_DIR, XDG_DATA_HOME or HOME");
    runners.emplace_back(device, o_.measuring.budget);
  }
  print_heading(devices);
  use_tuning(false);  // the backends' own choices are what the others are held against
  for (const auto& group : groups) sweep_group(group, runners);
  for (const std::string& path : paths_)
    std::printf("Saved for %s; selection reads it from now on (TRINE_TUNING=off: not).\n",
                path.c_str());
  return finish(document_, control_, o_.measuring.json,
                verified_ && saved_all_ ? outcome_of(document_.results) : Outcome::failed);
}

int forget() {
  const std::vector<std::string> paths = forget_tuning();
  for (const std::string& path : paths) std::printf("removed %s\n", path.c_str());
  if (paths.empty()) std::printf("there is no tuning table\n");
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
               "save the fastest at each size in the device's tuning table, where it is a gain");
  app.add_flag("--forget", o->forget, "remove the tuning tables of all devices")
      ->excludes("--best", "--json", "operations");
  return [o] { return o->forget ? forget() : Sweep(*o).run(); };
}

}  // namespace trine::bench
