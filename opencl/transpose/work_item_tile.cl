// Idea: one work-item turns 16 columns of a tile at a time, in blocks of 16 x 16 in vector
// registers. They go out past the cache: whole lines at once, others through a strip of its own memory.
// It beats `vector` on a CPU, where a group of 256 work-items with barriers is a loop over memory:
// every line is read once and written whole, wherever it begins, without being read first.
// Requires: a CPU. No sister in CUDA, which has none.
//
//   turn16: four steps; step d swaps the off-diagonal d x d blocks of every 2d x 2d block.
#include "problem.h"

#define SIDE 16
// backends/gpu/transpose_variants.cpp counts such tiles. Tall ones write runs of 2 KiB, of which few lines are
// split. Where no line of the output is, wide ones read runs of a page, which the hardware's prefetch
// follows: 4096^2 on 2 cores, of a copy: f32 tall 0.24, wide 0.39; f64 0.35, 0.77.
#if SHAPE_wide
#define TILE_ROWS (256 / BYTES)
#define TILE_COLS (4096 / BYTES)
#else
#define TILE_ROWS (2048 / BYTES)
#define TILE_COLS 64
#endif
// Rows 16 KiB apart share sets of the caches, so operands in memory are read by fewer at a time: f32 on 2
// cores, of the cpu backend's median, 32 rows: 1024^2 0.54, 4096^2 0.93; 64 rows: 0.76, 0.72.
#define SOME_ROWS 32
#define MEMORY_BYTES (1 << 25)
#define LINE (64 / BYTES)         // elements of a cache line
#define PITCH (TILE_ROWS + LINE)  // of the strip: a line more, or its rows would share cache sets
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
typedef ulong16 Words;
#endif

// Lane l of a step: whole masks, since PoCL 3.1 looks through vectors that are built of elements, and
// makes 1,000 instructions of the 64 permutations of a block.
#define LANE(l, d) ((l) & (d) ? (l) - (d) + SIDE : (l))
#define PICK(a, b, d, more)                                                             \
  __builtin_shufflevector(                                                              \
      a, b, LANE(0, d) + more, LANE(1, d) + more, LANE(2, d) + more, LANE(3, d) + more, \
      LANE(4, d) + more, LANE(5, d) + more, LANE(6, d) + more, LANE(7, d) + more,       \
      LANE(8, d) + more, LANE(9, d) + more, LANE(10, d) + more, LANE(11, d) + more,     \
      LANE(12, d) + more, LANE(13, d) + more, LANE(14, d) + more, LANE(15, d) + more)
#define STEP(d)                                                    \
  _Pragma("unroll") for (int i = 0; i < SIDE; ++i) if (!(i & d)) { \
    const Words low = PICK(r[i], r[i + d], d, 0);                  \
    r[i + d] = PICK(r[i], r[i + d], d, d);                         \
    r[i] = low;                                                    \
  }

// Calls for the lines of the block after next: the hardware's own prefetch stops at each page. f32
// 4096^2 and 4095 x 4097 on 2 cores, of a copy: none 0.21, 0.17; 64 bytes ahead 0.43, 0.34; 128 0.40,
// 0.39; 256 0.38, 0.42.
INLINED void turn16(const GLOBAL Word* from, long in_row, Words r[SIDE]) {
#pragma unroll
  for (int i = 0; i < SIDE; ++i) r[i] = vload16(0, from + i * in_row);
#pragma unroll
  for (int i = 0; i < SIDE; ++i)
    for (int part = 0; part < SIDE; part += LINE)
      prefetch_line(from + i * in_row + 2 * SIDE + part);
  STEP(8)
  STEP(4)
  STEP(2)
  STEP(1)
}

INLINED void turn_into_strip(const GLOBAL Word* from, long in_row, Word* to) {
  Words r[SIDE];
  turn16(from, in_row, r);
#pragma unroll
  for (int j = 0; j < SIDE; ++j) vstore16(r[j], 0, to + j * PITCH);
}

