// The part that all transpose kernels share. Elements are moved as bits: BYTES (1, 2, 4, 8 or 16;
// the includer's macro) is their size and Element their type. Addresses are multiples of min(BYTES,
// 4) only, so 8 and 16-byte elements travel whole where the address allows it and in words of 4
// bytes elsewhere.
#pragma once

// The element (i, j) of batch s moves from in[in_offset + s in_batch + i in_row + j in_col] to
// out[out_offset + s out_batch + i out_row + j out_col]: i and j are the input's row and column on
// both sides. Offsets count bytes, strides elements.
#define TRANSPOSE_ARGUMENTS                                                                    \
  const GLOBAL uchar *in, long in_offset, long in_batch, long in_row, long in_col,             \
      GLOBAL uchar *RESTRICT out, long out_offset, long out_batch, long out_row, long out_col, \
      long rows, long cols, int tiles_rows, int tiles_cols

#if BYTES == 1
typedef uchar Element;
#elif BYTES == 2
typedef ushort Element;
#elif BYTES == 4
typedef uint Element;
#elif BYTES == 8
typedef uint2 Element;
#else
typedef uint4 Element;
#endif

DEVICE bool is_aligned(const GLOBAL void* address, int bytes) {
  return ((ulong)address & (ulong)(bytes - 1)) == 0;
}

// `whole` says that the address is a multiple of BYTES; a uniform answer for all of a view.
DEVICE Element load_element(const GLOBAL uchar* from, bool whole) {
#if BYTES <= 4
  return *(const GLOBAL Element*)from;
#else
  if (whole) return *(const GLOBAL Element*)from;
  const GLOBAL uint* words = (const GLOBAL uint*)from;
#if BYTES == 8
  return make_uint2(words[0], words[1]);
#else
  return make_uint4(words[0], words[1], words[2], words[3]);
#endif
#endif
}

DEVICE void store_element(GLOBAL uchar* to, Element value, bool whole) {
#if BYTES <= 4
  *(GLOBAL Element*)to = value;
#else
  if (whole) {
    *(GLOBAL Element*)to = value;
    return;
  }
  GLOBAL uint* words = (GLOBAL uint*)to;
  words[0] = value.x;
  words[1] = value.y;
#if BYTES == 16
  words[2] = value.z;
  words[3] = value.w;
#endif
#endif
}

// The tile that group `group` moves; neighbours in a row of tiles are neighbours in time.
typedef struct Tile {
  int row, col, batch;
} Tile;

DEVICE Tile tile_of(uint group, uint tiles_rows, uint tiles_cols) {
  Tile tile;
  tile.col = group % tiles_cols;
  group /= tiles_cols;
  tile.row = group % tiles_rows;
  tile.batch = group / tiles_rows;
  return tile;
}
