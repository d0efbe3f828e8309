// Only NVIDIA's compilers take this text.
// Idea: an exact product of integers is cheap on int8 tensor cores: modulo 7 to 13 coprime numbers
// of 8 bits, from whose residues the Chinese remainder theorem gives the integer. So each row of A
// and column of B becomes integers: it is scaled by a power of two and rounded. The norms of what
// rounding lost bound how far an element's sum is off. Where no two f32 can be nearest, the element
// is certain; the others are marked, and a last launch of another rung computes them one by one.
// It beats the f64 chains of `tensor_specialized` because int8 tensor cores are 20 times as fast.
// Requires: f32 of numerics exact; compute capability 9.0, whose warp groups multiply from local
// memory (wgmma).
//
//   residues_clear        clears sums and marks
//   residues_norms        sums squares of the lanes, and products of a sample of C's elements
//   residues_choose       chooses the number of moduli by the sample
//   residues_convert      writes residues of A and B, and sums what rounding lost
//   residues_product      a product modulo each modulus
//   residues_reconstruct  stores the elements of C that are certain, marks the others
#define PLAIN_READS
#include "problem.h"
#include "residue_tables.h"

static __constant__ const Tables tables = tables_of_residues();

// A case for each number of moduli.
#define FOR_MODULI(x) x(7) x(8) x(9) x(10) x(11) x(12) x(13)

#include "residue_multiply.h"
#include "residue_round.h"

// Element l of lane `lane` of matrix s lies at x[offset + s * batch + lane * of_lane + l *
// of_step].
#define A_ARGUMENTS const GLOBAL float *a, long a_offset, long a_batch, long a_row, long a_col
#define B_ARGUMENTS const GLOBAL float *b, long b_offset, long b_batch, long b_row, long b_col
// moduli: how many there are at most (0: MOST), and if not 0, how many are taken.
#define SPACE_ARGUMENTS \
  GLOBAL uchar *space, long base, long m, long n, long k, int batch, int moduli
#define LAYOUT      \
  space += base;    \
  const Layout at = \
      layout_of(m, n, k, batch, a_batch == 0 ? 1 : batch, b_batch == 0 ? 1 : batch, moduli)

// A row of A or column of B, and how to get at its sums.
#define A_SOURCE(s, lane, step) \
  a + a_offset + (s)*a_batch + (lane)*a_row + (step)*a_col, a_row, a_col, m - (lane), k - (step)
#define B_SOURCE(s, lane, step) \
  b + b_offset + (s)*b_batch + (lane)*b_col + (step)*b_row, b_col, b_row, n - (lane), k - (step)
#define SOURCE const GLOBAL float *x, long of_lane, long of_step, long lanes, long steps
#define A_LANES(s, lane) ((GLOBAL Lane*)(space + at.a_lanes) + (s)*at.rows + (lane))
#define B_LANES(s, lane) ((GLOBAL Lane*)(space + at.b_lanes) + (s)*at.cols + (lane))

enum { WORKERS = 256, WARPS = WORKERS / 32, PATCH = 32 /* lanes of a group */ };

// Sums begin at 0, and no element is marked. `marks` words behind `first_mark` are for that.
KERNEL_OF(residues_clear, WORKERS, 1)
(long a_batch, long b_batch, SPACE_ARGUMENTS, long first_mark, long marks) {
  await_earlier_launches();
  LAYOUT;
  const long me = group_x() * (long)WORKERS + local_x(), all = groups_x() * (long)WORKERS;
  for (long i = me; i < at.a / 8; i += all)
    ((GLOBAL ulong*)space)[i] = i == 0 ? (ulong)(uint)moduli : 0ul;
  for (long i = me; i < marks; i += all) ((GLOBAL uint*)(space + first_mark))[i] = 0;
}

// --- Norms ---------------------------------------------------------------------------------------

enum { NORM_STEPS = 512, NORM_EACH = 16 /* steps of a work-item at once */, SAMPLE_STEPS = 128 };

