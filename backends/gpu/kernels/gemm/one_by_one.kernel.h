// Idea: the last launch of an exact product. Groups walk the marks (certain.h), and their teams
// compute each marked element (one_element.h). A team is the group or, if k is small, a warp.
// Requires: f64; 128 work-items and 28 KiB of local memory. Without warps a group is a work-item.
#define PLAIN_READS

#if HAVE_WARPS
#define LANES 32
#define WARPS 4
#else
#define LANES 1
#define WARPS 1
#endif
#define THREADS (LANES * WARPS)
#define OUTLINED DEVICE
#include "one_element.h"

// Words of marks that a work-item reads at once.
#define BESIDE 4
#if HAVE_WARPS
#define SYNC_GROUP sync()
#else
#define SYNC_GROUP
#endif

KERNEL_OF(one_by_one, THREADS, 1)
(GEMM_ARGUMENTS, BOUNDS_ARGUMENTS, long words, long copy_at, long copied_at) {
  LOCAL uint low[WORDS * COPIES], high[WORDS * COPIES];
  LOCAL uint scaled_low[SCALED_WORDS * WARPS], scaled_high[SCALED_WORDS * WARPS];
  LOCAL uint flag[WARPS], found[THREADS * BESIDE], places[THREADS * BESIDE], count[1];
  LOCAL double sums[WARPS];
  const int me = local_x();
  Team team;
  team.whole = k > 4 * LANES * AT_ONCE;
  const int mine = team.whole ? 0 : me / LANES, teams = team.whole ? 1 : WARPS;
  team.size = team.whole ? THREADS : LANES, team.lane = me % team.size;
  team.copies = team.whole ? COPIES : EACH;
  team.low = low + mine * EACH, team.high = high + mine * EACH;
  team.scaled_low = scaled_low + mine, team.scaled_high = scaled_high + mine;
  team.flags = flag + mine, team.sums = sums;
  const GLOBAL uint* marks = (const GLOBAL uint*)(space + marks_at);
  const long share = (words + groups_x() - 1) / groups_x();
  const int block = share < THREADS * BESIDE ? (int)share : THREADS * BESIDE;

  await_earlier_launches();
  if (marks[0] == 0u) return;
  // A copy of B whose columns have unit stride, if the launch before made it.
  const bool copied = copied_at >= 0 && ((const GLOBAL uint*)space)[copied_at] != 0u;
  const GLOBAL T* const copy = (const GLOBAL T*)space + copy_at;
  for (long first = (long)group_x() * block; first < words; first += (long)groups_x() * block) {
    uint bits[BESIDE];
#pragma unroll
    for (int i = 0; i < BESIDE; ++i) {
      const int at = i * THREADS + me;
      bits[i] = at < block && first + at < words ? marks[1 + first + at] : 0u;
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
    for (int i = mine; i < (int)count[0]; i += teams)
      for (uint left = found[i]; left; left &= left - 1u) {
        const long bit = (first + places[i]) * 32 + 31 - clz(left & (0u - left));
        const long of_all = bit / n, col = bit - of_all * n;
        const long batch = of_all / m, row = of_all - batch * m;
        GLOBAL T* to = c + c_offset + batch * c_batch + row * c_row + col * c_col;
        const Bounds bounds = bounds_of(BOUNDS_PASSED, m, n, batch, row, col);
        Element e;
        e.x = a + a_offset + batch * a_batch + row * a_row;
        e.y = copied ? copy + ((b_batch ? batch : 0) * n + col) * k
                     : b + b_offset + batch * b_batch + col * b_col;
        e.x_stride = a_col, e.y_stride = copied ? 1 : b_row, e.k = k;
        e.alpha = alpha, e.beta = beta, e.flags = flags;
        e.old = flags & ADD_C ? *to : (T)0;
        const double base = power_above(bounds.row[0]) * power_above(bounds.col[0]);
        const T result = element_of(&team, &e, base, pair_error(bounds.row, bounds.col, base, k));
        sync_team(&team);
        if (team.lane == 0) *to = result;
      }
    SYNC_GROUP;
  }
}
