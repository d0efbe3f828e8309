// Copies into the local memory of a pair of groups, which begin on their own and which barriers
// count, and what tensor cores that a warp group feeds from local memory have in common.
#pragma once

DEVICE void before_multiply() { __asm__ volatile("wgmma.fence.sync.aligned;" : : : "memory"); }
DEVICE void commit_multiply() {
  __asm__ volatile("wgmma.commit_group.sync.aligned;" : : : "memory");
}
// Waits for all but the `young` youngest.
#define await_multiply(young) \
  __asm__ volatile("wgmma.wait_group.sync.aligned %0;" : : "n"(young) : "memory")

// The phase of `b` is over when so many bytes have come, too.
DEVICE void arrive_and_expect(Barrier* b, uint bytes) {
  __asm__ volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                   :
                   : "r"(local_address(b)), "r"(bytes)
                   : "memory");
}
DEVICE void copy_block(void* to, const GLOBAL void* from, uint bytes, Barrier* b) {
  __asm__ volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
      :
      : "r"(local_address(to)), "l"(from), "r"(bytes), "r"(local_address(b))
      : "memory");
}
// The same into both groups' local memory, where both barriers count it.
DEVICE void copy_to_both(void* to, const GLOBAL void* from, uint bytes, Barrier* b) {
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
