// How the rung `residues` makes residues of A and B: a patch comes to local memory, its elements
// are scaled and rounded to integers, whose residues go where the tensor cores read them.
#pragma once
#include "residue_multiply.h"
#include "residue_sums.h"

// A work-item brings EACH elements and converts twice EIGHT neighbouring steps of a lane, which in
// local memory fall on different banks than those of its neighbours.
enum { EIGHT = 8, EACH = PATCH * STEPS / WORKERS, PITCH = STEPS + STEPS / EIGHT + 1 };

// Brings EACH elements of a patch: of every second lane, or of every eighth step.
DEVICE void bring(SOURCE, float* got) {
  const int t = local_x();
  const bool along_k = of_step == 1;
  const int lane = along_k ? t >> 7 : t & 31, l = along_k ? t & 127 : t >> 5;
  const int count =
      along_k ? (l < steps ? left(lanes - lane, 1) : 0) : (lane < lanes ? left(steps - l, 3) : 0);
  const long stride = along_k ? 2 * of_lane : 8 * of_step;
  const GLOBAL float* from = x + lane * of_lane + l * of_step;
#pragma unroll
  for (int i = 0; i < EACH; ++i, from += stride) got[i] = i < count ? *from : 0.0f;
}

// Puts them into local memory.
DEVICE void put(const float* got, bool along_k, LOCAL_POINTER float* patch) {
  const int t = local_x(), lane = along_k ? t >> 7 : t & 31, l = along_k ? t & 127 : t >> 5;
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
DEVICE uint2 reduce_eight(const uint* low, const uint* high, uint4 r, int negative) {
  uint byte[EIGHT];
#pragma unroll
  for (int e = 0; e < EIGHT; ++e) {
    const uint bits = __dp4a(low[e], r.x, __dp4a(high[e], r.y, r.z));
    const float quotient = fmaf(as_float(bits), as_float(r.w), 12582912.0f);
    byte[e] = bits + as_uint(quotient) * (uint)negative;  // its low byte is right
  }
  return make_uint2(bytes_of(byte[0], byte[1], byte[2], byte[3]),
                    bytes_of(byte[4], byte[5], byte[6], byte[7]));
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
// The first one is in `got`. The moduli are a loop: longer code would be new to each
// multiprocessor's cache.
DEVICE void convert_blocks(SOURCE, float* got, int blocks, const LOCAL_POINTER double* scales,
                           const LOCAL_POINTER Reductions* reductions, int moduli,
                           GLOBAL Lane* sums, GLOBAL uchar* to, int first, long modulus_bytes,
                           LOCAL_POINTER float* patch, GLOBAL float* copied, long k) {
  const int t = local_x(), octet = t & 15, lane = t >> 4;  // of two lanes, the other 16 lanes on
  float squares[2] = {0, 0}, sum[2] = {0, 0};
  to += (first + lane) * STEPS + ((octet >> 1) ^ (lane & 7)) * 16 + (octet & 1) * EIGHT;
#pragma unroll 1
  for (int block = 0;; ++block, to += BLOCK) {
    put(got, of_step == 1, patch);
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
      const uint4 r = reductions->words[q];
      const int negative = reductions->negative[q];
      *(GLOBAL uint2*)at = reduce_eight(low[0], high[0], r, negative);
      *(GLOBAL uint2*)(at + 16 * STEPS) = reduce_eight(low[1], high[1], r, negative);
    }
    if (block + 1 == blocks) break;
    bring(x, of_lane, of_step, lanes, steps, got);
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
