// The tree that a group folds from `sequential` on: the upper half of the values onto the lower
// half, until 2 * `last` of them are left (all of the sum for 0). Every step waits for the whole
// group.
static void fold_halves(__local ACC* values, ACC mine, int last) {
  const int me = get_local_id(0), size = get_local_size(0);
  values[me] = mine;
  for (int s = size / 2; s > last; s /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me < s) values[me] += values[me + s];
  }
}

// The end of a tree: the last 64 values, by the first warp alone. Warps haven't been in step by
// themselves since Volta, so each step waits for the one before, and only those that add read: one
// wait a step. (Where there are no warps, on OpenCL but NVIDIA's, the whole group comes and waits.)
#if HAVE_WARPS
#define IN_FIRST_WARP (get_local_id(0) < 32)
#define SYNC_WARP() __asm__ volatile("bar.warp.sync 0xffffffff;" ::: "memory")
#else
#define IN_FIRST_WARP true
#define SYNC_WARP() barrier(CLK_LOCAL_MEM_FENCE)
#endif
static ACC last_warp_sum(__local ACC* values) {
  const int me = get_local_id(0);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (IN_FIRST_WARP) {
#pragma unroll
    for (int s = 32; s > 0; s /= 2) {
      if (me < s) values[me] += values[me + s];
      SYNC_WARP();
    }
  }
  return values[me];
}
