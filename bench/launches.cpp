#include "launches.hpp"

#include <chrono>

#include "runner.hpp"
#include "scrutiny.hpp"

namespace trine::bench {

Launches::Launches(const Device& device, const Problem& problem, uint64_t seed,
                   const std::string& rung)
    : queue_(device),
      problem_(problem),
      rung_(rung),
      expectation_(problem, seed),
      ring_(queue_, problem, expectation_),
      numerics_(launch_slot(0).numerics) {
  queue_.wait();
  ring_.poison();  // that first answer must not serve for a timed one
  queue_.wait();
}

std::string Launches::check() {
  uint64_t digest = 0;
  ring_.peek(slot_ - 1);
  return ring_.check(expectation_, slot_, numerics_, &digest);
}

void Launches::next_ring() {
  if (checks_.due()) checks_.add(check());
  slot_ = 0;
  ring_.poison();
  queue_.wait();
}

double Launches::once() {
  using Clock = std::chrono::steady_clock;
  if (slot_ == ring_.slots()) next_ring();
  if (checks_.surprise()) {
    ring_.poison(slot_);
    queue_.wait();
  }
  const auto begin = Clock::now();
  const Event start = queue_.record();
  launch_slot(slot_++);
  const Event stop = queue_.record();
  queue_.wait();
  host_.seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
  device_.seconds.push_back(elapsed(start, stop));
  if (!(device_.seconds.back() > 0))
    throw ClockStandsStill("its clock stands still: it took no time at all");
  return device_.seconds.back();
}

std::string Launches::scrutinize() {
  const double seconds = device_.median();
  const Launch again = [this](int slot) { launch_slot(slot); };
  std::string wrong;
  if (!agree(host_.median(), seconds)) wrong = check_clocks(queue_, again, ring_.slots(), seconds);
  if (wrong.empty())
    wrong = check_unseen_data(queue_, again, ring_, expectation_, numerics_, seconds);
  if (!wrong.empty()) return wrong;
  Result result;
  result.problem = problem_;
  result.verified = true;
  result.roof = roof_of(queue_.device(), problem_, ring_.bytes());
  set_figure(result, device_, seconds);
  return check_roof(queue_.device(), ring_.bytes(), result);
}

std::string Launches::verdict() {
  if (device_.empty()) return "it was never launched";
  checks_.add(check());
  return checks_.failure().empty() ? scrutinize() : checks_.failure();
}

}  // namespace trine::bench
