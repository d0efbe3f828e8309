// The block of C that a warp holds in registers, 4 HEIGHT x 8 BREADTH: 4 x 8 work-items with HEIGHT
// x BREADTH elements each, in runs of 4 (or 2) rows, 4 runs apart, and of 4 (or 2) columns, 8 runs
// apart. Included after problem.h.

// A lane's place in its warp. Rows of 8 neighbours are faster for large blocks, pairs that share a
// column for small ones, by 2 to 8 %.
#define LARGE (HEIGHT * BREADTH >= 128)
#define DOWN(lane) (LARGE ? (lane) / 8 : (lane) % 2 + (lane) / 16 * 2)
#define ACROSS(lane) (LARGE ? (lane) % 8 : (lane) / 2 % 8)

#define RUN_OF(count) ((count) % WIDTH == 0 ? WIDTH : 2)

// flags: C can't be stored by vectors. Then columns that lie side by side in a panel of B are 8
// apart in C, so that 8 work-items write neighbours: 5276x1971x84 took 75 µs, when each wrote its
// 4 neighbours, of which 21 were stores; aligned rows take 57.
#define SPREAD 8
// Column `lane` is at PLACE(lane) of the panel then.
#define PLACE(lane) PLACE_OF_RUN(lane, RUN_OF(BREADTH))
#define PLACE_OF_RUN(lane, run) \
  ((lane) / (8 * (run)) * (8 * (run)) + (lane) % 8 * (run) + (lane) % (8 * (run)) / 8)

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
  const int high = RUN_OF(HEIGHT), wide = RUN_OF(BREADTH), next = flags & SPREAD ? 8 : 1;
  const int row = DOWN(lane) * high, col = ACROSS(lane) * (flags & SPREAD ? 1 : wide);
  const int row0 = clip(first_row), row1 = clip(end_row);
  const int col0 = clip(first_col), col1 = clip(end_col);
#pragma unroll
  for (int i = 0; i < HEIGHT; ++i)
#pragma unroll
    for (int j = 0; j < BREADTH; ++j) {
      const int u = i / high * 4 * high + i % high + row;
      const int v = j / wide * 8 * wide + j % wide * next + col;
      if (u >= row0 && u < row1 && v >= col0 && v < col1) acc[i][j] = c[u * c_row + v];
    }
}

// Stores the rows row0 … row1 - 1 and columns col0 … col1 - 1 of a lane's sums, counted from `c`,
// the place of its first, from which columns lie `next` apart; by vectors, if `next` is 0. `flags`
// are a constant, so that the text is short: groups that start and end often wait for instructions.
DEVICE void store_sums(GLOBAL T* c, long c_row, int row0, int row1, int col0, int col1,
                       T acc[HEIGHT][BREADTH], T alpha, T beta, int next, const int flags) {
  const int high = RUN_OF(HEIGHT), wide = RUN_OF(BREADTH);
#pragma unroll
  for (int i = 0; i < HEIGHT; ++i) {
    const int u = i / high * 4 * high + i % high;
#pragma unroll
    for (int j = 0; j < BREADTH; j += next ? 1 : wide) {
      const int v = j / wide * 8 * wide + j % wide * next;
      if (u < row0 || u >= row1 || v < col0 || v >= col1) continue;
      if (next)
        finish(c + u * c_row + v, acc[i][j], alpha, beta, flags);
      else
        finish_vector(c + u * c_row + v, acc[i] + j, alpha, beta, flags);
    }
  }
}

// Stores the block; the bounds are begin_block's. Without a product, its sums are 0 and their
// factor is 1.
DEVICE void store_block(GLOBAL T* c, long c_row, long first_row, long end_row, long first_col,
                        long end_col, T acc[HEIGHT][BREADTH], LOCAL_POINTER T* lines, int lane,
                        T alpha, T beta, int flags) {
  const int wide = RUN_OF(BREADTH), next = wide == WIDTH || flags & SPREAD ? 8 : 1;
  const int row = DOWN(lane) * RUN_OF(HEIGHT), col = ACROSS(lane) * (flags & SPREAD ? 1 : wide);
  const T factor = flags & MULTIPLY ? alpha : 1;
#define STORE_SUMS(next, flags)                                                        \
  store_sums(c + row * c_row + col, c_row, clip(first_row) - row, clip(end_row) - row, \
             clip(first_col) - col, clip(end_col) - col, acc, factor, beta, next, flags)
  if (wide == WIDTH && !(flags & SPREAD)) {
    if (flags & ADD_C)
      STORE_SUMS(0, MULTIPLY | ADD_C);
    else
      STORE_SUMS(0, MULTIPLY);
  } else if (flags & ADD_C) {
    STORE_SUMS(next, MULTIPLY | ADD_C);
  } else {
    STORE_SUMS(next, MULTIPLY);
  }
#undef STORE_SUMS
}
