// Norms of the rows of A and columns of B for the rung `residues`, and the sample of C's elements
// by which it chooses the number of moduli.
#pragma once
#include "residue_round.h"

enum { NORM_EACH = 16 /* steps of a work-item at once */ };
enum { CHOOSE_STEPS = 64, CHOOSE_EACH = CHOOSE_STEPS / 8 };

// --- Norms ---------------------------------------------------------------------------------------

// How many of `rest` numbers there are, if only each `apart`-th counts.
DEVICE int left(long rest, int apart) {
  return rest <= 0 ? 0 : rest >= 4096 ? 4096 / apart : ((int)rest + apart - 1) / apart;
}

// The mask of steps of which 16 are `apart` from the next, from `step` on; bit i of `any`: the i-th
// isn't 0. A bit of a mask is for 2^shift steps, which are 32 or more.
DEVICE ulong mask_of(uint any, long step, int apart, int shift) {
  ulong mask = 0;
#pragma unroll
  for (int i = 0; i < NORM_EACH; ++i)
    if (any >> i & 1) mask |= 1ul << ((step + i * apart) >> shift);
  return mask;
}

// Sums over some steps of a patch, from `step` on.
DEVICE void sum_norms(SOURCE, long step, int shift, GLOBAL Norm* norms) {
  LOCAL ulong masks[WARPS][PATCH];
  LOCAL double squares[WARPS][PATCH];
  LOCAL uint greatest[WARPS][PATCH];
  const int t = local_x(), warp = t / 32;
  const bool along_k = of_step == 1;
  const int apart = along_k ? 32 : WARPS;
  const long stride = apart * of_step;
  bool first = true;
#pragma unroll 1
  for (int part = 0; steps > 0; part = (part + 1) % (PATCH / WARPS)) {
    const int lane = along_k ? part * WARPS + warp : t % 32;
    const int l = along_k ? t % 32 : warp + part * (NORM_STEPS / 4);
    const int count = lane < lanes ? left(steps - l, apart) : 0;
    const GLOBAL float* from = x + lane * of_lane + l * of_step;
    float v[NORM_EACH];
#pragma unroll
    for (int i = 0; i < NORM_EACH; ++i, from += stride) v[i] = i < count ? *from : 0.0f;
    double square = 0;
    uint most = 0, any = 0;
#pragma unroll
    for (int i = 0; i < NORM_EACH; ++i) {
      square = fma((double)v[i], (double)v[i], square);
      most = max(most, as_uint(v[i]) & 0x7fffffffu);
      any |= v[i] != 0.0f ? 1u << i : 0u;
    }
    const int own = along_k ? 0 : warp;
    if (along_k) {
      any = __reduce_or_sync(~0u, any);
      for (int mask = 16; mask > 0; mask /= 2) square += __shfl_xor_sync(~0u, square, mask);
      most = __reduce_max_sync(~0u, most);
    }
    if (!along_k || t % 32 == 0) {
      const bool new_lane = first && (along_k || part == 0);
      squares[own][lane] = new_lane ? square : squares[own][lane] + square;
      greatest[own][lane] = new_lane ? most : max(most, greatest[own][lane]);
      const ulong mask = mask_of(any, step + l, apart, shift);
      masks[own][lane] = new_lane ? mask : masks[own][lane] | mask;
    }
    if (part < PATCH / WARPS - 1) continue;
    x += NORM_STEPS * of_step, steps -= NORM_STEPS, step += NORM_STEPS, first = false;
  }
  sync();
  if (t >= PATCH) return;
  Norm norm = {squares[0][t], masks[0][t], greatest[0][t], 0};
  for (int w = 1; w < (along_k ? 1 : WARPS); ++w) {
    norm.squares += squares[w][t];
    norm.mask |= masks[w][t];
    norm.greatest = max(norm.greatest, greatest[w][t]);
  }
  norms[t] = norm;
}

// The norm of all steps; `all` lanes lie between those of a cut and the next one's.
DEVICE Norm norm_of(const GLOBAL Norm* norms, long cuts, long all) {
  Norm norm = {0, 0, 0, 0};
  for (long cut = 0; cut < cuts; ++cut, norms += all) {
    norm.squares += norms->squares;
    norm.mask |= norms->mask;
    norm.greatest = max(norm.greatest, norms->greatest);
  }
  return norm;
}

// The matrix and lanes of the sample, which come in fours side by side.
DEVICE long sampled_matrix(int batch) { return batch / 2; }
DEVICE long sampled_lane(int i, long lanes) {
  const long first = mul_hi((uint)(i / 4) * 0x9e3779b9u + 0x3779b97fu, (uint)lanes) & ~3l;
  return first + i % 4 < lanes ? first + i % 4 : lanes - 1;
}