// How many of `rest` numbers there are, if only each `apart`-th counts.
DEVICE int left(long rest, int apart) {
  return rest <= 0 ? 0 : rest >= 4096 ? 4096 / apart : ((int)rest + apart - 1) / apart;
}

// Adds a patch's sums to its lanes'.
DEVICE void add_norms(SOURCE, GLOBAL Lane* sums) {
  LOCAL double squares[WARPS][PATCH];
  LOCAL uint greatest[WARPS][PATCH];
  const int t = local_x(), warp = t / 32;
  const bool along_k = of_step == 1;
#pragma unroll 1
  for (int part = 0; part < PATCH / WARPS; ++part) {
    const int lane = along_k ? part * WARPS + warp : t % 32;
    const int l = along_k ? t % 32 : warp + part * (NORM_STEPS / 4);
    const int apart = along_k ? 32 : WARPS;
    const int count = lane < lanes ? left(steps - l, apart) : 0;
    const long stride = apart * of_step;
    const GLOBAL float* from = x + lane * of_lane + l * of_step;
    float v[NORM_EACH];
#pragma unroll
    for (int i = 0; i < NORM_EACH; ++i, from += stride) v[i] = i < count ? *from : 0.0f;
    double square = 0;
    uint most = 0;
#pragma unroll
    for (int i = 0; i < NORM_EACH; ++i) {
      square = fma((double)v[i], (double)v[i], square);
      most = max(most, as_uint(v[i]) & 0x7fffffffu);
    }
    if (along_k) {
      for (int mask = 16; mask > 0; mask /= 2) square += __shfl_xor_sync(~0u, square, mask);
      most = __reduce_max_sync(~0u, most);
      if (t % 32 == 0) squares[0][lane] = square;
      if (t % 32 == 0) greatest[0][lane] = most;
    } else {
      squares[warp][lane] = part == 0 ? square : squares[warp][lane] + square;
      greatest[warp][lane] = part == 0 ? most : max(most, greatest[warp][lane]);
    }
  }
  sync();
  if (t >= PATCH || t >= lanes) return;
  double square = squares[0][t];
  uint most = greatest[0][t];
  for (int w = 1; w < (along_k ? 1 : WARPS); ++w) {
    square += squares[w][t];
    most = max(most, greatest[w][t]);
  }
  atomicAdd(&sums[t].squares, square);
  atomicMax(&sums[t].greatest, most);
}

// The matrix and lanes of the sample, which come in fours side by side.
DEVICE long sampled_matrix(int batch) { return batch / 2; }
DEVICE long sampled_lane(int i, long lanes) {
  const long first = mul_hi((uint)(i / 4) * 0x9e3779b9u + 0x3779b97fu, (uint)lanes) & ~3l;
  return first + i % 4 < lanes ? first + i % 4 : lanes - 1;
}

// Adds the products of SAMPLE_STEPS steps to the sample's sums, each by a work-item.
DEVICE void add_samples(A_ARGUMENTS, B_ARGUMENTS, long m, long n, long k, int batch, long step,
                        GLOBAL Sample* sample) {
  LOCAL float rows[SAMPLED][SAMPLE_STEPS + 1], cols[SAMPLED][SAMPLE_STEPS + 1];
  const int t = local_x();
  const GLOBAL float* const from_a = a + a_offset + sampled_matrix(batch) * a_batch;
  const GLOBAL float* const from_b = b + b_offset + sampled_matrix(batch) * b_batch;
#pragma unroll
  for (int i = t; i < SAMPLED * SAMPLE_STEPS; i += WORKERS) {
    const int lane = i / 4 / SAMPLE_STEPS * 4 + i % 4, l = i / 4 % SAMPLE_STEPS;
    const bool inside = step + l < k;
    rows[lane][l] = inside ? from_a[sampled_lane(lane, m) * a_row + (step + l) * a_col] : 0.0f;
    cols[lane][l] = inside ? from_b[sampled_lane(lane, n) * b_col + (step + l) * b_row] : 0.0f;
  }
  sync();
  const int row = t / SAMPLED, col = t % SAMPLED;
  double sum = 0;
#pragma unroll 8
  for (int l = 0; l < SAMPLE_STEPS; ++l) sum = fma((double)rows[row][l], (double)cols[col][l], sum);
  atomicAdd(&sample->sums[row][col], sum);
}

