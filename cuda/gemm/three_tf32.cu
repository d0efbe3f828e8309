// Idea: an f32 as two TF32 numbers, x = hi + lo, and hi hi + hi lo + lo hi on the tensor cores: all but 2^-21 of a product.
// It beats `warp_specialized` because the tensor cores do three such products in less than half of the time. Its bits are
// others, so it is for those who ask for `fast`; docs/numerics.md has its bound.
// Requires: f32; compute capability 9.0, whose warp groups multiply from local memory (wgmma).
//
//   three_tf32_split   writes the parts of A and B as the tensor cores read them: blocks of 16 steps of k of 128 rows of A or
//                      192 columns of B, hi before lo. In each, 8 lanes by 4 steps lie side by side.
//   three_tf32         C tile 256x192 of two groups, which give each other half of B's blocks: in each a work-item copies,
//                      two warp groups multiply 64x192.
#define PLAIN_READS
#include "barrier.h"
#include "pieces.h"
#include "problem.h"

enum { TILE_M = 128, TILE_N = 192, DEPTH = 16, STAGES = 5, MULTIPLIERS = 256, COPIERS = 128 };
enum { PATCH = 64, SPLITTERS = 256, KEEP = 40, WANT = 232 };
#define BLOCK(lanes) (2 * (lanes)*DEPTH) /* elements, of hi and lo */
#define STAGE (BLOCK(TILE_M) + BLOCK(TILE_N))
// Groups of x work-items, two of which run side by side and reach each other's local memory.
#define KERNEL_OF_PAIRS(name, x) \
  extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(x, 1) name

// --- The parts ------------------------------------------------------------------------------------

// Rounded to 11 bits; a NaN stays one.
DEVICE float to_tf32(float x) {
  uint bits;
  __asm__("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return as_float(bits);
}

// Where 4 steps of k of a lane lie in a block, which begins at step 0.
DEVICE int place(int lane, int l) { return lane / 8 * (8 * DEPTH) + l / 4 * 32 + lane % 8 * 4; }

// PATCH lanes by PATCH steps of one operand, of which `lanes` and `steps` are inside; the rest is zero. `to` is the first
// block, `first` the patch's first lane there, and `blocks` are left.
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

// A group for each patch, those of A first; along k first. a_patches, b_patches: lanes' patches of a matrix. It lowers
// `flag_count` flags, too.
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

// --- Tensor cores ---------------------------------------------------------------------------------

// What wgmma reads from: 8 lanes by 4 steps of k are 128 bytes, the next 4 steps follow, the next 8 lanes DEPTH steps on.
DEVICE ulong operand_at(uint address) {
  return (ulong)((address & 0x3ffff) >> 4) | (ulong)(128 >> 4) << 16 |
         (ulong)(8 * DEPTH * 4 >> 4) << 32;
}
#define STEP_ON 16 /* 8 steps of k, 256 bytes, of such a descriptor */

#define SUMS (TILE_N / 2) /* of a work-item */
#define TEN(x, d) x(d##0) x(d##1) x(d##2) x(d##3) x(d##4) x(d##5) x(d##6) x(d##7) x(d##8) x(d##9)
#define NAMES(x)                                                                                 \
  x(1) x(2) x(3) x(4) x(5) x(6) x(7) x(8) x(9) TEN(x, 1) TEN(x, 2) TEN(x, 3) TEN(x, 4) TEN(x, 5) \
      TEN(x, 6) TEN(x, 7) TEN(x, 8) x(90) x(91) x(92) x(93) x(94) x(95)
#define NAMED(i) ", %" #i
#define BOUND(i) , "+f"(acc[i])

// Begins, for a warp group, acc(64 x 192) = a(64 x 8) b(8 x 192), or += if `add`.
DEVICE void begin_multiply(float* acc, ulong a, ulong b, int add) {
  __asm__ volatile(
      "{\n\t.reg .pred add;\n\tsetp.ne.b32 add, %98, 0;\n\t"
      "wgmma.mma_async.sync.aligned.m64n192k8.f32.tf32.tf32 {%0" NAMES(
          NAMED) "}, %96, %97, add, 1, 1;\n\t}"
      : "+f"(acc[0])NAMES(BOUND)
      : "l"(a), "l"(b), "r"(add));
}
DEVICE void before_multiply() { __asm__ volatile("wgmma.fence.sync.aligned;" : : : "memory"); }
DEVICE void commit_multiply() {
  __asm__ volatile("wgmma.commit_group.sync.aligned;" : : : "memory");
}
// Waits for all but the `young` youngest.
#define await_multiply(young) \
  __asm__ volatile("wgmma.wait_group.sync.aligned %0;" : : "n"(young) : "memory")
// Nothing reads the sums before this.
DEVICE void settle(float* acc) {
#pragma unroll
  for (int i = 0; i < SUMS; ++i) __asm__ volatile("" : "+f"(acc[i]) : : "memory");
}

// --- Copies ---------------------------------------------------------------------------------------

// The phase of `b` is over when so many bytes have come, too.
DEVICE void arrive_and_expect(Barrier* b, uint bytes) {
  __asm__ volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                   :
                   : "r"(local_address(b)), "r"(bytes)
                   : "memory");
}
DEVICE void copy_block(float* to, const GLOBAL float* from, uint bytes, Barrier* b) {
  __asm__ volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
      :
      : "r"(local_address(to)), "l"(from), "r"(bytes), "r"(local_address(b))
      : "memory");
}
// The same into both groups' local memory, where both barriers count it.
DEVICE void copy_to_both(float* to, const GLOBAL float* from, uint bytes, Barrier* b) {
  __asm__ volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%0], [%1], %2, [%3], %4;"
      :
      : "r"(local_address(to)), "l"(from), "r"(bytes), "r"(local_address(b)), "h"((ushort)3)
      : "memory");
}
// Arrives at the barrier of the pair's group `rank`.
DEVICE void arrive_in(Barrier* b, uint rank) {
  __asm__ volatile(
      "{\n\t.reg .b32 there;\n\tmapa.shared::cluster.u32 there, %0, %1;\n\t"
      "mbarrier.arrive.shared::cluster.b64 _, [there];\n\t}"
      :
      : "r"(local_address(b)), "r"(rank)
      : "memory");
}
// A warp is done with the stages that it used for something else, in both groups' view.
DEVICE void give_back(Barrier* stored, int lane) {
  if (lane >= 2) return;
  __asm__ volatile("fence.acq_rel.cluster;" : : : "memory");
  arrive_in(stored, lane);
}
// All of both groups are here.
DEVICE void sync_pair() {
  __asm__ volatile("barrier.cluster.arrive.release;\n\tbarrier.cluster.wait.acquire;"
                   :
                   :
                   : "memory");
}
// What ordinary instructions did to memory comes before what such copies do there.
DEVICE void before_copies() { __asm__ volatile("fence.proxy.async;" : : : "memory"); }

