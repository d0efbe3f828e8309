// Norms of the rows of A and columns of B for the rung `residues`, and the sample of C's elements
// by which it chooses the number of moduli.
#pragma once
#include "residue_round.h"

enum { NORM_EACH = 16 /* steps of a work-item at once */ };
enum { CHOOSE_STEPS = 64, CHOOSE_EACH = CHOOSE_STEPS / 8 };

// --- Norms ---------------------------------------------------------------------------------------

// How many of `rest` numbers there are, if only each 2^shift-th counts; 4096 of `rest` are enough.
DEVICE int left(long rest, int shift) {
  const int few = (int)(rest < 4096 ? rest : 4096);
  return few <= 0 ? 0 : (few + (1 << shift) - 1) >> shift;
}

// The mask (Norm) of 16 numbers from `step` on. Bit i of `any`: the i-th isn't 0. Neighbouring bits
// are folded until each stands for 2^shift steps.
DEVICE ulong mask_of(uint any, long step, int folds, int shift) {
  for (; folds > 0; --folds) {
    any = (any | any >> 1) & 0x5555u;
    any = (any | any >> 1) & 0x3333u;
    any = (any | any >> 2) & 0x0f0fu;
    any = (any | any >> 4) & 0x00ffu;
  }
  return (ulong)any << (step >> shift);
}

