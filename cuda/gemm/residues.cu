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
//   residues_norms        sums squares of the lanes, and products of a sample of C's elements;
//                         clears marks
//   residues_choose       chooses the number of moduli by the sample
//   residues_convert      writes residues of A and B, and sums what rounding lost
//   residues_product      a product modulo each modulus
//   residues_reconstruct  stores the elements of C that are certain, marks the others
#define PLAIN_READS
#include "problem.h"
#include "residue_tables.h"

// It isn't const: instructions take operands from constant memory, but not known ones of 64 bits.
static __constant__ Tables tables = tables_of_residues();

// A case for each number of moduli.
#define FOR_MODULI(x) x(7) x(8) x(9) x(10) x(11) x(12) x(13)

// Element (i, l) of matrix s is a[a_offset + s * a_batch + i * a_row + l * a_col].
#define A_ARGUMENTS const GLOBAL float *a, long a_offset, long a_batch, long a_row, long a_col
#define B_ARGUMENTS const GLOBAL float *b, long b_offset, long b_batch, long b_row, long b_col
// A patch of an operand: its first element, the distances between lanes and between steps, and how
// many are left of both.
#define SOURCE const GLOBAL float *x, long of_lane, long of_step, long lanes, long steps

enum { WORKERS = 256, WARPS = WORKERS / 32, PATCH = 32 /* lanes of a group */ };

#include "residue_convert.h"
#include "residue_reconstruct.h"
#include "residue_sums.h"

// moduli: how many there are at most (0: MOST), and if not 0, how many are taken.
#define SPACE_ARGUMENTS \
  GLOBAL uchar *space, long base, long m, long n, long k, int batch, int moduli
#define LAYOUT      \
  space += base;    \
  const Layout at = \
      layout_of(m, n, k, batch, a_batch == 0 ? 1 : batch, b_batch == 0 ? 1 : batch, moduli)

// The number of a row or column of padded matrices, A's first.
#define A_LANE(s, lane) ((s)*at.rows + (lane))
#define B_LANE(s, lane) ((a_batch == 0 ? 1 : batch) * at.rows + (s)*at.cols + (lane))
#define NORMS ((GLOBAL Norm*)(space + at.norms))
#define LANE_SUMS ((GLOBAL Lane*)(space + at.sums))
#define SIDES ((GLOBAL Side*)(space + at.sides))

// --- Norms ---------------------------------------------------------------------------------------

// Which operand, matrix, lanes and steps a group has, of `deep` along k.
typedef struct Patch {
  bool of_b;
  long matrix, lane, step;
} Patch;
// There are fewer groups than 2^31.
DEVICE Patch patch_of(uint group, long rows, long cols, int a_matrices, uint deep, int shift) {
  const uint of_a = (uint)(rows / PATCH) * a_matrices * deep;
  Patch patch;
  patch.of_b = group >= of_a;
  const uint index = patch.of_b ? group - of_a : group, row = index / deep;
  const uint patches = (uint)((patch.of_b ? cols : rows) / PATCH);
  const uint matrix = row < patches ? 0 : row / patches;
  patch.step = (long)(index - row * deep) << shift;
  patch.matrix = matrix;
  patch.lane = (row - matrix * patches) * (long)PATCH;
  return patch;
}

// The decision begins, rounding has lost nothing, and no element is marked.
DEVICE void clear(GLOBAL Decision* decision, int moduli, GLOBAL uint* marks, long words) {
  const long me = group_x() * (long)WORKERS + local_x(), all = groups_x() * (long)WORKERS;
  if (me == 0)
    decision->moduli = moduli == 0 ? MOST : moduli, decision->ticket = decision->copied = 0;
  if (me < 2 * SAMPLED * CHOICES * 2) ((GLOBAL float*)decision->sample.lost)[me] = 0;
#pragma unroll 1
  for (long i = me; i < words; i += all) marks[i] = 0;
}

