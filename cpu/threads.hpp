// How many threads the pool may have.
#pragma once

namespace trine::cpu {

// The CPUs of the process's mask, its main thread's, whatever the calling thread is pinned to.
int process_cpus();

// What OMP_NUM_THREADS says, else the CPUs of the process's mask, which the calling thread takes for
// its own: threads that it starts inherit it.
int wanted_threads();

// `wanted`, or as many as the process's limits admit, the calling thread among them. OpenMP ends the
// program where it can't start a thread.
int startable_threads(int wanted);

}  // namespace trine::cpu
