// The part that all gemm kernels share: their arguments, the arithmetic of one element, and which
// tile of C a group works on. T is float, double or int; the includer defines it. CHAIN is the type
// of the chains: T, or double where T is float and numerics is exact (certain.h says how such an
// element is rounded).
//
//   acc = +0, or c(i,j) if CONTINUE; acc <- fma(a(i,l), b(l,j), acc), l ascending
//   t = alpha (acc + 0), or +0 unless MULTIPLY; c(i,j) = t, or fma(beta, c(i,j), t) if ADD_C
//   (int: modulo 2^32)
//
// Adding +0 turns a -0 into +0, so a padded step fma(0, 0, acc) never shows.
#pragma once
#ifndef CHAIN
#define CHAIN T
#endif

// Nothing else points to A, B or C, so compilers may read A and B through the read-only path. The
// rungs below `read_only` define PLAIN_READS to keep compilers from it, because that path is the
// step above them.
#ifdef PLAIN_READS
#define POINTER *
#else
#define POINTER *RESTRICT
#endif

// Element (i, j) of matrix x in batch s lies at x[x_offset + s * x_batch + i * x_row + j * x_col].
#define GEMM_ARGUMENTS                                                                         \
  const GLOBAL T POINTER a, long a_offset, long a_batch, long a_row, long a_col,               \
      const GLOBAL T POINTER b, long b_offset, long b_batch, long b_row, long b_col,           \
      GLOBAL T POINTER c, long c_offset, long c_batch, long c_row, long c_col, long m, long n, \
      long k, T alpha, T beta, int flags, int tiles_m, int tiles_n
#define GEMM_PASSED                                                                             \
  a, a_offset, a_batch, a_row, a_col, b, b_offset, b_batch, b_row, b_col, c, c_offset, c_batch, \
      c_row, c_col, m, n, k, alpha, beta, flags, tiles_m, tiles_n

#define MULTIPLY 1 /* flags: there is a chain and alpha != 0, else a and b are not read */
#define ADD_C 2    /* flags: beta != 0, else c is not read at the end */
#define CONTINUE 4 /* flags: chains begin at c, else at 0; for the rungs that say so (`takes`) */

// 16 bytes of T: the widest load and store.
#define WIDTH_float 4
#define WIDTH_double 2
#define WIDTH_int 4
#define VECTOR_float float4
#define VECTOR_double double2
#define VECTOR_int int4
#define PAIR_float float2
#define PAIR_double double2
#define PAIR_int int2
#define MAKE_VECTOR_float make_float4
#define MAKE_VECTOR_double make_double2
#define MAKE_VECTOR_int make_int4
#define WIDTH PASTE(WIDTH_, T)
#define VECTOR PASTE(VECTOR_, T)
#define PAIR PASTE(PAIR_, T)
#define MAKE_VECTOR PASTE(MAKE_VECTOR_, T)
#define INTEGER_float 0
#define INTEGER_double 0
#define INTEGER_int 1

#if WIDTH == 4
DEVICE VECTOR pack(const T* e) { return MAKE_VECTOR(e[0], e[1], e[2], e[3]); }
DEVICE void unpack(VECTOR v, T* e) { e[0] = v.x, e[1] = v.y, e[2] = v.z, e[3] = v.w; }
#else
DEVICE VECTOR pack(const T* e) { return MAKE_VECTOR(e[0], e[1]); }
DEVICE void unpack(VECTOR v, T* e) { e[0] = v.x, e[1] = v.y; }
#endif

#if PASTE(INTEGER_, T)
DEVICE T multiply_add(T x, T y, T acc) { return (int)((uint)x * (uint)y + (uint)acc); }
DEVICE T scale(T x, T acc) { return (int)((uint)x * (uint)acc); }
#else
DEVICE T multiply_add(T x, T y, T acc) { return fma(x, y, acc); }
DEVICE T scale(T x, T acc) { return x * (acc + (T)0); }
#endif

// The value with which the chain of an element of C begins.
DEVICE T begin(const GLOBAL T* c, int flags) { return flags & CONTINUE ? *c : (T)0; }

// Stores one element of C from the sum of its products.
DEVICE void finish(GLOBAL T* c, T acc, T alpha, T beta, int flags) {
  T result = (flags & MULTIPLY) ? scale(alpha, acc) : (T)0;
  if (flags & ADD_C) result = multiply_add(beta, *c, result);
  *c = result;
}

// Stores WIDTH neighbours of a row of C at once.
DEVICE void finish_vector(GLOBAL T* c, const T* acc, T alpha, T beta, int flags) {
  T old[WIDTH], result[WIDTH];
  if (flags & ADD_C) unpack(*(const GLOBAL VECTOR*)c, old);
#pragma unroll
  for (int e = 0; e < WIDTH; ++e) {
    result[e] = (flags & MULTIPLY) ? scale(alpha, acc[e]) : (T)0;
    if (flags & ADD_C) result[e] = multiply_add(beta, old[e], result[e]);
  }
  *(GLOBAL VECTOR*)c = pack(result);
}

// May vectors of C be stored at once in all rows from place `c` on?
DEVICE bool is_wide(const GLOBAL T* c, long c_row, long c_col) {
  return c_col == 1 && (((ulong)c | (ulong)c_row * sizeof(T)) & 15) == 0;
}

// The tile of C that group `group` works on. Groups walk down BAND tile rows before they step to
// the next tile column, so that the groups of one round share rows of A and columns of B in L2.
#define BAND 8
typedef struct Tile {
  int row, col, batch;
} Tile;

// A division takes as long as a hundred multiply-adds, and most groups need one: where there is one
// product, and in bands of BAND tile rows.
DEVICE Tile tile_of(int group, int tiles_m, int tiles_n) {
  const uint tiles = (uint)(tiles_m * tiles_n), batch = (uint)group < tiles ? 0u
                                                        : tiles == 1u       ? (uint)group
                                                                            : (uint)group / tiles;
  const uint index = (uint)group - batch * tiles;
  // Where there are several bands, a band has no more tiles than C.
  const uint first = tiles_m <= BAND ? 0u : index / (uint)(BAND * tiles_n) * BAND;
  const uint inside = index - first * (uint)tiles_n;
  const uint left = (uint)tiles_m - first, height = left < BAND ? left : BAND;
  const uint col = inside < height ? 0u : height == BAND ? inside / BAND : inside / height;
  Tile tile;
  tile.row = (int)(first + inside - col * height);
  tile.col = (int)col;
  tile.batch = (int)batch;
  return tile;
}

// The beginning of a tile at `at`, moved so that the tile ends before `end`, if that is possible.
DEVICE long inwards(long at, long end, const int size) {
  return at + size <= end ? at : end < size ? 0 : end - size;
}
