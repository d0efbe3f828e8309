// Work of one call on a few threads of its own.
#pragma once

#include <functional>
#include <future>
#include <vector>

#include "backends/kit/fork.hpp"
#include "backends/kit/signals.hpp"

namespace trine::detail {

/// Runs body(thread) on `count` threads, the caller's among them, which is the only one in a forked
/// child; throws what one of them threw.
template <class Body>
void on_threads(int count, const Body& body) {
  std::vector<std::future<void>> others;  // whose ends wait for the threads
  others.reserve(static_cast<std::size_t>(count));
  const auto policy = kit::is_forked() ? std::launch::deferred : std::launch::async;
  for (int thread = 1; thread < count; ++thread) {
    try {
      others.push_back(
          kit::without_signals([&] { return std::async(policy, std::ref(body), thread); }));
    } catch (...) {
      body(thread);  // no thread to be had: do its share here
    }
  }
  body(0);
  for (std::future<void>& other : others) other.get();
}

}  // namespace trine::detail
