// How long the cpu backend's threads take to take up work after a pause: the time from submitting a sum of
// 2^19 f32 to the end of the wait for it, beside a bare pool of two threads that never stop spinning, each of
// which sums one half on its own. Then what the process burns while idle, and its sums a second.
//
//   trine-waking                 pauses, idle time, sums a second
//   trine-waking rate SECONDS    sums a second alone: start two at once to see what pools cost each other
//   trine-waking calls           of 64 calls back to back after a pause that can't be foreseen, smaller sums too, which
//                                take how long, on all threads and on one
#include <sys/resource.h>
#include <trine/trine.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "rung.hpp"

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::int64_t kElements = std::int64_t(1) << 19;

double microseconds(Clock::time_point since) {
  return std::chrono::duration<double, std::micro>(Clock::now() - since).count();
}

double cpu_milliseconds() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  const auto of = [](const timeval& time) {
    return 1e3 * double(time.tv_sec) + 1e-3 * double(time.tv_usec);
  };
  return of(use.ru_utime) + of(use.ru_stime);
}

/// A sum on one device, again and again.
class Sum {
 public:
  Sum(const char* name, std::int64_t elements) : device_(trine::open(name)), queue_(device_) {
    total_.input =
        trine::vector({device_, std::uint64_t(elements) * 4}, trine::Dtype::f32, elements);
    total_.output = trine::vector({device_, 4}, trine::Dtype::f32, 1);
    const std::vector<float> ones(std::size_t(elements), 1.0f);
    trine::copy(queue_, trine::host_vector(ones.data(), trine::Dtype::f32, elements), total_.input);
    queue_.wait();
  }
  void operator()() {
    trine::run(queue_, total_);
    queue_.wait();
  }

 private:
  trine::Device device_;
  trine::Queue queue_;
  trine::Reduce total_;
};

/// The peer: two threads that spin for ever, the caller and one more; our kernel on each half.
class SpinningPool {
 public:
  SpinningPool() : thread_([this] { spin(); }) {}
  ~SpinningPool() {
    round_ = -1;
    thread_.join();
  }
  void operator()() {
    ++round_;
    sum_half(0);
    while (done_ != round_) {}
  }

 private:
  void spin() {
    for (int seen = 0; seen >= 0;) {
      const int round = round_;
      if (round == seen) continue;
      if (round > 0) sum_half(1);
      done_ = seen = round;
    }
  }
  void sum_half(int half) {
    constexpr std::int64_t n = kElements / 2;
    trine_reduce op{};
    op.size = sizeof op;
    op.numerics = TRINE_REPRODUCIBLE;
    op.function = TRINE_SUM;
    op.map = TRINE_IDENTITY;
    op.axis = TRINE_ALL;
    op.dtype = op.result_dtype = TRINE_F32;
    op.input = {ones_.data() + half * n, 0, 1, n, 1, n, 1, n};
    op.output = {&sums_[half * 64], 0, 1, 1, 1, 1, 1, 1};
    const auto& rung = trine::cpu::reduce_rungs().back();
    trine::cpu::Serial serial;
    rung.run(op, nullptr, workspaces_[half].data(), serial);
  }
  std::vector<float> ones_ = std::vector<float>(kElements, 1.0f), sums_ = std::vector<float>(128);
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<Line> workspaces_[2] = {std::vector<Line>(1 << 14), std::vector<Line>(1 << 14)};
  std::atomic<int> round_{0}, done_{0};
  std::thread thread_;
};

enum class Pause { kSleep, kBusy };

/// Median and 90th percentile of `work` after pauses.
template <class Work>
std::array<double, 2> after(double pause, Pause kind, Work& work) {
  std::vector<double> times(pause < 5e3 ? 201 : 51);
  for (double& time : times) {
    const auto begin = Clock::now();
    if (kind == Pause::kSleep && pause > 0)
      std::this_thread::sleep_for(std::chrono::duration<double, std::micro>(pause));
    while (microseconds(begin) < pause) {}
    const auto start = Clock::now();
    work();
    time = microseconds(start);
  }
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times[times.size() * 9 / 10]};
}

double rate(Sum& sum, double seconds) {
  long sums = 0;
  const auto start = Clock::now();
  for (; microseconds(start) < 1e6 * seconds; ++sums) sum();
  return 1e6 * double(sums) / microseconds(start);
}

void print_calls() {
  constexpr int kCalls = 64, kShown[] = {0, 1, 8, 63};
  std::puts("median of calls 0, 1, 8 and 63 after a pause, in us, on all threads and on one");
  for (int exponent = 14; exponent <= 20; ++exponent) {
    std::printf("2^%d", exponent);
    for (const char* device : {"cpu", "cpu:threads=1"}) {
      Sum sum(device, std::int64_t(1) << exponent);
      std::vector<double> times[kCalls];
      for (int burst = 0; burst < 101; ++burst) {
        std::this_thread::sleep_for(std::chrono::microseconds(2000 + burst % 7 * 311));
        for (std::vector<double>& of_call : times) {
          const auto start = Clock::now();
          sum();
          of_call.push_back(microseconds(start));
        }
      }
      for (const int call : kShown) {
        std::vector<double>& of_call = times[call];
        std::nth_element(of_call.begin(), of_call.begin() + 50, of_call.end());
        std::printf("%7.1f", of_call[50]);
      }
      std::printf("   ");
    }
    std::puts("");
  }
}

}  // namespace

int main(int count, char** arguments) try {
  Sum sum("cpu", kElements);
  sum();
  if (count > 2 && std::strcmp(arguments[1], "rate") == 0) {
    std::printf("%.0f sums a second\n", rate(sum, std::atof(arguments[2])));
    return 0;
  }
  if (count > 1 && std::strcmp(arguments[1], "calls") == 0) {
    print_calls();
    return 0;
  }
  constexpr double kPauses[] = {0, 100, 1000, 10000};
  std::array<double, 2> ours[2][4], peer[2][4];
  for (int kind = 0; kind < 2; ++kind)
    for (int i = 0; i < 4; ++i) ours[kind][i] = after(kPauses[i], Pause(kind), sum);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  sum();
  const double before = cpu_milliseconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const double burnt = cpu_milliseconds() - before;
  {
    SpinningPool pool;
    for (int kind = 0; kind < 2; ++kind)
      for (int i = 0; i < 4; ++i) peer[kind][i] = after(kPauses[i], Pause(kind), pool);
  }
  std::puts("a sum's median, 90th percentile in us, ours and a spinning pool's");
  for (int kind = 0; kind < 2; ++kind)
    for (int i = 0; i < 4; ++i)
      std::printf("after %4.1f ms %s  %6.1f %6.1f   %6.1f %6.1f   %+6.1f\n", kPauses[i] / 1e3,
                  kind == 0 ? "asleep" : "busy  ", ours[kind][i][0], ours[kind][i][1],
                  peer[kind][i][0], peer[kind][i][1], ours[kind][i][0] - peer[kind][i][0]);
  std::printf("burnt in 100 ms idle: %.2f ms\n%.0f sums a second\n", burnt, rate(sum, 0.5));
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "trine-waking: %s\n", error.what());
  return 2;
}
