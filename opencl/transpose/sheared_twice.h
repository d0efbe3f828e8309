// A tile whose lines of the output begin anywhere, by AVX-512, elements of 4 and 8 bytes. Rows are read twice, for the lines
// that end in them and for those that begin there, so that nothing is kept. f32 4095 x 4097 through PoCL on 2 cores, GB/s: kept
// 28, read twice 32, neither (its results are wrong) 35.
#pragma once

#if BYTES == 4
typedef int16 Lanes;
#define NUMBERS (Lanes)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#define MOVED(line, from) __builtin_ia32_permvarsi512(as_int16(line), from)
#else
typedef long8 Lanes;
#define NUMBERS (Lanes)(0, 1, 2, 3, 4, 5, 6, 7)
#define MOVED(line, from) __builtin_ia32_permvardi512(as_long8(line), from)
#endif

// What columns have before and after their whole lines.
DEVICE void move_ends(const GLOBAL Word* from, long in_row, GLOBAL Word* to, long out_col,
                      long rows, int width) {
  for (int c = 0; c < width; ++c) {
    GLOBAL Word* const column = to + c * out_col;
    prefetch_line(column + 8 * out_col);
    const long first = LINE - (long)column % 64 / BYTES,
               last = rows - (long)(column + rows) % 64 / BYTES;
    for (long i = 0; i < first; ++i) column[i] = from[i * in_row + c];
    for (long i = last; i < rows; ++i) column[i] = from[i * in_row + c];
  }
}

// By plain stores, where a column may have no whole line.
DEVICE void move_short(const GLOBAL Word* from, long in_row, GLOBAL Word* to, long out_col,
                       int height, int width) {
  for (int p = 0; p < height; p += SIDE)
    for (int next = 0; next < width; next += SIDE) {
      const int i = min(p, height - SIDE), q = min(next, width - SIDE);
      Words r[SIDE];
      load_turned(from + i * in_row + q, in_row, SIDE, r);
#pragma unroll
      for (int c = 0; c < SIDE; ++c) *(GLOBAL Unaligned*)(to + (q + c) * out_col + i) = r[c];
    }
}

// Of each of SIDE columns the line that holds the element of row `from`. The vector of row i is turned with those of the other
// rows; where a column's line ends before that row, the row LINE rows before stands in for it:
//
//   a column             |------ the line -----|
//   rows, less LINE      | 13 14 15 |
//   rows                            | 0 1 ... 12 |
//   after turning          0 1 ... 12  13 14 15      and then rotated
INLINED void move_line(const GLOBAL Word* from, long in_row, GLOBAL Word* to, long out_col) {
  const Lanes over = ((Lanes)((ulong)to / BYTES) + NUMBERS * (Lanes)out_col) & (LINE - 1);
  Words r[SIDE];
#pragma unroll
  for (int i = 0; i < SIDE; ++i) {
    const GLOBAL Word* const row = from + i * in_row;
    prefetch_line(row + 128 / BYTES);
    const Words fresh = *(const GLOBAL Unaligned*)row;
    const Words before = *(const GLOBAL Unaligned*)(row - LINE * in_row);
    r[i] = over >= LINE - i ? before : fresh;
  }
  turn(r);
#pragma unroll
  for (int c = 0; c < SIDE; ++c) {
    GLOBAL Word* const column = to + c * out_col;
    const int by = (int)((ulong)column % 64 / BYTES);
    store_past_cache(MOVED(r[c], NUMBERS + (LINE - by)), (GLOBAL Lanes*)(column - by));
  }
}

DEVICE void move_sheared(const GLOBAL Word* from, long in_row, GLOBAL Word* to, long out_col,
                         long rows, int height, int width, bool is_first, bool is_last) {
  if (rows < 2 * LINE) {
    move_short(from, in_row, to, out_col, height, width);
    return;
  }
  if (is_first) move_ends(from, in_row, to, out_col, rows, width);
  const int end =
      is_last ? height : height + LINE;  // a line that begins in a tile is written by it
  for (int index = LINE; index < end; index += LINE) {
    const int p = min(index, end - LINE);  // the last lines are written twice
    for (int next = 0; next < width; next += SIDE) {
      const int q = min(next, width - SIDE);
      move_line(from + p * in_row + q, in_row, to + q * out_col + p, out_col);
    }
  }
}
