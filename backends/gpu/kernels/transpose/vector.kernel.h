// Idea: 16 bytes a load and a store, several in flight, the tile swizzled instead of padded.
// It beats `multi_row` because fewer instructions keep more bytes in flight.
// Requires: 256 work-items a group; where an address is not a multiple of 16, that side moves
// element by element.
//
// A tile has HEIGHT rows and WIDTH columns of the input: square or nearly, or much taller or wider
// where the matrix is thin. Local memory holds it turned: row j (the input's column) has HEIGHT
// elements, in 16-byte chunks; chunk q of row j lies at place q ^ twist(j). A warp loads 8 vectors
// of 4 rows (PACK x 4 rows of 1 or 2-byte elements, joined to words); its stores then fall on 8
// chunks x 4 words, and the 16-byte reads of a row on 8 chunks: no bank conflicts either way.
//
//   input, row i        turned tile, row j
//   |vvvv|vvvv|..  ->   |iiii|iiii|..  -> output, row j
#include "pack.h"
#include "problem.h"

#define THREADS 256
#if SHAPE_strided_copy
#include "strided_copy.h"
#else
#if BYTES == 1
#define SIDE 128
#elif BYTES <= 4
#define SIDE 64
#else
#define SIDE 32
#endif
#if SHAPE_square /* the smaller the elements, the more of them make a long run in memory */
#define HEIGHT (BYTES == 1 ? 256 : BYTES == 2 ? 128 : SIDE)
#define WIDTH (BYTES == 2 ? 128 : SIDE)
#elif SHAPE_tall
#define HEIGHT (SIDE * 4)
#define WIDTH (SIDE / 4)
#else
#define HEIGHT (SIDE / 4)
#define WIDTH (SIDE * 4)
#endif
#define PACK (BYTES < 4 ? 4 / BYTES : 1)
#define PITCH (HEIGHT * BYTES)            /* bytes of a turned row */
#define IN_VECTORS (WIDTH * BYTES / 16)   /* of an input row */
#define OUT_VECTORS (HEIGHT * BYTES / 16) /* of an output row */
#define SPAN (IN_VECTORS < 8 ? IN_VECTORS : IN_VECTORS > 64 ? IN_VECTORS / 8 : 8)
#define IN_ITEMS (HEIGHT / PACK * IN_VECTORS / THREADS)
#define OUT_ITEMS (WIDTH * OUT_VECTORS / THREADS)
// The distance of the rows of which a work-item loads the same vector, and of the turned rows of
// which it stores the same one.
#define ROWS_APART (THREADS / IN_VECTORS * PACK)
#define TURNED_APART (THREADS / OUT_VECTORS)
#if (PITCH & (PITCH - 1)) != 0 || (ROWS_APART & (ROWS_APART - 1)) != 0
#error "a chunk's place joins bits of j, i and the step"
#endif

DEVICE uint place(uint j, uint i) {
  const uint twist = (LANES == 1 ? j : j ^ j / LANES) & (OUT_VECTORS < 8 ? OUT_VECTORS - 1 : 7);
  return j * PITCH + ((i * BYTES / 16 ^ twist) * 16) + i * BYTES % 16;
}

// Puts rows i … i + PACK - 1 of LANES columns, one vector a row, into the turned tile: item s, s *
// ROWS_APART rows below. (The chunks of these rows have bits of their own in an address, so it may
// be added before the twist or after.)
DEVICE void turn(LOCAL_POINTER uchar* tile, int j, int i, int s, const uint4* v) {
#define AT(column) (tile + (place(j + (column), i) ^ s * ROWS_APART * BYTES))
#if BYTES == 16
  *(LOCAL_POINTER uint4*)AT(0) = v[0];
#elif BYTES == 8
  *(LOCAL_POINTER uint2*)AT(0) = make_uint2(v[0].x, v[0].y);
  *(LOCAL_POINTER uint2*)AT(1) = make_uint2(v[0].z, v[0].w);
#else
#define PUT(column, word) *(LOCAL_POINTER uint*)AT(column) = (word)
#if BYTES == 4
#define TURN(x, w) PUT(w, v[0].x)
#elif BYTES == 2
#define TURN(x, w)                              \
  PUT(2 * w, (v[0].x & 0xffff) | v[1].x << 16); \
  PUT(2 * w + 1, v[0].x >> 16 | (v[1].x & 0xffff0000u))
#else
#define EVEN(a, b) (((a)&0xff00ffu) | ((b)&0xff00ffu) << 8)
#define ODD(a, b) (((a) >> 8 & 0xff00ffu) | ((b)&0xff00ff00u))
#define TURN(x, w)                                                                   \
  PUT(4 * w, (EVEN(v[0].x, v[1].x) & 0xffff) | EVEN(v[2].x, v[3].x) << 16);          \
  PUT(4 * w + 1, (ODD(v[0].x, v[1].x) & 0xffff) | ODD(v[2].x, v[3].x) << 16);        \
  PUT(4 * w + 2, EVEN(v[0].x, v[1].x) >> 16 | (EVEN(v[2].x, v[3].x) & 0xffff0000u)); \
  PUT(4 * w + 3, ODD(v[0].x, v[1].x) >> 16 | (ODD(v[2].x, v[3].x) & 0xffff0000u))
#endif
  TURN(x, 0);
  TURN(y, 1);
  TURN(z, 2);
  TURN(w, 3);
#endif
}

