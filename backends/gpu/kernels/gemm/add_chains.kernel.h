// Idea: the last launch of an exact f32 product whose chains lie in memory: one of each element, or
// one for each group that shared its k. It adds an element's chains and stores the sum where that
// is certain (certain.h); the group computes what is left open (one_element.h). Requires: f64, 256
// work-items a group.
//
//   Chain s of element (i, j) is sums[(s m + i) n + j], s < tiles_m.
//   A group takes blocks of HIGH x BROAD elements, a work-item BESIDE of a column, DOWN rows apart.
#define PLAIN_READS
#define LANES 32
#define WARPS 8
#include "teams.h"

enum { BROAD = 64, DOWN = THREADS / BROAD, BESIDE = 4, HIGH = BESIDE * DOWN };
enum { CHAINS = 3 };  // of an element, that are read at once behind the first

// Adds a chain of each of `count` elements, `step` apart.
DEVICE void add_next(double* sums, const GLOBAL double* chains, long step, int count) {
#pragma unroll
  for (int i = 0; i < BESIDE; ++i) sums[i] += i < count ? chains[i * step] : 0.0;
}

// Stores those of `count` sums of a column that are certain, and returns a bit for each other.
DEVICE uint store_sums(const double* sums, const double* loss, int count, GLOBAL float* to,
                       long c_row, float alpha, float beta, int flags) {
  uint open = 0u;
#pragma unroll
  for (int i = 0; i < BESIDE; ++i) {
    const float old = (flags & ADD_C) && i < count ? to[i * DOWN * c_row] : 0.0f;
    float result;
    const bool certain = round_chain(sums[i], loss[i], alpha, beta, old, flags, &result);
    if (certain && i < count) to[i * DOWN * c_row] = result;
    open |= !certain && i < count ? 1u << i : 0u;
  }
  return open;
}

KERNEL_BOUNDED(add_chains, THREADS, 1, 4)(GEMM_ARGUMENTS, BOUNDS_ARGUMENTS, long sums_at) {
  LOCAL_OF_TEAMS;
  LOCAL uint open[THREADS * BESIDE], count[1];
  const int t = local_x();
  const int broad = (int)((n + BROAD - 1) / BROAD), blocks = broad * (int)((m + HIGH - 1) / HIGH);
  const bool is_plain = flags == MULTIPLY && alpha == 1.0f;
  const long size = m * n, step = DOWN * n;
  const Team team = TEAM_OF(true);
  await_earlier_launches();
#pragma unroll 1
  for (int block = group_x(); block < blocks; block += groups_x()) {
    const long row0 = (long)(block / broad) * HIGH, col0 = (long)(block % broad) * BROAD;
    // A work-item that has none reads the last ones' bounds.
    const long row = row0 + t / BROAD < m ? row0 + t / BROAD : m - 1;
    const long col = col0 + t % BROAD < n ? col0 + t % BROAD : n - 1;
    const long below = (m - row0 - t / BROAD + DOWN - 1) / DOWN;  // its rows, or more
    const int here = col0 + t % BROAD >= n ? 0 : below < BESIDE ? (int)below : BESIDE;
    const GLOBAL double* chains = space + sums_at + row * n + col;
    const Bounds bounds = bounds_of(BOUNDS_PASSED, m, n, 0, row, col);
    GLOBAL float* const to = c + c_offset + row * c_row + col * c_col;
    if (t == 0) count[0] = 0u;
    sync();
    // The bounds and the first chains are on their way at once.
    double sums_of[BESIDE] = {0.0}, loss[BESIDE];
    add_next(sums_of, chains, step, here);
    const double col_norm = bounds.slack * bounds.col[0], col_ratio = bounds.col[1];
#pragma unroll
    for (int i = 0; i < BESIDE; ++i) {
      const GLOBAL double* const of_row = bounds.row + (i < here ? 2 * DOWN * i : 0);
      loss[i] = of_row[1] * col_ratio <= 0x1p53 ? 0.0 : of_row[0] * col_norm;
    }
    int s = 1;
#pragma unroll 1
    for (; s + CHAINS <= tiles_m; s += CHAINS)
#pragma unroll
      for (int p = 0; p < CHAINS; ++p) add_next(sums_of, chains += size, step, here);
#pragma unroll 1
    for (; s < tiles_m; ++s) add_next(sums_of, chains += size, step, here);
    uint left = is_plain ? store_sums(sums_of, loss, here, to, c_row, 1.0f, 0.0f, MULTIPLY)
                         : store_sums(sums_of, loss, here, to, c_row, alpha, beta, flags);
    if (left != 0u)
#pragma unroll
      for (int i = 0; i < BESIDE; ++i)
        if (left >> i & 1u) {
          if (sums_of[i] == 0.0 && is_of_zeros(&bounds, i * DOWN, 0) && fabs(alpha) < 0x1p128f)
            to[i * DOWN * c_row] =
                scaled_alone(beta, flags & ADD_C ? to[i * DOWN * c_row] : 0.0f, flags);
          else
            open[atomic_add(count, 1u)] = (uint)(i * THREADS + t);
        }
    sync();
#pragma unroll 1
    for (int i = 0; i < (int)count[0]; ++i)
      compute_element(&team, GEMM_PASSED, BOUNDS_PASSED, 0, row0 + open[i] / BROAD,
                      col0 + open[i] % BROAD, 0);
    sync();
  }
}