// A group for each of the sample's cuts, then for each patch of padded lanes and cut. `words` are
// the marks behind `first_mark`.
KERNEL_OF(residues_norms, WORKERS, 1)
(A_ARGUMENTS, B_ARGUMENTS, SPACE_ARGUMENTS, long first_mark, long words) {
  await_earlier_launches();
  LAYOUT;
  GLOBAL Decision* const decision = (GLOBAL Decision*)space;
  clear(decision, moduli, (GLOBAL uint*)(space + first_mark), words);
  if (group_x() < at.sample_cuts) {
    const long step = (long)group_x() << at.sample_shift, end = step + (1l << at.sample_shift);
    sum_samples(a, a_offset, a_batch, a_row, a_col, b, b_offset, b_batch, b_row, b_col, m, n, batch,
                step, end < k ? end : k, decision->sample.sums[group_x()]);
    return;
  }
  const Patch p = patch_of(group_x() - at.sample_cuts, at.rows, at.cols, a_batch == 0 ? 1 : batch,
                           at.norm_cuts, at.norm_shift);
  const long lane = p.of_b ? B_LANE(p.matrix, p.lane) : A_LANE(p.matrix, p.lane);
  const long steps = min(k - p.step, 1l << at.norm_shift);
  int shift = 5;
  while ((k - 1) >> shift > 63) ++shift;
  GLOBAL Norm* const norms = NORMS + (p.step >> at.norm_shift) * at.lanes + lane;
  if (p.step == 0 && local_x() < PATCH)
    LANE_SUMS[lane + local_x()].lost_squares = LANE_SUMS[lane + local_x()].lost_sum = 0;
  const GLOBAL float* const x =
      p.of_b ? b + b_offset + p.matrix * b_batch + p.lane * b_col + p.step * b_row
             : a + a_offset + p.matrix * a_batch + p.lane * a_row + p.step * a_col;
  sum_norms(x, p.of_b ? b_col : a_row, p.of_b ? b_row : a_col, (p.of_b ? n : m) - p.lane, steps,
            p.step, shift, norms);
}

// --- The number of moduli ------------------------------------------------------------------------

// A group for CHOOSE_STEPS steps of the sampled lanes; the last one to end chooses the number of
// moduli that takes the least time. An element that is uncertain costs as much as a few thousand
// moduli of an element.
KERNEL_OF(residues_choose, WORKERS, 1)
(A_ARGUMENTS, B_ARGUMENTS, SPACE_ARGUMENTS, int may_copy) {
  const float kOneByOne = 3000, kWorthACopy = 2e-5f;
  LOCAL Norm norms[2 * SAMPLED];
  LOCAL float chances[WARPS][CHOICES], lost[2 * SAMPLED][CHOICES][2];
  LOCAL uint ticket;
  LAYOUT;
  GLOBAL Decision* const decision = (GLOBAL Decision*)space;
  GLOBAL Sample* const sample = &decision->sample;
  const int t = local_x(), lane = t / 8;
  const long s = sampled_matrix(batch), step = group_x() * (long)CHOOSE_STEPS;
  const long row = sampled_lane(lane % SAMPLED, m), col = sampled_lane(lane % SAMPLED, n);
  const long number =
      lane < SAMPLED ? A_LANE(a_batch == 0 ? 0 : s, row) : B_LANE(b_batch == 0 ? 0 : s, col);
  const bool of_a = lane < SAMPLED;
  float v[CHOOSE_EACH];  // A and B are there since residues_norms began
  bring_sample(of_a ? a + a_offset + s * a_batch + row * a_row + step * a_col
                    : b + b_offset + s * b_batch + col * b_col + step * b_row,
               of_a ? a_col : b_row, k - step, v);
  await_earlier_launches();
  const Norm norm = norm_of(NORMS + number, at.norm_cuts, at.lanes);
  if (t % 8 == 0) norms[lane] = norm;
  add_samples(sample, at.sample_cuts);
  add_losses(v, norm.squares, sample->lost[lane]);
  sync_memory();
  if (t == 0) ticket = take_ticket(&decision->ticket);
  sync_memory();
  if (ticket != (uint)groups_x() - 1) return;
  for (int l = t; l < 2 * SAMPLED * CHOICES * 2; l += WORKERS)
    lost[0][0][l] = __ldcg(sample->lost[0][0] + l);
  const double sum = __ldcg(sample->sum + t);
  const int i = t / SAMPLED, j = t % SAMPLED;
  sync();
#pragma unroll 1
  for (int c = 0; c < CHOICES; ++c) {
    float chance = chance_of(sum, &norms[i], lost[i][c], &norms[SAMPLED + j], lost[SAMPLED + j][c]);
    for (int mask = 16; mask > 0; mask /= 2) chance += __shfl_xor_sync(~0u, chance, mask);
    if (t % 32 == 0) chances[t / 32][c] = chance;
  }
  sync();
  if (t < CHOICES) {
    float chance = 0;
    for (int w = 0; w < WARPS; ++w) chance += chances[w][t];
    chances[0][t] = chance / (SAMPLED * SAMPLED);
  }
  sync_warp();
  if (t > 0) return;
  float least = INFINITY;
  for (int c = 0; c < CHOICES; ++c) {
    const float cost = (float)(FEWEST + c) + kOneByOne * chances[0][c];
    if (!(cost < least)) continue;
    least = cost;
    decision->moduli = FEWEST + c;
    decision->copied = may_copy && chances[0][c] > kWorthACopy ? 1 : 0;
  }
}

