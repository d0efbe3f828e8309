// How the rung `residues` makes residues of A and B: a patch comes to local memory, its elements
// are scaled and rounded to integers, whose residues go where the tensor cores read them.
#pragma once
#include "residue_multiply.h"
#include "residue_sums.h"

// A work-item brings EACH elements and converts twice EIGHT neighbouring steps of a lane, which in
// local memory fall on different banks than those of its neighbours.
enum { EIGHT = 8, EACH = PATCH * STEPS / WORKERS, PITCH = STEPS + STEPS / EIGHT + 1 };

// Brings a patch to local memory. A work-item reads every second lane or every eighth step.
DEVICE void fetch(SOURCE, LOCAL_POINTER float* patch) {
  const int t = local_x();
  const bool along_k = of_step == 1;
  const int lane = along_k ? t >> 7 : t & 31, l = along_k ? t & 127 : t >> 5;
  const int count =
      along_k ? (l < steps ? left(lanes - lane, 2) : 0) : (lane < lanes ? left(steps - l, 8) : 0);
  const long stride = along_k ? 2 * of_lane : 8 * of_step;
  const GLOBAL float* from = x + lane * of_lane + l * of_step;
  float got[EACH];
#pragma unroll
  for (int i = 0; i < EACH; ++i, from += stride) got[i] = i < count ? *from : 0.0f;
#pragma unroll
  for (int i = 0; i < EACH; ++i) {
    const int step = along_k ? l : l + 8 * i;
    patch[(along_k ? lane + 2 * i : lane) * PITCH + step + (step >> 3)] = got[i];
  }
}

// Stores a patch; the lanes of `to` are k apart.
DEVICE void copy_patch(const LOCAL_POINTER float* patch, long lanes, long steps, GLOBAL float* to,
                       long k) {
  const int l = local_x() % STEPS;
  if (l >= steps) return;
#pragma unroll 4
  for (int lane = local_x() / STEPS; lane < PATCH && lane < lanes; lane += WORKERS / STEPS)
    to[lane * k + l] = patch[lane * PITCH + l + l / EIGHT];
}

// Numbers as integers: 2^52 + x in (low, high). The losses are added to the sums.
DEVICE void round_eight(const LOCAL_POINTER float* v, double scale, uint* low, uint* high,
                        float* squares, float* sum) {
#pragma unroll
  for (int e = 0; e < EIGHT; ++e) {
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
DEVICE uint2 reduce_eight(const uint* low, const uint* high, const Reduction& r) {
  uint byte[EIGHT];
#pragma unroll
  for (int e = 0; e < EIGHT; ++e) {
    const uint bits = __dp4a(low[e], r.low, __dp4a(high[e], r.high, r.start));
    const float quotient = fmaf(as_float(bits), r.inverse, 12582912.0f);
    byte[e] = bits + as_uint(quotient) * (uint)r.negative;  // its low byte is right
  }
  return make_uint2(bytes_of(byte[0], byte[1], byte[2], byte[3]),
                    bytes_of(byte[4], byte[5], byte[6], byte[7]));
}

// Converts `blocks` blocks of STEPS steps of a patch, which go to `to`, from its lane `first` on.
// The moduli are a loop: longer code would be new to each multiprocessor's cache.
DEVICE void convert_blocks(SOURCE, int blocks, const LOCAL_POINTER double* scales,
                           const Reduction* reductions, int moduli, GLOBAL Lane* sums,
                           GLOBAL uchar* to, int first, long modulus_bytes,
                           LOCAL_POINTER float* patch, GLOBAL float* copied, long k) {
  const int t = local_x(), octet = t & 15, lane = t >> 4;  // of two lanes, the other 16 lanes on
  float squares[2] = {0, 0}, sum[2] = {0, 0};
  to += (first + lane) * STEPS + ((octet >> 1) ^ (lane & 7)) * 16 + (octet & 1) * EIGHT;
#pragma unroll 1
  for (int block = 0; block < blocks; ++block, to += BLOCK) {
    fetch(x, of_lane, of_step, lanes, steps, patch);
    sync();
    if (copied) copy_patch(patch, lanes, steps, copied + (long)block * STEPS, k);
    x += STEPS * of_step, steps -= STEPS;
    uint low[2][EIGHT], high[2][EIGHT];
#pragma unroll
    for (int h = 0; h < 2; ++h)
      round_eight(patch + (lane + 16 * h) * PITCH + octet * (EIGHT + 1), scales[lane + 16 * h],
                  low[h], high[h], &squares[h], &sum[h]);
    GLOBAL uchar* at = to;
#pragma unroll 1
    for (int q = 0; q < moduli; ++q, at += modulus_bytes) {
      const Reduction r = reductions[q];
      *(GLOBAL uint2*)at = reduce_eight(low[0], high[0], r);
      *(GLOBAL uint2*)(at + 16 * STEPS) = reduce_eight(low[1], high[1], r);
    }
    sync();
  }
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    if (!__any_sync(~0u, sum[h] != 0)) continue;
    for (int mask = 8; mask > 0; mask /= 2) {
      squares[h] += __shfl_xor_sync(~0u, squares[h], mask);
      sum[h] += __shfl_xor_sync(~0u, sum[h], mask);
    }
    if (octet > 0 || sum[h] == 0) continue;
    GLOBAL Lane* const lane = sums + (t >> 4) + 16 * h;
    atomicAdd(&lane->lost_squares, (double)squares[h]);
    atomicAdd(&lane->lost_sum, (double)sum[h]);
  }
}
