// Only NVIDIA's compilers take this text.
// The block of C that a warp holds in the fragments of tensor cores (mma.h): 16 DOWN_BLOCKS x
// 8 ACROSS_BLOCKS elements, from panels that keep the order in memory (tensor_panel.h). LAYOUT says
// it: n has unit stride along the rows, t along the columns. Included after problem.h.
//
// ODD_ROWS: a warp has every WARPS_DOWN-th 8 rows of the tile and every WARPS_ACROSS-th 8 columns,
// so that a lane's places are constants apart also where line_of spreads 16 lines over two warps.
// Only where few registers pace the copies; else vectors of odd rows cost more than single
// elements: 383 takes 11 µs instead of 8.
#define THREADS COPIERS
static_assert(!ODD_ROWS || (COPIER_REGISTERS != 0 && WARPS_DOWN % 2 == 0 && WARPS_ACROSS % 2 == 0));
#ifndef HALF
#define HALF 0
#endif
// How often a warp's block has 8 rows; in each of its blocks.
#define EIGHTS (EIGHTS_OF_BLOCK * DOWN_BLOCKS)
#define EIGHTS_OF_BLOCK (HALF ? 1 : 2)
#include "copy.h"
#include "layout.h"
#include "mma.h"
#include "tensor_panel.h"

// One operand that is being copied: `lanes` of its rows (of B: columns) lie inside the matrix.
typedef struct PanelLoader {
  Source source;
  long stage_stride;
  int lanes;
} PanelLoader;

// A panel of `size` rows of A or columns of B by DEPTH steps of k. A row of the panel is one of
// them (by_lanes) or a step of k.
DEVICE PanelLoader loader_of(const GLOBAL T* x, long lane_stride, long k_stride, long lanes,
                             const int size, const bool by_lanes, int u) {
  PanelLoader f;
  f.source = by_lanes ? source_of(x, lane_stride, k_stride, 0, 0, 0, DEPTH, u)
                      : source_of(x, k_stride, lane_stride, 0, 0, 0, size, u);
  f.stage_stride = DEPTH * k_stride;
  f.lanes = lanes < size ? (int)lanes : size;
  return f;
}
DEVICE void copy_stage(PanelLoader* f, LOCAL_POINTER T* panel, long left, const int size,
                       const bool by_lanes, int u) {
  const int steps = left < DEPTH ? (int)left : DEPTH;
  if (by_lanes)
    copy_source(&f->source, panel, size, DEPTH, PITCH(size, true), f->lanes, steps, u);
  else
    copy_source(&f->source, panel, DEPTH, size, PITCH(size, false), steps, f->lanes, u);
  f->source.from += f->stage_stride;
}

static_assert(CAN_COPY(TILE_M, DEPTH) && CAN_COPY(DEPTH, TILE_M));
static_assert(CAN_COPY(TILE_N, DEPTH) && CAN_COPY(DEPTH, TILE_N));
#define PANEL(size, by_lanes) PLACE((by_lanes) ? size : DEPTH, PITCH(size, by_lanes))
#define PANEL_A PANEL(TILE_M, A_BY_LANES)
#define PANEL_B PANEL(TILE_N, B_BY_LANES)
#define LOADER_A(x, lanes, u) loader_of(x, a_row, a_col, lanes, TILE_M, A_BY_LANES, u)
#define LOADER_B(x, lanes, u) loader_of(x, b_col, b_row, lanes, TILE_N, B_BY_LANES, u)
#define COPY_A(loader, panel, left, u) copy_stage(loader, panel, left, TILE_M, A_BY_LANES, u)
#define COPY_B(loader, panel, left, u) copy_stage(loader, panel, left, TILE_N, B_BY_LANES, u)