// Blocks that hold whole lines of the output need no strip.
INLINED void turn_into_lines(const GLOBAL Word* from, long in_row, GLOBAL Word* to, long out_col) {
  Words r[SIDE];
  turn16(from, in_row, r);
#pragma unroll
  for (int j = 0; j < SIDE; ++j) {
#if BYTES == 8
    store_past_cache(r[j].lo, (GLOBAL ulong8*)(to + j * out_col));
    store_past_cache(r[j].hi, (GLOBAL ulong8*)(to + j * out_col) + 1);
#else
    store_past_cache(r[j], (GLOBAL Words*)(to + j * out_col));
#endif
  }
}

// Whole lines go past the cache, which spares reading them first.
DEVICE void write_run(GLOBAL Word* to, const Word* from, int count) {
  const int head = min(count, (int)((64 - (ulong)to % 64) % 64 / BYTES));
  int n = 0;
  for (; n < head; ++n) to[n] = from[n];
  for (; n + LINE <= count; n += LINE)
#if BYTES == 8
    store_past_cache(vload8(0, from + n), (GLOBAL ulong8*)(to + n));
#else
    for (int part = n; part < n + LINE; part += SIDE)
      store_past_cache(vload16(0, from + part), (GLOBAL Words*)(to + part));
#endif
  for (; n < count; ++n) to[n] = from[n];
}

// What isn't turned: a few rows, strided copies, broadcasts, misaligned elements.
DEVICE void move_block(const GLOBAL uchar* from, long in_row, long in_col, bool whole_in,
                       GLOBAL uchar* to, long out_row, long out_col, bool whole_out, int height,
                       int width) {
  for (int i = 0; i < height; ++i)
    for (int j = 0; j < width; ++j)
      store_element(to + (i * out_row + j * out_col) * BYTES,
                    load_element(from + (i * in_row + j * in_col) * BYTES, whole_in), whole_out);
}

KERNEL_OF(work_item_tile, 1, 1)(TRANSPOSE_ARGUMENTS) {
  const Tile tile = tile_of(group_x(), tiles_rows, tiles_cols);
  const long i0 = (long)tile.row * TILE_ROWS, j0 = (long)tile.col * TILE_COLS;
  const int height = rows - i0 < TILE_ROWS ? (int)(rows - i0) : TILE_ROWS;
  const int width = cols - j0 < TILE_COLS ? (int)(cols - j0) : TILE_COLS;
  const GLOBAL uchar* from = in + in_offset;
  GLOBAL uchar* to = out + out_offset;
  const bool whole_in = is_aligned(from, BYTES), whole_out = is_aligned(to, BYTES);
  const bool turns = BYTES < 16 && in_col == 1 && out_row == 1 && whole_in && whole_out;
  from += (tile.batch * in_batch + i0 * in_row + j0 * in_col) * BYTES;
  to += (tile.batch * out_batch + i0 * out_row + j0 * out_col) * BYTES;
  if (!turns || height < SIDE) {
    move_block(from, in_row, in_col, whole_in, to, out_row, out_col, whole_out, height, width);
    return;
  }
  int done = 0;  // columns
  if (SIDE % LINE == 0 && height % SIDE == 0 && (ulong)to % 64 == 0 && out_col * BYTES % 64 == 0) {
    const int some = rows * cols * BYTES < MEMORY_BYTES ? height : SOME_ROWS;
    done = width / SIDE * SIDE;
    for (int i0 = 0; i0 < height; i0 += some)
      for (int j = 0; j < done; j += SIDE)
        for (int i = i0; i < min(i0 + some, height); i += SIDE)
          turn_into_lines((const GLOBAL Word*)from + i * in_row + j, in_row,
                          (GLOBAL Word*)to + j * out_col + i, out_col);
  }
  Word strip[SIDE * PITCH] __attribute__((aligned(64)));
  for (int j = done; j < width; j += SIDE) {
    const GLOBAL Word* const source = (const GLOBAL Word*)from + j;
    const int runs = min(width - j, SIDE);
    int i = 0;
    if (runs == SIDE)
      for (; i + SIDE <= height; i += SIDE) turn_into_strip(source + i * in_row, in_row, strip + i);
    for (; i < height; ++i)
      for (int c = 0; c < runs; ++c) strip[c * PITCH + i] = source[i * in_row + c];
    for (int c = 0; c < runs; ++c)
      write_run((GLOBAL Word*)to + (j + c) * out_col, strip + c * PITCH, height);
  }
  stores_done();
}
