// Only NVIDIA's compilers take this text.
// Idea: `warp_specialized` with up to 4 x 2 elements of C a work-item, whose panels run along k, so
// that one read of 16 bytes has four steps of a row or column.
// It beats `warp_specialized` where C is small and k is long, because a smaller tile gives more
// multiprocessors work, and 4 steps of an element take 2 reads of local memory instead of 8.
// Requires: f32; compute capability 9.0.
//
//   C tile TILE_M x TILE_N; a lane's rows lie 4 apart, its columns 8.
//   A panel is panel[line][k], a line being a row of A or a column of B; PITCH spreads the reads of
//   8 lines over the banks.
#include "problem.h"

// The host's table of tiles (gemm_tiles.hpp) has the constants; warp_roles.h says what UNROLL,
// AHEAD and STEP are.
enum { UNROLL = DEPTH, AHEAD = HEIGHT * BREADTH <= 2 ? 3 : 1, COPIER_REGISTERS = 0 };
#define COPIERS 128
#define STEP WIDTH
#define TILE_M (WARPS_DOWN * 4 * HEIGHT)
#define TILE_N (WARPS_ACROSS * 8 * BREADTH)
#define MULTIPLIERS (WARPS_DOWN * WARPS_ACROSS * 32)
#define PITCH (DEPTH + WIDTH)
#include "copy.h"

// One operand that is being copied: `lanes` of its lines lie inside the matrix.
typedef struct PanelLoader {
  const GLOBAL T* next;  // the next stage's first element
  long lane_stride, k_stride;
  int lanes;
  bool wide;  // 16 bytes along k at once
} PanelLoader;

DEVICE PanelLoader loader_of(const GLOBAL T* x, long lane_stride, long k_stride, long lanes,
                             const int size) {
  PanelLoader f;
  f.next = x;
  f.lane_stride = lane_stride;
  f.k_stride = k_stride;
  f.lanes = lanes < size ? (int)lanes : size;
  f.wide = k_stride == 1 && (((ulong)x | (ulong)lane_stride * sizeof(T)) & 15) == 0;
  return f;
}

// Copies the next DEPTH steps, of which `left` lie inside the matrix, and moves on. Steps beyond
// the end are zero; lines beyond it stay as they are, because they belong to elements that C
// hasn't.
DEVICE void copy_stage(PanelLoader* f, LOCAL_POINTER T* panel, long left, const int size, int u) {
  const int steps = left < DEPTH ? (int)left : DEPTH;
  if (f->wide && steps == DEPTH) {
    const int beside = DEPTH / WIDTH, apart = COPIERS / beside, line = u / beside;
    const int step = u % beside * WIDTH;
    const GLOBAL T* from = f->next + line * f->lane_stride + step;
#pragma unroll
    for (int r = 0; r < size; r += apart, from += apart * f->lane_stride)
      if (line + r < f->lanes) fetch_vector(panel + (line + r) * PITCH + step, from);
  } else if (f->k_stride == 1) {
    const int apart = COPIERS / DEPTH, line = u / DEPTH, step = u % DEPTH;
    const GLOBAL T* from = f->next + line * f->lane_stride + step;
#pragma unroll
    for (int r = 0; r < size; r += apart, from += apart * f->lane_stride)
      if (line + r < f->lanes) copy_element(panel + (line + r) * PITCH + step, from, step < steps);
  } else {
    const int apart = COPIERS / size, line = u % size, step = u / size;
    const GLOBAL T* from = f->next + line * f->lane_stride + step * f->k_stride;
    if (line < f->lanes)
#pragma unroll
      for (int l = 0; l < DEPTH; l += apart, from += apart * f->k_stride)
        copy_element(panel + line * PITCH + step + l, from, step + l < steps);
  }
  f->next += DEPTH * f->k_stride;
}
static_assert(COPIERS % TILE_M == 0 && COPIERS % TILE_N == 0 && COPIERS % DEPTH == 0);

#define PANEL_A (TILE_M * PITCH)
#define PANEL_B (TILE_N * PITCH)
#define LOADER_A(x, lanes, u) loader_of(x, a_row, a_col, lanes, TILE_M)
#define LOADER_B(x, lanes, u) loader_of(x, b_col, b_row, lanes, TILE_N)
#define COPY_A(loader, panel, left, u) copy_stage(loader, panel, left, TILE_M, u)
#define COPY_B(loader, panel, left, u) copy_stage(loader, panel, left, TILE_N, u)
#define BLOCK_M (4 * HEIGHT)
#define BLOCK_N (8 * BREADTH)
#define ACC_ROWS HEIGHT
#define ACC_COLS BREADTH
#define X_COUNT (STEP * HEIGHT)
#define Y_COUNT (STEP * BREADTH)
#define A_STEP 1
#define B_STEP 1
#define FIRST_OF_A(x, row, lane) (((row) + (lane) / 8) * PITCH)
#define FIRST_OF_B(x, col, lane) (((col) + (lane) % 8) * PITCH)

DEVICE void read_fragments(T* x, T* y, const LOCAL_POINTER T* a, const LOCAL_POINTER T* b) {
#pragma unroll
  for (int i = 0; i < HEIGHT; ++i)
    unpack(*(const LOCAL_POINTER VECTOR*)(a + i * 4 * PITCH), x + STEP * i);
#pragma unroll
  for (int j = 0; j < BREADTH; ++j)
    unpack(*(const LOCAL_POINTER VECTOR*)(b + j * 8 * PITCH), y + STEP * j);
}

DEVICE void multiply_fragments(T acc[HEIGHT][BREADTH], const T* x, const T* y) {
#pragma unroll
  for (int l = 0; l < STEP; ++l)
#pragma unroll
    for (int i = 0; i < HEIGHT; ++i)
#pragma unroll
      for (int j = 0; j < BREADTH; ++j)
        acc[i][j] = multiply_add(x[STEP * i + l], y[STEP * j + l], acc[i][j]);
}

// Stores the block's rows `first_row` … `end_row` - 1 and its columns alike, as far as it has them;
// `c` is the place of its first element.
DEVICE void store_block(GLOBAL T* c, long c_row, long first_row, long end_row, long first_col,
                        long end_col, T acc[HEIGHT][BREADTH], LOCAL_POINTER T* lines, int lane,
                        T alpha, T beta, int flags) {
#pragma unroll
  for (int i = 0; i < HEIGHT; ++i)
#pragma unroll
    for (int j = 0; j < BREADTH; ++j) {
      const int u = lane / 8 + 4 * i, v = lane % 8 + 8 * j;
      if (u >= first_row && u < end_row && v >= first_col && v < end_col)
        finish(c + u * c_row + v, acc[i][j], alpha, beta, flags);
    }
}
#include "warp_roles.h"

KERNEL_BOUNDED(deep, MULTIPLIERS + COPIERS, 1, GROUPS)(GEMM_ARGUMENTS) {
  LOCAL_ARENA(arena, STAGES * (PANEL_A + PANEL_B) * 4);
  LOCAL Barrier barriers[2 * STAGES];
  multiply_by_roles(GEMM_PASSED, (LOCAL_POINTER T*)arena, barriers, (LOCAL_POINTER T*)arena);
}
