// The one place that knows Kokkos: what differs between 3.4 and 5 stands here, and the threads of
// every parallel loop come from here. Kokkos 3.4 throws off the thread that initialized it, so one
// thread calls all functions of this file but the first.
#pragma once

#include <Kokkos_Core.hpp>

#include <omp.h>

#include <cstdint>

namespace trine::cpu {

using Space = Kokkos::OpenMP;

#ifdef TRINE_SHARED_KOKKOS
constexpr bool kSharedKokkos = true;
#else
constexpr bool kSharedKokkos = false;
#endif

// Whether the calling thread may start Kokkos, and callers may take part in loops: not where OMP_PROC_BIND gives
// each thread a core of its own, nor where the program shares this Kokkos.
inline bool kokkos_is_ours() {
  return !kSharedKokkos && !Kokkos::is_initialized() && omp_get_proc_bind() == omp_proc_bind_false;
}

// Starts Kokkos with `threads`, the calling one among them, or takes the one that runs; returns how many
// there are. Never finalized: at exit work may still be in flight.
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

// body(thread) on each of the first `threads` of Kokkos's threads.
template <class Body>
void on_kokkos_threads(int threads, Body body) {
  Kokkos::parallel_for(
      "trine", Kokkos::RangePolicy<Space, Kokkos::Schedule<Kokkos::Static>>(0, threads), body);
}

}  // namespace trine::cpu