#define BLOCK_M (ODD_ROWS ? 8 : 8 * EIGHTS)
#define BLOCK_N (ODD_ROWS ? 8 : 8 * ACROSS_BLOCKS)
#define NEXT_M (ODD_ROWS ? 8 * WARPS_DOWN : 8) /* from 8 rows of a warp to the next */
#define NEXT_N (ODD_ROWS ? 8 * WARPS_ACROSS : 8)
#define ACC_ROWS DOWN_BLOCKS
// Sums and, where CHAINS_END, the totals of those of earlier stages.
#define SUM_COLS (4 * ACROSS_BLOCKS)
#define TOTALS (CHAINS_END ? SUM_COLS : 0)
#define ACC_COLS (SUM_COLS + TOTALS)
#define X_COUNT (STEP / 4 * EIGHTS)
#define Y_COUNT (STEP / 4 * ACROSS_BLOCKS)
// The distance from one step of k, or row or column, to the next, on average over 4 of them.
#define A_STEP (A_BY_LANES ? 1 : PLACE(4, PITCH(TILE_M, false)) / 4)
#define B_STEP (B_BY_LANES ? 1 : PLACE(4, PITCH(TILE_N, false)) / 4)
#define A_APART (NEXT_M * (A_BY_LANES ? PLACE(4, PITCH(0, true)) / 4 : 1))
#define B_APART (NEXT_N * (B_BY_LANES ? PLACE(4, PITCH(0, true)) / 4 : 1))
#define FIRST_OF_A(x, row, lane) first_of(x, a_row, a_col, TILE_M, A_BY_LANES, row, lane)
#define FIRST_OF_B(x, col, lane) first_of(x, b_col, b_row, TILE_N, B_BY_LANES, col, lane)

// flags: whose rows are odd
#define ODD_A 8
#define ODD_B 16
#define ODD_FLAGS                                                                  \
  ((are_odd(A_BY_LANES ? a_row : a_col, A_BY_LANES ? a_col : a_row) ? ODD_A : 0) | \
   (are_odd(B_BY_LANES ? b_col : b_row, B_BY_LANES ? b_row : b_col) ? ODD_B : 0))

// The place of a lane's first element in the panel of the tile that begins at x; its warp begins at
// `line`.
DEVICE int first_of(const GLOBAL T* x, long lane_stride, long k_stride, const int size,
                    const bool by_lanes, int line, int lane) {
  const int step = lane % 4;
  const bool odd = by_lanes ? are_odd(lane_stride, k_stride) : are_odd(k_stride, lane_stride);
  line = line_of(line + lane / 4, odd);
  return (by_lanes ? PLACE(line, PITCH(size, true)) + step
                   : PLACE(step, PITCH(size, false)) + line) +
         (odd ? shift_of(x + (by_lanes ? line * lane_stride : step * k_stride)) : 0);
}

// Where FUSED, the squares of a lane's rows and columns of the block, rounded up. In f32,
// because f64 instructions wait for the tensor cores.
#define SQUARE_COUNT (2 * DOWN_BLOCKS + ACROSS_BLOCKS)
#define READ_FRAGMENTS(x, y, a, b, used) read_fragments(x, y, a, b, squares, used)

// At least x, which was rounded to nearest.
DEVICE float next_above(float x) {
  return x == 0.0f || !(x <= 0x1.fffffep127f) ? x : as_float(as_uint(x) + 1u);
}
DEVICE float add_square(float x, float sum) {
#if HAVE_PTX
  float added;
  __asm__("fma.rp.f32 %0, %1, %1, %2;" : "=f"(added) : "f"(x), "f"(sum));
  return added;
#else
  const float added = next_above(fma(x, x, sum));
  return added == 0.0f && x != 0.0f ? 0x1p-149f : added;
#endif
}

DEVICE void read_fragments(FRAGMENT* x, FRAGMENT* y, const LOCAL_POINTER T* a,
                           const LOCAL_POINTER T* b, float squares[SQUARE_COUNT], bool used) {
#pragma unroll
  for (int e = 0; e < X_COUNT; ++e) {
    const int each = STEP / 4 * EIGHTS_OF_BLOCK, step = e % each / EIGHTS_OF_BLOCK * 4;
    const int line = e / each * EIGHTS_OF_BLOCK + e % EIGHTS_OF_BLOCK;
    const T next = a[step * A_STEP + line * A_APART];
    if (FUSED && used) squares[line] = add_square((float)next, squares[line]);
    x[e] = next;
  }
#pragma unroll
  for (int e = 0; e < Y_COUNT; ++e) {
    const int line = 2 * DOWN_BLOCKS + e / (STEP / 4);
    const T next = b[e % (STEP / 4) * 4 * B_STEP + e / (STEP / 4) * B_APART];
    if (FUSED && used) squares[line] = add_square((float)next, squares[line]);
    y[e] = next;
  }
}

