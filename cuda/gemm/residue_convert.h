// How the rung `residues` makes residues of A and B: a patch comes to local memory, its elements
// are scaled and rounded to integers, whose residues go where the tensor cores read them.
#pragma once
#include "residue_sums.h"

// A work-item brings EACH elements and converts SIXTEEN neighbouring steps of a lane, which in
// local memory fall on other banks than most of its neighbours'.
enum { SIXTEEN = 16, EACH = PATCH * STEPS / WORKERS, PITCH = STEPS + STEPS / SIXTEEN + 1 };

// Brings EACH elements of a patch: of every second lane, or of every eighth step. They come from
// the L2, because no wait may have made the first cache current.
DEVICE void bring(SOURCE, float* got) {
  const int t = local_x();
  const bool along_k = of_step == 1;
  const int lane = along_k ? t >> 7 : t & 31, l = along_k ? t & 127 : t >> 5;
  const int count =
      along_k ? (l < steps ? left(lanes - lane, 1) : 0) : (lane < lanes ? left(steps - l, 3) : 0);
  const long stride = along_k ? 2 * of_lane : 8 * of_step;
  const GLOBAL float* from = x + lane * of_lane + l * of_step;
#pragma unroll
  for (int i = 0; i < EACH; ++i, from += stride) got[i] = i < count ? __ldcg(from) : 0.0f;
}

// Puts them into local memory, at distances that are known.
DEVICE void put(const float* got, bool along_k, LOCAL_POINTER float* patch) {
  const int t = local_x();
  if (along_k) {
    patch += (t >> 7) * PITCH + t % STEPS + t % STEPS / SIXTEEN;
#pragma unroll
    for (int i = 0; i < EACH; ++i) patch[2 * i * PITCH] = got[i];
  } else {
    patch += (t & 31) * PITCH + (t >> 5);
#pragma unroll
    for (int i = 0; i < EACH; ++i) patch[8 * i + 8 * i / SIXTEEN] = got[i];
  }
}

// Stores a patch; the lanes of `to` are k apart.
DEVICE void copy_patch(const LOCAL_POINTER float* patch, long lanes, long steps, GLOBAL float* to,
                       long k) {
  const int l = local_x() % STEPS;
  if (l >= steps) return;
#pragma unroll 4
  for (int lane = local_x() / STEPS; lane < PATCH && lane < lanes; lane += WORKERS / STEPS)
    to[lane * k + l] = patch[lane * PITCH + l + l / SIXTEEN];
}

// Numbers as integers: 2^52 + x in (low, high). The losses are added to the sums.
DEVICE void round_numbers(const LOCAL_POINTER float* v, double scale, uint* low, uint* high,
                          float* squares, float* sum) {
#pragma unroll
  for (int e = 0; e < SIXTEEN; ++e) {
    const double x = (double)v[e] * scale, rounded = x + 0x1.8p52;
    const double lost = x - (rounded - 0x1.8p52);
    low[e] = (uint)as_ulong(rounded);
    high[e] = (uint)(as_ulong(rounded) >> 32) - 0x43280000u;
    if (lost != 0) {
      const float size = fmaxf(fabsf((float)lost), 1e-15f);  // it must not vanish
      *squares = fmaf(size, size, *squares);
      *sum += size;
    }
  }
}

// Their residue modulo one modulus.
DEVICE uint4 reduce_numbers(const uint* low, const uint* high, uint4 r, int negative) {
  uint byte[SIXTEEN];
#pragma unroll
  for (int e = 0; e < SIXTEEN; ++e) {
    const uint bits = __dp4a(low[e], r.x, __dp4a(high[e], r.y, r.z));
    const float quotient = fmaf(as_float(bits), as_float(r.w), 12582912.0f);
    byte[e] = bits + as_uint(quotient) * (uint)negative;  // its low byte is right
  }
  return make_uint4(bytes_of(byte[0], byte[1], byte[2], byte[3]),
                    bytes_of(byte[4], byte[5], byte[6], byte[7]),
                    bytes_of(byte[8], byte[9], byte[10], byte[11]),
                    bytes_of(byte[12], byte[13], byte[14], byte[15]));
}

// Reductions in local memory, because the operands of an instruction are registers, and a copy of a
// constant for each would take as long as the work.
typedef struct Reductions {
  uint4 words[MOST];  // low, high, start, the bits of inverse
  int negative[MOST];
} Reductions;
DEVICE void bring_reductions(const Reduction* from, int moduli, LOCAL_POINTER Reductions* to) {
  const int q = local_x();
  if (q >= moduli) return;
  const Reduction r = from[q];
  to->words[q] = make_uint4(r.low, r.high, r.start, as_uint(r.inverse));
  to->negative[q] = r.negative;
}

// Converts `blocks` blocks of STEPS steps of a patch, which go to `to`, from its lane `first` on.
// The first one is in local memory already. Eight work-items have a lane, with its scale. The
// moduli are a loop: longer code would be new to each multiprocessor's cache.
DEVICE void convert_blocks(SOURCE, int blocks, double scale,
                           const LOCAL_POINTER Reductions* reductions, int moduli,
                           GLOBAL Lane* sums, GLOBAL uchar* to, int first, long modulus_bytes,
                           LOCAL_POINTER float* patch, GLOBAL float* copied, long k) {
  const int part = local_x() % 8, lane = local_x() / 8;
  float squares = 0, sum = 0;
  to += (first + lane) * STEPS + (part ^ (lane & 7)) * SIXTEEN;
#pragma unroll 1
  for (int block = 0;; ++block, to += BLOCK) {
    sync();
    if (copied) copy_patch(patch, lanes, steps, copied + (long)block * STEPS, k);
    x += STEPS * of_step, steps -= STEPS;
    uint low[SIXTEEN], high[SIXTEEN];
    round_numbers(patch + lane * PITCH + part * (SIXTEEN + 1), scale, low, high, &squares, &sum);
    GLOBAL uchar* at = to;
#pragma unroll 1
    for (int q = 0; q < moduli; ++q, at += modulus_bytes)
      *(GLOBAL uint4*)at = reduce_numbers(low, high, reductions->words[q], reductions->negative[q]);
    if (block + 1 == blocks) break;
    float got[EACH];
    bring(x, of_lane, of_step, lanes, steps, got);
    sync();
    put(got, of_step == 1, patch);
  }
  if (!__any_sync(~0u, sum != 0)) return;
  for (int mask = 4; mask > 0; mask /= 2) {
    squares += __shfl_xor_sync(~0u, squares, mask);
    sum += __shfl_xor_sync(~0u, sum, mask);
  }
  if (part > 0 || sum == 0) return;
  atomicAdd(&sums[lane].lost_squares, (double)squares);
  atomicAdd(&sums[lane].lost_sum, (double)sum);
}
