// Splits a range over the machine's threads, for the oracle's bulk work: filling, comparing, the
// reference of large operations. Small ranges stay on the caller's thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

namespace trine::oracle {

/// The machine's threads, asked for once: it takes system calls.
inline int64_t cores() {
  static const int64_t count = std::max(1u, std::thread::hardware_concurrency());
  return count;
}

/// Number of parts that `parallel` makes of `count` items when a part is worth `grain` items.
inline int64_t parts_of(int64_t count, int64_t grain) {
  return std::clamp<int64_t>(count / std::max<int64_t>(grain, 1), 1, cores());
}

/// Calls body(part, begin, end) for contiguous parts of [0, count), each on a thread of its own.
template <class Body>
void parallel(int64_t count, int64_t grain, Body&& body) {
  const int64_t parts = parts_of(count, grain);
  std::vector<std::thread> threads;
  for (int64_t p = 1; p < parts; ++p)
    threads.emplace_back([=, &body] { body(p, count * p / parts, count * (p + 1) / parts); });
  body(int64_t{0}, int64_t{0}, count / parts);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace trine::oracle