// Which operand, matrix, lanes and steps a group has, of `deep` along k.
typedef struct Patch {
  bool of_b;
  long matrix, lane, step;
} Patch;
DEVICE Patch patch_of(long group, long rows, long cols, long a_matrices, long deep, int steps) {
  const long of_a = rows / PATCH * a_matrices * deep;
  Patch patch;
  patch.of_b = group >= of_a;
  const long index = patch.of_b ? group - of_a : group,
             patches = (patch.of_b ? cols : rows) / PATCH;
  patch.step = index % deep * steps;
  patch.lane = index / deep % patches * PATCH;
  patch.matrix = index / deep / patches;
  return patch;
}

// A group for each patch of padded lanes, behind `sampling` for the sample.
KERNEL_OF(residues_norms, WORKERS, 1)
(A_ARGUMENTS, B_ARGUMENTS, SPACE_ARGUMENTS, int sampling) {
  await_earlier_launches();
  LAYOUT;
  if (group_x() < sampling) {
    add_samples(a, a_offset, a_batch, a_row, a_col, b, b_offset, b_batch, b_row, b_col, m, n, k,
                batch, group_x() * (long)SAMPLE_STEPS, &((GLOBAL Decision*)space)->sample);
    return;
  }
  const long deep = (k + NORM_STEPS - 1) / NORM_STEPS;
  const Patch p =
      patch_of(group_x() - sampling, at.rows, at.cols, a_batch == 0 ? 1 : batch, deep, NORM_STEPS);
  if (p.of_b)
    add_norms(B_SOURCE(p.matrix, p.lane, p.step), B_LANES(p.matrix, p.lane));
  else
    add_norms(A_SOURCE(p.matrix, p.lane, p.step), A_LANES(p.matrix, p.lane));
}

// --- The number of moduli ------------------------------------------------------------------------

enum { CHOOSE_STEPS = 64, CHOOSE_EACH = CHOOSE_STEPS / 8 };

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
#pragma unroll
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
DEVICE float chance_of(double sum, const GLOBAL Lane* row, const GLOBAL float* row_lost,
                       const GLOBAL Lane* col, const GLOBAL float* col_lost) {
  const double row_unit = power_of_two(unit_scale(row->squares)),
               col_unit = power_of_two(unit_scale(col->squares));
  const float error = fminf(sqrtf(__ldcg(row_lost) * (float)(col->squares * col_unit * col_unit)),
                            __ldcg(row_lost + 1) * (float)(as_float(col->greatest) * col_unit)) +
                      fminf(sqrtf(__ldcg(col_lost) * (float)(row->squares * row_unit * row_unit)),
                            __ldcg(col_lost + 1) * (float)(as_float(row->greatest) * row_unit));
  // There are 2^23 boundaries between f32 up to the next power of two.
  const float size = fabsf((float)(sum * row_unit * col_unit));
  return error > 0 ? fminf(1.4f * 16777216.0f * error / size, 1.0f) : 0.0f;
}

