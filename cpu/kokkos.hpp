// The one place that knows Kokkos: what differs between 3.4 and 5 stands here, and the threads of
// every parallel loop come from here. Kokkos 3.4 throws off the thread that initialized it, so only
// the executor's thread includes this file's functions in its life.
#pragma once

#include <Kokkos_Core.hpp>

#include <atomic>
#include <cstdint>

#include "float_environment.hpp"
#include "rung.hpp"

namespace trine::cpu {

using Space = Kokkos::OpenMP;

// Starts the pool with `threads` threads, the caller among them. Never finalized: at exit work may
// still be in flight. A copy of Kokkos that the program itself initialized (TRINE_KOKKOS=shared)
// is used as it is.
inline void start_kokkos(int threads) {
  if (Kokkos::is_initialized()) return;
#if KOKKOS_VERSION >= 30700
  Kokkos::initialize(
      Kokkos::InitializationSettings().set_num_threads(threads).set_disable_warnings(true));
#else
  Kokkos::InitArguments arguments;
  arguments.num_threads = threads;
  arguments.disable_warnings = true;
  Kokkos::initialize(arguments);
#endif
}

inline int kokkos_threads() { return Space().concurrency(); }

// `threads` parts of the pool, each of which takes the next piece until none is left: pieces differ
// in cost, and a core may be busy with something else.
class KokkosParallel final : public Parallel {
 public:
  explicit KokkosParallel(int threads) : Parallel(threads) {}

 private:
  void run(std::int64_t count, Piece piece, void* body) override {
    if (count <= 0) return;
    const int parts = static_cast<int>(count < threads() ? count : threads());
    std::atomic<std::int64_t> next{0};
    Kokkos::parallel_for(
        "trine", Kokkos::RangePolicy<Space, Kokkos::Schedule<Kokkos::Static>>(0, parts),
        [&](const int part) {
          const FloatEnvironment environment;
          for (std::int64_t i = next.fetch_add(1); i < count; i = next.fetch_add(1))
            piece(body, i, part);
        });
  }
};

}  // namespace trine::cpu
