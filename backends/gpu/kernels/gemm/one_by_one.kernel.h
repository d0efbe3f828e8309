// Idea: the last launch of an exact product. Groups walk the marks (certain.h), and their teams
// compute each marked element (one_element.h). A team is a warp or, if k is large or few elements
// are marked, the group.
// Requires: f64; 128 work-items and 28 KiB of local memory. Without warps a group is a work-item.
#define PLAIN_READS

#if HAVE_WARPS
#define LANES 32
#define WARPS 4
#define SYNC_GROUP sync()
#else
#define LANES 1
#define WARPS 1
#define SYNC_GROUP
#endif
#include "teams.h"

// Words of marks that a work-item reads at once. Neighbouring words are different groups', because
// marked elements are often neighbours.
#define BESIDE 4

// Four groups of a multiprocessor are at work at once, and the host launches no more.
KERNEL_BOUNDED(one_by_one, THREADS, 1, 4)
(GEMM_ARGUMENTS, BOUNDS_ARGUMENTS, long words, long copy_at, long copied_at) {
  LOCAL_OF_TEAMS;
  LOCAL uint found[THREADS * BESIDE], places[THREADS * BESIDE], count[1];
  const int me = local_x();
  const GLOBAL uint* marks = (const GLOBAL uint*)(space + marks_at);
  const long groups = groups_x();

  await_earlier_launches();
  for (long first = group_x(); first < words; first += groups * (THREADS * BESIDE)) {
    uint bits[BESIDE];
#pragma unroll
    for (int i = 0; i < BESIDE; ++i) {
      const long at = first + groups * (i * THREADS + me);
      bits[i] = at < words ? marks[at] : 0u;
    }
    if (me == 0) count[0] = 0u;
    SYNC_GROUP;
#pragma unroll
    for (int i = 0; i < BESIDE; ++i)
      if (bits[i]) {
        const uint slot = atomic_add(count, 1u);
        found[slot] = bits[i];
        places[slot] = (uint)(i * THREADS + me);
      }
    SYNC_GROUP;
    const int all = (int)count[0];
    const Team team = TEAM_OF(all <= WARPS / 2 || k > 4 * LANES * AT_ONCE);
    // A copy of B whose columns have unit stride, if the launch before made it.
    const bool copied = all > 0 && copied_at >= 0 && ((const GLOBAL uint*)space)[copied_at] != 0u;
    const GLOBAL T* const copy = copied ? (const GLOBAL T*)space + copy_at : 0;
#pragma unroll 1
    for (int i = team.whole ? 0 : me / LANES; i < all; i += team.whole ? 1 : WARPS)
#pragma unroll 1
      for (uint left = found[i]; left; left &= left - 1u) {
        const long bit = (first + groups * places[i]) * 32 + first_bit(left);
        const long of_all = bit / n, batch = of_all / m;
        compute_element(&team, GEMM_PASSED, BOUNDS_PASSED, batch, of_all - batch * m,
                        bit - of_all * n, copy);
      }
    SYNC_GROUP;
  }
}
