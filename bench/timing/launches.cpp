#include "launches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "bench/ui/table.hpp"

namespace trine::bench {
namespace {

/// Whether a host's and a device's time for the same work can both be right.
bool agree(double host, double device) {
  constexpr double kNear = 1.15;
  return host <= kNear * device && device <= kNear * host;
}

}  // namespace

Launches::Launches(Queue& queue, const Problem& problem, Expectation& expectation, std::string rung)
    : queue_(queue), rung_(std::move(rung)), ring_(queue, problem, expectation) {
  const auto begin = Clock::now();
  choice_ = launch_slot(0);
  queue_.wait();
  first_seconds_ = seconds_since(begin);
}

int Launches::next_slot() {
  if (slot_ == 0 || slot_ == ring_.slots()) {
    check_by_chance();
    ring_.poison();  // the answer to the first launch, too, must not serve for a timed one
    queue_.wait();
    slot_ = 0;
  }
  // Work done for a slot ahead of its time is lost then.
  if (random_() % 8 == 0) {
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

double Launches::back_to_back() {
  check_by_chance();
  ring_.poison();
  const Event start = queue_.record();
  for (slot_ = 0; slot_ < ring_.slots(); ++slot_) launch_slot(slot_);
  const Event stop = queue_.record();
  queue_.wait();
  return elapsed(start, stop) / ring_.slots();
}

void Launches::check_by_chance() {
  if (slot_ != 0 && random_() % ++rings_ == 0) check();
}

void Launches::check() {
  ring_.peek(slot_ - 1);
  const std::string wrong = ring_.check(slot_, choice_.numerics, &digest_);
  if (failure_.empty()) failure_ = wrong;
}

std::string Launches::failure() {
  check();
  slot_ = 0;
  rings_ = 0;
  return std::exchange(failure_, {});
}

std::string Launches::validate_timing(double single, double shortest) {
  std::string wrong;
  // The medians suffice where what the host adds to a launch is little beside it.
  constexpr double kLong = 2e-3;
  if (single < kLong || !agree(host_.median(), single)) wrong = check_clocks(shortest);
  return wrong.empty() ? check_unseen_data(single) : wrong;
}

std::string Launches::check_clocks(double seconds) {
  // The host only adds (handing over, waking up, another program's slice of the core): a right clock never
  // takes longer than the host, and what the host adds drowns in ever longer batches. They double by count,
  // because launches back to back may take far less than the one that `seconds` tells of.
  constexpr double kFirst = 4e-3, kLast = 0.5;
  constexpr int kTries = 16, kMostAtFirst = 1 << 10, kMostLaunches = 1 << 16;
  constexpr int kEnough = 3;  // in a row: by chance a clock too fast and a busy machine meet twice
  double device = 0, host = 0;
  int agreed = 0;
  int count = int(std::clamp(std::ceil(kFirst / seconds), 1.0, double(kMostAtFirst)));
  for (int i = 0; i < kTries && host < kLast; ++i, count = std::min(2 * count, kMostLaunches)) {
    const auto begin = Clock::now();
    const Event start = queue_.record();
    for (int n = 0; n < count; ++n) launch_slot(n % ring_.slots());
    const Event stop = queue_.record();
    queue_.wait();
    host = seconds_since(begin);
    device = elapsed(start, stop);
    const bool agrees = agree(host, device);
    if (host >= kFirst && device > host && !agrees) {
      agreed = 0;
      break;
    }
    agreed = agrees ? agreed + 1 : 0;
    if (agreed == kEnough) return {};
  }
  if (agreed > 0) return {};  // what takes long is launched but once
  return fmt::format(
      "its clock is wrong: launches took {} by the host's clock and {} by the device's",
      time_text(host), time_text(device));
}

std::string Launches::check_unseen_data(double seconds) {
  // Launches after a pause take longer by themselves: threads asleep, caches cold, clocks low.
  constexpr double kFar = 8, kPause = 1e-3;
  constexpr int kTries = 20, kAlike = 5;
  const auto timed = [&] {
    const Event start = queue_.record();
    launch_slot(0);
    const Event stop = queue_.record();
    queue_.wait();
    ring_.peek(0);
    return elapsed(start, stop);
  };
  double least = 0;
  int alike = 0;
  for (int i = 0; i < kTries; ++i) {
    const auto pause = std::chrono::milliseconds(2 * i);
    std::this_thread::sleep_for(pause);
    if (i == 0)
      ring_.change();
    else if (!ring_.change_one())
      return {};
    const double taken = timed();
    least = i == 0 ? taken : std::min(least, taken);
    if (i < 2) {
      std::string wrong = ring_.check_changed(choice_.numerics);
      if (!wrong.empty()) return wrong;
    }
    if (i == 0) continue;  // it may look at few elements: one that it doesn't is changed next
    if (taken <= kFar * seconds + kPause) return {};
    // Others may have the cores for a while, or a library's threads fell asleep: then the same data takes as
    // long after the same pause and the same writes.
    std::this_thread::sleep_for(pause);
    ring_.change_again();
    alike += taken <= kFar * timed() + kPause ? 1 : 0;
    if (alike == kAlike) return {};
  }
  return fmt::format("it takes {} for new data and {} for known data: it remembers answers",
                     time_text(least), time_text(seconds));
}

}  // namespace trine::bench
