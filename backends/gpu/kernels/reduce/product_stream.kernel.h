// Idea: one product of floats along the fixed binary tree, in vectors of 16 bytes. A warp's loads
// are neighbours. So the lowest levels lie within a vector. The next five lie across the warp's
// lanes: a lane hands half of its products to another and takes half of the other's. The next
// levels lie across a lane's loads:
//
//   index = (((unit * WARPS + warp) * blocks + block) * VECTORS + load) * 32 * VECTOR + lane *
//   VECTOR + k
//
// Groups take units and leave a product each; the last group multiplies these by the same tree. It
// beats `exact` because a lane of `exact` loads 64 bytes, in 16 pieces, and each level above costs
// it a barrier. Requires: neighbouring elements; NVIDIA's warps.
#if T_float
typedef float4 Vector;
#define VECTOR 4
#define SHUFFLE_XOR shuffle_xor_f32
#else
typedef double2 Vector;
#define VECTOR 2
#define SHUFFLE_XOR shuffle_xor_f64
#endif
#define VECTORS 8
#define BLOCK (32 * VECTOR * VECTORS)  // a warp's loads
#define WARPS (THREADS / 32)
#define LEVELS 40     // of a warp's blocks: 2^40 of them
#define CHUNK_BITS 0  // of tile.h's walks, of which there are none
#include "shuffle.h"
#include "tile.h"

// The product of a block, of which `count` elements exist, in every lane.
DEVICE T block_product(GLOBAL const T* from, long count) {
  const int lane = local_x() % 32;
  T v[VECTORS];
  from += lane * VECTOR;
  if (count >= BLOCK && (ulong)from % 16 == 0) {
    Vector x[VECTORS];
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) x[k] = ((GLOBAL const Vector*)from)[32 * k];
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
      v[k] = x[k].x * x[k].y;
#if VECTOR == 4
      v[k] *= x[k].z * x[k].w;
#endif
    }
  } else {
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
      T x[VECTOR];
#pragma unroll
      for (int u = 0; u < VECTOR; ++u) {
        const int at = 32 * VECTOR * k + u;
        x[u] = 1;  // what is missing changes no bits
        if (at + lane * VECTOR < count) x[u] = from[at];
      }
      v[k] = x[0] * x[1];
#if VECTOR == 4
      v[k] *= x[2] * x[3];
#endif
    }
  }
  // After each of these three steps a lane has half as many products, each of twice as many lanes.
#pragma unroll
  for (int mask = 1; mask < VECTORS; mask *= 2)
#pragma unroll
    for (int k = 0; k < VECTORS / 2 / mask; ++k) {
      const T mine = lane & mask ? v[2 * k + 1] : v[2 * k];
      const T other = lane & mask ? v[2 * k] : v[2 * k + 1];
      v[k] = mine * SHUFFLE_XOR(other, mask);
    }
  T product = v[0];
#pragma unroll
  for (int mask = VECTORS; mask < 32; mask *= 2) product *= SHUFFLE_XOR(product, mask);
#pragma unroll
  for (int mask = 1; mask < VECTORS; mask *= 2) product *= SHUFFLE_XOR(product, mask);
  return product;
}

// The product of a warp's `blocks` blocks, a power of two. A stack merges subtrees of equal size,
// like a binary counter.
DEVICE T warp_product(GLOBAL const T* from, long count, long blocks) {
  T stack[LEVELS];
  int depth = 0;
#pragma unroll 1
  for (long b = 0; b < blocks; ++b) {
    T value = block_product(from + b * BLOCK, count - b * BLOCK);
    for (long n = b; n & 1; n >>= 1) value = stack[--depth] * value;
    stack[depth++] = value;
  }
  return stack[0];
}

KERNEL_BOUNDED(product_stream, THREADS, 1, 4)
(REDUCE_PARAMETERS) {
  LOCAL T products[2][WARPS];
  LOCAL uint is_last[1];
  const int me = local_x(), warp = me / 32;
  const Tile t = tile_of(TILE_ARGUMENTS, phase);
  GLOBAL T* records = (GLOBAL T*)(workspace + workspace_offset + CONTROL_BYTES);
  GLOBAL const T* from = input + input_offset;
  long count = cols, blocks = 1;
  while ((count - 1) / (WARPS * BLOCK * blocks) >= WARPS * BLOCK) blocks *= 2;
  T product = 1;
  await_earlier_launches();
#pragma unroll 1
  for (bool finishing = splits == 1;; finishing = true) {
    const long share = BLOCK * blocks, unit = WARPS * share, units = (count + unit - 1) / unit;
    int turn = 0;
#pragma unroll 1
    for (long u = finishing ? 0 : t.split; u < units; u += splits, turn ^= 1) {
      const long first = u * unit + warp * share;
      product = warp_product(from + first, count - first, blocks);
      if (me % 32 == 0) products[turn][warp] = product;
      sync();  // the next turn's go elsewhere
      if (me == 0) {
        T all[WARPS];
#pragma unroll
        for (int w = 0; w < WARPS; ++w) all[w] = products[turn][w];
#pragma unroll
        for (int width = 1; width < WARPS; width *= 2)
#pragma unroll
          for (int w = 0; w < WARPS; w += 2 * width) all[w] *= all[w + width];
        product = all[0];
        if (!finishing) records[u] = product;
      }
    }
    if (finishing) break;
    sync_memory();
    if (me == 0) is_last[0] = tile_finished(&t, workspace + workspace_offset);
    sync_memory();
    if (!is_last[0]) return;
    from = records;
    count = units;
    blocks = 1;
  }
  if (me == 0)
    ((GLOBAL T*)(output + output_offset))[0] = options & MAP_ABS ? fabs(product) : product;
}
