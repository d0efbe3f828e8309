// Idea: exact for a CPU behind OpenCL: one work-item a group, vectors of 8 lanes, a few groups per
// core, each with one long piece of the data; a second launch adds the pieces.
// It beats `exact` there because it has no barriers and no local memory, which a CPU only pretends to have.
// Requires: a CPU; f64 for sums of floats. No sister in CUDA, which has no CPUs.
#include "lanes.h"
#if (KIND_SUM || KIND_SQUARES || KIND_DOT) && (T_float || T_double)
#include "exact_vector_sum.h"
#elif KIND_PROD && (T_float || T_double)
#include "exact_vector_product.h"
#else
#include "exact_vector_fold.h"
#endif

KERNEL_OF(exact_vector, 1, 1)
(GLOBAL const T* RESTRICT input, long input_offset, GLOBAL uchar* output, long output_offset,
 long output_stride, GLOBAL uchar* workspace, long workspace_offset, TILE_PARAMETERS,
 long row_index, long col_index, int phase, int options SECOND_PARAMETERS) {
  Job j;
  j.tile = tile_of(TILE_ARGUMENTS, phase);
  j.second = j.input = input + input_offset;
  j.second_tile = j.tile;
#if KIND_DOT
  j.second = second + second_offset;
  j.second_tile = tile_by(&j.tile, second_result_stride, second_row_stride, second_col_stride);
#endif
  j.row_index = row_index;
  j.col_index = col_index;
  j.options = options;
  j.output = output + output_offset;
  j.output_stride = output_stride;
  j.records = (GLOBAL ulong*)(workspace + workspace_offset + CONTROL_BYTES);
  const bool by_rows = rows >= splits;
  j.rows = piece_of(rows, 1, by_rows ? j.tile.split : 0, by_rows ? splits : 1);
  j.cols = piece_of(cols, LANES * CHUNK, by_rows ? 0 : j.tile.split, by_rows ? 1 : splits);
  const long from = j.tile.first;
  const long to = from + width < results ? from + width : results;
  if (phase == FINISH)
    for (long r = group_x(); r < results; r += groups_x()) reduce_records(&j, r);
#if KIND_SUM && T_float
  else if (across && result_stride == 1)
    for (long r = from; r < to; r += ACROSS) {
      const int count = (int)min((long)ACROSS, to - r), whole = count / PLAIN * PLAIN;
      if (whole) reduce_columns(&j, r, whole);
      if (whole < count) reduce_across(&j, r + whole, count - whole);
    }
  else if (!across && splits == 1 && rows == 1 && col_stride == 1 && cols <= PLAIN_ROW)
    reduce_rows(&j, from, to);
#endif
  else if (across)
    for (long r = from; r < to; r += LANES * ACROSS_VECTORS)
      reduce_across(&j, r, (int)min((long)(LANES * ACROSS_VECTORS), to - r));
  else
    for (long r = from; r < to; ++r) reduce_along(&j, r);
}
