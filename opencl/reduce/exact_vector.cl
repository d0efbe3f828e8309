// Idea: exact for a CPU behind OpenCL. A group is one work-item with a piece of the elements of
// some results. It works on sixty-four lanes at a time, which lie along the elements of one result
// or across neighbouring results. Where groups share a result, a second launch puts their pieces
// together.
// It beats `exact` there because it has no barriers and no local memory, which a CPU only pretends
// to have.
// Requires: a CPU; f64 for sums of floats. No sister in CUDA, which has no CPUs.
#define CHUNK_BITS 4  // of tile.h's walk, which is not taken here
#include "tile.h"

#define LANES 64
#define AHEAD (4096 / (long)sizeof(T))  // elements: the hardware's own prefetch stops at each page
#define LINE (64 / (int)sizeof(T))

// An input's element (row, 0) of a result, and the distances of its neighbours.
typedef struct Input {
  GLOBAL const T* first;
  long result_stride, row_stride, col_stride;
} Input;

// The work of a work-item, and where its results go.
typedef struct Job {
  Input input, second;  // the second is what each element is multiplied by in a dot product
  long row_index, col_index;
  long rows, cols;                              // of a result
  long first_row, end_row, first_col, end_col;  // the piece
  int split, splits, across, options;
  GLOBAL uchar* output;
  long output_stride;
  GLOBAL ulong* records;
} Job;

DEVICE GLOBAL const T* place(const Input* x, long result, long row, long col) {
  return x->first + result * x->result_stride + row * x->row_stride + col * x->col_stride;
}

// The record of a piece of one result, `words` long.
DEVICE GLOBAL ulong* job_record(const Job* j, long result, int split, int words) {
  return j->records + (result * j->splits + split) * words;
}

#if (KIND_SUM || KIND_SQUARES || KIND_DOT) && (T_float || T_double)
#include "exact_vector_sum.h"
#elif KIND_PROD && (T_float || T_double)
#include "exact_vector_product.h"
#else
#include "exact_vector_fold.h"
#endif

KERNEL_OF(exact_vector, 1, 1)(REDUCE_PARAMETERS) {
  Job j;
  const long from = (long)(group_x() / splits) * width, to = min(from + width, results);
  j.input.first = input + input_offset;
  j.input.result_stride = result_stride;
  j.input.row_stride = row_stride;
  j.input.col_stride = col_stride;
  j.second = j.input;
#if KIND_DOT
  j.second.first = second + second_offset;
  j.second.result_stride = second_result_stride;
  j.second.row_stride = second_row_stride;
  j.second.col_stride = second_col_stride;
#endif
  j.row_index = row_index;
  j.col_index = col_index;
  j.rows = rows;
  j.cols = cols;
  j.split = group_x() % splits;
  j.splits = splits;
  j.across = across;
  j.options = options;
  j.output = output + output_offset;
  j.output_stride = output_stride;
  j.records = (GLOBAL ulong*)(workspace + workspace_offset + CONTROL_BYTES);
  // Groups share the rows, or the one there is.
  const bool by_rows = rows >= splits;
  const long units = by_rows ? rows : (cols + LANES - 1) / LANES,
             each = (units + splits - 1) / splits;
  const long first = min(j.split * each, units), end = min(first + each, units);
  j.first_row = by_rows ? first : 0;
  j.end_row = by_rows ? end : rows;
  j.first_col = by_rows ? 0 : first * LANES;
  j.end_col = by_rows ? cols : min(end * LANES, cols);
  if (phase == FINISH)
    for (long r = group_x(); r < results; r += groups_x()) reduce_records(&j, r);
  else
    for (long r = from; r < to; r += across ? LANES : 1)
      reduce(&j, r, across ? (int)min((long)LANES, to - r) : 1);
}
