// Idea: one work-item moves a few long rows of a tile, in square blocks in vector registers that
// are a line of the output high. The lines go out past the cache, whole wherever they begin. It
// beats `vector` on a CPU, where a group of 256 work-items with barriers is a loop over memory: the
// hardware recognizes long parts of few rows and reads ahead.
// Requires: a CPU. No sister in CUDA, which has none.
#include "problem.h"

#define LINE (64 / BYTES)  // elements of a cache line
#if BYTES >= 8
#define SIDE 8
#else
#define SIDE 16
#endif
#if BYTES == 1
typedef uchar Word;
typedef uchar16 Words;
#elif BYTES == 2
typedef ushort Word;
typedef ushort16 Words;
#elif BYTES == 4
typedef uint Word;
typedef uint16 Words;
#else
typedef ulong Word;
typedef ulong8 Words;
#endif

#include "turn.h"

typedef Words Unaligned ALIGNED(BYTES);
typedef int16 Line;
typedef Line UnalignedLine ALIGNED(BYTES);

// Turns a block, of which `rows` are there, and calls for the lines of the block after next: the
// hardware's own prefetch stops at each page. f32 4096^2 and 4095 x 4097 on 2 cores, of a copy:
// none 0.21, 0.17; 64 bytes ahead 0.43, 0.34; 128 0.40, 0.39; 256 0.38, 0.42.
INLINED void load_turned(const GLOBAL Word* from, long in_row, int rows, Words r[SIDE]) {
#pragma unroll
  for (int i = 0; i < SIDE; ++i)
    r[i] = i < rows ? *(const GLOBAL Unaligned*)(from + i * in_row) : (Words)0;
#pragma unroll
  for (int i = 0; i < SIDE; ++i) prefetch_line(from + i * in_row + 128 / BYTES);
  turn(r);
}

// A tile whose lines of the output lie in its blocks.
DEVICE void move_lines(const GLOBAL Word* from, long in_row, GLOBAL Word* to, long out_col,
                       int height, int width) {
  for (int index = 0; index < width; index += SIDE) {
    const int j = min(index, width - SIDE);  // the last block's first columns are written twice
    for (int i = 0; i < height; i += SIDE) {
      Words r[SIDE];
      load_turned(from + i * in_row + j, in_row, SIDE, r);
#pragma unroll
      for (int c = 0; c < SIDE; ++c)
        store_past_cache(r[c], (GLOBAL Words*)(to + (j + c) * out_col + i));
    }
  }
}

#include "sheared_kept.h"

// Moves blocks that aren't turned: a few rows, strided copies, broadcasts, misaligned elements.
DEVICE void move_block(const GLOBAL uchar* from, long in_row, long in_col, bool whole_in,
                       GLOBAL uchar* to, long out_row, long out_col, bool whole_out, int height,
                       int width) {
  for (int i = 0; i < height; ++i)
    for (int j = 0; j < width; ++j)
      store_element(to + (i * out_row + j * out_col) * BYTES,
                    load_element(from + (i * in_row + j * in_col) * BYTES, whole_in), whole_out);
}

KERNEL_OF(work_item_tile, 1, 1)(TRANSPOSE_ARGUMENTS, int tile_rows, int tile_cols) {
  const Tile tile = tile_of(group_x(), tiles_rows, tiles_cols);
  const GLOBAL uchar* from = in + in_offset + tile.batch * in_batch * BYTES;
  GLOBAL uchar* to = out + out_offset + tile.batch * out_batch * BYTES;
  const bool whole_in = is_aligned(from, BYTES), whole_out = is_aligned(to, BYTES);
  const bool turns = BYTES < 16 && in_col == 1 && out_row == 1 && whole_in && whole_out &&
                     rows >= SIDE && cols >= SIDE;
  const bool lines = SIDE == LINE && rows % SIDE == 0 && ((ulong)to | out_col * BYTES) % 64 == 0;
  const bool is_last = tile.row + 1 == tiles_rows;  // takes the rest
  const long i0 = (long)tile.row * tile_rows, edge = (long)tile.col * tile_cols;
  const long j0 = turns ? min(edge, cols - SIDE) : edge;
  const int height = is_last ? (int)(rows - i0) : tile_rows;
  const int width = (int)min(cols - j0, (long)tile_cols);
  from += (i0 * in_row + j0 * in_col) * BYTES;
  to += (i0 * out_row + j0 * out_col) * BYTES;
  if (!turns)
    move_block(from, in_row, in_col, whole_in, to, out_row, out_col, whole_out, height, width);
  else if (lines)
    move_lines((const GLOBAL Word*)from, in_row, (GLOBAL Word*)to, out_col, height, width);
  else
    move_sheared((const GLOBAL Word*)from, in_row, (GLOBAL Word*)to, out_col, rows, height, width,
                 tile.row == 0, is_last);
  stores_done();
}
