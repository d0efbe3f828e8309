// Idea: a group multiplies many small matrices, as many as its local memory holds: it copies all
// their A and B, neighbours by neighbours; a work-item walks k for up to 4 x 4 elements of one C;
// then C goes back as A came.
// It beats the tiles there because no lane multiplies what isn't there, and no group waits for one
// matrix.
// Requires: A and B that fit in 40 KiB, which C takes over, and at most 4 x 4 elements of C for
// each work-item.
//
// In local memory all matrices are row-major; rows and matrices are odd numbers of 16 bytes, which
// are read at once, so that lanes fall on different banks. tiles_m is the number of products that a
// group takes, tiles_n that of all.
#include "problem.h"

#define THREADS 256
#define ARENA (40960 / (int)sizeof(T))
#define SIDE 4

// Matrices as they lie in memory: `height` lines of `width` pieces. A piece is an element or 16
// bytes.
typedef struct Matrices {
  int width, height;
  long unit, line, batch;           // distances in memory
  int at_unit, at_line, at_matrix;  // and in local memory
  bool wide;
} Matrices;

DEVICE int pitch_of(long cols) { return (((int)cols + WIDTH - 1) / WIDTH | 1) * WIDTH; }
DEVICE int size_of(long rows, long cols) { return (int)rows * pitch_of(cols) + WIDTH; }

DEVICE Matrices matrices_of(const GLOBAL T* from, long rows, long cols, long row, long col,
                            long batch) {
  const int pitch = pitch_of(cols);
  Matrices p;
  p.wide = col == 1 && cols % WIDTH == 0 &&
           (((ulong)from | (ulong)row * sizeof(T) | (ulong)batch * sizeof(T)) & 15) == 0;
  const bool along_rows = !p.wide && rows > 1 && (row < 0 ? -row : row) < (col < 0 ? -col : col);
  p.width = (int)(along_rows ? rows : p.wide ? cols / WIDTH : cols);
  p.height = (int)(along_rows ? cols : rows);
  p.unit = along_rows ? row : p.wide ? WIDTH : col;
  p.line = along_rows ? col : row;
  p.batch = batch;
  p.at_unit = along_rows ? pitch : p.wide ? WIDTH : 1;
  p.at_line = along_rows ? 1 : pitch;
  p.at_matrix = size_of(rows, cols);
  return p;
}

// A work-item's walk over the pieces of the matrices, THREADS at once.
typedef struct Walk {
  int x, y, z, at;  // piece of a line, line, matrix; its place in local memory
  long from;        // and in memory
  int by_x, by_y, by_z, by_at;
  long by_from;
} Walk;

DEVICE int walk_split(const Matrices* p, int n, int* y, int* z, int* at, long* from) {
  const int x = n % p->width;
  *y = n / p->width % p->height;
  *z = n / p->width / p->height;
  *at = *z * p->at_matrix + *y * p->at_line + x * p->at_unit;
  *from = *z * p->batch + *y * p->line + x * p->unit;
  return x;
}

DEVICE Walk walk_begin(const Matrices* p) {
  Walk w;
  w.x = walk_split(p, local_x(), &w.y, &w.z, &w.at, &w.from);
  w.by_x = walk_split(p, THREADS, &w.by_y, &w.by_z, &w.by_at, &w.by_from);
  return w;
}

DEVICE void walk_on(Walk* w, const Matrices* p) {
  w->x += w->by_x;
  w->y += w->by_y;
  w->z += w->by_z;
  w->at += w->by_at;
  w->from += w->by_from;
  if (w->x >= p->width) {
    w->x -= p->width;
    w->y += 1;
    w->at += p->at_line - p->width * p->at_unit;
    w->from += p->line - p->width * p->unit;
  }
  if (w->y >= p->height) {
    w->y -= p->height;
    w->z += 1;
    w->at += p->at_matrix - p->height * p->at_line;
    w->from += p->batch - p->height * p->line;
  }
}

// Makes `at_once` loads before the first store.
DEVICE void copy_pieces(const Matrices* p, const GLOBAL T* from, LOCAL_POINTER T* to, int count,
                        const bool wide, const int at_once) {
  Walk w = walk_begin(p);
  while (w.z < count) {
    VECTOR vector[4];
    T element[8];
    int at[8];
#pragma unroll
    for (int s = 0; s < at_once; ++s) {
      at[s] = w.z < count ? w.at : -1;
      if (w.z < count && wide) vector[s % 4] = *(const GLOBAL VECTOR*)(from + w.from);
      if (w.z < count && !wide) element[s] = from[w.from];
      walk_on(&w, p);
    }
#pragma unroll
    for (int s = 0; s < at_once; ++s) {
      if (at[s] >= 0 && wide) *(LOCAL_POINTER VECTOR*)(to + at[s]) = vector[s % 4];
      if (at[s] >= 0 && !wide) to[at[s]] = element[s];
    }
  }
}

