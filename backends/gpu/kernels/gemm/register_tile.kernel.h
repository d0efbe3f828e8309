// Idea: a work-item keeps a block of C in registers; panels of A and B stream through STAGES stages
// of local memory, copied in the background while earlier stages are used.
// It beats `ilp16` and `volkov2008` because no work-item waits for memory, and local memory is read
// 16 bytes at a time, each value used 8 or 16 times.
// Requires: SIZE work-items a group and 34 KiB of local memory; SIZE 128 also elements of 4 bytes.
// Without background copies (cp.async) the copies run between the barriers.
//
// CONTINUED 1: chains begin at C. A question at run time would need more registers.
//
//   C tile SIZE x SIZE, SIZE work-items (SIZE 128: 16 x 8 elements each; SIZE 64: 8 x 8).
//   register_block.h says which elements those are.
#include "problem.h"

#define THREADS SIZE
#define DEPTH 8
#define STAGES 4
#if SIZE == 128
#define HEIGHT 16
#else
#define HEIGHT 8
#endif
#define BREADTH 8
#define WARPS_DOWN (SIZE / (4 * HEIGHT))
#include "panel.h"
#include "register_block.h"

KERNEL_BOUNDED(register_tile, THREADS, 1, 256 / THREADS)(GEMM_ARGUMENTS) {
  LOCAL ALIGNED(16) T a_panel[STAGES * PANEL(SIZE)];
  LOCAL ALIGNED(16) T b_panel[STAGES * PANEL(SIZE)];
  const Tile tile = tile_of(group_x(), tiles_m, tiles_n);
  const int t = local_x(), warp = t / 32;
  const long i0 = (long)tile.row * SIZE, j0 = (long)tile.col * SIZE;
  const int row = (warp % WARPS_DOWN * 4 * HEIGHT) + t % 32 / 8 * WIDTH;
  const int col = (warp / WARPS_DOWN * 8 * BREADTH) + t % 8 * WIDTH;
  PanelLoader a_loader =
      loader_of(a + a_offset + tile.batch * a_batch, a_row, a_col, a_batch, i0, m, SIZE, t);
  PanelLoader b_loader =
      loader_of(b + b_offset + tile.batch * b_batch, b_col, b_row, b_batch, j0, n, SIZE, t);
  const long depth = flags & MULTIPLY ? k : 0;

  T acc[HEIGHT][BREADTH];
  clear_block(acc);

  long copied = 0;
  for (int s = 0; s < STAGES - 1; ++s, copied += DEPTH) {
    if (copied < depth) {
      copy_panel(&a_loader, a_panel + s * PANEL(SIZE), depth - copied, SIZE, t);
      copy_panel(&b_loader, b_panel + s * PANEL(SIZE), depth - copied, SIZE, t);
    }
    commit_copies();
  }
#if CONTINUED  // CONTINUE is set then; without this question nvcc spills addresses
  if (flags & CONTINUE)
    begin_block(c + c_offset + tile.batch * c_batch + (i0 + row) * c_row + (j0 + col) * c_col,
                c_row, c_col, m - i0 - row, n - j0 - col, acc);
#endif
  int stage = 0;
  for (long l0 = 0; l0 < depth; l0 += DEPTH) {
    await_copies(STAGES - 2);
    sync();
    const int next = stage == 0 ? STAGES - 1 : stage - 1;
    const LOCAL_POINTER T* a_stage = a_panel + stage * PANEL(SIZE) + row;
    const LOCAL_POINTER T* b_stage = b_panel + stage * PANEL(SIZE) + col;
#pragma unroll
    for (int l = 0; l < DEPTH; ++l) {
      // The two copies are apart in the text, so that they don't fill the queue of memory
      // instructions.
      if (l == 1 && copied < depth)
        copy_panel(&a_loader, a_panel + next * PANEL(SIZE), depth - copied, SIZE, t);
      if (l == DEPTH / 2 && copied < depth)
        copy_panel(&b_loader, b_panel + next * PANEL(SIZE), depth - copied, SIZE, t);
      multiply_step(acc, a_stage + l * ROW(SIZE), b_stage + l * ROW(SIZE));
    }
    commit_copies();
    copied += DEPTH;
    stage = stage == STAGES - 1 ? 0 : stage + 1;
  }

  c += c_offset + tile.batch * c_batch + (i0 + row) * c_row + (j0 + col) * c_col;
  store_block(c, c_row, c_col, m - i0 - row, n - j0 - col, acc, alpha, beta, flags);
}
