// What the program says when it refuses: one line on stderr and exit code 2; a result that failed
// its verification is exit code 1.
#pragma once

#include <stdexcept>
#include <string>

namespace trine::bench {

constexpr int kExitGood = 0, kExitFailed = 1, kExitRefused = 2, kExitAmbiguous = 3,
              kExitInterrupted = 130;

/// Bad input: the message is the one line that the user sees.
struct Refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace trine::bench
