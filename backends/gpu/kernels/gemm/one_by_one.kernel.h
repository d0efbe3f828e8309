// Idea: the last launch of an exact product. Teams walk the marks (certain.h) and compute each
// marked element (one_element.h). A team is a group or, if k is small, a warp.
// Requires: f64; 128 work-items and 24 KiB of local memory. Without warps a group is a work-item.
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

KERNEL_OF(one_by_one, THREADS, 1)(GEMM_ARGUMENTS, BOUNDS_ARGUMENTS, long words) {
  LOCAL uint low[WORDS * COPIES], high[WORDS * COPIES];
  LOCAL uint scaled_low[SCALED_WORDS * WARPS], scaled_high[SCALED_WORDS * WARPS];
  LOCAL uint flag[WARPS], found[THREADS];
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
  const long step = (long)groups_x() * teams, share = (words + step - 1) / step;
  const int each = share < LANES ? (int)share : LANES;
  const GLOBAL uint* marks = (const GLOBAL uint*)(space + marks_at);
  const LOCAL_POINTER uint* own = found + mine * LANES;

  await_earlier_launches();
  if (marks[0] == 0u) return;
  for (long first = ((long)group_x() * teams + mine) * each; first < words; first += step * each) {
    sync_team(&team);
    if (team.lane < LANES)
      found[mine * LANES + team.lane] =
          team.lane < each && first + team.lane < words ? marks[1 + first + team.lane] : 0u;
    sync_team(&team);
    for (int i = 0; i < each; ++i)
      for (uint bits = own[i]; bits; bits &= bits - 1u) {
        const long bit = (first + i) * 32 + 31 - clz(bits & (0u - bits));
        const long of_all = bit / n, col = bit - of_all * n;
        const long batch = of_all / m, row = of_all - batch * m;
        GLOBAL T* to = c + c_offset + batch * c_batch + row * c_row + col * c_col;
        const Bounds bounds = bounds_of(BOUNDS_PASSED, m, n, batch, row, col);
        Element e;
        e.x = a + a_offset + batch * a_batch + row * a_row;
        e.y = b + b_offset + batch * b_batch + col * b_col;
        e.x_stride = a_col, e.y_stride = b_row, e.k = k;
        e.alpha = alpha, e.beta = beta, e.flags = flags;
        e.old = flags & ADD_C ? *to : (T)0;
        const double base = power_above(bounds.row[0]) * power_above(bounds.col[0]);
        const T result = element_of(&team, &e, base, pair_error(bounds.row, bounds.col, base, k));
        sync_team(&team);
        if (team.lane == 0) *to = result;
      }
  }
}