// A group for CHOOSE_STEPS steps of the sampled lanes; the last one to end chooses the number of
// moduli that takes the least time. An element that is uncertain costs as much as a few thousand
// moduli of an element.
KERNEL_OF(residues_choose, WORKERS, 1)
(A_ARGUMENTS, B_ARGUMENTS, SPACE_ARGUMENTS) {
  const float kOneByOne = 4000;
  LOCAL float chances[WARPS][CHOICES];
  LOCAL uint ticket;
  await_earlier_launches();
  LAYOUT;
  GLOBAL Decision* const decision = (GLOBAL Decision*)space;
  GLOBAL Sample* const sample = &decision->sample;
  const int t = local_x(), lane = t / 8;
  const long s = sampled_matrix(batch), step = group_x() * (long)CHOOSE_STEPS;
  const long row = sampled_lane(lane % SAMPLED, m), col = sampled_lane(lane % SAMPLED, n);
  const GLOBAL Lane* const row_lanes = A_LANES(a_batch == 0 ? 0 : s, 0);
  const GLOBAL Lane* const col_lanes = B_LANES(b_batch == 0 ? 0 : s, 0);
  if (lane < SAMPLED)
    add_losses(a + a_offset + s * a_batch + row * a_row + step * a_col, a_col, k - step,
               row_lanes[row].squares, sample->lost[lane]);
  else
    add_losses(b + b_offset + s * b_batch + col * b_col + step * b_row, b_row, k - step,
               col_lanes[col].squares, sample->lost[lane]);
  sync_memory();
  if (t == 0) ticket = take_ticket(&decision->ticket);
  sync_memory();
  if (ticket != (uint)groups_x() - 1) return;
#pragma unroll
  for (int c = 0; c < CHOICES; ++c) {
    const int i = t / SAMPLED, j = t % SAMPLED;
    float chance = chance_of(sample->sums[i][j], &row_lanes[sampled_lane(i, m)], sample->lost[i][c],
                             &col_lanes[sampled_lane(j, n)], sample->lost[SAMPLED + j][c]);
    for (int mask = 16; mask > 0; mask /= 2) chance += __shfl_xor_sync(~0u, chance, mask);
    if (t % 32 == 0) chances[t / 32][c] = chance;
  }
  sync();
  if (t > 0) return;
  float least = INFINITY;
  for (int c = 0; c < CHOICES; ++c) {
    float cost = (float)(FEWEST + c);
    for (int w = 0; w < WARPS; ++w) cost += kOneByOne / (SAMPLED * SAMPLED) * chances[w][c];
    if (cost < least) least = cost, decision->moduli = FEWEST + c;
  }
}

// --- Residues ------------------------------------------------------------------------------------

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

// Numbers as integers: 2^52 + x in (low, high). What was lost is added to the sums.
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

// Their residues modulo each modulus.
template <int N, int OF_B>
DEVICE void store_eight(const uint* low, const uint* high, GLOBAL uchar* to, long modulus_bytes) {
  __asm__ volatile("" : "+l"(modulus_bytes));  // opaque: else N places are kept in registers
#pragma unroll
  for (int q = 0; q < N; ++q, to += modulus_bytes) {
    const Reduction& r = tables.reduction[N - FEWEST][OF_B][q];
    uint byte[EIGHT];
#pragma unroll
    for (int e = 0; e < EIGHT; ++e) {
      const uint bits = __dp4a(low[e], r.low, __dp4a(high[e], r.high, r.start));
      const float quotient = fmaf(as_float(bits), r.inverse, 12582912.0f);
      byte[e] = bits + as_uint(quotient) * (uint)r.negative;  // its low byte is right
    }
    *(GLOBAL uint2*)to = make_uint2(bytes_of(byte[0], byte[1], byte[2], byte[3]),
                                    bytes_of(byte[4], byte[5], byte[6], byte[7]));
  }
}