// The sample's sums over some steps, each by a work-item.
DEVICE void sum_samples(A_ARGUMENTS, B_ARGUMENTS, long m, long n, int batch, long step, long end,
                        GLOBAL double (*sums)[SAMPLED]) {
  LOCAL float rows[SAMPLED][SAMPLE_STEPS + 1], cols[SAMPLED][SAMPLE_STEPS + 1];
  const int t = local_x();
  const GLOBAL float* const from_a = a + a_offset + sampled_matrix(batch) * a_batch;
  const GLOBAL float* const from_b = b + b_offset + sampled_matrix(batch) * b_batch;
  double sum = 0;
#pragma unroll 1
  for (; step < end; step += SAMPLE_STEPS) {
#pragma unroll
    for (int i = t; i < SAMPLED * SAMPLE_STEPS; i += WORKERS) {
      const int lane = i / 4 / SAMPLE_STEPS * 4 + i % 4, l = i / 4 % SAMPLE_STEPS;
      const bool inside = step + l < end;
      rows[lane][l] = inside ? from_a[sampled_lane(lane, m) * a_row + (step + l) * a_col] : 0.0f;
      cols[lane][l] = inside ? from_b[sampled_lane(lane, n) * b_col + (step + l) * b_row] : 0.0f;
    }
    sync();
#pragma unroll 8
    for (int l = 0; l < SAMPLE_STEPS; ++l)
      sum = fma((double)rows[t / SAMPLED][l], (double)cols[t % SAMPLED][l], sum);
    sync();
  }
  sums[t / SAMPLED][t % SAMPLED] = sum;
}

// --- Chances -------------------------------------------------------------------------------------

// A power of two by which a norm is multiplied to be about 1: so f32 holds what estimates need.
DEVICE int unit_scale(double squares) {
  return squares > 0 && squares < 0x1p600 ? (1023 - (int)(as_ulong(squares) >> 52)) / 2 : 0;
}

// Adds what rounding x to multiples of `unit` loses. x is at most about 2.
DEVICE void add_lost(float x, float unit, float* squares, float* sum) {
  const float big = copysignf(8388608.0f * unit, x);
  const float lost = fabsf(x) < 8388608.0f * unit ? fabsf(x - ((x + big) - big)) : 0.0f;
  *squares = fmaf(lost, lost, *squares);
  *sum += lost;
}

// Adds what eight steps' neighbours of a lane lose, for each number of moduli. Eight work-items
// have the same lane.
DEVICE void add_losses(const GLOBAL float* x, long of_step, long steps, double squares,
                       GLOBAL float (*lost)[2]) {
  const int t = local_x();
  const int scale = unit_scale(squares);
  const double unit = power_of_two(scale);
  float v[CHOOSE_EACH];
#pragma unroll
  for (int i = 0; i < CHOOSE_EACH; ++i)
    v[i] = t % 8 + 8 * i < steps ? (float)(x[(t % 8 + 8 * i) * of_step] * unit) : 0.0f;
  const double inverse = squares > 0 ? 1 / (sqrt(squares) * (1 + 1e-11)) : 1;
#pragma unroll 1
  for (int c = 0; c < CHOICES; ++c) {
    const float step = (float)(unit / as_double(as_ulong(tables.bound[c] * inverse) >> 52 << 52));
    float square = 0, sum = 0;
#pragma unroll
    for (int i = 0; i < CHOOSE_EACH; ++i) add_lost(v[i], step, &square, &sum);
    for (int mask = 4; mask > 0; mask /= 2) {
      square += __shfl_xor_sync(~0u, square, mask);
      sum += __shfl_xor_sync(~0u, sum, mask);
    }
    if (t % 8 > 0 || !(sum > 0)) continue;
    atomicAdd(&lost[c][0], square);
    atomicAdd(&lost[c][1], sum);
  }
}

// The chance of an element of the sample to be uncertain.
DEVICE float chance_of(double sum, const Norm* row, const GLOBAL float* row_lost, const Norm* col,
                       const GLOBAL float* col_lost) {
  const double row_unit = power_of_two(unit_scale(row->squares)),
               col_unit = power_of_two(unit_scale(col->squares));
  const float error = fminf(sqrtf(__ldcg(row_lost) * (float)(col->squares * col_unit * col_unit)),
                            __ldcg(row_lost + 1) * (float)(as_float(col->greatest) * col_unit)) +
                      fminf(sqrtf(__ldcg(col_lost) * (float)(row->squares * row_unit * row_unit)),
                            __ldcg(col_lost + 1) * (float)(as_float(row->greatest) * row_unit));
  // There are 2^23 boundaries between f32 up to the next power of two.
  const float size = fabsf((float)(sum * row_unit * col_unit));
  if ((row->mask & col->mask) == 0) return 0.0f;
  return error > 0 ? fminf(1.4f * 16777216.0f * error / size, 1.0f) : 0.0f;
}