DEVICE void multiply_fragments(CHAIN acc[ACC_ROWS][ACC_COLS], const FRAGMENT* x_read,
                               const FRAGMENT* y_read) {
  CHAIN x[STEP / 2 * DOWN_BLOCKS], y[Y_COUNT];
#pragma unroll
  for (int e = 0; e < STEP / 2 * DOWN_BLOCKS; ++e)
    x[e] = !HALF ? x_read[e] : e % 2 == 0 ? x_read[e / 2] : 0;
#pragma unroll
  for (int e = 0; e < Y_COUNT; ++e) y[e] = y_read[e];
#pragma unroll
  for (int i = 0; i < DOWN_BLOCKS; ++i)
#pragma unroll
    for (int s = 0; s < ACROSS_BLOCKS; ++s) {
      const int j = i % 2 ? ACROSS_BLOCKS - 1 - s : s;
      if (STEP == 16)
        multiply_add_16x8x16(acc[i] + 4 * j, x + 8 * i, y + 4 * j);
      else
        multiply_add_16x8x8(acc[i] + 4 * j, x + 4 * i, y + 2 * j);
    }
}

// Chains are over: the next ones begin at 0.
DEVICE void end_chains(CHAIN acc[ACC_ROWS][ACC_COLS]) {
#pragma unroll
  for (int i = 0; i < DOWN_BLOCKS; ++i)
#pragma unroll
    for (int e = 0; e < TOTALS; ++e) acc[i][SUM_COLS + e] += acc[i][e], acc[i][e] = 0;
}
#if CHAINS_END
#define END_CHAINS end_chains(acc)
#endif

// All multiplying warps are here; local memory is up to date for them.
DEVICE void sync_multipliers() {
#if HAVE_PTX
  __asm__ volatile("bar.sync 1, %0;" : : "n"(MULTIPLIERS) : "memory");
#elif HAVE_WARPS /* the tests' emulated ones */
  sync_part(MULTIPLIERS);
#endif
}

// A lane's rows and columns of the tile, relative to its warp's: the first one, and the distance of
// its columns.
typedef struct Corner {
  int row, col, next;
} Corner;

DEVICE Corner corner_of(int lane, int flags) {
  const int warp = local_x() / 32, row = warp % WARPS_DOWN * 8,
            col = warp / WARPS_DOWN % WARPS_ACROSS * 8;
  Corner at;
  at.row = line_of(row + lane / 4, ODD_ROWS && (flags & ODD_A)) - row;
  at.col = line_of(col + lane % 4 * 2, ODD_ROWS && (flags & ODD_B)) - col;
  at.next = ODD_ROWS && (flags & ODD_B) ? 4 : 1;
  return at;
}

// Chains that begin at C: the block's rows `first_row` … `end_row` - 1 and its columns alike, as
// far as it has them; `c` is the place of its first element. The others are another tile's, which
// may have stored them already.
DEVICE void begin_block(const GLOBAL T* c, long c_row, long first_row, long end_row, long first_col,
                        long end_col, CHAIN acc[ACC_ROWS][ACC_COLS], int lane, int flags) {
  const Corner at = corner_of(lane, flags);
#pragma unroll
  for (int i = 0; i < DOWN_BLOCKS; ++i)
#pragma unroll
    for (int e = 0; e < SUM_COLS; ++e) {
      const int u = at.row + (i * 2 + e % 4 / 2) * NEXT_M;
      const int v = at.col + e / 4 * NEXT_N + e % 2 * at.next;
      if (u >= first_row && u < end_row && v >= first_col && v < end_col)
        acc[i][e] = c[u * c_row + v];
    }
}

#define LINE (TILE_N + 1)
static_assert(!ODD_ROWS || TILE_M * LINE <= STAGES * (PANEL_A + PANEL_B));
// A bound of rows or columns, near enough for comparisons in 32 bits.
DEVICE int clip(long x) {
  const int most = TILE_M + TILE_N;
  return x < -most ? -most : x < most ? (int)x : most;
}

#if WIDTH == 2
// Stores an element of C from its scaled sum.
DEVICE void put(GLOBAL T* c, T scaled, T beta, int flags) {
  *c = flags & ADD_C ? multiply_add(beta, *c, scaled) : scaled;
}

