// Only this file knows the differences between Kokkos 3.4 and 5. Kokkos 3.4 throws on any thread
// but the one that initialized it, so the executor's thread calls all functions of this file but
// the first.
//
// Kokkos runs the rungs that are written in it. The loops of all others run on threads of our own
// (pool.hpp), and on Kokkos's only where kokkos_is_ours() says that it isn't.
#pragma once

#include <Kokkos_Core.hpp>

#include <omp.h>

#include <cstdint>

#include "backends/kit/error.hpp"
#include "rung.hpp"
#include "threads.hpp"

namespace trine::cpu {

using Space = Kokkos::OpenMP;

#ifdef TRINE_SHARED_KOKKOS
constexpr bool kSharedKokkos = true;
#else
constexpr bool kSharedKokkos = false;
#endif

// Whether callers may take part in loops: not where OMP_PROC_BIND gives each thread a core of its
// own, nor where the program shares this Kokkos.
inline bool kokkos_is_ours() {
  return !kSharedKokkos && omp_get_proc_bind() == omp_proc_bind_false;
}

// Starts Kokkos with `threads`, the calling one among them, or takes the one that runs; returns how
// many there are. Never finalized: at exit work may still be in flight.
inline int start_kokkos(int threads) {
  if (Kokkos::is_initialized()) return Space().concurrency();
  omp_set_num_threads(threads);  // Kokkos counts as many threads as OpenMP gives by itself
  omp_set_dynamic(0);            // and must find as many in each loop
#if KOKKOS_VERSION >= 30700
  Kokkos::initialize(
      Kokkos::InitializationSettings().set_num_threads(threads).set_disable_warnings(true));
#else
  Kokkos::InitArguments arguments;
  arguments.num_threads = threads;
  arguments.disable_warnings = true;
  Kokkos::initialize(arguments);
#endif
  return Space().concurrency();
}

// Kokkos for a rung, started by the first one with all of the device's threads. Throws where they
// can't start.
inline Space kokkos_for(const Parallel& parallel) {
  const int threads = parallel.threads();
  if (!Kokkos::is_initialized() && startable_threads(threads) < threads)
    kit::fail(
        TRINE_BACKEND_ERROR,
        "cpu: Kokkos can't start %d threads, by a limit of threads or of memory; rungs without "
        "Kokkos work",
        threads);
  start_kokkos(threads);
  return Space();
}

// body(thread) on each of the first `threads` of Kokkos's threads.
template <class Body>
void on_kokkos_threads(int threads, Body body) {
  Kokkos::parallel_for(
      "trine", Kokkos::RangePolicy<Space, Kokkos::Schedule<Kokkos::Static>>(0, threads), body);
}

}  // namespace trine::cpu
