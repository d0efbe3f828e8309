// Only NVIDIA's compilers take this text.
// Barriers in local memory that count arrivals (mbarrier), so that warps which copy and warps which
// multiply wait for each other's stages alone. A barrier passes through phases; wait_for(b, parity)
// returns once the phase of that parity is over, at once for parity 1 on a new barrier.
typedef ulong Barrier;

DEVICE void start_barrier(LOCAL_POINTER Barrier* b, int arrivals) {
  __asm__ volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
                   :
                   : "r"(local_address(b)), "r"(arrivals)
                   : "memory");
}

DEVICE void arrive(LOCAL_POINTER Barrier* b) {
  __asm__ volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" : : "r"(local_address(b)) : "memory");
}

// Arrives when all background copies that this work-item has begun are there.
DEVICE void arrive_when_copied(LOCAL_POINTER Barrier* b) {
  __asm__ volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];"
                   :
                   : "r"(local_address(b))
                   : "memory");
}

DEVICE void wait_for(LOCAL_POINTER Barrier* b, uint parity) {
  uint over;
  do {
    __asm__ volatile(
        "{\n\t.reg .pred over;\n\t"
        "mbarrier.try_wait.parity.shared::cta.b64 over, [%1], %2;\n\t"
        "selp.u32 %0, 1, 0, over;\n\t}"
        : "=r"(over)
        : "r"(local_address(b)), "r"(parity)
        : "memory");
  } while (!over);
}

// The same place. The compiler doesn't know its origin, so it must keep the address in a register
// and can't compute it again.
#ifdef __OPENCL_VERSION__
#define opaque_place(p) (p)
#else
template <class Any>
DEVICE Any* opaque_place(Any* p) {
  __asm__ volatile("" : "+l"(p));
  return p;
}
#endif

// Moves registers between warps that copy and warps that multiply. All four warps of a CUDA
// warpgroup (128 work-items) must execute it.
#define GIVE_REGISTERS(count) FOR_SM_90A("setmaxnreg.dec.sync.aligned.u32 %0;", count)
#define TAKE_REGISTERS(count) FOR_SM_90A("setmaxnreg.inc.sync.aligned.u32 %0;", count)