// Sums over some steps of a patch, from `step` on.
DEVICE void sum_norms(SOURCE, long step, int shift, GLOBAL Norm* norms) {
  LOCAL ulong masks[WARPS][PATCH];
  LOCAL double squares[WARPS][PATCH];
  LOCAL uint greatest[WARPS][PATCH];
  const int t = local_x(), warp = t / 32;
  const bool along_k = of_step == 1;
  const int apart = along_k ? 5 : 3, folds = min(shift - apart, 4);  // 2^apart steps
  const long stride = of_step << apart;
  const auto bring = [&](int part, float* v) {
    const int lane = along_k ? part * WARPS + warp : t % 32;
    const int l = along_k ? t % 32 : warp + part * (NORM_STEPS / 4);
    const int count = lane < lanes ? left(steps - l, apart) : 0;
    const GLOBAL float* from = x + lane * of_lane + l * of_step;
#pragma unroll
    for (int i = 0; i < NORM_EACH; ++i, from += stride) v[i] = i < count ? *from : 0.0f;
  };
  bool first = true;
  float next[NORM_EACH];
  bring(0, next);
#pragma unroll 1
  for (int part = 0; steps > 0; part = (part + 1) % (PATCH / WARPS)) {
    const int lane = along_k ? part * WARPS + warp : t % 32;
    const int l = along_k ? t % 32 : warp + part * (NORM_STEPS / 4), own = along_k ? 0 : warp;
    const bool new_lane = first && (along_k || part == 0);
    float v[NORM_EACH];
#pragma unroll
    for (int i = 0; i < NORM_EACH; ++i) v[i] = next[i];
    const long from = step + l;
    if (part == PATCH / WARPS - 1)
      x += NORM_STEPS * of_step, steps -= NORM_STEPS, step += NORM_STEPS, first = false;
    if (steps > 0) bring((part + 1) % (PATCH / WARPS), next);
    double square = 0;
    uint most = 0, any = 0;
#pragma unroll
    for (int i = 0; i < NORM_EACH; ++i) {
      square = fma((double)v[i], (double)v[i], square);
      most = max(most, as_uint(v[i]) & 0x7fffffffu);
      any |= v[i] != 0.0f ? 1u << i : 0u;
    }
    if (along_k) {
      any = __reduce_or_sync(~0u, any);
      for (int mask = 16; mask > 0; mask /= 2) square += __shfl_xor_sync(~0u, square, mask);
      most = __reduce_max_sync(~0u, most);
    }
    if (along_k && t % 32 > 0) continue;
    squares[own][lane] = new_lane ? square : squares[own][lane] + square;
    greatest[own][lane] = new_lane ? most : max(most, greatest[own][lane]);
    const ulong mask = mask_of(any, from, folds, shift);
    masks[own][lane] = new_lane ? mask : masks[own][lane] | mask;
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

// The norm of all steps, by eight neighbouring work-items; `all` lanes lie between those of a cut
// and the next one's.
DEVICE Norm norm_of(const GLOBAL Norm* norms, int cuts, long all) {
  Norm norm = {0, 0, 0, 0};
#pragma unroll 1
  for (int cut = local_x() % 8; cut < cuts; cut += 8) {
    const GLOBAL Norm* const one = norms + cut * all;
    norm.squares += one->squares;
    norm.mask |= one->mask;
    norm.greatest = max(norm.greatest, one->greatest);
  }
  for (int mask = 4; mask > 0; mask /= 2) {
    norm.squares += __shfl_xor_sync(~0u, norm.squares, mask);
    norm.mask |= __shfl_xor_sync(~0u, norm.mask, mask);
    norm.greatest = max(norm.greatest, __shfl_xor_sync(~0u, norm.greatest, mask));
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
                        GLOBAL double* sums) {
  LOCAL double rows[SAMPLED][SAMPLE_STEPS + 1], cols[SAMPLED][SAMPLE_STEPS + 1];
  enum { HELD = SAMPLED * SAMPLE_STEPS / WORKERS };  // of a work-item: the same step of each four
  const int t = local_x(), l = t / 4;
  const GLOBAL float* const from_a = a + a_offset + sampled_matrix(batch) * a_batch;
  const GLOBAL float* const from_b = b + b_offset + sampled_matrix(batch) * b_batch;
  double sum = 0;
#pragma unroll 1
  for (; step < end; step += SAMPLE_STEPS) {
    float held[2][HELD];
    const bool inside = step + l < end;
#pragma unroll
    for (int i = 0; i < HELD; ++i) {
      const int lane = i * 4 + t % 4;
      held[0][i] = inside ? from_a[sampled_lane(lane, m) * a_row + (step + l) * a_col] : 0.0f;
      held[1][i] = inside ? from_b[sampled_lane(lane, n) * b_col + (step + l) * b_row] : 0.0f;
    }
#pragma unroll
    for (int i = 0; i < HELD; ++i)
      rows[i * 4 + t % 4][l] = held[0][i], cols[i * 4 + t % 4][l] = held[1][i];
    sync();
#pragma unroll 8
    for (int l = 0; l < SAMPLE_STEPS; ++l)
      sum = fma(rows[t / SAMPLED][l], cols[t % SAMPLED][l], sum);
    sync();
  }
  sums[t] = sum;
}

// The sums of all steps. Each group adds those of other elements, a warp an element.
DEVICE void add_samples(GLOBAL Sample* sample, int cuts) {
  for (int e = group_x() * WARPS + local_x() / 32; e < SAMPLED * SAMPLED; e += groups_x() * WARPS) {
    const int cut = local_x() % 32;
    double sum = cut < cuts ? sample->sums[cut][e] : 0.0;
    for (int mask = 16; mask > 0; mask /= 2) sum += __shfl_xor_sync(~0u, sum, mask);
    if (cut == 0) sample->sum[e] = sum;
  }
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

// Eight work-items bring CHOOSE_STEPS steps of a lane, from the L2, as `bring` does.
DEVICE void bring_sample(const GLOBAL float* x, long of_step, long steps, float* v) {
  const int t = local_x() % 8;
#pragma unroll
  for (int i = 0; i < CHOOSE_EACH; ++i)
    v[i] = t + 8 * i < steps ? __ldcg(x + (t + 8 * i) * of_step) : 0.0f;
}

// Adds what those steps lose, for each number of moduli.
DEVICE void add_losses(float* v, double squares, GLOBAL float (*lost)[2]) {
  const int scale = unit_scale(squares);
#pragma unroll
  for (int i = 0; i < CHOOSE_EACH; ++i) v[i] = (float)(v[i] * power_of_two(scale));
#pragma unroll 1
  for (int c = 0; c < CHOICES; ++c) {
    const float step = (float)power_of_two(scale - scale_of(squares, tables.bound[c]));
    float square = 0, sum = 0;
#pragma unroll
    for (int i = 0; i < CHOOSE_EACH; ++i) add_lost(v[i], step, &square, &sum);
    for (int mask = 4; mask > 0; mask /= 2) {
      square += __shfl_xor_sync(~0u, square, mask);
      sum += __shfl_xor_sync(~0u, sum, mask);
    }
    if (local_x() % 8 > 0 || !(sum > 0)) continue;
    atomicAdd(&lost[c][0], square);
    atomicAdd(&lost[c][1], sum);
  }
}

// The chance of an element of the sample to be uncertain.
DEVICE float chance_of(double sum, const Norm* row, const LOCAL_POINTER float* row_lost,
                       const Norm* col, const LOCAL_POINTER float* col_lost) {
  const double row_unit = power_of_two(unit_scale(row->squares)),
               col_unit = power_of_two(unit_scale(col->squares));
  const float error = fminf(sqrtf(row_lost[0] * (float)(col->squares * col_unit * col_unit)),
                            row_lost[1] * (float)(as_float(col->greatest) * col_unit)) +
                      fminf(sqrtf(col_lost[0] * (float)(row->squares * row_unit * row_unit)),
                            col_lost[1] * (float)(as_float(row->greatest) * row_unit));
  // There are 2^23 boundaries between f32 up to the next power of two.
  const float size = fabsf((float)(sum * row_unit * col_unit));
  if ((row->mask & col->mask) == 0) return 0.0f;
  return error > 0 ? fminf(1.4f * 16777216.0f * error / size, 1.0f) : 0.0f;
}
