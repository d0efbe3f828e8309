#include "launches.hpp"

#include <chrono>

#include "timing_validation.hpp"

namespace trine::bench {
Launches::Launches(Queue& queue, const Problem& problem, Expectation& expectation, std::string rung)
    : queue_(queue),
      expectation_(expectation),
      rung_(std::move(rung)),
      ring_(queue, problem, expectation) {
  const auto begin = Clock::now();
  choice_ = launch_slot(0);
  queue_.wait();
  first_seconds_ = seconds_since(begin);
  ring_.poison();  // that first answer must not serve for a timed one
  queue_.wait();
}

int Launches::next_slot() {
  if (slot_ == ring_.slots()) next_ring();
  if (checks_.surprise()) {
    ring_.poison(slot_);
    queue_.wait();
  }
  return slot_++;
}

double Launches::once() {
  const int slot = next_slot();
  const auto begin = Clock::now();
  const Event start = queue_.record();
  launch_slot(slot);
  const Event stop = queue_.record();
  queue_.wait();
  host_.seconds.push_back(seconds_since(begin));
  device_.seconds.push_back(elapsed(start, stop));
  if (!(device_.seconds.back() > 0))
    throw ClockStandsStill("its clock stands still: it took no time at all");
  return device_.seconds.back();
}

double Launches::waited() {
  const int slot = next_slot();
  const auto begin = Clock::now();
  launch_slot(slot);
  queue_.wait();
  return seconds_since(begin);
}

std::string Launches::check(int used) {
  return ring_.check(expectation_, used, choice_.numerics, &digest_);
}

void Launches::next_ring() {
  if (checks_.due()) {
    ring_.peek(slot_ - 1);
    checks_.add(check(slot_));
  }
  slot_ = 0;
  ring_.poison();
  queue_.wait();
}

std::string Launches::failure() {
  ring_.peek(slot_ - 1);
  checks_.add(check(slot_));
  return checks_.failure();
}

std::string Launches::validate_timing(double single, double shortest) {
  const Launch again = [this](int slot) { launch_slot(slot); };
  std::string wrong;
  // The medians suffice where what the host adds to a launch is little beside it.
  constexpr double kLong = 2e-3;
  if (single < kLong || !agree(host_.median(), single))
    wrong = check_clocks(queue_, again, ring_.slots(), shortest);
  if (wrong.empty())
    wrong = check_unseen_data(queue_, again, ring_, expectation_, choice_.numerics, single);
  return wrong;
}

}  // namespace trine::bench
