// The product of the rung `residues`: for each modulus an int8 product on tensor cores, reduced
// modulo it before a byte of each element is stored.
//
// Tiles of 128x256 of two groups, which share 256 columns of B and copy half of them each. In each
// group a work-item copies, two warp groups multiply 64x256.
#pragma once
#include "barrier.h"
#include "residue_round.h"

enum { STAGES = 4, STAGE_BYTES = 3 * BLOCK, MULTIPLIERS = 256, COPIERS = 128 };
#define STAGED uchar
#include "pair_copies.h"

enum { COPIER_REGISTERS = 56, MULTIPLIER_REGISTERS = 224, SUMS = 128 /* of a work-item */ };
enum { BAND_PAIRS = 4 /* tiles of C for two groups that go down before going right */ };
// Blocks of k whose products of int8 a sum can hold: below 2^30, where `reduced` is exact.
enum { SUMMED_BLOCKS = 511 };

// --- Tensor cores ---

// Rows of 128 bytes, whose 16-byte words are swizzled by the row's last three bits.
DEVICE ulong operand_at(uint address) {
  return (ulong)((address & 0x3ffff) >> 4) | 1ul << 16 | (ulong)(1024 >> 4) << 32 | 1ul << 62;
}
#define STEP_ON 2 /* 32 steps of k of such a descriptor */

#define NAMES(x) \
  ONE_TO_89(x)   \
  TEN(x, 9) TEN(x, 10) TEN(x, 11) x(120) x(121) x(122) x(123) x(124) x(125) x(126) x(127)
#define BOUND(i) , "+r"(acc[i])

// Begins, for a warp group, acc(64 x 256) = a(64 x 32) b(32 x 256), or += if `add`.
DEVICE void begin_multiply(int* acc, ulong a, ulong b, int add) {
  __asm__ volatile(
      "{\n\t.reg .pred add;\n\tsetp.ne.b32 add, %130, 0;\n\t"
      "wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8 {%0" NAMES(
          NAMED) "}, %128, %129, add;\n\t}"
      : "+r"(acc[0])NAMES(BOUND)
      : "l"(a), "l"(b), "r"(add));
}
// Nothing reads the sums before this.
DEVICE void finish_sums(int* acc) {
#pragma unroll
  for (int i = 0; i < SUMS; ++i) __asm__ volatile("" : "+r"(acc[i]) : : "memory");
}

// --- Work ---

typedef struct Work {
  int modulus, batch, row, col;  // row: of two tiles
} Work;
// The groups that run at the same time have the same modulus and near tiles.
DEVICE Work work_of(int w, int rows, int cols, int batch) {
  Work work;
  const int tiles = rows * cols;
  work.batch = w / tiles % batch;
  work.modulus = w / tiles / batch;
  const int index = w % tiles, first = index / (BAND_PAIRS * cols) * BAND_PAIRS;
  const int height = rows - first < BAND_PAIRS ? rows - first : BAND_PAIRS;
  const int inside = index - first * cols;
  work.row = first + inside % height;
  work.col = inside / height;
  return work;
}

// The copying work-item brings the group's rows of A and its half of B's columns.
DEVICE void copy_work(Stages* s, const GLOBAL uchar* a, const GLOBAL uchar* b, int blocks,
                      int rank) {
  for (int block = 0; block < blocks; ++block, a += BLOCK, b += BLOCK) {
    Barrier* const full = &s->full[s->index];
    wait_for(&s->empty[s->index], s->parity ^ 1);
    arrive_and_expect(full, STAGE_BYTES);
    uchar* const to = s->memory + s->index * STAGE_BYTES;
    copy_block(to, a, BLOCK, full);
    copy_to_both(to + (1 + rank) * BLOCK, b, BLOCK, full);
    next_stage(s);
  }
}

