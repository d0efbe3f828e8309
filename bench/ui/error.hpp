// The program's answer when it refuses: one line on stderr and exit code 2; a result that failed
// its verification is exit code 1.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "backends/kit/words.hpp"

namespace trine::bench {

constexpr int kExitGood = 0, kExitFailed = 1, kExitRefused = 2, kExitInterrupted = 130;

/// Bad input: the message is the one line that the user sees.
struct Refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// " Did you mean 'compare'?", or nothing where no word resembles it.
template <class Words>
std::string did_you_mean(std::string_view word, const Words& known) {
  const std::string_view near = kit::closest(word, known.begin(), known.end());
  return near.empty() ? std::string() : fmt::format(" Did you mean '{}'?", near);
}

/// "a, b, c": the known words; of more than ten the nearest to `word`, those first, and how many
/// more.
template <class Words>
std::string nearest(std::string_view word, const Words& known) {
  constexpr std::ptrdiff_t kMost = 10;
  std::vector<std::string_view> names(known.begin(), known.end());
  const std::ptrdiff_t more = std::ssize(names) - kMost;
  if (more <= 0) return fmt::format("{}", fmt::join(names, ", "));
  std::ranges::stable_sort(names, {}, [&](auto one) { return kit::edit_distance(word, one); });
  return fmt::format("{} and {} more", fmt::join(names.begin(), names.begin() + kMost, ", "), more);
}

}  // namespace trine::bench
