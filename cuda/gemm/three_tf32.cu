// Only NVIDIA's compilers take this text.
// Idea: an f32 as two TF32 numbers, x = hi + lo, and hi hi + hi lo + lo hi on the tensor cores: all
// but 2^-21 of a product.
// It beats `warp_specialized` because the tensor cores do three such products in less than half of
// the time. Its bits are others, so it is for those who ask for `fast`; docs/numerics.md has its
// bound.
// Requires: f32; compute capability 9.0, whose warp groups multiply from local memory (wgmma).
//
//   three_tf32_split   writes the parts of A and B as the tensor cores read them: blocks of 16
//                      steps of k of 128 rows of A or 192 columns of B, hi before lo. In each, 8
//                      lanes by 4 steps are side by side.
//   three_tf32         C tile 256x192 of two groups, which give each other half of B's blocks: in
//                      each a work-item copies, two warp groups multiply 64x192.
#define PLAIN_READS
#include "barrier.h"
#include "chunks.h"
#include "problem.h"

enum { TILE_M = 128, TILE_N = 192, DEPTH = 16, STAGES = 5, MULTIPLIERS = 256, COPIERS = 128 };
enum { PATCH = 64, SPLITTERS = 256, COPIER_REGISTERS = 40, MULTIPLIER_REGISTERS = 232 };
#define BLOCK(lanes) (2 * (lanes)*DEPTH) /* elements, of hi and lo */
#define STAGE (BLOCK(TILE_M) + BLOCK(TILE_N))
// Groups of x work-items, two of which run side by side and reach each other's local memory.
#define KERNEL_OF_PAIRS(name, x) \
  extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(x, 1) name

// --- The parts -----------------------------------------------------------------------------------

// Rounded to 11 bits; a NaN stays one.
DEVICE float to_tf32(float x) {
  uint bits;
  __asm__("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return as_float(bits);
}

// The place of 4 steps of k of a lane in a block, which begins at step 0.
DEVICE int place(int lane, int l) { return lane / 8 * (8 * DEPTH) + l / 4 * 32 + lane % 8 * 4; }

// PATCH lanes by PATCH steps of one operand, of which `lanes` and `steps` are inside; the rest is
// zero. `to` is the first block, `first` the patch's first lane there, and `blocks` are left.
DEVICE void split_patch(const GLOBAL float* x, long lane_stride, long k_stride, long lanes,
                        long steps, GLOBAL float* to, const int size, int first, int blocks) {
  LOCAL float patch[PATCH][PATCH + 1];
  const int t = local_x(), fast = t % PATCH;
  const bool along_k = k_stride == 1;
#pragma unroll
  for (int i = t / PATCH; i < PATCH; i += SPLITTERS / PATCH) {
    const int lane = along_k ? i : fast, l = along_k ? fast : i;
    patch[lane][l] = lane < lanes && l < steps ? x[lane * lane_stride + l * k_stride] : 0.0f;
  }
  sync();
  // Neighbours store neighbours.
  const int lane = t / 32 * 8 + t % 8, quarter = t / 8 % 4 * 4;
#pragma unroll
  for (int b = 0; b < PATCH / DEPTH; ++b) {
    float hi[4], lo[4];
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const float value = patch[lane][b * DEPTH + quarter + e];
      hi[e] = to_tf32(value);
      lo[e] = to_tf32(value - hi[e]);
    }
    if (b >= blocks) return;
    GLOBAL float* const at = to + (long)b * BLOCK(size) + place(first + lane, quarter);
    *(GLOBAL VECTOR*)at = pack(hi);
    *(GLOBAL VECTOR*)(at + size * DEPTH) = pack(lo);
  }
}