// Stores the block; the bounds are begin_block's. A block that is there as a whole, and replaces C,
// is stored without a question: asking for each element took 190 clocks a vector. ODD_ROWS: where
// vectors can't be stored, the whole tile passes through `lines`, and warps write neighbours: a
// store of single elements from the fragments writes a part of 20 sectors, which costs 3 of 46 µs
// at 1023.
DEVICE void store_block(GLOBAL T* c, long c_row, long first_row, long end_row, long first_col,
                        long end_col, CHAIN acc[ACC_ROWS][ACC_COLS], LOCAL_POINTER T* lines,
                        int lane, T alpha, T beta, int flags) {
  const Corner at = corner_of(lane, flags);
  const bool wide = is_wide(c, c_row, 1) && at.next == 1;
  const T factor = flags & MULTIPLY ? alpha : (T)0;
#pragma unroll
  for (int i = 0; i < DOWN_BLOCKS; ++i)
#pragma unroll
    for (int e = 0; e < SUM_COLS; ++e) acc[i][e] = scale(factor, acc[i][e]);
  if (ODD_ROWS && !wide) {
    const int warp = local_x() / 32, row0 = warp % WARPS_DOWN * 8, col0 = warp / WARPS_DOWN * 8;
    LOCAL_POINTER T* const own = lines + (row0 + at.row) * LINE + col0 + at.col;
    sync_multipliers();
#pragma unroll
    for (int i = 0; i < DOWN_BLOCKS; ++i)
#pragma unroll
      for (int e = 0; e < SUM_COLS; ++e)
        own[(i * 2 + e % 4 / 2) * NEXT_M * LINE + e / 4 * NEXT_N + e % 2 * at.next] = acc[i][e];
    sync_multipliers();
    c -= row0 * c_row + col0;
    const int row1 = clip(first_row + row0), row2 = clip(end_row + row0);
    const int col1 = clip(first_col + col0), col2 = clip(end_col + col0);
#pragma unroll 4
    for (int r = warp; r < TILE_M; r += MULTIPLIERS / 32)
#pragma unroll
      for (int v = lane; v < TILE_N; v += 32)
        if (r >= row1 && r < row2 && v >= col1 && v < col2)
          put(c + r * c_row + v, lines[r * LINE + v], beta, flags);
    return;
  }
  c += at.row * c_row + at.col;
  const int row1 = clip(first_row) - at.row, row2 = clip(end_row) - at.row;
  const int col1 = clip(first_col) - at.col, col2 = clip(end_col) - at.col;
  const int last_row = (EIGHTS - 1) * NEXT_M;
  const int last_col = (ACROSS_BLOCKS - 1) * NEXT_N + at.next;
  const bool whole = row1 <= 0 && row2 > last_row && col1 <= 0 && col2 > last_col;
  if (whole && wide && !(flags & ADD_C)) {
#pragma unroll
    for (int i = 0; i < EIGHTS; ++i, c += NEXT_M * c_row)
#pragma unroll
      for (int j = 0; j < ACROSS_BLOCKS; ++j)
        *(GLOBAL VECTOR*)(c + j * NEXT_N) = pack(acc[i / 2] + 4 * j + i % 2 * 2);
    return;
  }
  if (whole && !(flags & ADD_C)) {
#pragma unroll
    for (int i = 0; i < EIGHTS; ++i, c += NEXT_M * c_row)
#pragma unroll
      for (int e = 0; e < 2 * ACROSS_BLOCKS; ++e)
        c[e / 2 * NEXT_N + e % 2 * at.next] = acc[i / 2][e / 2 * 4 + i % 2 * 2 + e % 2];
    return;
  }
#pragma unroll
  for (int i = 0; i < EIGHTS; ++i, c += NEXT_M * c_row)
#pragma unroll
    for (int e = 0; e < 2 * ACROSS_BLOCKS; ++e) {
      const int u = i * NEXT_M, v = e / 2 * NEXT_N + e % 2 * at.next;
      if (u >= row1 && u < row2 && v >= col1 && v < col2)
        put(c + v, acc[i / 2][e / 2 * 4 + i % 2 * 2 + e % 2], beta, flags);
    }
}
#endif