DEVICE void copy_matrices(const Matrices* p, const GLOBAL T* from, LOCAL_POINTER T* to, int count) {
  if (p->wide)
    copy_pieces(p, from, to, count, true, 4);
  else
    copy_pieces(p, from, to, count, false, 8);
}

// Continues the chains by `steps` of k. x and y are the first row of A and the first column of B,
// x_row is the distance of rows.
DEVICE void multiply_steps(T acc[SIDE][SIDE], const LOCAL_POINTER T* x_at, const int* x_row,
                           const LOCAL_POINTER T* y_at, int y_pitch, const int steps) {
  T x[SIDE][WIDTH], y[SIDE];
#pragma unroll
  for (int r = 0; r < SIDE; ++r)
    if (steps == WIDTH)
      unpack(*(const LOCAL_POINTER VECTOR*)(x_at + x_row[r]), x[r]);
    else
      x[r][0] = x_at[x_row[r]];
#pragma unroll
  for (int l = 0; l < steps; ++l) {
#pragma unroll
    for (int s = 0; s < SIDE; s += WIDTH)
      unpack(*(const LOCAL_POINTER VECTOR*)(y_at + l * y_pitch + s), y + s);
#pragma unroll
    for (int r = 0; r < SIDE; ++r)
#pragma unroll
      for (int s = 0; s < SIDE; ++s) acc[r][s] = multiply_add(x[r][l], y[s], acc[r][s]);
  }
}

KERNEL_BOUNDED(batched_small, THREADS, 1, 3)(GEMM_ARGUMENTS) {
  LOCAL ALIGNED(16) T arena[ARENA];
  const long first = (long)group_x() * tiles_m;
  const int count = tiles_n - first < tiles_m ? (int)(tiles_n - first) : tiles_m;
  const int depth = flags & MULTIPLY ? (int)k : 0;
  LOCAL_POINTER T* const b_arena = arena + size_of(m, k) * tiles_m;
  if (depth > 0) {
    const GLOBAL T* from = a + a_offset + first * a_batch;
    const Matrices pa = matrices_of(from, m, k, a_row, a_col, a_batch);
    copy_matrices(&pa, from, arena, count);
    from = b + b_offset + first * b_batch;
    const Matrices pb = matrices_of(from, k, n, b_row, b_col, b_batch);
    copy_matrices(&pb, from, b_arena, count);
  }
  sync();
  // This work-item's rows are `down` apart, its columns are neighbours. Rows that don't exist
  // repeat the first one; their results are dropped.
  const int across = ((int)n + SIDE - 1) / SIDE, down = ((int)m + SIDE - 1) / SIDE;
  const int z = local_x() / (across * down), mine = local_x() % (across * down);
  const int i0 = mine / across, j0 = mine % across * SIDE;
  T acc[SIDE][SIDE];
#pragma unroll
  for (int r = 0; r < SIDE; ++r)
#pragma unroll
    for (int s = 0; s < SIDE; ++s) acc[r][s] = 0;
  if (z < count) {
    const LOCAL_POINTER T* x_at = arena + z * size_of(m, k);
    const LOCAL_POINTER T* y_at = b_arena + z * size_of(k, n) + j0;
    const int y_pitch = pitch_of(n);
    int x_row[SIDE];
#pragma unroll
    for (int r = 0; r < SIDE; ++r)
      x_row[r] = (i0 + r * down < m ? i0 + r * down : i0) * pitch_of(k);
    int l = 0;
    for (; l + WIDTH <= depth; l += WIDTH, x_at += WIDTH, y_at += WIDTH * y_pitch)
      multiply_steps(acc, x_at, x_row, y_at, y_pitch, WIDTH);
    for (; l < depth; ++l, ++x_at, y_at += y_pitch)
      multiply_steps(acc, x_at, x_row, y_at, y_pitch, 1);
  }
  sync();
  if (z < count) {
#pragma unroll
    for (int r = 0; r < SIDE; ++r)
#pragma unroll
      for (int s = 0; s < SIDE; s += WIDTH)
        if (i0 + r * down < m && j0 + s < n)
          *(LOCAL_POINTER VECTOR*)(arena + z * size_of(m, n) + (i0 + r * down) * pitch_of(n) + j0 +
                                   s) = pack(acc[r] + s);
  }
  sync();
  c += c_offset + first * c_batch;
  const Matrices pc = matrices_of(c, m, n, c_row, c_col, c_batch);
  for (Walk w = walk_begin(&pc); w.z < count; walk_on(&w, &pc))
    if (pc.wide) {
      T sums[WIDTH];
      unpack(*(const LOCAL_POINTER VECTOR*)(arena + w.at), sums);
      finish_vector(c + w.from, sums, alpha, beta, flags);
    } else {
      finish(c + w.from, arena[w.at], alpha, beta, flags);
    }
}
