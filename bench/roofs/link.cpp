#include "link.hpp"

#include <cstring>
#include <vector>

#include "bench/stats/measure.hpp"

namespace trine::bench {
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
  const auto median_of = [&](auto&& enqueue) {
    return measure("link", seconds, 3,
                   [&] {
                     const auto begin = Clock::now();
                     enqueue();
                     queue.wait();
                     return seconds_since(begin);
                   })
        .median();
  };
  const auto rate = [&](auto&& from, auto&& to) {
    return double(bytes) / median_of([&] { copy(queue, from, to); });
  };
  LinkRates rates{bytes, rate(slow, view), rate(view, slow), rate(fast, view), rate(view, fast), 0};
  const double both = median_of([&] {
    copy(queue, fast, view);
    queue.flush();
    copy(other, second, returned);
    other.wait();
  });
  rates.both_pinned = 2 * double(bytes) / both;
  return rates;
}

}  // namespace trine::bench
