// Plain loops in the widest vectors of this machine (Google Highway picks them when the program
// runs), on threads that start together and are timed without their own start.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/roofs/cpu_roof.cpp"
#include "bench/stats/measure.hpp"
#include "probes.hpp"

// The loops keep vectors in arrays, and there are none of scalable vectors.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#include "hwy/aligned_allocator.h"
#include "hwy/cache_control.h"
#include "hwy/foreach_target.h"  // must precede highway.h
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace trine::bench::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Words = hn::ScalableTag<uint64_t>;

/// Keeps a result alive without the optimizer knowing.
template <class T>
void keep(T value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

void read_all(const uint64_t* data, size_t count) {
  const Words d;
  const size_t lanes = hn::Lanes(d);
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  for (size_t i = 0; i + 4 * lanes <= count; i += 4 * lanes) {
    s0 = hn::Add(s0, hn::LoadU(d, data + i));
    s1 = hn::Add(s1, hn::LoadU(d, data + i + lanes));
    s2 = hn::Add(s2, hn::LoadU(d, data + i + 2 * lanes));
    s3 = hn::Add(s3, hn::LoadU(d, data + i + 3 * lanes));
  }
  keep(hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)))));
}

// Stores past the cache, which spares reading the target first. `target` is aligned.
void copy_past_cache(uint64_t* target, const uint64_t* source, size_t count) {
  const Words d;
  for (size_t i = 0; i + hn::Lanes(d) <= count; i += hn::Lanes(d))
    hn::Stream(hn::LoadU(d, source + i), d, target + i);
  hwy::FlushStream();
}

/// Chains that hide a fused step's latency (4 cycles; 2 a cycle on most cores, 4 on some) and fit
/// in the registers. Returns the flops done.
constexpr size_t kChains = HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64 ? 16 : 12;
template <class T>
double fma_chains(int64_t steps) {
  const hn::ScalableTag<T> d;
  const auto factor = hn::Set(d, T(0.999)), term = hn::Set(d, T(0.5));
  hn::Vec<decltype(d)> chain[kChains];
  // Different ones, or the compiler would compute one for all.
  for (size_t i = 0; i < kChains; ++i) chain[i] = hn::Iota(d, T(i));
  for (int64_t s = 0; s < steps; ++s)
    for (auto& value : chain) value = hn::MulAdd(value, factor, term);
  for (size_t i = 1; i < kChains; ++i) chain[0] = hn::Add(chain[0], chain[i]);
  keep(hn::GetLane(hn::SumOfLanes(d, chain[0])));
  return 2.0 * kChains * double(hn::Lanes(d)) * double(steps);
}
double fma_f32(int64_t steps) { return fma_chains<float>(steps); }
double fma_f64(int64_t steps) { return fma_chains<double>(steps); }

}  // namespace trine::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstring>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace trine::bench {
namespace {

HWY_EXPORT(read_all);
HWY_EXPORT(copy_past_cache);
HWY_EXPORT(fma_f32);
HWY_EXPORT(fma_f64);

/// The logical CPUs that the process may use, one of each core before the second of any: two
/// threads on one core would halve what is measured.
std::vector<int> spread_cpus() {
  cpu_set_t allowed;
  std::vector<int> first, second;
  if (sched_getaffinity(getpid(), sizeof allowed, &allowed) != 0) return first;
  std::set<std::string> cores;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    std::string siblings = std::to_string(cpu);  // where the kernel doesn't tell
    std::ifstream("/sys/devices/system/cpu/cpu" + siblings + "/topology/thread_siblings_list") >>
        siblings;
    (cores.insert(siblings).second ? first : second).push_back(cpu);
  }
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// Keeps the calling thread on one CPU: the scheduler may take longer than a measurement to part
/// two.
void stay_on(int cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  sched_setaffinity(0, sizeof one, &one);
}

/// Threads, one a core, start a pass together. `work(thread)` is one thread's share of it; all
/// shares together are `amount`. A pass lasts from the first thread's start to the last one's end,
/// whichever were delayed between.
double best_rate(int threads, double amount, const std::function<void(int thread)>& work) {
  struct alignas(128) Pass {
    Clock::time_point start, end;
  };
  std::vector<Pass> times(static_cast<size_t>(threads));
  std::atomic<bool> again{true};
  std::barrier barrier(threads);
  const auto run = [&](int thread) {
    Pass& mine = times[static_cast<size_t>(thread)];
    barrier.arrive_and_wait();
    const bool go = again;  // read between the barriers, where all see the same
    mine.start = Clock::now();
    if (go) work(thread);
    mine.end = Clock::now();
    barrier.arrive_and_wait();
    return go;
  };
  double least = 0;
  const std::vector<int> cpus = spread_cpus();
  std::vector<std::thread> followers;
  for (int t = 1; t < threads; ++t)
    followers.emplace_back([&run, &cpus, t] {
      if (size_t(t) < cpus.size()) stay_on(cpus[size_t(t)]);
      while (run(t)) {}
    });
  std::thread([&] {  // not the caller's thread, whose cores are its own business
    if (!cpus.empty()) stay_on(cpus[0]);
    least = least_seconds([&] {
      run(0);
      const auto start = std::ranges::min(times, {}, &Pass::start).start;
      const auto end = std::ranges::max(times, {}, &Pass::end).end;
      return std::chrono::duration<double>(end - start).count();
    });
    again = false;
    run(0);
  })
      .join();
  for (std::thread& follower : followers) follower.join();
  return amount / least;
}

constexpr size_t kPiece = 4096;  // bytes; a multiple of every loop's step

/// The same amount of memory for each thread, touched by that thread first.
class Parts {
 public:
  Parts(int threads, uint64_t bytes)
      : bytes_(std::max<uint64_t>(bytes / uint64_t(threads) / kPiece * kPiece, kPiece)),
        words_(hwy::AllocateAligned<uint64_t>(size_t(bytes_) / 8 * size_t(threads))) {
    if (!words_) throw std::bad_alloc();
    std::vector<std::thread> owners;
    owners.reserve(size_t(threads));
    for (int t = 0; t < threads; ++t)
      owners.emplace_back([this, t] { std::memset((*this)[t], 1, bytes_); });
    for (std::thread& owner : owners) owner.join();
  }
  uint64_t* operator[](int thread) const { return words_.get() + bytes_ / 8 * size_t(thread); }
  size_t bytes() const { return bytes_; }

