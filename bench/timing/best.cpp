#include "best.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/ui/error.hpp"

namespace trine::bench {
namespace {

void check_fixed(const RungInfo& rung, const Parameters& fixed) {
  for (const auto& [name, value] : fixed) {
    const auto known = std::ranges::find(rung.parameters, name, &RungInfo::Parameter::name);
    if (known == rung.parameters.end() ||
        std::ranges::find(known->values, value) == known->values.end())
      throw Refusal(fmt::format("rung {}: there is no {}={}", rung.name, name, value));
  }
}

double median_of(const std::vector<Result>& rounds) {
  Samples seconds;
  for (const Result& round : rounds) seconds.seconds.push_back(*round.kernel);
  return seconds.median();
}

}  // namespace

std::vector<std::string> configurations(const RungInfo& rung, std::string_view fixed) {
  const Parameters settled = parameters_of(fmt::format(":{}", fixed));
  check_fixed(rung, settled);
  std::vector<std::string> all{rung.name};
  char separator = ':';
  for (const RungInfo::Parameter& parameter : rung.parameters) {
    const auto at = std::ranges::find(settled, parameter.name, &Parameters::value_type::first);
    std::vector<std::string> longer;
    for (const std::string& text : all)
      for (const std::string& value : parameter.values)
        if (at == settled.end() || at->second == value)
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
