// Checks of a device's arithmetic that run on the device itself: the probe at its opening, and the
// self-checks of rows that claim more than a language promises.
#pragma once

#include "backends/gpu/objects.hpp"

namespace trine::gpu {

/// Runs the check's launches on a queue of its own and returns what `passes` says of the output.
bool run_check(trine_device& device, const Row& row, const SelfCheck& check);

/// The row's self-check on this device, run once a device and process, at the first question.
/// `why` says in words that stay what went wrong, nullptr where nothing did.
struct Checked {
  enum Verdict : uint8_t {
    kUnknown,
    kPassed,
    kWrong,
    kBroken
  } verdict;  ///< kBroken: it couldn't run
  const char* why;
};
Checked check_itself(trine_device& device, const Row& row);
/// The same without running it: kUnknown where nobody has asked yet.
Checked known_check(const trine_device& device, const Row& row);

/// Has the build code of `row` for this device, and does its self-check pass? (Target::runs)
bool runs_here(trine_device& device, const Row& row);

/// Fills facts.capabilities' REPRODUCE (and takes F64 away where f64 doesn't hold) and facts.probe.
/// Runs once a device and process.
void probe_arithmetic(trine_device& device);

/// Forgets all verdicts (tests).
void forget_checks();

}  // namespace trine::gpu
