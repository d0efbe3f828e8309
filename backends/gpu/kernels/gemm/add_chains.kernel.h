// Idea: the launch behind an exact f32 product whose k is shared by several groups. It adds an
// element's chains, one of each group, and stores or marks the sum (certain.h).
// Requires: f64, 256 work-items a group.
//
//   Chain s of element (i, j) is sums[(s m + i) n + j], s < tiles_m.
#define PLAIN_READS
#include "certain.h"

KERNEL_OF(add_chains, 256, 1)(GEMM_ARGUMENTS, BOUNDS_ARGUMENTS, long sums_at) {
  const long count = m * n, step = (long)groups_x() * 256;
  const GLOBAL double* sums = space + sums_at;
  await_earlier_launches();
  for (long e = (long)group_x() * 256 + local_x(); e < count; e += step) {
    const long i = e / n, j = e - i * n;
    const Bounds b = bounds_of(BOUNDS_PASSED, m, n, 0, i, j);
    GLOBAL float* const to = c + c_offset + i * c_row + j * c_col;
    double sum = 0.0;
#pragma unroll 4
    for (int s = 0; s < tiles_m; ++s) sum += sums[s * count + e];
    float result;
    if (round_chain(sum, chain_error(&b, 0, 0, sum), alpha, beta, flags & ADD_C ? *to : 0.0f, flags,
                    &result))
      *to = result;
    else
      mark(b.marks, b.bit);
  }
}
