#include "best.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/ui/error.hpp"

namespace trine::bench {
namespace {

/// The value that `fixed` gives a parameter; empty where it gives none.
std::string_view fixed_value(std::string_view fixed, const std::string& parameter) {
  while (!fixed.empty()) {
    const std::string_view pair = fixed.substr(0, fixed.find(','));
    fixed.remove_prefix(std::min(pair.size() + 1, fixed.size()));
    if (pair.starts_with(parameter + "=")) return pair.substr(parameter.size() + 1);
  }
  return {};
}

void check_fixed(const RungInfo& rung, std::string_view fixed) {
  while (!fixed.empty()) {
    const std::string_view pair = fixed.substr(0, fixed.find(','));
    fixed.remove_prefix(std::min(pair.size() + 1, fixed.size()));
    const bool known = std::ranges::any_of(rung.parameters, [&](const RungInfo::Parameter& p) {
      return std::ranges::any_of(
          p.values, [&](const std::string& value) { return pair == p.name + "=" + value; });
    });
    if (!known) throw Refusal(fmt::format("rung {}: there is no {}", rung.name, pair));
  }
}

double median_of(const std::vector<Result>& rounds) {
  Samples seconds;
  for (const Result& round : rounds) seconds.seconds.push_back(*round.kernel);
  return seconds.median();
}

}  // namespace

std::vector<std::string> configurations(const RungInfo& rung, std::string_view fixed) {
  check_fixed(rung, fixed);
  std::vector<std::string> all{rung.name};
  char separator = ':';
  for (const RungInfo::Parameter& parameter : rung.parameters) {
    const std::string_view settled = fixed_value(fixed, parameter.name);
    std::vector<std::string> longer;
    for (const std::string& text : all)
      for (const std::string& value : parameter.values)
        if (settled.empty() || settled == value)
          longer.push_back(fmt::format("{}{}{}={}", text, separator, parameter.name, value));
    all = std::move(longer);
    separator = ',';
  }
  return all;
}

const Result* figure_of(const std::vector<Result>& results, std::string_view method) {
  const Result* figure = nullptr;
  for (const Result& result : results) {
    if (!result.verified || !result.kernel) return nullptr;
    if (result.memory == "resident" && result.method == method) figure = &result;
  }
  return figure;
}

std::string_view common_method(const std::vector<const std::vector<Result>*>& all) {
  for (const std::vector<Result>* results : all)
    if (figure_of(*results, "single") && !figure_of(*results, "sustained")) return "single";
  return "sustained";
}

std::string_view common_method_of(const std::vector<std::vector<Result>>& all) {
  std::vector<const std::vector<Result>*> each;
  each.reserve(all.size());
  for (const std::vector<Result>& results : all) each.push_back(&results);
  return common_method(each);
}

bool may_be_chosen(Numerics rung, Numerics asked) {
  return rung == Numerics::reproducible || (rung == Numerics::fast && asked == Numerics::fast);
}

bool Rounds::is_gain() const {
  double slowest = 0, fastest = 0;
  for (const Result& round : challenger)
    slowest = std::max(slowest, *round.kernel * (1 + round.spread));
  for (const Result& round : standing) {
    const double least = *round.kernel * (1 - round.spread);
    if (fastest == 0 || least < fastest) fastest = least;
  }
  return slowest < fastest;
}

double Rounds::challenger_seconds() const { return median_of(challenger); }
double Rounds::standing_seconds() const { return median_of(standing); }

size_t winner(size_t fastest, std::optional<size_t> saved, const Beats& beats) {
  const size_t holder = saved && beats(*saved, 0) ? *saved : 0;
  const bool decided = fastest == 0 || fastest == saved;
  return !decided && beats(fastest, holder) ? fastest : holder;
}

}  // namespace trine::bench
