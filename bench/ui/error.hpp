// What the program says when it refuses: one line on stderr and exit code 2; a result that failed
// its verification is exit code 1.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>

#include "backends/kit/words.hpp"

namespace trine::bench {

constexpr int kExitGood = 0, kExitFailed = 1, kExitRefused = 2, kExitAmbiguous = 3,
              kExitInterrupted = 130;

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

}  // namespace trine::bench
