// Groups of WARPS warps of LANES work-items that compute elements of an exact product, each by the
// whole group or by a warp (one_element.h), and store them.
#pragma once
#include "one_element.h"

#define THREADS (LANES * WARPS)

// A group's local memory for its teams.
#define LOCAL_OF_TEAMS                                                            \
  LOCAL uint low[WORDS * COPIES], high[WORDS * COPIES], flag[WARPS];              \
  LOCAL uint scaled_low[SCALED_WORDS * WARPS], scaled_high[SCALED_WORDS * WARPS]; \
  LOCAL double sums[2 * WARPS]
#define TEAM_OF(whole) team_of(whole, low, high, scaled_low, scaled_high, flag, sums)

DEVICE Team team_of(bool whole, LOCAL_POINTER uint* low, LOCAL_POINTER uint* high,
                    LOCAL_POINTER uint* scaled_low, LOCAL_POINTER uint* scaled_high,
                    LOCAL_POINTER uint* flag, LOCAL_POINTER double* sums) {
  const int mine = whole ? 0 : local_x() / LANES;
  Team team;
  team.whole = whole;
  team.size = whole ? THREADS : LANES, team.lane = local_x() % team.size;
  team.copies = whole ? COPIES : EACH;
  team.low = low + mine * EACH, team.high = high + mine * EACH;
  team.scaled_low = scaled_low + mine, team.scaled_high = scaled_high + mine;
  team.flags = flag + mine, team.sums = sums;
  return team;
}

// Computes and stores element (row, col) of matrix `batch`. copy, if not 0: B's columns with unit
// stride along k.
DEVICE void compute_element(const Team* team, GEMM_ARGUMENTS, BOUNDS_ARGUMENTS, long batch,
                            long row, long col, const GLOBAL T* copy) {
  GLOBAL T* const to = c + c_offset + batch * c_batch + row * c_row + col * c_col;
  const Bounds bounds = bounds_of(BOUNDS_PASSED, m, n, batch, row, col);
  Element e;
  e.x = a + a_offset + batch * a_batch + row * a_row;
  e.y = copy ? copy + ((b_batch ? batch : 0) * n + col) * k
             : b + b_offset + batch * b_batch + col * b_col;
  e.x_stride = a_col, e.y_stride = copy ? 1 : b_row, e.k = k;
  e.alpha = alpha, e.beta = beta, e.flags = flags;
  const double base = power_above(bounds.row[0]) * power_above(bounds.col[0]);
  store_element(team, &e, base, pair_error(bounds.row, bounds.col, base, k), to);
}