// There is a group for each patch: first those of A, and along k first. a_patches, b_patches: how
// many patches a matrix has along its lanes. The kernel also lowers `flag_count` flags.
KERNEL_OF(three_tf32_split, SPLITTERS, 1)
(const GLOBAL float* a, long a_offset, long a_batch, long a_row, long a_col, const GLOBAL float* b,
 long b_offset, long b_batch, long b_row, long b_col, GLOBAL float* parts, long a_first,
 long b_first, long m, long n, long k, int blocks, int a_patches, int b_patches, int a_groups,
 long first_flag, int flag_count) {
  await_earlier_launches();
  if (group_x() == 0)
    for (int i = local_x(); i < flag_count; i += SPLITTERS)
      ((GLOBAL uint*)parts)[first_flag + i] = 0;
  const bool of_b = group_x() >= a_groups;
  const int deep = (blocks + PATCH / DEPTH - 1) / (PATCH / DEPTH);
  const int group = of_b ? group_x() - a_groups : group_x();
  const int block = group % deep * (PATCH / DEPTH), patch = group / deep;
  const int patches = of_b ? b_patches : a_patches;
  const long batch = patch / patches, lane = (long)(patch % patches) * PATCH,
             l = (long)block * DEPTH;
  if (of_b)
    split_patch(b + b_offset + batch * b_batch + lane * b_col + l * b_row, b_col, b_row, n - lane,
                k - l,
                parts + b_first +
                    ((batch * b_patches * PATCH + lane) / TILE_N * blocks + block) * BLOCK(TILE_N),
                TILE_N, (int)(lane % TILE_N), blocks - block);
  else
    split_patch(a + a_offset + batch * a_batch + lane * a_row + l * a_col, a_row, a_col, m - lane,
                k - l,
                parts + a_first +
                    ((batch * a_patches * PATCH + lane) / TILE_M * blocks + block) * BLOCK(TILE_M),
                TILE_M, (int)(lane % TILE_M), blocks - block);
}

#define STAGED float
#include "warp_group.h"

// --- Products ------------------------------------------------------------------------------------

// The tensor cores sum at most SUMMED blocks, because they cut off what a sum can't hold. Ordinary
// additions add these sums.
#define SUMMED 4

// A warp's 16 rows of the tile, on their way to C: a pitch that spreads rows over the banks.
#define PITCH (TILE_N + 8)

DEVICE bool is_finite(float x) { return (as_uint(x) & 0x7f800000) != 0x7f800000; }

// The sum of an element as `reproducible` has it, for sums that aren't finite. An infinity, or a
// number that rounds to one, has no parts and always gives such a sum.
DEVICE float chain(const GLOBAL float* a, long a_col, const GLOBAL float* b, long b_row, long k) {
  float sum = 0;
#pragma unroll 4
  for (long l = 0; l < k; ++l) sum = multiply_add(a[l * a_col], b[l * b_row], sum);
  return sum;
}

// Sums in the workspace, vectors side by side with those of neighbours.
DEVICE void keep_sums(GLOBAL VECTOR* to, const float* sums) {
#pragma unroll
  for (int i = 0; i < SUMS; i += 4, to += MULTIPLIERS) *to = pack(sums + i);
}
DEVICE void add_sums(const GLOBAL VECTOR* from, float* sums) {
#pragma unroll
  for (int i = 0; i < SUMS; i += 4, from += MULTIPLIERS) {
    float more[4];
    unpack(*from, more);
    sums[i] += more[0], sums[i + 1] += more[1], sums[i + 2] += more[2], sums[i + 3] += more[3];
  }
}

// A flag in global memory by which a warp tells a warp of another group that its stores can be
// read. One lane calls raise_flag after a sync_warp() behind the warp's stores, and one lane calls
// await_flag before a sync_warp() and the warp's loads, so one lane's release and acquire count for
// all. await_flag lowers the flag again.
DEVICE void raise_flag(GLOBAL uint* flag) {
  __asm__ volatile("st.release.gpu.u32 [%0], 1;" : : "l"(flag) : "memory");
}
DEVICE void await_flag(GLOBAL uint* flag) {
  uint up;
  do {
    __asm__ volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(up) : "l"(flag) : "memory");
  } while (!up);
  *flag = 0;
}

DEVICE void start_barriers(const Stages* s, Barrier* stored) {
  start_stages(s);
  start_barrier(stored, 2 * MULTIPLIERS / 32);
  publish_barriers();
}

