// How many threads the device has, and starting threads of ours.
#pragma once

namespace trine::cpu {

// The CPUs of the process's mask, its main thread's, whatever the calling thread is pinned to.
int process_cpus();

// Kokkos has no room for more in its table of threads, and doesn't check.
inline constexpr int kMostThreads = 512;

// The number in OMP_NUM_THREADS, else of the CPUs in the process's mask, but no more than
// OMP_THREAD_LIMIT and kMostThreads. The calling thread takes that mask for its own: threads that
// it starts inherit it.
int wanted_threads();

// Whether there would be more threads than kMostThreads.
bool is_bounded();

// `wanted`, or as many as the process's limits admit, the calling thread among them. OpenMP ends
// the program where it can't start a thread.
int startable_threads(int wanted);

// Starts serve(argument) on a thread for ever, with the stack that OpenMP's threads would have;
// false if the process's limits don't admit it.
bool start_thread(void* (*serve)(void*), void* argument);

// Moves the calling thread to another CPU of its mask, if there is one.
void leave_cpu(int cpu);

}  // namespace trine::cpu
