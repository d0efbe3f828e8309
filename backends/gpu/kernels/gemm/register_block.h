// The block of C that a work-item holds in registers: HEIGHT x BREADTH elements. A warp is 4 x 8
// work-items; each has vectors of WIDTH rows, 4 WIDTH apart, and of WIDTH columns, 8 WIDTH apart,
// so that reads of a panel are 16 bytes side by side, or broadcasts. Included after problem.h.

// The distance from the block's first element to its element (i, j).
DEVICE int down(int i) { return i / WIDTH * 4 * WIDTH + i % WIDTH; }
DEVICE int across(int j) { return j / WIDTH * 8 * WIDTH + j % WIDTH; }

DEVICE void clear_block(T acc[HEIGHT][BREADTH]) {
#pragma unroll
  for (int i = 0; i < HEIGHT; ++i)
#pragma unroll
    for (int j = 0; j < BREADTH; ++j) acc[i][j] = 0;
}

// Chains that begin at C. `c` is the place of the block's first element, `rows` and `cols` what is
// left of C from there.
DEVICE void begin_block(const GLOBAL T* c, long c_row, long c_col, long rows, long cols,
                        T acc[HEIGHT][BREADTH]) {
#pragma unroll
  for (int i = 0; i < HEIGHT; ++i)
#pragma unroll
    for (int j = 0; j < BREADTH; ++j)
      if (down(i) < rows && across(j) < cols) acc[i][j] = c[down(i) * c_row + across(j) * c_col];
}

DEVICE void read_panel(T* to, const LOCAL_POINTER T* from, const int count, const int apart) {
#pragma unroll
  for (int g = 0; g < count; g += WIDTH)
    unpack(*(const LOCAL_POINTER VECTOR*)(from + g * apart), to + g);
}

// One step of k. Every other row is walked backwards, so that each multiply-add has an operand in
// common with the one before it, which saves reads of registers.
DEVICE void multiply_step(T acc[HEIGHT][BREADTH], const LOCAL_POINTER T* a,
                          const LOCAL_POINTER T* b) {
  T x[HEIGHT], y[BREADTH];
  read_panel(x, a, HEIGHT, 4);
  read_panel(y, b, BREADTH, 8);
#pragma unroll
  for (int i = 0; i < HEIGHT; ++i)
#pragma unroll
    for (int s = 0; s < BREADTH; ++s) {
      const int j = i % 2 ? BREADTH - 1 - s : s;
      acc[i][j] = multiply_add(x[i], y[j], acc[i][j]);
    }
}

// `c`, `rows` and `cols` as above.
DEVICE void store_block(GLOBAL T* c, long c_row, long c_col, long rows, long cols,
                        T acc[HEIGHT][BREADTH], T alpha, T beta, int flags) {
  const int last_row = (HEIGHT - WIDTH) * 4 + WIDTH, last_col = (BREADTH - WIDTH) * 8 + WIDTH;
  if (is_wide(c, c_row, c_col) && rows >= last_row && cols >= last_col) {
#pragma unroll
    for (int i = 0; i < HEIGHT; ++i)
#pragma unroll
      for (int j = 0; j < BREADTH; j += WIDTH)
        finish_vector(c + down(i) * c_row + j * 8, acc[i] + j, alpha, beta, flags);
  } else {
#pragma unroll
    for (int i = 0; i < HEIGHT; ++i)
#pragma unroll
      for (int j = 0; j < BREADTH; ++j) {
        const int u = down(i), v = across(j);
        if (u < rows && v < cols) finish(c + u * c_row + v * c_col, acc[i][j], alpha, beta, flags);
      }
  }
}
