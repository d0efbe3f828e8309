// The one place that knows Kokkos: what differs between 3.4 and 5 stands here, and the threads of
// every parallel loop come from here. Kokkos 3.4 throws off the thread that initialized it, so only
// the executor's thread includes this file's functions in its life.
#pragma once

#include <Kokkos_Core.hpp>

#include <omp.h>

#include <cstdint>

#include "caller_participation.hpp"

namespace trine::cpu {

using Space = Kokkos::OpenMP;

#ifdef TRINE_SHARED_KOKKOS
constexpr bool kSharedKokkos = true;
#else
constexpr bool kSharedKokkos = false;
#endif

struct Pool {
  int threads;  // that a loop may use
  bool lends;   // the last of them is a caller that waits
};

// Starts the pool with one thread less than `threads`, for which callers lend themselves; not where
// OMP_PROC_BIND gives each thread a core of its own, or the program shares this Kokkos, whose threads are
// all awake. Never finalized: at exit work may still be in flight.
inline Pool start_kokkos(int threads) {
  if (Kokkos::is_initialized()) return {Space().concurrency(), false};
  const bool lends = threads > 1 && !kSharedKokkos && omp_get_proc_bind() == omp_proc_bind_false;
  const int pool = lends ? threads - 1 : threads;
  omp_set_num_threads(pool);  // Kokkos counts as many threads as OpenMP gives by itself
#if KOKKOS_VERSION >= 30700
  Kokkos::initialize(
      Kokkos::InitializationSettings().set_num_threads(pool).set_disable_warnings(true));
#else
  Kokkos::InitArguments arguments;
  arguments.num_threads = pool;
  arguments.disable_warnings = true;
  Kokkos::initialize(arguments);
#endif
  omp_set_num_threads(threads);  // for packs' loops of their own: Kokkos has set the pool's
  return {Space().concurrency() + (lends ? 1 : 0), lends};
}

// The pool's part of a loop. Each thread takes the next piece until none is left: pieces differ in
// cost, and a core may be busy with something else.
inline void take_in_pool(Loop& loop, int threads) {
  Kokkos::parallel_for("trine",
                       Kokkos::RangePolicy<Space, Kokkos::Schedule<Kokkos::Static>>(0, threads),
                       [&](const int thread) { loop.take_pieces(thread); });
}

}  // namespace trine::cpu