// --- Residues ------------------------------------------------------------------------------------

// A group for each patch of padded lanes and 2^each_shift blocks of steps. The first one of a lane
// writes its sums and its bounds (certain.h). B's copy begins at `copy`.
KERNEL_BOUNDED(residues_convert, WORKERS, 1, 3)
(A_ARGUMENTS, B_ARGUMENTS, SPACE_ARGUMENTS, int each_shift, long a_bounds, long b_bounds,
 long copy) {
  LOCAL float patch[PATCH * PITCH];
  LOCAL Reductions reductions;
  LAYOUT;
  const int each = 1 << each_shift;
  const Patch p = patch_of(groups_x() - 1 - group_x(), at.rows, at.cols, a_batch == 0 ? 1 : batch,
                           (uint)(at.blocks + each - 1) >> each_shift, each_shift + STEPS_SHIFT);
  const GLOBAL float* const x =
      p.of_b ? b + b_offset + p.matrix * b_batch + p.lane * b_col + p.step * b_row
             : a + a_offset + p.matrix * a_batch + p.lane * a_row + p.step * a_col;
  const long of_lane = p.of_b ? b_col : a_row, of_step = p.of_b ? b_row : a_col;
  const long lanes = (p.of_b ? n : m) - p.lane;
  float got[EACH];  // A and B are there since residues_norms began
  bring(x, of_lane, of_step, lanes, k - p.step, got);
  await_earlier_launches();
  const GLOBAL Decision* const decision = (const GLOBAL Decision*)space;
  const int count = (int)decision->moduli, own = local_x() / 8;
  const uint copies = decision->copied;
  const long lane = p.of_b ? B_LANE(p.matrix, p.lane) : A_LANE(p.matrix, p.lane);
  const Norm norm = norm_of(NORMS + lane + own, at.norm_cuts, at.lanes);
  bring_reductions(tables.reduction[count - FEWEST][p.of_b], count, &reductions);
  put(got, of_step == 1, patch);
  const double scale = power_of_two(scale_of(norm.squares, tables.bound[count - FEWEST]));
  if (p.step == 0 && local_x() % 8 == 0) {
    GLOBAL Lane* const sums = LANE_SUMS + lane + own;
    sums->squares = norm.squares, sums->mask = norm.mask, sums->greatest = norm.greatest;
    GLOBAL double* const bound = (GLOBAL double*)space + (p.of_b ? b_bounds : a_bounds) +
                                 2 * (p.matrix * (p.of_b ? n : m) + p.lane + own);
    if (own < lanes) bound[0] = sqrt(norm.squares) * (1 + 1e-11), bound[1] = INFINITY;
  }
  const long block = p.step / STEPS, rest = at.blocks - block;
  const long place = (p.lane / LANES * at.blocks + block) * BLOCK;
  const int blocks = rest < each ? (int)rest : each, first = (int)(p.lane % LANES);
  GLOBAL float* const copied =
      p.of_b && copies ? (GLOBAL float*)(space + copy) + (p.matrix * n + p.lane) * k + p.step : 0;
  convert_blocks(
      x, of_lane, of_step, lanes, k - p.step, blocks, scale, &reductions, count, LANE_SUMS + lane,
      space + place + (p.of_b ? at.b + p.matrix * at.b_matrix : at.a + p.matrix * at.a_matrix),
      first, p.of_b ? at.b_modulus : at.a_modulus, patch, copied, k);
}