// The copying work-item brings the group's rows of A and its half of B's columns, chunk after
// chunk. a_parts and b_parts are the distances from one matrix's parts to the next's.
DEVICE void copy_chunks(Stages s, Barrier* stored, const GLOBAL float* a, long a_parts,
                        const GLOBAL float* b, long b_parts, int tiles_m, int tiles_n, int blocks,
                        int tiles, int shared) {
  const int rank = group_x() % 2;
  Part part = part_of(group_x() / 2, shared, blocks);
  Chunk chunk;
  for (uint last = 1; next_chunk(&part, blocks, tiles, &chunk); last ^= 1) {
    const Tile tile = tile_of(chunk.tile, tiles_m, tiles_n);
    const GLOBAL float* from_a =
        a + tile.batch * a_parts +
        ((long)(tile.row * 2 + rank) * blocks + chunk.first) * BLOCK(TILE_M);
    const GLOBAL float* from_b = b + tile.batch * b_parts +
                                 ((long)tile.col * blocks + chunk.first) * BLOCK(TILE_N) +
                                 rank * (BLOCK(TILE_N) / 2);
    wait_for(stored, last);  // the last tile's sums lay in the stages
    for (int block = chunk.first; block < chunk.end; ++block) {
      Barrier* const full = &s.full[s.index];
      wait_for(&s.empty[s.index], s.parity ^ 1);
      arrive_and_expect(full, STAGE * 4);
      float* const to = s.memory + s.index * STAGE;
      copy_block(to, from_a, BLOCK(TILE_M) * 4, full);
      copy_to_both(to + BLOCK(TILE_M) + rank * (BLOCK(TILE_N) / 2), from_b, BLOCK(TILE_N) / 2 * 4,
                   full);
      from_a += BLOCK(TILE_M);
      from_b += BLOCK(TILE_N);
      next_stage(&s);
    }
  }
}

// Begins the three products of a stage that is there. They are added to `acc`, or replace it if
// `first`.
DEVICE void begin_stage(float* acc, uint stage, int warp, bool first) {
  const ulong a_hi = operand_at(stage + warp / 4 * (64 * DEPTH * 4));
  const ulong a_lo = a_hi + TILE_M * DEPTH / 4;
  const ulong b_hi = operand_at(stage + BLOCK(TILE_M) * 4), b_lo = b_hi + TILE_N * DEPTH / 4;
  before_multiply();
#pragma unroll
  for (int s = 0; s < DEPTH / 8 * STEP_ON; s += STEP_ON) {
    begin_multiply(acc, a_hi + s, b_hi + s, s > 0 || !first);
    begin_multiply(acc, a_hi + s, b_lo + s, 1);
    begin_multiply(acc, a_lo + s, b_hi + s, 1);
  }
  commit_multiply();
}

// sums = a warp's sums over the blocks of `chunk`; `acc` is where the tensor cores add.
DEVICE void multiply_chunk(Stages* s, const Chunk* chunk, float* acc, float* sums, int warp,
                           int lane) {
  const uint first_stage = local_address(s->memory);
#pragma unroll
  for (int i = 0; i < SUMS; ++i) sums[i] = 0;
  for (int done = chunk->first; done < chunk->end; done += SUMMED) {
    const int end = chunk->end - done < SUMMED ? chunk->end - done : SUMMED;
    int before = 0;
#pragma unroll 1
    for (int block = 0; block < end; ++block) {
      wait_for(&s->full[s->index], s->parity);
      begin_stage(acc, first_stage + s->index * (STAGE * 4), warp, block == 0);
      await_multiply(1);
      if (block > 0 && lane < 2) arrive_in(&s->empty[before], lane);
      before = s->index;
      next_stage(s);
    }
    await_multiply(0);
    finish_sums(acc);
    if (lane < 2) arrive_in(&s->empty[before], lane);
#pragma unroll
    for (int i = 0; i < SUMS; ++i) sums[i] += acc[i];
  }
}

// Stores a warp's 16 rows of the tile by way of `lines`, its own in local memory.
DEVICE void store_rows(GEMM_ARGUMENTS, const float* sums, float* lines, int tile_index, int rank,
                       int warp, int lane) {
#pragma unroll
  for (int i = 0; i < SUMS; i += 2)
    *(float2*)(lines + (lane / 4 + i / 2 % 2 * 8) * PITCH + i / 4 * 8 + lane % 4 * 2) =
        make_float2(sums[i], sums[i + 1]);
  sync_warp();
  const Tile tile = tile_of(tile_index, tiles_m, tiles_n);
  const long i0 = (long)(tile.row * 2 + rank) * TILE_M + warp * 16;
  const long j0 = (long)tile.col * TILE_N + lane;
  const int rows = m - i0 < 16 ? (int)(m - i0) : 16;
  const int cols = n - j0 < TILE_N ? (int)(n - j0) : TILE_N;
  const GLOBAL float* const from_a = a + a_offset + tile.batch * a_batch + i0 * a_row;
  const GLOBAL float* const from_b = b + b_offset + tile.batch * b_batch + j0 * b_col;
  GLOBAL float* const to = c + c_offset + tile.batch * c_batch + i0 * c_row + j0;
#pragma unroll 1
  for (int row = 0; row < rows; ++row) {
    float* const line = lines + row * PITCH + lane;
    bool finite = true;
#pragma unroll
    for (int e = 0; e < TILE_N; e += 32) finite &= is_finite(line[e]);
    if (!finite)
#pragma unroll 1
      for (int e = 0; e < cols; e += 32)
        if (!is_finite(line[e]))
          line[e] = chain(from_a + row * a_row, a_col, from_b + e * b_col, b_row, k);
#pragma unroll
    for (int e = 0; e < TILE_N; e += 32)
      if (e < cols) finish(to + row * c_row + e, line[e], alpha, beta, flags);
  }
}

