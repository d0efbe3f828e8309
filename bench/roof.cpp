// The CPU's roofs are measured by plain loops on as many threads as the device has; a GPU's copy by
// the driver's own copy, and its fma rate is the data sheet's, marked as such.
#include "roof.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <thread>
#include <vector>

#include "measure.hpp"
#if defined(__SSE2__)
#include <emmintrin.h>
#endif
#include "tests/oracle/clones.hpp"

namespace trine::bench {
namespace {

using Clock = std::chrono::steady_clock;

/// Runs body(thread) on each of `threads` threads and returns the seconds of the whole.
template <class Body>
double on_threads(int threads, Body body) {
  const auto begin = Clock::now();
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back(body, t);
  body(0);
  for (std::thread& other : others) other.join();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

TRINE_ORACLE_CLONES uint64_t read_all(const uint64_t* data, size_t count) {
  uint64_t sums[32] = {};
  size_t i = 0;
  for (; i + 32 <= count; i += 32)
    for (size_t j = 0; j < 32; ++j) sums[j] += data[i + j];
  uint64_t sum = 0;
  for (uint64_t part : sums) sum += part;
  return sum;
}

/// Stores past the cache, which spares reading the target first.
void copy_streaming(std::byte* target, const std::byte* source, size_t bytes) {
#if defined(__SSE2__)
  for (size_t i = 0; i + 16 <= bytes; i += 16)
    _mm_stream_si128(reinterpret_cast<__m128i*>(target + i),
                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + i)));
  _mm_sfence();
#else
  std::memcpy(target, source, bytes);
#endif
}

// Independent chains of fused multiply-adds, as many as hide the latency without spilling; which
// number that is depends on the vector width, so several are tried. Macros, because target_clones
// doesn't clone templates.
#define TRINE_FMA_CHAINS(name, T, chains, fused)                      \
  TRINE_ORACLE_CLONES T name(int64_t steps) {                         \
    T chain[chains];                                                  \
    for (int i = 0; i < chains; ++i) chain[i] = T(i);                 \
    for (int64_t s = 0; s < steps; ++s)                               \
      for (T & value : chain) value = fused(value, T(0.999), T(0.5)); \
    T sum = 0;                                                        \
    for (T value : chain) sum += value;                               \
    return sum;                                                       \
  }
TRINE_FMA_CHAINS(fma_f32_64, float, 64, __builtin_fmaf)
TRINE_FMA_CHAINS(fma_f32_128, float, 128, __builtin_fmaf)
TRINE_FMA_CHAINS(fma_f32_256, float, 256, __builtin_fmaf)
TRINE_FMA_CHAINS(fma_f64_32, double, 32, __builtin_fma)
TRINE_FMA_CHAINS(fma_f64_64, double, 64, __builtin_fma)
TRINE_FMA_CHAINS(fma_f64_128, double, 128, __builtin_fma)
#undef TRINE_FMA_CHAINS

/// Best of several passes in about 60 ms: a roof is what the machine can do, not what it averages.
template <class Pass>
double best_rate(double amount, Pass pass) {
  double best = 0;
  const auto begin = Clock::now();
  for (int i = 0; i < 200; ++i) {
    best = std::max(best, amount / pass());
    if (i >= 3 && std::chrono::duration<double>(Clock::now() - begin).count() > 0.06) break;
  }
  return best;
}

/// Keeps a result alive without the optimizer knowing.
template <class T>
void keep(T value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

constexpr size_t kPiece = 4096;

double cpu_read(int threads, uint64_t bytes) {
  const size_t part = std::max<size_t>(bytes / uint64_t(threads) / kPiece * kPiece, kPiece);
  std::vector<uint64_t> data(part * size_t(threads) / 8, 1);
  // Short passes are repeated inside, or starting the threads would be what is measured.
  const int repeats = int(std::clamp<uint64_t>((64 << 20) / (part * uint64_t(threads)), 1, 4096));
  return best_rate(double(part) * threads * repeats, [&] {
    return on_threads(threads, [&](int t) {
      for (int r = 0; r < repeats; ++r)
        keep(read_all(data.data() + part / 8 * size_t(t), part / 8));
    });
  });
}

double cpu_copy(int threads, uint64_t bytes) {
  const size_t part = std::max<size_t>(bytes / 2 / uint64_t(threads) / kPiece * kPiece, kPiece);
  std::vector<std::byte> source(part * size_t(threads) + 64), target(part * size_t(threads) + 64);
  std::byte* aligned = target.data() + (64 - reinterpret_cast<uintptr_t>(target.data()) % 64) % 64;
  const int repeats = int(std::clamp<uint64_t>((32 << 20) / (part * uint64_t(threads)), 1, 4096));
  const auto pass = [&](auto copy_part) {
    return best_rate(2.0 * double(part) * threads * repeats, [&] {
      return on_threads(threads, [&](int t) {
        for (int r = 0; r < repeats; ++r)
          copy_part(aligned + part * size_t(t), source.data() + part * size_t(t), part);
      });
    });
  };
  return std::max(pass(copy_streaming), pass([](std::byte* to, const std::byte* from, size_t size) {
                    std::memcpy(to, from, size);
                  }));
}

template <class T>
double fma_rate(int threads, int chains, T (*run)(int64_t)) {
  constexpr int64_t kSteps = 2000000;  // milliseconds: starting the threads must not count
  return best_rate(2.0 * chains * double(kSteps) * threads,
                   [&] { return on_threads(threads, [&](int) { keep(run(kSteps)); }); });
}

double cpu_fma(int threads, Dtype dtype) {
  if (dtype == Dtype::f64)
    return std::max({fma_rate(threads, 32, fma_f64_32), fma_rate(threads, 64, fma_f64_64),
                     fma_rate(threads, 128, fma_f64_128)});
  return std::max({fma_rate(threads, 64, fma_f32_64), fma_rate(threads, 128, fma_f32_128),
                   fma_rate(threads, 256, fma_f32_256)});
}

double device_copy(const Device& device, uint64_t bytes) {
  Queue queue(device);
  const uint64_t half = std::max<uint64_t>(bytes / 2 / 4096 * 4096, uint64_t{64} << 20);
  Buffer source(device, half), target(device, half);
  const View from = vector(source, Dtype::b32, int64_t(half / 4)),
             to = vector(target, Dtype::b32, int64_t(half / 4));
  const uint32_t seed = 0x3f9d70a4;
  fill(queue, from, &seed);
  fill(queue, to, &seed);
  queue.wait();
  return best_rate(2.0 * double(half), [&] {
    const Event start = queue.record();
    copy(queue, from, to);
    const Event stop = queue.record();
    queue.wait();
    return elapsed(start, stop);
  });
}

bool on_host(const Device& device) { return device.facts().kind == DeviceKind::cpu; }

double measured_memory(const Device& device, const std::string& what, uint64_t bytes) {
  if (!on_host(device)) return device_copy(device, bytes);
  const int threads = std::max(1, int(device.facts().compute_units));
  return what == "read" ? cpu_read(threads, bytes) : cpu_copy(threads, bytes);
}

double measured_fma(const Device& device, Dtype dtype) {
  const int threads = std::max(1, int(device.facts().compute_units));
  return cpu_fma(threads, dtype);
}

}  // namespace

Roof roof_of(const Device& device, const Problem& problem) {
  static std::map<std::string, double> known;
  Roof roof;
  if (rated_by_flops(problem)) {
    roof.unit = "flop/s";
    roof.what = "fma";
    if (problem.dtype == Dtype::i32)
      return roof;  // no one instruction is the roof of a multiply-add
    roof.measured = on_host(device);
    if (!roof.measured) {
      roof.value = problem.dtype == Dtype::f64 ? device.facts().peak_f64 : device.facts().peak_f32;
      return roof;
    }
  } else {
    roof.unit = "B/s";
    roof.what = problem.operation == Operation::reduce && on_host(device) ? "read" : "copy";
  }
  const uint64_t bytes = rated_by_flops(problem) ? 0 : footprint(problem);
  // Devices on the host's own cores share its roofs.
  const std::string where =
      on_host(device) ? std::to_string(device.facts().compute_units) : device.id();
  const std::string dtype(rated_by_flops(problem) ? name(problem.dtype) : "");
  double& value = known[where + "/" + roof.what + "/" + dtype + "/" + std::to_string(bytes)];
  if (value == 0)
    value = rated_by_flops(problem) ? measured_fma(device, problem.dtype)
                                    : measured_memory(device, roof.what, bytes);
  roof.value = value;
  return roof;
}

}  // namespace trine::bench
