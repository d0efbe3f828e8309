// The instructions of three_tf32.cu: tensor cores that a warp group feeds from local memory, and
// copies into the local memory of a pair of groups. Included where DEPTH and TILE_N are known.
#pragma once

// --- Tensor cores ---

// The layout that wgmma reads: 8 lanes by 4 steps of k are 128 bytes, the next 4 steps follow, the
// next 8 lanes lie DEPTH steps on.
DEVICE ulong operand_at(uint address) {
  return (ulong)((address & 0x3ffff) >> 4) | (ulong)(128 >> 4) << 16 |
         (ulong)(8 * DEPTH * 4 >> 4) << 32;
}
#define STEP_ON 16 /* 8 steps of k, 256 bytes, of such a descriptor */

#define SUMS (TILE_N / 2) /* of a work-item */
#define TEN(x, d) x(d##0) x(d##1) x(d##2) x(d##3) x(d##4) x(d##5) x(d##6) x(d##7) x(d##8) x(d##9)
#define NAMES(x)                                                                                 \
  x(1) x(2) x(3) x(4) x(5) x(6) x(7) x(8) x(9) TEN(x, 1) TEN(x, 2) TEN(x, 3) TEN(x, 4) TEN(x, 5) \
      TEN(x, 6) TEN(x, 7) TEN(x, 8) x(90) x(91) x(92) x(93) x(94) x(95)
#define NAMED(i) ", %" #i
#define BOUND(i) , "+f"(acc[i])

// Begins, for a warp group, acc(64 x 192) = a(64 x 8) b(8 x 192), or += if `add`.
DEVICE void begin_multiply(float* acc, ulong a, ulong b, int add) {
  __asm__ volatile(
      "{\n\t.reg .pred add;\n\tsetp.ne.b32 add, %98, 0;\n\t"
      "wgmma.mma_async.sync.aligned.m64n192k8.f32.tf32.tf32 {%0" NAMES(
          NAMED) "}, %96, %97, add, 1, 1;\n\t}"
      : "+f"(acc[0])NAMES(BOUND)
      : "l"(a), "l"(b), "r"(add));
}
DEVICE void before_multiply() { __asm__ volatile("wgmma.fence.sync.aligned;" : : : "memory"); }
DEVICE void commit_multiply() {
  __asm__ volatile("wgmma.commit_group.sync.aligned;" : : : "memory");
}
// Waits for all but the `young` youngest.
#define await_multiply(young) \
  __asm__ volatile("wgmma.wait_group.sync.aligned %0;" : : "n"(young) : "memory")
// Nothing reads the sums before this.
DEVICE void finish_sums(float* acc) {
#pragma unroll
  for (int i = 0; i < SUMS; ++i) __asm__ volatile("" : "+f"(acc[i]) : : "memory");
}

// --- Copies ---

// The phase of `b` is over when so many bytes have come, too.
DEVICE void arrive_and_expect(Barrier* b, uint bytes) {
  __asm__ volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                   :
                   : "r"(local_address(b)), "r"(bytes)
                   : "memory");
}
DEVICE void copy_block(float* to, const GLOBAL float* from, uint bytes, Barrier* b) {
  __asm__ volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
      :
      : "r"(local_address(to)), "l"(from), "r"(bytes), "r"(local_address(b))
      : "memory");
}
// The same into both groups' local memory, where both barriers count it.
DEVICE void copy_to_both(float* to, const GLOBAL float* from, uint bytes, Barrier* b) {
  __asm__ volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%0], [%1], %2, [%3], %4;"
      :
      : "r"(local_address(to)), "l"(from), "r"(bytes), "r"(local_address(b)), "h"((ushort)3)
      : "memory");
}
// Arrives at the barrier of the pair's group `rank`.
DEVICE void arrive_in(Barrier* b, uint rank) {
  __asm__ volatile(
      "{\n\t.reg .b32 there;\n\tmapa.shared::cluster.u32 there, %0, %1;\n\t"
      "mbarrier.arrive.shared::cluster.b64 _, [there];\n\t}"
      :
      : "r"(local_address(b)), "r"(rank)
      : "memory");
}
// A warp is done with the stages that it used for something else, in both groups' view.
DEVICE void give_back(Barrier* stored, int lane) {
  if (lane >= 2) return;
  __asm__ volatile("fence.acq_rel.cluster;" : : : "memory");
  arrive_in(stored, lane);
}
// All of both groups are here.
DEVICE void sync_pair() {
  __asm__ volatile("barrier.cluster.arrive.release;\n\tbarrier.cluster.wait.acquire;"
                   :
                   :
                   : "memory");
}
// Accesses to memory by ordinary instructions come before those by such copies.
DEVICE void before_copies() { __asm__ volatile("fence.proxy.async;" : : : "memory"); }
