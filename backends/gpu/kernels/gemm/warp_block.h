// The block of C that a warp holds in registers, 4 HEIGHT x 8 BREADTH: 4 x 8 work-items with HEIGHT
// x BREADTH elements each, in runs of 4 (or 2) rows, 4 runs apart, and of 4 (or 2) columns, 8 runs
// apart. Included after problem.h.

// A lane's place in its warp. Rows of 8 neighbours are faster for large blocks, pairs that share a
// column for small ones, by 2 to 8 %.
#define LARGE (HEIGHT * BREADTH >= 128)
#define DOWN(lane) (LARGE ? (lane) / 8 : (lane) % 2 + (lane) / 16 * 2)
#define ACROSS(lane) (LARGE ? (lane) % 8 : (lane) / 2 % 8)

#define RUN_OF(count) ((count) % WIDTH == 0 ? WIDTH : 2)

#define BLOCK_M (4 * HEIGHT)
#define BLOCK_N (8 * BREADTH)
#define STEP 1
#define ACC_ROWS HEIGHT
#define ACC_COLS BREADTH
#define X_COUNT HEIGHT
#define Y_COUNT BREADTH
#define A_STEP ROW(TILE_M)
#define B_STEP ROW(TILE_N)
#define FIRST_OF_A(x, row, lane) ((row) + DOWN(lane) * RUN_OF(HEIGHT))
#define FIRST_OF_B(x, col, lane) ((col) + ACROSS(lane) * RUN_OF(BREADTH))

// `apart`: the number of work-items whose runs lie between two runs of this one.
DEVICE void read_runs(T* to, const LOCAL_POINTER T* from, const int count, const int apart) {
#pragma unroll
  for (int g = 0; g < count; g += RUN_OF(count))
    if (RUN_OF(count) == WIDTH) {
      unpack(*(const LOCAL_POINTER VECTOR*)(from + g * apart), to + g);
    } else {
      const PAIR v = *(const LOCAL_POINTER PAIR*)(from + g * apart);
      to[g] = v.x, to[g + 1] = v.y;
    }
}
DEVICE void read_fragments(T* x, T* y, const LOCAL_POINTER T* a, const LOCAL_POINTER T* b) {
  read_runs(x, a, HEIGHT, 4);
  read_runs(y, b, BREADTH, 8);
}

// One step of k. Every other row is walked backwards, so that each multiply-add has an operand in
// common with the one before it, which saves reads of registers.
DEVICE void multiply_fragments(T acc[HEIGHT][BREADTH], const T* x, const T* y) {
#pragma unroll
  for (int i = 0; i < HEIGHT; ++i)
#pragma unroll
    for (int s = 0; s < BREADTH; ++s) {
      const int j = i % 2 ? BREADTH - 1 - s : s;
      acc[i][j] = multiply_add(x[i], y[j], acc[i][j]);
    }
}

DEVICE int clip(long x) { return x < 0 ? 0 : x < TILE_M + TILE_N ? (int)x : TILE_M + TILE_N; }

// Chains that begin at C: the block's rows `first_row` … `end_row` - 1 and its columns alike, as
// far as it has them; `c` is the place of its first element. The others are another tile's, which
// may have stored them already. By elements: the sums would lie in registers as vectors want them,
// which slows the multiply-adds (4096: by 6 %).
DEVICE void begin_block(const GLOBAL T* c, long c_row, long first_row, long end_row, long first_col,
                        long end_col, T acc[HEIGHT][BREADTH], int lane, int flags) {
  const int high = RUN_OF(HEIGHT), wide = RUN_OF(BREADTH);
  const int row = DOWN(lane) * high, col = ACROSS(lane) * wide;
  const int row0 = clip(first_row), row1 = clip(end_row);
  const int col0 = clip(first_col), col1 = clip(end_col);
#pragma unroll
  for (int i = 0; i < HEIGHT; ++i)
#pragma unroll
    for (int j = 0; j < BREADTH; ++j) {
      const int u = i / high * 4 * high + i % high + row, v = j / wide * 8 * wide + j % wide + col;
      if (u >= row0 && u < row1 && v >= col0 && v < col1) acc[i][j] = c[u * c_row + v];
    }
}

// Stores the block; the bounds are begin_block's. Vectors go straight to memory. Where C isn't
// aligned, 4 rows at a time pass through `lines`, so that each store writes neighbours; else it
// writes a part of 16 sectors, which costs 5 % at 2047. The values that pass are scaled already:
// the sums themselves would have to lie in registers as the stores want them, which slows the
// multiply-adds. Small blocks gain nothing by it.
#define LINES (BY_LINES ? 4 * 8 * BREADTH : 1)
DEVICE void store_block(GLOBAL T* c, long c_row, long first_row, long end_row, long first_col,
                        long end_col, T acc[HEIGHT][BREADTH], LOCAL_POINTER T* lines, int lane,
                        T alpha, T beta, int flags) {
  const int high = RUN_OF(HEIGHT), wide = RUN_OF(BREADTH), across = 8 * BREADTH;
  const int row = DOWN(lane) * high, col = ACROSS(lane) * wide;
  if (wide == WIDTH && is_wide(c, c_row, 1) && first_row <= 0 && end_row >= 4 * HEIGHT &&
      first_col <= 0 && end_col >= across) {
    c += row * c_row + col;
#pragma unroll
    for (int i = 0; i < HEIGHT; ++i)
#pragma unroll
      for (int j = 0; j < BREADTH; j += WIDTH)
        finish_vector(c + (i / high * 4 * high + i % high) * c_row + j * 8, acc[i] + j, alpha, beta,
                      flags);
    return;
  }
  const int row0 = clip(first_row), row1 = clip(end_row);
  const int col0 = clip(first_col), col1 = clip(end_col);
#pragma unroll
  for (int i = 0; i < HEIGHT; ++i) {
    const int first = i / high * 4 * high + i % high;  // of the 4 rows, `high` apart
    if (BY_LINES) {
#pragma unroll
      for (int j = 0; j < BREADTH; ++j)
        lines[DOWN(lane) * across + j / wide * 8 * wide + col + j % wide] =
            flags & MULTIPLY ? scale(alpha, acc[i][j]) : (T)0;
      sync_warp();
#pragma unroll
      for (int e = lane; e < 4 * across; e += 32) {
        const int u = first + e / across * high, v = e % across;
        if (u < row0 || u >= row1 || v < col0 || v >= col1) continue;
        GLOBAL T* const to = c + u * c_row + v;
        *to = flags & ADD_C ? multiply_add(beta, *to, lines[e]) : lines[e];
      }
      sync_warp();
    } else {
#pragma unroll
      for (int j = 0; j < BREADTH; ++j) {
        const int u = first + row, v = j / wide * 8 * wide + col + j % wide;
        if (u >= row0 && u < row1 && v >= col0 && v < col1)
          finish(c + u * c_row + v, acc[i][j], alpha, beta, flags);
      }
    }
  }
}
