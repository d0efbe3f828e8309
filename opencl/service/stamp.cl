// What time is it on the device? On NVIDIA, where a queue with profiling makes each launch 11 us
// slower, this stands for the driver's own stamps. No sister: CUDA has events.
KERNEL_OF(stamp, 1, 1)(GLOBAL ulong* times, int slot) {
#if HAVE_PTX
  ulong nanoseconds;
  __asm__ volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds) : : "memory");
  times[slot] = nanoseconds;
#endif
}
