// Copies from memory to local memory, of one element or of 16 bytes; zeros stand for what isn't
// `inside`, which is not read. They run in the background where the device can (cp.async):
// commit_copies() closes a stage, await_copies(young) waits for all but the youngest. A kernel may
// say how much the L2 cache fetches ahead for a fetched vector: FETCH_AHEAD ".L2::128B",
// ".L2::256B".
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
DEVICE void copy_vector(LOCAL_POINTER T* to, const GLOBAL T* from, bool inside) {
  __asm__ volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                   :
                   : "r"(local_address(to)), "l"(from), "r"(inside ? 16 : 0)
                   : "memory");
}
// The same for elements that are certainly inside. Such copies are cheaper, because they look up no
// size.
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
DEVICE void fetch_element(LOCAL_POINTER T* to, const GLOBAL T* from) { *to = *from; }
DEVICE void fetch_vector(LOCAL_POINTER T* to, const GLOBAL T* from) {
  *(LOCAL_POINTER VECTOR*)to = *(const GLOBAL VECTOR*)from;
}
DEVICE void copy_vector(LOCAL_POINTER T* to, const GLOBAL T* from, bool inside) {
  if (inside)
    fetch_vector(to, from);
  else
    for (int e = 0; e < WIDTH; ++e) to[e] = (T)0;
}
#define commit_copies()
#define await_copies(young)
#endif

// Whether a line with `left` elements left ends within a vector. Its last elements are then copied
// one by one: 16 bytes would end behind the operand's last element, and memory checkers report
// that, even if only a part of them is read.
DEVICE bool ends_within_vector(int left) { return left > 0 && left < WIDTH; }
DEVICE void copy_end(LOCAL_POINTER T* to, const GLOBAL T* from, int left) {
#pragma unroll
  for (int e = 0; e < WIDTH; ++e) copy_element(to + e, from + e, e < left);
}
