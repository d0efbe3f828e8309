// `vector` without tiles: moves elements without local memory. It serves what has nothing to turn
// (the unit stride is along the same index on both sides: a strided copy) and what is too thin for
// tiles (n x 4, 4 x n, many small matrices): neighbours take neighbouring columns, of all batches
// in one row, and each walks LANES rows. Here "rows" is the thin or the outer index.
//
// 16 bytes at once where they lie together: along the columns on both sides, or down the rows on
// one of them, like a structure that is read whole and written as LANES separate fields.

DEVICE void copy_vectors(const GLOBAL uchar* from, long in_row, GLOBAL uchar* to, long out_row,
                         int height) {
#pragma unroll
  for (int r = 0; r < LANES; ++r)
    if (r < height)
      *(GLOBAL uint4*)(to + r * out_row * BYTES) =
          *(const GLOBAL uint4*)(from + r * in_row * BYTES);
}

DEVICE void copy_column(const GLOBAL uchar* from, long in_row, bool whole_in, bool wide_in,
                        GLOBAL uchar* to, long out_row, bool whole_out, bool wide_out, int height) {
  Element e[LANES];
  if (wide_in && height == LANES) {
    unpack(*(const GLOBAL uint4*)from, e);
  } else {
#pragma unroll
    for (int r = 0; r < LANES; ++r)
      e[r] = load_element(from + (r < height ? r * in_row : 0) * BYTES, whole_in);
  }
  if (wide_out && height == LANES) {
    *(GLOBAL uint4*)to = pack(e);
  } else {
#pragma unroll
    for (int r = 0; r < LANES; ++r)
      if (r < height) store_element(to + r * out_row * BYTES, e[r], whole_out);
  }
}

KERNEL_OF(vector, THREADS, 1)(TRANSPOSE_ARGUMENTS, long batch) {
  const Tile at = tile_of(group_x(), tiles_rows, tiles_cols);
  const long i0 = (long)at.row * LANES, p0 = (long)at.col * (THREADS * LANES);
  const long points = batch * cols;
  const int height = rows - i0 < LANES ? (int)(rows - i0) : LANES;
  const GLOBAL uchar* from = in + in_offset;
  GLOBAL uchar* to = out + out_offset;
  const bool whole_in = is_aligned(from, BYTES), whole_out = is_aligned(to, BYTES);
  const bool down_in = is_wide(from, in_row, in_col, in_batch);
  const bool down_out = is_wide(to, out_row, out_col, out_batch);
  const bool along = is_wide(from, in_col, in_row, in_batch) &&
                     is_wide(to, out_col, out_row, out_batch) && cols % LANES == 0;
  await_earlier_launches();
  for (int s = 0; s < (along ? 1 : LANES); ++s) {
    const long p = along ? p0 + local_x() * LANES : p0 + s * THREADS + local_x();
    if (p >= points) return;
    long b = 0, j = p;
    if (batch > 1) {
      b = points <= 0x7fffffff ? (int)p / (int)cols : p / cols;
      j = p - b * cols;
    }
    const GLOBAL uchar* source = from + (b * in_batch + i0 * in_row + j * in_col) * BYTES;
    GLOBAL uchar* target = to + (b * out_batch + i0 * out_row + j * out_col) * BYTES;
    if (along)
      copy_vectors(source, in_row, target, out_row, height);
    else
      copy_column(source, in_row, whole_in, down_in, target, out_row, whole_out, down_out, height);
  }
}
