// The words of the kernels that both languages share (backends/gpu/kernels/), in CUDA C++;
// opencl/prelude.cl has them in OpenCL C, docs/writing-a-backend.md the list. The
// generator prints this file in front of every kernel file and then the kernel file once per
// instance: in a namespace of its own, with the row's macros defined and the entries' names
// suffixed by their values.
#pragma once

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;  // 64 bits, as in OpenCL

// --- Where things live ----------------------------------------------------------------------
#define GLOBAL            // memory of the device, in pointer types
#define LOCAL __shared__  // memory of the group: LOCAL float tile[32][33];
#define LOCAL_POINTER     // the same, in pointer types
#define DEVICE static __device__ __forceinline__
#define INLINED DEVICE  // which OpenCL has to ask for
#define NOT_INLINED static __device__ __noinline__
#define RESTRICT __restrict__
#define ALIGNED(bytes) __align__(bytes)

// `name` points to `bytes` bytes of local memory, aligned to 128. In CUDA their number is the
// launch's dynamic_local_bytes (any number up to the device's limit); in OpenCL it is `bytes`.
#define LOCAL_ARENA(name, bytes)                        \
  extern __shared__ __align__(128) uchar trine_arena[]; \
  uchar* const name = trine_arena

// An instruction of NVIDIA's target sm_90a with one constant. How many registers a kernel begins
// with follows from KERNEL_BOUNDED.
#define FOR_SM_90A(text, constant) __asm__ volatile(text : : "n"((int)(constant)))
#define BEGIN_WITH_REGISTERS(count) ((void)0)

// Where p points, as PTX counts local memory.
DEVICE uint local_address(const LOCAL_POINTER void* p) { return (uint)__cvta_generic_to_shared(p); }

// --- Kernels --------------------------------------------------------------------------------
#define PASTE2(a, b) a##b
#define PASTE(a, b) PASTE2(a, b)  // of what the macros a and b stand for

// KERNEL_OF(name, x, y)(arguments) { … }: groups of exactly x * y work-items.
// KERNEL_BOUNDED(name, x, y, groups)(arguments) { … }: and registers such that a multiprocessor
// holds at least so many groups.
#define KERNEL_OF(name, x, y) extern "C" __global__ void __launch_bounds__((x) * (y)) name
#define KERNEL_BOUNDED(name, x, y, groups) \
  extern "C" __global__ void __launch_bounds__((x) * (y), groups) name

// --- Who am I -------------------------------------------------------------------------------
DEVICE int local_x() { return threadIdx.x; }
DEVICE int group_x() { return blockIdx.x; }
DEVICE int groups_x() { return gridDim.x; }

// Programmatic dependent launch: the kernels of a row that `begins_early` may start before the
// previous launch ends. Until this call returns, a group may touch only its own local memory and
// registers (norms.kernel.h and residues.cu have exceptions); it may also ask the L2, where all
// groups meet, for lines (fetch_soon). The next launch may start once all groups of this one are
// here. Memory that the launch before it wrote isn't read-only: such kernels' inputs aren't
// RESTRICT, but for A and B of products, which only background copies read.
DEVICE void await_earlier_launches() {
#if __CUDA_ARCH__ >= 900
  __asm__ volatile("griddepcontrol.wait;\n\tgriddepcontrol.launch_dependents;" : : : "memory");
#endif
}
// The same, but the next launch begins after this one.
DEVICE void await_earlier_launches_alone() {
#if __CUDA_ARCH__ >= 900
  __asm__ volatile("griddepcontrol.wait;" : : : "memory");
#endif
}

// --- Working together -----------------------------------------------------------------------
DEVICE void sync() { __syncthreads(); }    // all of the group are here; local memory is up to date
DEVICE void sync_warp() { __syncwarp(); }  // all of the warp are here; only where HAVE_WARPS
DEVICE void sync_memory() { __syncthreads(); }  // and what the group wrote in global memory, too

DEVICE uint atomic_add(uint* p, uint v) { return atomicAdd(p, v); }
DEVICE uint atomic_or(uint* p, uint v) { return atomicOr(p, v); }

// Takes the next number from a counter in global memory. The caller's earlier writes are seen by
// whoever takes a later number; a group calls sync_memory() around it to speak for all of its
// work-items.
DEVICE uint take_ticket(uint* counter) {
  uint ticket;
  __asm__ volatile("atom.acq_rel.gpu.add.u32 %0, [%1], 1;"
                   : "=r"(ticket)
                   : "l"(counter)
                   : "memory");
  return ticket;
}

// Neighbours in a warp of 32 work-items; all 32 must take part. Only where HAVE_WARPS.
#define HAVE_WARPS 1
#define HAVE_PTX 1
#define HAVE_F64 1
#define HAVE_LOCAL_48K 1
DEVICE uint shuffle_xor(uint v, int mask) { return __shfl_xor_sync(~0u, v, mask); }

// --- Bits -----------------------------------------------------------------------------------
DEVICE uint as_uint(float x) { return __float_as_uint(x); }
DEVICE float as_float(uint x) { return __uint_as_float(x); }
DEVICE ulong as_ulong(double x) { return static_cast<ulong>(__double_as_longlong(x)); }
DEVICE double as_double(ulong x) { return __longlong_as_double(static_cast<long long>(x)); }
DEVICE int clz(uint x) { return __clz(static_cast<int>(x)); }           // clz(0) is 32
DEVICE int clz(ulong x) { return __clzll(static_cast<long long>(x)); }  // 64
DEVICE uint mul_hi(uint a, uint b) { return __umulhi(a, b); }
DEVICE ulong mul_hi(ulong a, ulong b) { return __umul64hi(a, b); }
