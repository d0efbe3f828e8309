// Idea: the last launch of an exact f32 product whose k is shared by several groups. It adds an
// element's chains, one of each group, and stores the sum (certain.h); the group computes what
// isn't certain (one_element.h).
// Requires: f64, 256 work-items a group.
//
//   Chain s of element (i, j) is sums[(s m + i) n + j], s < tiles_m.
#define PLAIN_READS
#define LANES 32
#define WARPS 8
#include "teams.h"

// Elements of a work-item whose chains are read at once.
#define BESIDE 4

KERNEL_BOUNDED(add_chains, THREADS, 1, 2)(GEMM_ARGUMENTS, BOUNDS_ARGUMENTS, long sums_at) {
  LOCAL_OF_TEAMS;
  LOCAL uint open[THREADS * BESIDE], count[1];
  // A product of few tiles has few elements.
  const int width = (int)n, size = (int)m * width, share = (size + groups_x() - 1) / groups_x();
  const int first = group_x() * share, end = first + share < size ? first + share : size;
  const GLOBAL double* chains = space + sums_at;
  const Team team = TEAM_OF(true);
  await_earlier_launches();
#pragma unroll 1
  for (int from = first + team.lane; from - team.lane < end; from += THREADS * BESIDE) {
    if (team.lane == 0) count[0] = 0u;
    sync();
    double sum[BESIDE];
#pragma unroll
    for (int i = 0; i < BESIDE; ++i) sum[i] = 0.0;
#pragma unroll 4
    for (int s = 0; s < tiles_m; ++s)
#pragma unroll
      for (int i = 0; i < BESIDE; ++i)
        sum[i] += from + i * THREADS < end ? chains[s * (long)size + from + i * THREADS] : 0.0;
#pragma unroll
    for (int i = 0; i < BESIDE; ++i) {
      const int at = from + i * THREADS, row = at / width, col = at - row * width;
      if (at >= end) continue;
      const Bounds bounds = bounds_of(BOUNDS_PASSED, m, n, 0, row, col);
      GLOBAL float* const to = c + c_offset + row * c_row + col * c_col;
      float result;
      if (round_chain(sum[i], chain_error(&bounds, 0, 0, sum[i]), alpha, beta,
                      flags & ADD_C ? *to : 0.0f, flags, &result))
        *to = result;
      else
        open[atomic_add(count, 1u)] = (uint)at;
    }
    sync();
#pragma unroll 1
    for (int i = 0; i < (int)count[0]; ++i) {
      const int row = (int)open[i] / width;
      compute_element(&team, GEMM_PASSED, BOUNDS_PASSED, 0, row, (int)open[i] - row * width, 0);
    }
    sync();
  }
}
