#include "regression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "bench/timing/json.hpp"
#include "bench/ui/error.hpp"

namespace trine::bench {
namespace {

using json = nlohmann::ordered_json;

constexpr double kAlpha = 0.05;

/// What makes a case the same case: all but its figures. The device's own choice of a rung is one case,
/// whatever it chose.
std::string case_of(const Result& r) {
  const Problem& p = r.problem;
  return fmt::format("{}{} on {}{}, {}, {}", to_string(p),
                     p.result == p.dtype ? "" : fmt::format(" to {}", name(p.result)), r.device,
                     r.requested.empty() ? "" : " by " + r.requested, r.memory, r.method);
}

const json* device_in(const json& document, const std::string& id) {
  const std::string base = id.substr(0, id.find(":threads"));
  for (const json& backend : document.at("devices"))
    for (const json& device : backend.at("devices"))
      if (device.at("id") == base) return &device;
  return nullptr;
}

/// Another machine's figures are no baseline.
void check_same_place(const json& base, const json& next) {
  for (const char* key : {"cpu", "cores", "os", "gpus"})
    if (base.at("host").at(key) != next.at("host").at(key))
      throw Refusal(
          fmt::format("the runs are of different hosts ({}: {} and {}); --across compares "
                      "them anyway",
                      key, base.at("host").at(key).dump(), next.at("host").at(key).dump()));
  for (const json& result : next.at("results")) {
    const auto id = result.at("device").get<std::string>();
    const json *before = device_in(base, id), *after = device_in(next, id);
    if (before == nullptr || after == nullptr) continue;
    for (const char* key : {"name", "driver", "compute_units"})
      if (before->at(key) != after->at(key))
        throw Refusal(
            fmt::format("{} is another device ({}: {} and {}); --across compares them "
                        "the same",
                        id, key, before->at(key).dump(), after->at(key).dump()));
  }
}

using Run = std::map<std::string, Result>;

Run cases_of(const json& document) {
  Run all;
  for (const json& object : document.at("results")) {
    Result result = result_of(object);
    for (std::vector<double>* rounds : {&result.rounds, &result.roofs})
      std::erase_if(*rounds, [](double value) { return !(value > 0); });
    const std::string name = case_of(result);
    if (result.rounds.size() > kMostRounds)
      throw Refusal(fmt::format("{}: {} rounds, but `trine compare` runs at most {}", name,
                                result.rounds.size(), kMostRounds));
    if (!all.emplace(name, std::move(result)).second)
      throw Refusal(fmt::format("one file has two results of one case: {}", name));
  }
  return all;
}

/// Whether the other run has the single launch of what only one has back to back: about as long as those
/// that are repeated, it was the longer one.
bool has_single(const Run& other, std::string name) {
  constexpr std::string_view kRepeated = ", sustained";
  if (!name.ends_with(kRepeated)) return false;
  name.replace(name.size() - kRepeated.size(), kRepeated.size(), ", single");
  return other.contains(name);
}

/// Whether the runs took turns with each other. Refuses those that did with others, of which one file is old.
bool in_turns(const json& base, const json& next) {
  if (!base.contains("turns") || !next.contains("turns")) return false;
  if (base["turns"].at("id") != next["turns"].at("id"))
    throw Refusal("both runs were interleaved, but not with each other");
  return true;
}

/// The rounds that a run got through with every case; fewer of one case have gaps, nobody knows where.
size_t rounds_of(const json& document) {
  size_t most = 0;
  for (const json& result : document.at("results"))
    if (result.contains("rounds")) most = std::max(most, result["rounds"].size());
  // An early end leaves some cases with one more.
  return most - (most > 0 && document.value("partial", false) ? 1 : 0);
}

/// Rounds in pairs: those that both have, from the first one on.
void set_pairs(std::vector<Comparison>& all, const json& base, const json& next) {
  const size_t of_base = rounds_of(base), of_next = rounds_of(next);
  for (Comparison& pair : all) {
    if (pair.base.size() < of_base || pair.next.size() < of_next) continue;
    const size_t both = std::min(pair.base.size(), pair.next.size());
    pair.base.resize(both);
    pair.next.resize(both);
    pair.paired = both > 0;
  }
}

Comparison pair_of(const std::string& name, const Result* base, const Result* next) {
  Comparison pair;
  pair.name = name;
  // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): one of the two there is, a case that was found
  pair.device = base ? base->device : next->device;
  const auto take = [](const Result* result, std::vector<double>& rounds,
                       std::vector<double>& roof) {
    if (result == nullptr || !result->verified) return;
    rounds = result->rounds;
    roof = result->roofs;
  };
  take(base, pair.base, pair.base_roof);
  take(next, pair.next, pair.next_roof);
  if (next != nullptr && next->wrong()) {
    pair.verdict = Verdict::failed;
    pair.note = next->failure;
  } else if (pair.base.empty() || pair.next.empty()) {
    const bool of_base = pair.base.empty();
    const Result* lacking = of_base ? base : next;
    pair.verdict = Verdict::missing;
    pair.note =
        fmt::format("no figure in the {}{}", of_base ? "baseline" : "new run",
                    lacking == nullptr || lacking->failure.empty() ? "" : ": " + lacking->failure);
  } else if (base != nullptr && next != nullptr && base->rung != next->rung) {
    pair.note = fmt::format("{} became {}", base->rung, next->rung);
  }
  return pair;
}

Shift shift_of(const Comparison& pair, double margin) {
  return pair.paired ? shift_of_pairs(pair.base, pair.next, margin)
                     : shift_between(pair.base, pair.next, margin);
}

}  // namespace

std::string_view name(Verdict verdict) {
  constexpr std::string_view kNames[] = {"same",      "faster", "slower",
                                         "ambiguous", "failed", "missing"};
  return kNames[int(verdict)];
}

std::vector<Comparison> compared(const json& base, const json& next, bool across) {
  for (const json* document : {&base, &next})
    if (!document->is_object() || document->value("schema", 0) != 1 ||
        !document->contains("results"))
      throw Refusal("the gate takes files that `trine compare --rounds N --json FILE` wrote");
  if (!across) check_same_place(base, next);
  const Run before = cases_of(base), after = cases_of(next);
  std::vector<Comparison> all;
  for (const auto& [key, result] : before) {
    const auto found = after.find(key);
    if (found == after.end() && has_single(after, key)) continue;
    all.push_back(pair_of(key, &result, found == after.end() ? nullptr : &found->second));
  }
  for (const auto& [key, result] : after)
    if (!before.contains(key) && (!has_single(before, key) || result.wrong()))
      all.push_back(pair_of(key, nullptr, &result));
  if (in_turns(base, next)) set_pairs(all, base, next);
  if (std::ranges::none_of(
          all, [](const Comparison& c) { return c.has_shift() || c.verdict == Verdict::failed; }))
    throw Refusal("there is no case with figures in both files");
  if (std::ranges::none_of(all, [](const Comparison& c) {
        return c.verdict == Verdict::failed ||
               (c.has_shift() && c.base.size() > 1 && c.next.size() > 1);
      }))
    throw Refusal(
        "there is one round of each case: run `trine compare --rounds 15`, interleaved 30, for a "
        "gate");
  return all;
}

double drift_of(const std::vector<Comparison>& all, const std::string& device) {
  std::vector<double> drifts;
  for (const Comparison& pair : all)
    if (pair.device == device && !pair.paired && !pair.base_roof.empty() && !pair.next_roof.empty())
      drifts.push_back(-shift_between(pair.base_roof, pair.next_roof, 0).estimate);
  if (drifts.empty()) return 0;
  const auto middle = drifts.begin() + std::ptrdiff_t(drifts.size() / 2);
  std::nth_element(drifts.begin(), middle, drifts.end());
  return *middle;
}

void judge(std::vector<Comparison>& all, double margin) {
  std::vector<Comparison*> pairs;
  std::map<std::string, double> drifts;
  for (Comparison& pair : all) {
    if (!drifts.contains(pair.device)) drifts[pair.device] = drift_of(all, pair.device);
    if (!pair.has_shift()) continue;
    pair.shift = shift_of(pair, margin);
    if (!pair.paired) pair.drift = drifts[pair.device];
    // So far apart, the machine is another, and what it does to each case nobody knows: also equal
    // times are then no sign of equal builds.
    pair.drifted = std::abs(pair.drift) > margin;
    pairs.push_back(&pair);
  }
  // The corrected probabilities that each case is no slower, or no faster, than by a margin of its own.
  const auto chances = [&](double Shift::*chance, auto margin_of) {
    std::vector<double> plain;
    plain.reserve(pairs.size());
    for (const Comparison* pair : pairs) plain.push_back(shift_of(*pair, margin_of(*pair)).*chance);
    return holm(plain);
  };
  const auto the_margin = [&](const Comparison&) { return margin; };
  const auto slower = chances(&Shift::slower, the_margin);
  const auto faster = chances(&Shift::faster, the_margin);
  const auto slower_beside_drift =
      chances(&Shift::slower, [&](const Comparison& c) { return margin + std::max(c.drift, 0.0); });
  const auto faster_beside_drift = chances(
      &Shift::faster, [&](const Comparison& c) { return margin + std::max(-c.drift, 0.0); });
  for (size_t i = 0; i < pairs.size(); ++i) {
    Comparison& pair = *pairs[i];
    const bool is_slower = slower[i] <= kAlpha, is_faster = faster[i] <= kAlpha;
    if (!pair.drifted && ((is_slower && slower_beside_drift[i] <= kAlpha) ||
                          (is_faster && faster_beside_drift[i] <= kAlpha))) {
      pair.verdict = is_slower ? Verdict::slower : Verdict::faster;
    } else if (pair.drifted || is_slower || is_faster) {
      pair.verdict = Verdict::ambiguous;
      pair.note +=
          fmt::format("{}{} itself was {:.1f} % {}", pair.note.empty() ? "" : "; ", pair.device,
                      100 * std::expm1(std::abs(pair.drift)), pair.drift > 0 ? "slower" : "faster");
    } else if (pair.shift.high > margin || pair.shift.low < -margin) {
      pair.verdict = Verdict::ambiguous;
    }
  }
}

int gate_code(const std::vector<Comparison>& all, double margin, bool allow_missing) {
  const auto any = [&](auto is) { return std::ranges::any_of(all, is); };
  if (any([](const Comparison& c) {
        return c.verdict == Verdict::slower || c.verdict == Verdict::failed;
      }))
    return kExitFailed;
  return any([&](const Comparison& c) {
    return (c.verdict == Verdict::ambiguous && (c.drifted || c.shift.high > margin)) ||
           (c.verdict == Verdict::missing && !c.base.empty() && !allow_missing);
  })
             ? kExitAmbiguous
             : kExitGood;
}

double rounds_for_same(const Comparison& pair, double margin) {
  const double width = pair.shift.high - pair.shift.low;
  if (!std::isfinite(width)) return 0;
  return double(std::min(pair.base.size(), pair.next.size())) * std::pow(width / margin, 2);
}

}  // namespace trine::bench