#if BYTES == 4
KERNEL_BOUNDED(vector, THREADS, 1, 8)
#else
KERNEL_OF(vector, THREADS, 1)
#endif
(TRANSPOSE_ARGUMENTS) {
  LOCAL ALIGNED(16) uchar tile[WIDTH * PITCH];
  // If the caches don't hold all data, neighbouring groups write neighbouring runs, which is 1 to 3
  // % faster there and slower for data in the caches.
  const bool down = tiles_rows * tiles_cols >= 2048;
  Tile at = tile_of(group_x(), down ? tiles_cols : tiles_rows, down ? tiles_rows : tiles_cols);
  if (down) {
    const int col = at.row;
    at.row = at.col;
    at.col = col;
  }
  const uint t = (uint)local_x();  // unsigned, so that a division is a shift
  const long i0 = (long)at.row * HEIGHT, j0 = (long)at.col * WIDTH;
  const int height = rows - i0 < HEIGHT ? (int)(rows - i0) : HEIGHT;
  const int width = cols - j0 < WIDTH ? (int)(cols - j0) : WIDTH;
  const GLOBAL uchar* from = in + in_offset;
  GLOBAL uchar* to = out + out_offset;
  const bool wide_in = is_wide(from, in_col, in_row, in_batch) && width % LANES == 0;
  const bool wide_out = is_wide(to, out_row, out_col, out_batch) && height % LANES == 0;
  const bool whole_in = is_aligned(from, BYTES), whole_out = is_aligned(to, BYTES);
  from += (at.batch * in_batch + i0 * in_row + j0 * in_col) * BYTES;
  to += (at.batch * out_batch + i0 * out_row + j0 * out_col) * BYTES;

  await_earlier_launches();
  if (wide_in) {
    const int q = t % SPAN + t / 32 % (IN_VECTORS / SPAN) * SPAN;
    const int i = (t % 32 / SPAN + t / 32 / (IN_VECTORS / SPAN) * (32 / SPAN)) * PACK;
    const int left = q * LANES < width ? height - i : 0;
    uint4 v[IN_ITEMS][PACK];
    from += i * in_row * BYTES + q * 16;
#pragma unroll
    for (int s = 0; s < IN_ITEMS; ++s, from += ROWS_APART * in_row * BYTES) {
#pragma unroll
      for (int r = 0; r < PACK; ++r)
        if (s * ROWS_APART + r < left) v[s][r] = *(const GLOBAL uint4*)(from + r * in_row * BYTES);
    }
#if HAVE_WARPS
    sync_warp();  // all loads begin before anything is stored
#endif
#pragma unroll
    for (int s = 0; s < IN_ITEMS; ++s) turn(tile, q * LANES, i, s, v[s]);
  } else {
#pragma unroll
    for (int s = 0; s < OUT_ITEMS; ++s) {
      const int j = (t + s * THREADS) % WIDTH, i = (t + s * THREADS) / WIDTH * LANES;
      Element e[LANES];
#pragma unroll
      for (int l = 0; l < LANES; ++l) {
        const bool inside = i + l < height && j < width;
        e[l] = load_element(from + (inside ? (i + l) * in_row + j * in_col : 0) * BYTES, whole_in);
      }
      *(LOCAL_POINTER uint4*)(tile + place(j, i)) = pack(e);
    }
  }
  sync();
  if (wide_out) {
    const int q = t % OUT_VECTORS, j = t / OUT_VECTORS;
    const int left = q * LANES < height ? width - j : 0;
    to += j * out_col * BYTES + q * 16;
#pragma unroll
    for (int s = 0; s < OUT_ITEMS; ++s, to += TURNED_APART * out_col * BYTES)
      if (s * TURNED_APART < left)
        *(GLOBAL uint4*)to =
            *(const LOCAL_POINTER uint4*)(tile + place(j + s * TURNED_APART, q * LANES));
  } else {
#pragma unroll 4
    for (int s = 0; s < OUT_ITEMS * LANES; ++s) {
      const int i = (t + s * THREADS) % HEIGHT, j = (t + s * THREADS) / HEIGHT;
      if (i < height && j < width)
        store_element(to + (i * out_row + j * out_col) * BYTES,
                      *(const LOCAL_POINTER Element*)(tile + place(j, i)), whole_out);
    }
  }
}
#endif
