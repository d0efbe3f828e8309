// Two groups that multiply together: copies into the stages of both groups' local memory, which run
// in the background and whose bytes barriers count, and the instructions around a multiplication
// by a warp group, which reads its operands there. The includer defines STAGES, their number,
// STAGED, the type of their elements, and MULTIPLIERS, the work-items of a group that multiply.
#pragma once

// Up to 90 registers of an instruction.
#define TEN(x, d) x(d##0) x(d##1) x(d##2) x(d##3) x(d##4) x(d##5) x(d##6) x(d##7) x(d##8) x(d##9)
#define ONE_TO_89(x)                                                                             \
  x(1) x(2) x(3) x(4) x(5) x(6) x(7) x(8) x(9) TEN(x, 1) TEN(x, 2) TEN(x, 3) TEN(x, 4) TEN(x, 5) \
      TEN(x, 6) TEN(x, 7) TEN(x, 8)
#define NAMED(i) ", %" #i

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

// The stages of a group, and where a warp is among them. A copying work-item arrives at a stage's
// barrier `full`, all multiplying warps of both groups at `empty`.
typedef struct Stages {
  STAGED* memory;
  Barrier *full, *empty;
  int index;
  uint parity;
} Stages;
DEVICE void next_stage(Stages* s) {
  if (++s->index == STAGES) s->index = 0, s->parity ^= 1;
}
DEVICE void start_stages(const Stages* s) {
  for (int i = 0; i < STAGES; ++i) {
    start_barrier(&s->full[i], 1);
    start_barrier(&s->empty[i], 2 * MULTIPLIERS / 32);
  }
}
// The other group may arrive at the barriers that this work-item has started.
DEVICE void publish_barriers() {
  __asm__ volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
}
