// Copies from memory to local memory, of one element or of the first `count` of a vector; zeros
// stand for the rest, which is not read. They run in the background where the device can
// (cp.async): commit_copies() closes a stage, await_copies(young) waits for all but the youngest. A kernel may say how
// much the L2 cache fetches ahead for a fetched vector: FETCH_AHEAD ".L2::128B", ".L2::256B".
#if HAVE_PTX
#ifndef FETCH_AHEAD
#define FETCH_AHEAD ""
#endif
DEVICE void copy_element(LOCAL_POINTER T* to, const GLOBAL T* from, bool inside) {
  __asm__ volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
                   :
                   : "r"(local_address(to)), "l"(from), "n"(sizeof(T)),
                     "r"(inside ? (int)sizeof(T) : 0)
                   : "memory");
}
DEVICE void copy_vector(LOCAL_POINTER T* to, const GLOBAL T* from, int count) {
  __asm__ volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                   :
                   : "r"(local_address(to)), "l"(from), "r"(count * (int)sizeof(T))
                   : "memory");
}
// The same of what lies inside for sure: without a size that is looked up, copies are cheaper.
DEVICE void fetch_element(LOCAL_POINTER T* to, const GLOBAL T* from) {
  __asm__ volatile("cp.async.ca.shared.global [%0], [%1], %2;"
                   :
                   : "r"(local_address(to)), "l"(from), "n"(sizeof(T))
                   : "memory");
}
DEVICE void fetch_vector(LOCAL_POINTER T* to, const GLOBAL T* from) {
  __asm__ volatile("cp.async.cg.shared.global" FETCH_AHEAD " [%0], [%1], 16;"
                   :
                   : "r"(local_address(to)), "l"(from)
                   : "memory");
}
DEVICE void commit_copies() { __asm__ volatile("cp.async.commit_group;" : : : "memory"); }
#define await_copies(young) __asm__ volatile("cp.async.wait_group %0;" : : "n"(young) : "memory")
#else
DEVICE void copy_element(LOCAL_POINTER T* to, const GLOBAL T* from, bool inside) {
  *to = inside ? *from : (T)0;
}
DEVICE void copy_vector(LOCAL_POINTER T* to, const GLOBAL T* from, int count) {
  for (int e = 0; e < WIDTH; ++e) to[e] = e < count ? from[e] : (T)0;
}
DEVICE void fetch_element(LOCAL_POINTER T* to, const GLOBAL T* from) { *to = *from; }
DEVICE void fetch_vector(LOCAL_POINTER T* to, const GLOBAL T* from) {
  *(LOCAL_POINTER VECTOR*)to = *(const GLOBAL VECTOR*)from;
}
#define commit_copies()
#define await_copies(young)
#endif