// Sums modulo m, in [0, m]. They are below 2^30.
DEVICE void reduce_sums(int* acc, int modulus, int magic) {
#pragma unroll
  for (int i = 0; i < SUMS; ++i) acc[i] -= (__mulhi(acc[i], magic) >> 6) * modulus;
}

// acc = a tile's sums modulo m.
DEVICE void multiply_work(Stages* s, int* acc, int blocks, int modulus, int magic, int warp,
                          int lane) {
  const uint first_stage = local_address(s->memory);
  for (int done = 0; done < blocks; done += SUMMED_BLOCKS) {
    const int end = blocks - done < SUMMED_BLOCKS ? blocks - done : SUMMED_BLOCKS;
    int before = 0;
#pragma unroll 1
    for (int block = 0; block < end; ++block) {
      wait_for(&s->full[s->index], s->parity);
      const uint stage = first_stage + s->index * STAGE_BYTES;
      const ulong a = operand_at(stage + warp / 4 * (BLOCK / 2)), b = operand_at(stage + BLOCK);
      before_multiply();
#pragma unroll
      for (int step = 0; step < STEPS / 32; ++step)
        begin_multiply(acc, a + step * STEP_ON, b + step * STEP_ON, done | block | step);
      commit_multiply();
      if (block > 0) {
        await_multiply(1);
        if (lane < 2) arrive_in(&s->empty[before], lane);
      }
      before = s->index;
      next_stage(s);
    }
    await_multiply(0);
    finish_sums(acc);
    if (lane < 2) arrive_in(&s->empty[before], lane);
    reduce_sums(acc, modulus, magic);
  }
}

// Stores a byte of each sum where residues_reconstruct finds it: 16 neighbours of a work-item, then
// those of its neighbours.
DEVICE void store_residues(const int* acc, GLOBAL uchar* to) {
#pragma unroll
  for (int i = 0; i < SUMS; i += 16, to += 16 * 128)
    *(GLOBAL uint4*)to = make_uint4(bytes_of(acc[i], acc[i + 1], acc[i + 2], acc[i + 3]),
                                    bytes_of(acc[i + 4], acc[i + 5], acc[i + 6], acc[i + 7]),
                                    bytes_of(acc[i + 8], acc[i + 9], acc[i + 10], acc[i + 11]),
                                    bytes_of(acc[i + 12], acc[i + 13], acc[i + 14], acc[i + 15]));
}

// --- A group's work ---

DEVICE void multiply_all(Stages stages, const Layout* at, GLOBAL uchar* space, int batch) {
  int t, group;  // opaque: made in the registers that there are now
  __asm__ volatile("mov.u32 %0, %%tid.x;" : "=r"(t));
  __asm__ volatile("mov.u32 %0, %%ctaid.x;" : "=r"(group));
  const int rows = (int)(at->rows / TWO_BLOCKS), cols = (int)(at->cols / TWO_BLOCKS);
  const int all = (int)((const GLOBAL Decision*)space)->moduli * batch * rows * cols;
  int acc[SUMS];
#pragma unroll
  for (int i = 0; i < SUMS; ++i) acc[i] = 0;
  const int blocks = (int)at->blocks;
  for (int w = group / 2; w < all; w += groups_x() / 2) {
    const Work work = work_of(w, rows, cols, batch);
    multiply_work(&stages, acc, blocks, tables.modulus[work.modulus], tables.magic[work.modulus],
                  t / 32, t % 32);
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

// The copying warp group's other warps prepare what residues_reconstruct knows of lanes.
DEVICE void write_sides(const Layout* at, GLOBAL uchar* space, long k) {
  const double bound = tables.bound[((const GLOBAL Decision*)space)->moduli - FEWEST];
  const int workers = COPIERS - 32;
  for (long i = group_x() * workers + local_x() - (MULTIPLIERS + 32); i < at->lanes;
       i += groups_x() * workers)
    ((GLOBAL Side*)(space + at->sides))[i] =
        side_of((const GLOBAL Lane*)(space + at->sums) + i, k, bound);
}