// A multiplying warp. From `given_sums` on each group has its sums for another pair, and then a
// flag for each of its warps.
DEVICE void multiply_chunks(GEMM_ARGUMENTS, Stages s, Barrier* stored, GLOBAL float* given_sums,
                            int blocks, int tiles, int shared) {
  int t, group;  // opaque: made in the registers that there are now
  __asm__ volatile("mov.u32 %0, %%tid.x;" : "=r"(t));
  __asm__ volatile("mov.u32 %0, %%ctaid.x;" : "=r"(group));
  const int warp = t / 32, lane = t % 32;
  GLOBAL VECTOR* const given = (GLOBAL VECTOR*)(given_sums + (long)group * (TILE_M * TILE_N)) + t;
  GLOBAL uint* const flag = (GLOBAL uint*)(given_sums + (long)groups_x() * (TILE_M * TILE_N)) +
                            group * (MULTIPLIERS / 32) + warp;
  Part part = part_of(group / 2, shared, blocks);
  Chunk chunk;
  float acc[SUMS], sums[SUMS];
#pragma unroll
  for (int i = 0; i < SUMS; ++i) acc[i] = 0;
  while (next_chunk(&part, blocks, tiles, &chunk)) {
    multiply_chunk(&s, &chunk, acc, sums, warp, lane);
    if (chunk.end < blocks) {  // another pair has the tile's end
      keep_sums(given, sums);
      sync_warp();
      if (lane == 0) raise_flag(flag);
      give_back(stored, lane);
      continue;
    }
    for (int other = 1; chunk.first > 0; ++other) {
      const int begin = part_begin(group / 2 - other, shared, blocks) - chunk.tile * blocks;
      if (lane == 0) await_flag(flag - 2 * other * (MULTIPLIERS / 32));
      sync_warp();
      add_sums(given - 2l * other * (TILE_M * TILE_N / WIDTH), sums);
      chunk.first = begin > 0 ? begin : 0;
    }
    // All have read the last stages.
    __asm__ volatile("bar.sync 1, %0;" : : "n"((int)MULTIPLIERS) : "memory");
    store_rows(GEMM_PASSED, sums, s.memory + warp * 16 * PITCH, chunk.tile, group % 2, warp, lane);
    before_copies();
    sync_warp();
    give_back(stored, lane);
  }
}

KERNEL_OF_PAIRS(three_tf32, MULTIPLIERS + COPIERS)
(GEMM_ARGUMENTS, GLOBAL float* space, long a_first, long a_parts, long b_first, long b_parts,
 long first_sum, int blocks, int tiles, int shared) {
  LOCAL_ARENA(arena, STAGES * STAGE * 4);
  LOCAL Barrier full[STAGES], empty[STAGES], stored;
  Stages stages = {(float*)arena, full, empty, 0, 0};
  if (local_x() == 0) start_barriers(&stages, &stored);
  sync_pair();
  if (local_x() >= MULTIPLIERS) {
    GIVE_REGISTERS(COPIER_REGISTERS);
    await_earlier_launches();
    if (local_x() == MULTIPLIERS) {
      before_copies();
      copy_chunks(stages, &stored, space + a_first, a_parts, space + b_first, b_parts, tiles_m,
                  tiles_n, blocks, tiles, shared);
    }
  } else {
    TAKE_REGISTERS(MULTIPLIER_REGISTERS);
    await_earlier_launches();
    multiply_chunks(GEMM_PASSED, stages, &stored, space + first_sum, blocks, tiles, shared);
  }
  sync_pair();  // a group's local memory stays while the other one may reach for it
}
