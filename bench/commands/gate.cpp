// `trine gate`: two runs held against each other, for one's own continuous integration: exit 0 where
// nothing is slower, 1 where something is, 3 where it can't be told.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <trine/trine.hpp>

#include "bench/cases/cases.hpp"
#include "bench/gate/regression.hpp"
#include "bench/stats/measure.hpp"
#include "bench/timing/json.hpp"
#include "bench/ui/commands.hpp"
#include "bench/ui/error.hpp"
#include "bench/ui/screen.hpp"
#include "bench/ui/table.hpp"

namespace trine::bench {
namespace {

struct Options {
  std::string base, next, threshold = "5%", json;
  bool across = false, allow_missing = false;
};

nlohmann::ordered_json run_of(const std::string& path) {
  nlohmann::ordered_json run = read_json(path);
  if (run.is_object() && run.value("partial", false))
    say("{} is partial: that run ended early.", path);
  return run;
}

std::vector<Comparison> read(const Options& o) {
  try {
    return compared(run_of(o.base), run_of(o.next), o.across);
  } catch (const Refusal&) {
    throw;
  } catch (const std::exception& error) {  // JSON's, and words that are no dtype, no function
    throw Refusal(fmt::format("these are not results of trine: {}", error.what()));
  }
}

/// "5%" as a share.
double share_of(const std::string& text) {
  double percent = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, percent);
  if (error != std::errc{} || (rest != end && std::string_view(rest, end) != "%") ||
      !(percent > 0 && percent <= 100))
    throw Refusal(fmt::format("threshold '{}': a percentage above 0, as 5%", text));
  return percent / 100;
}

/// A logarithm as a change in percent.
std::string percent(double log) {
  return std::isfinite(log) ? fmt::format("{:+.1f}%", 100 * std::expm1(log)) : "?";
}

double median(const std::vector<double>& values) { return Samples{values}.median(); }

size_t count(const std::vector<Comparison>& all, Verdict verdict) {
  return size_t(std::ranges::count(all, verdict, &Comparison::verdict));
}

void print_cases(const std::vector<Comparison>& all) {
  std::vector<std::vector<std::string>> rows{
      {"verdict", "case", "", "baseline", "new", "shift", "from", "to"}};
  for (const Comparison& c : all) {
    if (c.verdict == Verdict::same) continue;
    std::vector<std::string>& row = rows.emplace_back();
    row = {std::string(name(c.verdict)), c.name, c.note};
    if (c.has_shift())
      row.insert(row.end(),
                 {time_text(median(c.base)), time_text(median(c.next)), percent(c.shift.estimate),
                  percent(c.shift.low), percent(c.shift.high)});
    row.resize(rows[0].size(), "-");
  }
  print_table(rows);
}

/// The cases in pairs, or those that aren't: how many, and the fewest rounds of one.
struct Kind {
  int cases = 0;
  size_t least = SIZE_MAX;
};
Kind kind_of(const std::vector<Comparison>& all, bool paired) {
  Kind kind;
  for (const Comparison& c : all)
    if (c.has_shift() && c.paired == paired) {
      ++kind.cases;
      kind.least = std::min({kind.least, c.base.size(), c.next.size()});
    }
  return kind;
}

std::string tests_of(int in_turns, int apart) {
  if (in_turns == 0) return "Mann and Whitney";
  if (apart == 0) return "Wilcoxon, as the runs were interleaved,";
  return fmt::format("Wilcoxon, {} of them interleaved, the others by Mann and Whitney", in_turns);
}

void print_method(const std::vector<Comparison>& all, const Options& o) {
  const Kind in_turns = kind_of(all, true), apart = kind_of(all, false);
  const int cases = in_turns.cases + apart.cases;
  say("{} cases: {} slower, {} faster, {} the same, {} ambiguous; {} failed, {} missing. By ranks "
      "of the rounds: shift by Hodges and Lehmann with its 90 % interval; slower or faster by more "
      "than {:g} % by {} at 5 %, corrected for {} cases by Holm.",
      int(all.size()), count(all, Verdict::slower), count(all, Verdict::faster),
      count(all, Verdict::same), count(all, Verdict::ambiguous), count(all, Verdict::failed),
      count(all, Verdict::missing), 100 * share_of(o.threshold),
      tests_of(in_turns.cases, apart.cases), cases);
  if (in_turns.cases > 0)
    say("In interleaved runs the shift is that of the pairs, not of the two medians.");
  for (const bool paired : {true, false}) {
    const Kind& kind = paired ? in_turns : apart;
    const int needed = rounds_needed(std::max(cases, 1), 0.05, paired);
    if (kind.cases > 0 && kind.least < size_t(needed))
      say("{} rounds are too few to distinguish a change from chance among so many cases: use {}.",
          kind.least, needed);
  }
}

/// What would make of the ambiguous cases, if they haven't changed, the same.
void print_rounds_for_same(const std::vector<Comparison>& all, double margin) {
  std::vector<double> rounds;
  for (const Comparison& c : all)
    if (c.verdict == Verdict::ambiguous && !c.drifted)
      if (const double needed = rounds_for_same(c, margin); needed > 0) rounds.push_back(needed);
  if (rounds.empty()) return;
  say("Varying as they do, ambiguous cases that haven't changed would be called the same with "
      "about {:.0f} rounds (half of them) to {:.0f} (all), nine times in ten.",
      std::ceil(median(rounds)), std::ceil(*std::max_element(rounds.begin(), rounds.end())));
}

void print_drifts(const std::vector<Comparison>& all, double margin) {
  std::set<std::string> devices;
  for (const Comparison& c : all) devices.insert(c.device);
  for (const std::string& device : devices) {
    const double drift = drift_of(all, device);
    if (std::abs(drift) < std::min(margin, 0.02)) continue;
    say("{} itself was {:.1f} % {}: its roofs differ by that much, and no build changes roofs.",
        device, 100 * std::expm1(std::abs(drift)), drift > 0 ? "slower" : "faster");
  }
}

nlohmann::ordered_json to_json(const std::vector<Comparison>& all, const Options& o, int code) {
  nlohmann::ordered_json cases = nlohmann::ordered_json::array();
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();  // written as null
  const auto figure = [](const std::vector<double>& rounds) {
    return rounds.empty() ? kNone : median(rounds);
  };
  for (const Comparison& c : all) {
    const auto ratio = [&](double log) {
      return c.has_shift() && std::isfinite(log) ? std::exp(log) : kNone;
    };
    cases.push_back({{"case", c.name},
                     {"verdict", name(c.verdict)},
                     {"baseline", figure(c.base)},
                     {"new", figure(c.next)},
                     {"ratio", ratio(c.shift.estimate)},
                     {"interval", {ratio(c.shift.low), ratio(c.shift.high)}},
                     {"paired", c.paired},
                     {"note", c.note}});
  }
  return {{"schema", 1},       {"version", version()},
          {"command", "gate"}, {"threshold", share_of(o.threshold)},
          {"exit", code},      {"cases", cases}};
}

int gate(const Options& o) {
  const double margin = std::log1p(share_of(o.threshold));
  std::vector<Comparison> all = read(o);
  judge(all, margin);
  const int code = gate_code(all, margin, o.allow_missing);
  print_cases(all);
  print_drifts(all, margin);
  print_method(all, o);
  print_rounds_for_same(all, margin);
  if (!o.json.empty()) write_json(o.json, to_json(all, o, code));
  return code;
}

}  // namespace

Command add_gate(CLI::App& app) {
  auto o = std::make_shared<Options>();
  app.add_option("baseline", o->base,
                 "a file of `trine compare --rounds 15 --json FILE` with the old build; "
                 "on shared machines, interleave it with the new build: --rounds 30 --interleave")
      ->required();
  app.add_option("new", o->next, "the same of the new build")->required();
  app.add_option("--threshold", o->threshold, "a change up to this counts as none");
  app.add_flag("--allow-missing", o->allow_missing,
               "allow that the new run lacks cases of the baseline (otherwise exit code 3)");
  app.add_flag("--across", o->across, "compare runs of different hosts, devices and drivers too");
  add_json(app, o->json, "also write the result as JSON");
  return [o] { return gate(*o); };
}

}  // namespace trine::bench
