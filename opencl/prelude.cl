// The words of the kernels that both languages share (backends/gpu/kernels/), in OpenCL C;
// cuda/prelude.cuh has them in CUDA C++, docs/writing-a-backend.md the list. Printed in front of
// every kernel file when it is embedded; the row's macros come as -D options. The host defines
// HAVE_PTX, HAVE_WARPS (NVIDIA: inline PTX, warps of 32), HAVE_F64, HAVE_ATOMIC_64 and
// HAVE_LOCAL_48K to 1 or 0 as the device has them.
#pragma OPENCL FP_CONTRACT OFF
#if HAVE_F64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#if HAVE_ATOMIC_64
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#endif

#ifdef cl_khr_subgroups
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#endif
#ifdef cl_intel_subgroups
#pragma OPENCL EXTENSION cl_intel_subgroups : enable
#endif

// --- Where things live ----------------------------------------------------------------------
#define GLOBAL __global        // memory of the device, in pointer types
#define LOCAL __local          // memory of the group: LOCAL float tile[32][33];
#define LOCAL_POINTER __local  // the same, in pointer types
#define DEVICE static inline
// A function that takes local memory, where PoCL 3.1 may not inline it: its threads would share
// that memory.
#define INLINED DEVICE __attribute__((always_inline))
#define NOT_INLINED static __attribute__((noinline))
#define RESTRICT restrict
#define ALIGNED(bytes) __attribute__((aligned(bytes)))

// `name` points to `bytes` bytes of local memory, aligned to 128. (NVIDIA's driver keeps four bytes
// at the start of local memory, so an array without the attribute is misaligned for wide copies.)
#define LOCAL_ARENA(name, bytes) __local uchar name[bytes] __attribute__((aligned(128)))

// An instruction of NVIDIA's target sm_90a with one constant. The compiler knows sm_90 alone, for
// which this is a comment; the host then has it built for sm_90a (retarget.hpp). How many registers
// a kernel begins with must be said, too.
#define FOR_SM_90A(text, constant) __asm__ volatile("//sm_90a " text : : "n"((int)(constant)))
#define BEGIN_WITH_REGISTERS(count) FOR_SM_90A(".maxnreg %0", count)

// Where p points, as PTX counts local memory.
DEVICE uint local_address(const LOCAL_POINTER void* p) { return (uint)(ulong)p; }

// --- Kernels --------------------------------------------------------------------------------
#define PASTE2(a, b) a##b
#define PASTE(a, b) PASTE2(a, b)  // of what the macros a and b stand for

// KERNEL_OF(name, x, y)(arguments) { … }: groups of exactly x * y work-items.
// KERNEL_BOUNDED(name, x, y, groups)(arguments) { … }: the same here; the last word is CUDA's
// alone.
#define KERNEL_OF(name, x, y) __kernel __attribute__((reqd_work_group_size(x, y, 1))) void name
#define KERNEL_BOUNDED(name, x, y, groups) KERNEL_OF(name, x, y)

// CUDA C++ has it; in OpenCL C 1.2 an array of -1 elements stops the compiler.
#define static_assert(condition) \
  typedef char PASTE(asserted_, __LINE__)[(condition) ? 1 : -1] __attribute__((unused))

// --- Who am I -------------------------------------------------------------------------------
DEVICE int local_x() { return get_local_id(0); }
DEVICE int group_x() { return get_group_id(0); }
DEVICE int groups_x() { return get_num_groups(0); }
#define await_earlier_launches()  // they are over: OpenCL has none that begin early
#define await_earlier_launches_alone()

// --- Working together -----------------------------------------------------------------------
#define sync() barrier(CLK_LOCAL_MEM_FENCE)  // all are here; local memory is up to date
// And what the group wrote in global memory, too.
#define sync_memory() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

// atomic_add and atomic_or on uint are OpenCL's own.

// Takes the next number from a counter in global memory. The caller's earlier writes are seen by
// whoever takes a later number; a group calls sync_memory() around it to speak for all of its
// work-items.
// mem_fence orders nothing between groups on NVIDIA (it is membar.cta there), hence the PTX.
DEVICE uint take_ticket(volatile __global uint* counter) {
#if HAVE_PTX
  uint ticket;
  __asm__ volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;"
                   : "=r"(ticket)
                   : "l"(counter)
                   : "memory");
  return ticket;
#else  // compiled but not reached: rows that need it refuse, or launch twice
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  const uint ticket = atomic_inc(counter);
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  return ticket;
#endif
}

// Neighbours in a warp of 32 work-items; all 32 must take part. Only where HAVE_WARPS.
#if HAVE_WARPS
DEVICE uint shuffle_xor(uint v, int mask) {
  uint r;
  __asm__ volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(r) : "r"(v), "r"(mask));
  return r;
}
// All of the warp are here; local memory is up to date for them.
DEVICE void sync_warp() { __asm__ volatile("bar.warp.sync 0xffffffff;" : : : "memory"); }
#endif

// --- CPUs behind OpenCL: hints to their memory, where the compiler has them
// -------------------------
#ifdef __has_builtin
#if __has_builtin(__builtin_prefetch)
#define prefetch_line(p) __builtin_prefetch((const __private void*)(ulong)(p))
#endif
#if __has_builtin(__builtin_nontemporal_store)
#define store_past_cache(value, p) __builtin_nontemporal_store(value, p)
#endif
#if __has_builtin(__builtin_ia32_sfence)
#define stores_done() __builtin_ia32_sfence()
#endif
#endif
#ifndef prefetch_line
#define prefetch_line(p)  // the line at p will be read soon
#endif
#ifndef store_past_cache
#define store_past_cache(value, p) (*(p) = (value))  // and nobody will read it soon
#endif
#ifndef stores_done
#define stores_done()  // those past the cache come before what this work-item stores later
#endif

// --- Bits: as_uint, as_int, as_float, as_ulong, as_long, as_double, clz, mul_hi are OpenCL's own.
// -----
// --- Vectors: CUDA's constructors ------------------------------------------------------------
#define make_float4(a, b, c, d) ((float4)(a, b, c, d))
#define make_double2(a, b) ((double2)(a, b))
#define make_int4(a, b, c, d) ((int4)(a, b, c, d))
#define make_uint2(a, b) ((uint2)(a, b))
#define make_uint4(a, b, c, d) ((uint4)(a, b, c, d))
