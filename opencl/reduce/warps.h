// A group's sum by its warps: each adds what its registers hold, then the first adds what the warps
// have. A warp's sum counts in lane 0 alone: each lane adds the value of the one `delta` lanes up.
// Off NVIDIA a sub-group, of the size that the device likes, takes a warp's place.
#if HAVE_WARPS
static int lane() { return (int)get_local_id(0) % 32; }
static int lanes() { return 32; }
static int warp() { return (int)get_local_id(0) / 32; }
static int warps() { return (int)get_local_size(0) / 32; }

static uint shuffle_down(uint v, int delta) {
  uint r;
  __asm__ volatile("shfl.sync.down.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(r) : "r"(v), "r"(delta));
  return r;
}

// shfl.sync moves 32 bits; wider values go as two halves.
static ACC value_above(ACC x, int delta) {
#if T_float
  return as_float(shuffle_down(as_uint(x), delta));
#else
  const uint2 halves = as_uint2(x);
  const uint2 above = (uint2)(shuffle_down(halves.x, delta), shuffle_down(halves.y, delta));
  return PASTE(as_, ACC)(above);
#endif
}

static ACC warp_sum(ACC x) {
#pragma unroll
  for (int delta = 16; delta > 0; delta /= 2) x += value_above(x, delta);
  return x;
}
#else
static int lane() { return get_sub_group_local_id(); }
static int lanes() { return get_max_sub_group_size(); }
static int warp() { return get_sub_group_id(); }
static int warps() { return get_num_sub_groups(); }
static ACC warp_sum(ACC x) { return sub_group_reduce_add(x); }
#endif

static ACC group_sum(__local ACC* values, ACC mine) {
  ACC sum = warp_sum(mine);
  if (lane() == 0) values[warp()] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (warp() > 0) return sum;
  sum = (ACC)0;
  for (int w = lane(); w < warps(); w += lanes()) sum += values[w];
  return warp_sum(sum);
}