// --- Products ------------------------------------------------------------------------------------

#ifdef __CUDACC__  // a test runs the other kernels on the host
#include "residue_multiply.h"

#define KERNEL_OF_PAIRS(name, x) \
  extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(x, 1) name

KERNEL_OF_PAIRS(residues_product, MULTIPLIERS + COPIERS)
(long a_batch, long b_batch, SPACE_ARGUMENTS) {
  LOCAL_ARENA(arena, STAGES * STAGE_BYTES + 1024);
  LOCAL Barrier full[STAGES], empty[STAGES];
  // The swizzle goes by the address.
  Stages stages = {arena + (1024 - local_address(arena) % 1024) % 1024, full, empty, 0, 0};
  if (local_x() == 0) {
    start_stages(&stages);
    publish_barriers();
  }
  sync_pair();
  if (local_x() >= MULTIPLIERS) {
    GIVE_REGISTERS(COPIER_REGISTERS);
    await_earlier_launches();
    LAYOUT;
    if (local_x() == MULTIPLIERS) {
      before_copies();
      copy_all(stages, &at, space, a_batch == 0, b_batch == 0, batch);
    } else if (local_x() >= MULTIPLIERS + 32) {
      write_sides(&at, space, k);
    }
  } else {
    TAKE_REGISTERS(MULTIPLIER_REGISTERS);
    await_earlier_launches();
    LAYOUT;
    multiply_all(stages, &at, space, batch);
  }
  sync_pair();  // a group's local memory stays while the other one may reach for it
}

#endif

// --- Elements of C -------------------------------------------------------------------------------

// A group for each 64x32 of C's tiles.
KERNEL_BOUNDED(residues_reconstruct, RECONSTRUCTORS, 1, 5)
(long a_batch, long b_batch, SPACE_ARGUMENTS, GLOBAL float* c, long c_offset, long c_batch,
 long c_row, float alpha, float beta, int flags, long first_mark) {
  LOCAL Side sides[PART_LANES];
  await_earlier_launches();
  LAYOUT;
  const uint tiles_m = (uint)(at.rows / 128), tiles_n = (uint)(at.cols / 256);
  const uint tile = group_x() / 16u, inside = group_x() % 16u, across = tile / tiles_n;
  const uint s = across < tiles_m ? 0 : across / tiles_m;
  const long i0 = (across - s * tiles_m) * 128l + inside / 8 * PART_ROWS;
  const long j0 = (tile - across * tiles_n) * 256l + inside % 8 * PART_COLS;
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
  const GLOBAL Side* const rows = SIDES + A_LANE(a_batch == 0 ? 0 : s, i0);
  const GLOBAL Side* const cols = SIDES + B_LANE(b_batch == 0 ? 0 : s, j0);
  const GLOBAL uchar* residues = space + at.c + (long)group_x() * (16 * RECONSTRUCTORS);
#define RECONSTRUCT(N) \
  case N: reconstruct<N>(part, rows, cols, sides, residues, at.c_modulus); break;
  switch (count) { FOR_MODULI(RECONSTRUCT) }
}