// Converts `blocks` blocks of STEPS steps of a patch, which go to `to`, from its lane `first` on.
template <int N, int OF_B>
DEVICE void convert_blocks(SOURCE, int blocks, GLOBAL Lane* sums, GLOBAL uchar* to, int first,
                           long modulus_bytes, LOCAL_POINTER float* patch,
                           LOCAL_POINTER double* scales) {
  const int t = local_x(), octet = t & 15;
  float squares[2] = {0, 0}, sum[2] = {0, 0};  // of two lanes
  if (t < PATCH) scales[t] = power_of_two(scale_of(sums[t].squares, tables.bound[N - FEWEST]));
  to += ((octet >> 1) ^ (t >> 4 & 7)) * 16 + (octet & 1) * EIGHT;
#pragma unroll 1
  for (int block = 0; block < blocks; ++block, to += BLOCK) {
    fetch(x, of_lane, of_step, lanes, steps, patch);
    x += STEPS * of_step, steps -= STEPS;
    sync();
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int lane = (t >> 4) + 16 * h;
      uint low[EIGHT], high[EIGHT];
      round_eight(patch + lane * PITCH + octet * (EIGHT + 1), scales[lane], low, high, &squares[h],
                  &sum[h]);
      store_eight<N, OF_B>(low, high, to + (first + lane) * STEPS, modulus_bytes);
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

// The bounds of a patch's lanes (certain.h).
DEVICE void write_bounds(const GLOBAL Lane* sums, long lanes, GLOBAL double* to) {
  const int t = local_x();
  if (t >= PATCH || t >= lanes) return;
  to[2 * t] = sqrt(sums[t].squares) * (1 + 1e-11);
  to[2 * t + 1] = INFINITY;
}

// A group for each patch of padded lanes and `each` blocks of steps.
KERNEL_BOUNDED(residues_convert, WORKERS, 1, 3)
(A_ARGUMENTS, B_ARGUMENTS, SPACE_ARGUMENTS, int each, long a_bounds, long b_bounds) {
  LOCAL float patch[PATCH * PITCH];
  LOCAL double scales[PATCH];
  await_earlier_launches();
  LAYOUT;
  const int count = (int)((const GLOBAL Decision*)space)->moduli;
  const Patch p = patch_of(group_x(), at.rows, at.cols, a_batch == 0 ? 1 : batch,
                           (at.blocks + each - 1) / each, each * STEPS);
  const long block = p.step / STEPS, rest = at.blocks - block;
  const long place = (p.lane / LANES * at.blocks + block) * BLOCK;
  const int blocks = rest < each ? (int)rest : each, first = (int)(p.lane % LANES);
  if (p.step == 0)
    write_bounds(p.of_b ? B_LANES(p.matrix, p.lane) : A_LANES(p.matrix, p.lane),
                 (p.of_b ? n : m) - p.lane,
                 (GLOBAL double*)space + (p.of_b ? b_bounds + 2 * (p.matrix * n + p.lane)
                                                 : a_bounds + 2 * (p.matrix * m + p.lane)));
#define CONVERT(N)                                                                                \
  case N:                                                                                         \
    if (p.of_b)                                                                                   \
      convert_blocks<N, 1>(B_SOURCE(p.matrix, p.lane, p.step), blocks, B_LANES(p.matrix, p.lane), \
                           space + at.b + p.matrix * at.b_matrix + place, first, at.b_modulus,    \
                           patch, scales);                                                        \
    else                                                                                          \
      convert_blocks<N, 0>(A_SOURCE(p.matrix, p.lane, p.step), blocks, A_LANES(p.matrix, p.lane), \
                           space + at.a + p.matrix * at.a_matrix + place, first, at.a_modulus,    \
                           patch, scales);                                                        \
    break;
  switch (count) { FOR_MODULI(CONVERT) }
}

// --- Products ------------------------------------------------------------------------------------

#define KERNEL_OF_PAIRS(name, x) \
  extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(x, 1) name

DEVICE void multiply_all(Stages stages, const Layout* at, GLOBAL uchar* space, int batch) {
  int t, group;  // opaque: made in the registers that there are now
  __asm__ volatile("mov.u32 %0, %%tid.x;" : "=r"(t));
  __asm__ volatile("mov.u32 %0, %%ctaid.x;" : "=r"(group));
  const int rows = (int)(at->rows / TWO_BLOCKS), cols = (int)(at->cols / TWO_BLOCKS);
  const int all = (int)((const GLOBAL Decision*)space)->moduli * batch * rows * cols;
  int acc[SUMS];
#pragma unroll
  for (int i = 0; i < SUMS; ++i) acc[i] = 0;
  for (int w = group / 2; w < all; w += groups_x() / 2) {
    const Work work = work_of(w, rows, cols, batch);
    multiply_work(&stages, acc, (int)at->blocks, tables.modulus[work.modulus],
                  tables.magic[work.modulus], t / 32, t % 32);
    store_residues(acc, space + at->c + work.modulus * at->c_modulus + work.batch * at->c_matrix +
                            ((work.row * 2l + group % 2) * cols + work.col) * TILE_BYTES + t * 16 +
                            t / 128 * (TILE_BYTES / 2 - 128 * 16));
  }
}

DEVICE void copy_all(Stages stages, const Layout* at, const GLOBAL uchar* space, bool one_a,
                     bool one_b, int batch) {
  const int rows = (int)(at->rows / TWO_BLOCKS), cols = (int)(at->cols / TWO_BLOCKS);
  const int rank = group_x() % 2, blocks = (int)at->blocks;
  const int all = (int)((const GLOBAL Decision*)space)->moduli * batch * rows * cols;
  for (int w = group_x() / 2; w < all; w += groups_x() / 2) {
    const Work work = work_of(w, rows, cols, batch);
    copy_work(&stages,
              space + at->a + work.modulus * at->a_modulus +
                  (one_a ? 0 : work.batch) * at->a_matrix + (work.row * 2l + rank) * blocks * BLOCK,
              space + at->b + work.modulus * at->b_modulus +
                  (one_b ? 0 : work.batch) * at->b_matrix + (work.col * 2l + rank) * blocks * BLOCK,
              blocks, rank);
  }
}

KERNEL_OF_PAIRS(residues_product, MULTIPLIERS + COPIERS)
(long a_batch, long b_batch, SPACE_ARGUMENTS) {
  LOCAL_ARENA(arena, STAGES * STAGE_BYTES + 1024);
  LOCAL Barrier full[STAGES], empty[STAGES];
  // The swizzle goes by the address.
  Stages stages = {arena + (1024 - local_address(arena) % 1024) % 1024, full, empty, 0, 0};
  if (local_x() == 0) {
    for (int i = 0; i < STAGES; ++i) {
      start_barrier(&full[i], 1);
      start_barrier(&empty[i], 2 * MULTIPLIERS / 32);
    }
    __asm__ volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
  }
  sync_pair();
  if (local_x() >= MULTIPLIERS) {
    GIVE_REGISTERS(COPIER_REGISTERS);
    await_earlier_launches();
    if (local_x() == MULTIPLIERS) {
      before_copies();
      LAYOUT;
      copy_all(stages, &at, space, a_batch == 0, b_batch == 0, batch);
    }
  } else {
    TAKE_REGISTERS(MULTIPLIER_REGISTERS);
    await_earlier_launches();
    LAYOUT;
    multiply_all(stages, &at, space, batch);
  }
  sync_pair();  // a group's local memory stays while the other one may reach for it
}

// --- Elements of C -------------------------------------------------------------------------------

enum { PART_ROWS = 64, PART_COLS = 32, RECONSTRUCTORS = 128 };

// The part of C of a group of residues_reconstruct.
typedef struct Part {
  GLOBAL float* c;         // the part's first element
  GLOBAL uint* marks;      // of all of C
  long c_row, first_mark;  // the element's number
  long n;
  int rows, cols;  // that are left
  Scaling scaling;
} Part;

// Stores two neighbours of a row, or marks those that aren't certain.
DEVICE void store_two(const Part* part, int row, int col, const float* values,
                      const bool* certain) {
  GLOBAL float* const to = part->c + row * part->c_row + col;
  const bool second = col + 1 < part->cols;
  if (certain[0] && certain[1] && second && ((ulong)to & 7) == 0) {
    *(GLOBAL float2*)to = make_float2(values[0], values[1]);
    return;
  }
#pragma unroll
  for (int e = 0; e < 2; ++e) {
    if (e == 1 && !second) return;
    const long index = part->first_mark + row * part->n + col + e;
    if (certain[e])
      to[e] = values[e];
    else
      mark(part->marks, index);
  }
}

template <int N>
DEVICE void reconstruct(const Part& part, const Side* rows, const Side* cols,
                        const GLOBAL uchar* residues, long modulus_bytes) {
  const int t = local_x(), lane = t % 32, row = t / 32 * 16 + lane / 4, col0 = lane % 4 * 2;
  if (row >= part.rows || col0 >= part.cols) return;
  const bool plain = part.scaling.alpha == 1.0f && part.scaling.flags == MULTIPLY;
  uint4 y[N];
#pragma unroll
  for (int q = 0; q < N; ++q) y[q] = __ldcs((const uint4*)(residues + q * modulus_bytes + t * 16));
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int col = col0 + 8 * i;
    if (col >= part.cols) break;
    uint bytes[N];
    double d[4][limbs_of(N)];
#pragma unroll
    for (int q = 0; q < N; ++q)
      bytes[q] = i == 0 ? y[q].x : i == 1 ? y[q].y : i == 2 ? y[q].z : y[q].w;
    recombine(bytes, d);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      if (row + 8 * h >= part.rows) break;
      float values[2];
      bool certain[2];
#pragma unroll
      for (int e = 0; e < 2; ++e)
        certain[e] = round_limbs(
            d[2 * h + e], rows[row + 8 * h], cols[col + e], plain, part.scaling,
            part.c + (row + 8 * h) * part.c_row + col + (col + e < part.cols ? e : 0), &values[e]);
      store_two(&part, row + 8 * h, col, values, certain);
    }
  }
}