// --- Products -------------------------------------------------------------------------------------

// Sums of at most CHUNK blocks are the tensor cores', which cut off what a sum can't hold. They are added up by ordinary
// additions.
#define CHUNK 4

// A warp's 16 rows of the tile, on their way to C: a pitch that spreads rows over the banks.
#define PITCH (TILE_N + 8)

DEVICE bool is_finite(float x) { return (as_uint(x) & 0x7f800000) != 0x7f800000; }

// The sum of an element as `reproducible` has it, for sums that aren't finite: an infinity, and what rounds to one, has no
// parts, and always leaves such a sum.
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

// a_parts and b_parts: from one matrix's parts to the next's. From `first_sum` on lie, of each group, its sums for the
// later pair and a flag for each of its warps.
KERNEL_OF_PAIRS(three_tf32, MULTIPLIERS + COPIERS)
(GEMM_ARGUMENTS, GLOBAL float* space, long a_first, long a_parts, long b_first, long b_parts,
 long first_sum, int blocks, int tiles, int shared) {
  LOCAL_ARENA(arena, STAGES * STAGE * 4);
  LOCAL Barrier full[STAGES], empty[STAGES], stored;
  float* const stages = (float*)arena;
  if (local_x() == 0) {
    for (int s = 0; s < STAGES; ++s) {
      start_barrier(&full[s], 1);
      start_barrier(&empty[s], 2 * MULTIPLIERS / 32);
    }
    start_barrier(&stored, 2 * MULTIPLIERS / 32);
    __asm__ volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
  }
  sync_pair();
  int stage = 0;
  uint parity = 0;
  if (local_x() >= MULTIPLIERS) {
    GIVE_REGISTERS(KEEP);
    await_earlier_launches();
    if (local_x() == MULTIPLIERS) {
      before_copies();
      const int rank = group_x() % 2;
      Part part = part_of(group_x() / 2, shared, blocks);
      Piece piece;
      for (uint last = 1; next_piece(&part, blocks, tiles, &piece); last ^= 1) {
        const Tile tile = tile_of(piece.tile, tiles_m, tiles_n);
        const GLOBAL float* from_a =
            space + a_first + tile.batch * a_parts +
            ((long)(tile.row * 2 + rank) * blocks + piece.first) * BLOCK(TILE_M);
        const GLOBAL float* from_b = space + b_first + tile.batch * b_parts +
                                     ((long)tile.col * blocks + piece.first) * BLOCK(TILE_N) +
                                     rank * (BLOCK(TILE_N) / 2);
        wait_for(&stored, last);  // the last tile's sums lay in the stages
        for (int block = piece.first; block < piece.end; ++block) {
          wait_for(&empty[stage], parity ^ 1);
          arrive_and_expect(&full[stage], STAGE * 4);
          float* const to = stages + stage * STAGE;
          copy_block(to, from_a, BLOCK(TILE_M) * 4, &full[stage]);
          copy_to_both(to + BLOCK(TILE_M) + rank * (BLOCK(TILE_N) / 2), from_b,
                       BLOCK(TILE_N) / 2 * 4, &full[stage]);
          from_a += BLOCK(TILE_M);
          from_b += BLOCK(TILE_N);
          if (++stage == STAGES) stage = 0, parity ^= 1;
        }
      }
    }
  } else {
    TAKE_REGISTERS(WANT);
    await_earlier_launches();
    int t, group;  // anew, in the registers that there are now
    __asm__ volatile("mov.u32 %0, %%tid.x;" : "=r"(t));
    __asm__ volatile("mov.u32 %0, %%ctaid.x;" : "=r"(group));
    const int warp = t / 32, lane = t % 32;
    GLOBAL VECTOR* const given =
        (GLOBAL VECTOR*)(space + first_sum + (long)group * (TILE_M * TILE_N)) + t;
    GLOBAL uint* const flag =
        (GLOBAL uint*)(space + first_sum + (long)groups_x() * (TILE_M * TILE_N)) +
        group * (MULTIPLIERS / 32) + warp;
    float* const lines = stages + warp * 16 * PITCH;
    const uint first_stage = local_address(stages);
    Part part = part_of(group / 2, shared, blocks);
    Piece piece;
    float acc[SUMS], sums[SUMS];
#pragma unroll
    for (int i = 0; i < SUMS; ++i) acc[i] = 0;
    while (next_piece(&part, blocks, tiles, &piece)) {
#pragma unroll
      for (int i = 0; i < SUMS; ++i) sums[i] = 0;
      for (int done = piece.first; done < piece.end; done += CHUNK) {
        const int end = piece.end - done < CHUNK ? piece.end - done : CHUNK;
        int before = 0;
#pragma unroll 1
        for (int block = 0; block < end; ++block) {
          wait_for(&full[stage], parity);
          const uint at = first_stage + stage * (STAGE * 4);
          const ulong a_hi = operand_at(at + warp / 4 * (64 * DEPTH * 4));
          const ulong a_lo = a_hi + TILE_M * DEPTH / 4;
          const ulong b_hi = operand_at(at + BLOCK(TILE_M) * 4), b_lo = b_hi + TILE_N * DEPTH / 4;
          before_multiply();
#pragma unroll
          for (int s = 0; s < DEPTH / 8 * STEP_ON; s += STEP_ON) {
            begin_multiply(acc, a_hi + s, b_hi + s, s > 0 || block > 0);
            begin_multiply(acc, a_hi + s, b_lo + s, 1);
            begin_multiply(acc, a_lo + s, b_hi + s, 1);
          }
          commit_multiply();
          await_multiply(1);
          if (block > 0 && lane < 2) arrive_in(&empty[before], lane);
          before = stage;
          if (++stage == STAGES) stage = 0, parity ^= 1;
        }
        await_multiply(0);
        settle(acc);
        if (lane < 2) arrive_in(&empty[before], lane);
#pragma unroll
        for (int i = 0; i < SUMS; ++i) sums[i] += acc[i];
      }
      if (piece.end < blocks) {  // another pair has the tile's end
        keep_sums(given, sums);
        sync_warp();
        if (lane == 0) raise_flag(flag);
        give_back(&stored, lane);
        continue;
      }
      for (int other = 1; piece.first > 0; ++other) {
        const int begin = part_begin(group / 2 - other, shared, blocks) - piece.tile * blocks;
        if (lane == 0) await_flag(flag - 2 * other * (MULTIPLIERS / 32));
        sync_warp();
        add_sums(given - 2l * other * (TILE_M * TILE_N / WIDTH), sums);
        piece.first = begin > 0 ? begin : 0;
      }

      // All have read the last stages.
      __asm__ volatile("bar.sync 1, %0;" : : "n"((int)MULTIPLIERS) : "memory");
#pragma unroll
      for (int i = 0; i < SUMS; i += 2)
        *(float2*)(lines + (lane / 4 + i / 2 % 2 * 8) * PITCH + i / 4 * 8 + lane % 4 * 2) =
            make_float2(sums[i], sums[i + 1]);
      sync_warp();
      const Tile tile = tile_of(piece.tile, tiles_m, tiles_n);
      const long i0 = (long)(tile.row * 2 + group % 2) * TILE_M + warp * 16;
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
      before_copies();
      sync_warp();
      give_back(&stored, lane);
    }
  }
  sync_pair();  // a group's local memory stays while the other one may reach for it
}
