#include "link.hpp"

#include <chrono>
#include <cstring>
#include <vector>

#include "bench/stats/measure.hpp"

namespace trine::bench {
namespace {

/// Median seconds of `once()`, the first call not counted.
template <class Once>
double median_of(double seconds, Once&& once) {
  constexpr int kLeast = 3, kMost = 1000;
  once();
  Samples samples;
  double spent = 0;
  for (int i = 0; i < kLeast || (i < kMost && spent < seconds); ++i) {
    const auto begin = Clock::now();
    once();
    samples.seconds.push_back(seconds_since(begin));
    spent += samples.seconds.back();
  }
  return samples.median();
}

}  // namespace

bool has_link(const Device& device) { return device.backend() != "cpu"; }

LinkRates link_rates(const Device& device, uint64_t bytes, double seconds) {
  Queue queue(device), other(device);
  const auto count = int64_t(bytes);
  const View view = vector(Buffer(device, bytes), Dtype::b8, count);
  const View second = vector(Buffer(device, bytes), Dtype::b8, count);
  std::vector<char> pageable(bytes, 1);
  const Buffer pinned(device, bytes, Memory::pinned), back(device, bytes, Memory::pinned);
  std::memset(pinned.host(), 1, bytes);
  std::memset(back.host(), 1, bytes);
  const HostView slow = host_vector(pageable.data(), Dtype::b8, count),
                 fast = host_vector(pinned.host(), Dtype::b8, count),
                 returned = host_vector(back.host(), Dtype::b8, count);
  const auto rate = [&](auto&& from, auto&& to) {
    return double(bytes) / median_of(seconds, [&] {
             copy(queue, from, to);
             queue.wait();
           });
  };
  LinkRates rates{bytes, rate(slow, view), rate(view, slow), rate(fast, view), rate(view, fast), 0};
  const double both = median_of(seconds, [&] {
    copy(queue, fast, view);
    queue.flush();
    copy(other, second, returned);
    other.flush();
    queue.wait();
    other.wait();
  });
  rates.both_pinned = 2 * double(bytes) / both;
  return rates;
}

}  // namespace trine::bench