// C = beta C, or 0: nothing is multiplied.
DEVICE void store_scaled(const Part& part) {
  const int t = local_x();
  for (int i = t; i < PART_ROWS * PART_COLS; i += RECONSTRUCTORS) {
    const int row = i / PART_COLS, col = i % PART_COLS;
    if (row >= part.rows || col >= part.cols) continue;
    GLOBAL float* const to = part.c + row * part.c_row + col;
    *to = scaled_alone(part.scaling.beta, part.scaling.flags & ADD_C ? *to : 0.0f,
                       part.scaling.flags);
  }
}

// A group for each 64x32 of C's tiles.
KERNEL_OF(residues_reconstruct, RECONSTRUCTORS, 1)
(long a_batch, long b_batch, SPACE_ARGUMENTS, GLOBAL float* c, long c_offset, long c_batch,
 long c_row, float alpha, float beta, int flags, long first_mark) {
  LOCAL Side rows[PART_ROWS], cols[PART_COLS];
  await_earlier_launches();
  LAYOUT;
  const int tiles_m = (int)(at.rows / 128), tiles_n = (int)(at.cols / 256), t = local_x();
  const int tile = group_x() / 16, inside = group_x() % 16;
  const long s = tile / tiles_n / tiles_m;
  const long i0 = tile / tiles_n % tiles_m * 128l + inside / 8 * PART_ROWS;
  const long j0 = tile % tiles_n * 256l + inside % 8 * PART_COLS;
  if (i0 >= m || j0 >= n) return;
  const Part part = {c + c_offset + s * c_batch + i0 * c_row + j0,
                     (GLOBAL uint*)(space + first_mark),
                     c_row,
                     (s * m + i0) * n + j0,
                     n,
                     (int)(m - i0 < PART_ROWS ? m - i0 : PART_ROWS),
                     (int)(n - j0 < PART_COLS ? n - j0 : PART_COLS),
                     {alpha, beta, flags}};
  if (!(flags & MULTIPLY)) {
    store_scaled(part);
    return;
  }
  const int count = (int)((const GLOBAL Decision*)space)->moduli;
  const double bound = tables.bound[count - FEWEST];
  if (t < PART_ROWS)
    rows[t] = side_of(
        (const GLOBAL Lane*)(space + at.a_lanes) + (a_batch == 0 ? 0 : s) * at.rows + i0 + t, k,
        bound);
  else if (t < PART_ROWS + PART_COLS)
    cols[t - PART_ROWS] = side_of((const GLOBAL Lane*)(space + at.b_lanes) +
                                      (b_batch == 0 ? 0 : s) * at.cols + j0 + t - PART_ROWS,
                                  k, bound);
  sync();
  const GLOBAL uchar* residues = space + at.c + (long)group_x() * (16 * RECONSTRUCTORS);
#define RECONSTRUCT(N) \
  case N: reconstruct<N>(part, rows, cols, residues, at.c_modulus); break;
  switch (count) { FOR_MODULI(RECONSTRUCT) }
}