 private:
  size_t bytes_;
  hwy::AlignedFreeUniquePtr<uint64_t[]> words_;
};

/// bytes/s of `part(thread)`, which moves `bytes`, over what takes `parts` of memory. A pass
/// repeats it, so that meeting at the barrier doesn't count.
template <class Part>
double moving_rate(int threads, const Parts& parts, double bytes, Part part) {
  const auto times =
      int(std::clamp<uint64_t>((64 << 20) / (parts.bytes() * uint64_t(threads)), 1, 4096));
  return best_rate(threads, bytes * threads * times, [&](int thread) {
    for (int i = 0; i < times; ++i) part(thread);
  });
}

}  // namespace

double cpu_read_rate(int threads, uint64_t bytes) {
  const Parts parts(threads, bytes);
  return moving_rate(threads, parts, double(parts.bytes()), [&](int t) {
    HWY_DYNAMIC_DISPATCH(read_all)(parts[t], parts.bytes() / 8);
  });
}

double cpu_copy_rate(int threads, uint64_t source, uint64_t target) {
  const Parts from(threads, source), to(threads, std::max(source, target));
  const size_t bytes = from.bytes(), places = to.bytes() / bytes;
  const auto rate = [&](auto copy) {
    return moving_rate(threads, to, 2.0 * double(bytes) * double(places), [&](int t) {
      for (size_t place = 0; place < places; ++place) copy(to[t] + place * bytes / 8, from[t]);
    });
  };
  return std::max(rate([&](uint64_t* target_words, const uint64_t* words) {
                    HWY_DYNAMIC_DISPATCH(copy_past_cache)(target_words, words, bytes / 8);
                  }),
                  rate([&](uint64_t* target_words, const uint64_t* words) {
                    std::memcpy(target_words, words, bytes);
                  }));
}

constexpr int64_t kSteps = 1000000;  // milliseconds, beside which meeting at the barrier is nothing

double cpu_fma_rate(int threads, Dtype dtype) {
  const auto chains = [dtype] {
    return dtype == Dtype::f64 ? HWY_DYNAMIC_DISPATCH(fma_f64)(kSteps)
                               : HWY_DYNAMIC_DISPATCH(fma_f32)(kSteps);
  };
  return best_rate(threads, threads * chains(), [&](int) { chains(); });
}

}  // namespace trine::bench
#endif
