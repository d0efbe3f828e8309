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

uint64_t read_all(const uint64_t* data, size_t count) {
  const Words d;
  const size_t lanes = hn::Lanes(d);
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  for (size_t i = 0; i + 4 * lanes <= count; i += 4 * lanes) {
    s0 = hn::Add(s0, hn::LoadU(d, data + i));
    s1 = hn::Add(s1, hn::LoadU(d, data + i + lanes));
    s2 = hn::Add(s2, hn::LoadU(d, data + i + 2 * lanes));
    s3 = hn::Add(s3, hn::LoadU(d, data + i + 3 * lanes));
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
}

// Doubles cut in two, so that both halves can be added without rounding: the least work of an exact sum that a flag checks.
double add_halves(const double* data, size_t count) {
  const hn::ScalableTag<double> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const auto upper = hn::BitCast(d, hn::Set(du, ~uint64_t{0} << 26));
  const size_t lanes = hn::Lanes(d);
  hn::Vec<decltype(d)> high[4], low[4];
  for (size_t v = 0; v < 4; ++v) high[v] = low[v] = hn::Zero(d);
  for (size_t i = 0; i + 4 * lanes <= count; i += 4 * lanes)
    for (size_t v = 0; v < 4; ++v) {
      const auto x = hn::LoadU(d, data + i + v * lanes), part = hn::And(x, upper);
      high[v] = hn::Add(high[v], part);
      low[v] = hn::Add(low[v], hn::Sub(x, part));
    }
  for (size_t v = 0; v < 4; ++v) high[0] = hn::Add(high[0], hn::Add(low[v], high[v]));
  return hn::GetLane(hn::SumOfLanes(d, high[0]));
}

// Neighbours multiplied log2(kCount) times, level by level as in a binary tree: kCount vectors become one. Two vectors take one
// shuffle and one or two blends, which aren't bound to the port of shuffles: only one operand's lanes move.
#if HWY_TARGET != HWY_SCALAR
template <int kCount, class D>
HWY_INLINE hn::Vec<D> multiply_levels(D d, const hn::Vec<D>* of) {
  if constexpr (kCount == 1) {
    return of[0];
  } else {
    const auto a = multiply_levels<kCount / 2>(d, of),
               b = multiply_levels<kCount / 2>(d, of + kCount / 2);
    if constexpr (kCount == 2) {
      return hn::Mul(hn::OddEven(b, a), hn::CombineShiftRightBytes<8>(d, b, a));
    } else if constexpr (kCount == hn::MaxLanes(D())) {
      return hn::Mul(hn::ConcatUpperLower(d, b, a), hn::ConcatLowerUpper(d, b, a));
    } else {
      return hn::Mul(hn::OddEvenBlocks(b, a), hn::SwapAdjacentBlocks(hn::OddEvenBlocks(a, b)));
    }
  }
}
#endif

// The product of doubles by a tree's lower levels, as many vectors at a time as a vector has lanes, and the same of what comes out.
// `ahead`: memory is called before it is read, 5 KiB into the second cache and 2 KiB into the first.
double multiply_neighbours(const double* data, size_t count, [[maybe_unused]] bool ahead) {
  const hn::ScalableTag<double> d;
  auto product = hn::Set(d, 1);
#if HWY_TARGET == HWY_SCALAR
  for (size_t i = 0; i + 2 <= count; i += 2)
    product = hn::Mul(product, hn::Set(d, data[i] * data[i + 1]));
#else
  constexpr size_t kLanes = hn::MaxLanes(d);
  for (size_t i = 0; i + kLanes * kLanes * kLanes <= count;) {
    hn::Vec<decltype(d)> groups[kLanes];
    for (auto& group : groups) {
      if (ahead)
        for (size_t l = i; l < i + kLanes * kLanes; l += 8) {
          __builtin_prefetch(data + l + 640, 0, 2);
          __builtin_prefetch(data + l + 256, 0, 3);
        }
      hn::Vec<decltype(d)> vectors[kLanes];
      for (size_t v = 0; v < kLanes; ++v, i += kLanes) vectors[v] = hn::LoadU(d, data + i);
      group = multiply_levels<int(kLanes)>(d, vectors);
    }
    product = hn::Mul(product, multiply_levels<int(kLanes)>(d, groups));
  }
#endif
  alignas(64) double lane[hn::MaxLanes(d)];
  hn::Store(product, d, lane);
  for (size_t l = 1; l < hn::Lanes(d); ++l) lane[0] *= lane[l];
  return lane[0];
}

// Stores past the cache, which spares reading the target first. `target` is aligned.
void copy_past_cache(uint64_t* target, const uint64_t* source, size_t count) {
  const Words d;
  for (size_t i = 0; i + hn::Lanes(d) <= count; i += hn::Lanes(d))
    hn::Stream(hn::LoadU(d, source + i), d, target + i);
  hwy::FlushStream();
}

void copy_through_cache(uint64_t* target, const uint64_t* source, size_t count) {
  const Words d;
  for (size_t i = 0; i + hn::Lanes(d) <= count; i += hn::Lanes(d))
    hn::StoreU(hn::LoadU(d, source + i), d, target + i);
}

void write_past_cache(uint64_t* target, size_t count) {
  const Words d;
  const auto value = hn::Set(d, 0x3f9d70a43f9d70a4);
  for (size_t i = 0; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) hn::Stream(value, d, target + i);
  hwy::FlushStream();
}

/// Chains that hide a fused step's latency (4 cycles; 2 a cycle on most cores, 4 on some) and fit in the
/// registers. Returns the elements that a step has advanced, through `sum` what they came to.
constexpr size_t kChains = HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64 ? 16 : 12;
template <class T>
size_t fma_chains(int64_t steps, T* sum) {
  const hn::ScalableTag<T> d;
  const bool is_float = hwy::IsFloat<T>();
  const auto factor = hn::Set(d, is_float ? T(0.999) : T(1664525));
  const auto term = hn::Set(d, is_float ? T(0.5) : T(1013904223));
  hn::Vec<decltype(d)> chain[kChains];
  // Different ones, or the compiler would compute one for all.
  for (size_t i = 0; i < kChains; ++i) chain[i] = hn::Iota(d, T(i));
  for (int64_t s = 0; s < steps; ++s) {
    for (auto& value : chain) {
      if constexpr (hwy::IsFloat<T>())
        value = hn::MulAdd(value, factor, term);
      else
        value = hn::Add(hn::Mul(value, factor), term);
    }
  }
  for (size_t i = 1; i < kChains; ++i) chain[0] = hn::Add(chain[0], chain[i]);
  *sum = hn::GetLane(hn::SumOfLanes(d, chain[0]));
  return kChains * hn::Lanes(d);
}
size_t fma_f32(int64_t steps, float* sum) { return fma_chains(steps, sum); }
size_t fma_f64(int64_t steps, double* sum) { return fma_chains(steps, sum); }
size_t fma_i32(int64_t steps, int32_t* sum) { return fma_chains(steps, sum); }

/// The same of a product's tile, all of it in the first cache: a step loads vectors of B and an element of A for each row.
template <class T>
size_t tile_chains(int64_t steps, T* sum) {
  constexpr size_t kRows = kChains == 16 ? 8 : 4, kVectors = kChains == 16 ? 3 : 2, kDepth = 64;
  const hn::ScalableTag<T> d;
  constexpr size_t kWidth = kVectors * hn::MaxLanes(d);
  struct Operands {
    alignas(64) T a[kDepth][kRows], b[kDepth][kWidth];
    Operands() {
      uint32_t state = 1;
      const auto next = [&] {
        return T(int32_t(state = state * 1664525 + 1013904223)) / T(1 << 30);
      };
      for (auto& row : a) std::generate(row, row + kRows, next);
      for (auto& row : b) std::generate(row, row + kWidth, next);
    }
  };
  static const Operands on;
  hn::Vec<decltype(d)> chain[kRows * kVectors];
  for (auto& value : chain) value = hn::Zero(d);
  for (int64_t left = steps; left > 0; left -= int64_t{kDepth}) {
    const size_t count = size_t(HWY_MIN(left, int64_t{kDepth}));
#pragma GCC unroll 2
    for (size_t x = 0; x < count; ++x) {
      hn::Vec<decltype(d)> row[kVectors];
      for (size_t v = 0; v < kVectors; ++v) row[v] = hn::Load(d, on.b[x] + v * hn::Lanes(d));
      for (size_t r = 0; r < kRows; ++r)
        for (size_t v = 0; v < kVectors; ++v)
          chain[r * kVectors + v] =
              hn::MulAdd(hn::Set(d, on.a[x][r]), row[v], chain[r * kVectors + v]);
    }
  }
  for (size_t i = 1; i < kRows * kVectors; ++i) chain[0] = hn::Add(chain[0], chain[i]);
  *sum = hn::GetLane(hn::SumOfLanes(d, chain[0]));
  return kRows * kVectors * hn::Lanes(d);
}
size_t tile_f32(int64_t steps, float* sum) { return tile_chains(steps, sum); }
size_t tile_f64(int64_t steps, double* sum) { return tile_chains(steps, sum); }

}  // namespace trine::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace trine::bench {
namespace {

HWY_EXPORT(read_all);
HWY_EXPORT(add_halves);
HWY_EXPORT(multiply_neighbours);
HWY_EXPORT(copy_past_cache);
HWY_EXPORT(copy_through_cache);
HWY_EXPORT(write_past_cache);
HWY_EXPORT(fma_f32);
HWY_EXPORT(fma_f64);
HWY_EXPORT(fma_i32);
HWY_EXPORT(tile_f32);
HWY_EXPORT(tile_f64);

/// Keeps a result alive without the optimizer knowing.
template <class T>
void keep(T value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

/// The logical CPUs that the process may use, one of each core before the second of any: two threads on
/// one core would halve what is measured.
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

/// Keeps the calling thread on one CPU: the scheduler may take longer than a measurement to part two.
void stay_on(int cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  sched_setaffinity(0, sizeof one, &one);
}

/// Threads meet here and leave together, within a cache line's travel.
class SpinBarrier {
 public:
  explicit SpinBarrier(int threads) : threads_(threads) {}
  void meet() {
    const int round = round_.load();
    if (arrived_.fetch_add(1) + 1 == threads_) {
      arrived_.store(0);
      round_.store(round + 1);
      return;
    }
    while (round_.load() == round) std::this_thread::yield();
  }

 private:
  const int threads_;
  std::atomic<int> arrived_{0}, round_{0};
};

/// Best of several passes in about 60 ms: a roof is what the machine can do, not what it averages.
/// `work(thread)` is one thread's part of a pass; all parts together are `amount`.
template <class Work>
double best_rate(int threads, double amount, Work work) {
  const auto part = [&](int thread, int) { work(thread); };
  return amount / std::ranges::min(pass_seconds(threads, 4, 200, 0.06, part));
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

/// bytes/s of `part(thread)`, which moves `bytes`, over what takes `parts` of memory. A pass repeats it, so that
/// meeting at the barrier doesn't count.
template <class Part>
double moving_rate(int threads, const Parts& parts, double bytes, Part part) {
  const auto times =
      int(std::clamp<uint64_t>((64 << 20) / (parts.bytes() * uint64_t(threads)), 1, 4096));
  return best_rate(threads, bytes * threads * times, [&](int thread) {
    for (int i = 0; i < times; ++i) part(thread);
  });
}

template <class T, class Chains>
double flops_of(int64_t steps, Chains chains) {
  T sum;
  const double elements = double(chains(steps, &sum)) * double(steps);
  keep(sum);
  return 2 * elements;
}

}  // namespace

std::vector<double> pass_seconds(int threads, int least, int most, double seconds,
                                 const std::function<void(int thread, int pass)>& work) {
  struct alignas(128) Pass {
    Clock::time_point start, end;
  };
  std::vector<Pass> times(static_cast<size_t>(threads));
  std::atomic<bool> again{true};
  SpinBarrier barrier(threads);
  const auto run = [&](int thread, int pass) {
    Pass& mine = times[static_cast<size_t>(thread)];
    barrier.meet();
    const bool go = again;  // read between the barriers, where all see the same
    mine.start = Clock::now();
    if (go) work(thread, pass);
    mine.end = Clock::now();
    barrier.meet();
    return go;
  };
  std::vector<double> passes;
  const std::vector<int> cpus = spread_cpus();
  std::vector<std::thread> followers;
  for (int t = 1; t < threads; ++t)
    followers.emplace_back([&run, &cpus, t] {
      if (size_t(t) < cpus.size()) stay_on(cpus[size_t(t)]);
      for (int pass = 0; run(t, pass);) ++pass;
    });
  std::thread([&] {  // not the caller's thread, whose cores are its own business
    if (!cpus.empty()) stay_on(cpus[0]);
    const auto begin = Clock::now();
    for (int i = 0; i < least || (i < most && seconds_since(begin) < seconds); ++i) {
      run(0, i);
      const auto start = std::ranges::min(times, {}, &Pass::start).start;
      const auto end = std::ranges::max(times, {}, &Pass::end).end;
      passes.push_back(std::chrono::duration<double>(end - start).count());
    }
    again = false;
    run(0, 0);
  })
      .join();
  for (std::thread& follower : followers) follower.join();
  return passes;
}

void read_words(const void* data, uint64_t bytes) {
  keep(HWY_DYNAMIC_DISPATCH(read_all)(static_cast<const uint64_t*>(data), bytes / 8));
}

void add_halves(const void* doubles, uint64_t bytes) {
  keep(HWY_DYNAMIC_DISPATCH(add_halves)(static_cast<const double*>(doubles), bytes / 8));
}

void multiply_neighbours(const void* doubles, uint64_t bytes, bool ahead) {
  keep(HWY_DYNAMIC_DISPATCH(multiply_neighbours)(static_cast<const double*>(doubles), bytes / 8,
                                                 ahead));
}

void copy_words(void* target, const void* source, uint64_t bytes, bool past_cache) {
  auto* const to = static_cast<uint64_t*>(target);
  const auto* const from = static_cast<const uint64_t*>(source);
  if (past_cache)
    HWY_DYNAMIC_DISPATCH(copy_past_cache)(to, from, bytes / 8);
  else
    HWY_DYNAMIC_DISPATCH(copy_through_cache)(to, from, bytes / 8);
}

double multiply_adds(Dtype dtype, int64_t steps) {
  if (dtype == Dtype::f64) return flops_of<double>(steps, HWY_DYNAMIC_DISPATCH(fma_f64));
  if (dtype == Dtype::i32) return flops_of<int32_t>(steps, HWY_DYNAMIC_DISPATCH(fma_i32));
  return flops_of<float>(steps, HWY_DYNAMIC_DISPATCH(fma_f32));
}

double tile_multiply_adds(Dtype dtype, int64_t steps) {
  if (dtype == Dtype::f64) return flops_of<double>(steps, HWY_DYNAMIC_DISPATCH(tile_f64));
  return flops_of<float>(steps, HWY_DYNAMIC_DISPATCH(tile_f32));
}

double cpu_read_rate(int threads, uint64_t bytes) {
  const Parts parts(threads, bytes);
  return moving_rate(threads, parts, double(parts.bytes()),
                     [&](int t) { read_words(parts[t], parts.bytes()); });
}

double cpu_write_rate(int threads, uint64_t bytes) {
  const Parts parts(threads, bytes);
  const auto rate = [&](auto write) {
    return moving_rate(threads, parts, double(parts.bytes()), [&](int t) { write(parts[t]); });
  };
  return std::max(rate([&](uint64_t* words) {
                    HWY_DYNAMIC_DISPATCH(write_past_cache)(words, parts.bytes() / 8);
                  }),
                  rate([&](uint64_t* words) {
                    std::memset(words, 1, parts.bytes());
                    keep(words);
                  }));
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
                    copy_words(target_words, words, bytes, true);
                  }),
                  rate([&](uint64_t* target_words, const uint64_t* words) {
                    std::memcpy(target_words, words, bytes);
                  }));
}

constexpr int64_t kSteps = 200000;  // about a millisecond

double cpu_fma_bound(int threads, Dtype dtype) {
  std::vector<double> rates(static_cast<size_t>(threads));
  std::vector<std::thread> all;
  for (size_t t = 0; t < rates.size(); ++t)
    all.emplace_back([t, dtype, &rate = rates[t]] {
      const std::vector<int> cpus = spread_cpus();
      if (t < cpus.size()) stay_on(cpus[t]);
      for (const auto begin = Clock::now(); seconds_since(begin) < 0.1;) {
        const auto start = Clock::now();
        const double flops = multiply_adds(dtype, kSteps);
        rate = std::max(rate, flops / seconds_since(start));
      }
    });
  for (std::thread& thread : all) thread.join();
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

double cpu_fma_rate(int threads, Dtype dtype) {
  return best_rate(threads, threads * multiply_adds(dtype, kSteps),
                   [&](int) { multiply_adds(dtype, kSteps); });
}

}  // namespace trine::bench
#endif
