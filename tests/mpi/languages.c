/* The calls over ranks in C; and those in Fortran (languages.f90). */
#include "languages.h"

static const trine_options_t on_cpu = {.device = "cpu"};

static uint32_t function_of(const char* name) {
  uint32_t function = 99;
  (void)trine_parse_function(name, &function);
  return function;
}

static int result(const char* function, const char* map, uint32_t dtype, int64_t count,
                  int64_t step, void* x, void* y, int64_t first, void* to) {
  uint32_t mapped_by = 99;
  (void)trine_parse_map(map, &mapped_by);
  trine_host_view_t of_x = trine_host_vector(x, dtype, count), of_y = of_x;
  of_x.row_stride = of_y.row_stride = step;
  of_y.data = y;
  return trine_mpi_result(function_of(function), mapped_by, &of_x, y ? &of_y : NULL, first, to,
                          MPI_COMM_WORLD, &on_cpu);
}

static int reduce(const char* function, uint32_t dtype, int64_t count, void* x, void* results,
                  int root, int begins) {
  const uint32_t by = function_of(function);
  const trine_host_view_t in = trine_host_vector(x, dtype, count);
  const trine_host_view_t out =
      trine_host_vector(results, trine_result_dtype(by, TRINE_IDENTITY, dtype), count);
  trine_mpi_request_t* request = NULL;
  int32_t has_ended = 0;
  trine_status status =
      trine_mpi_reduce(by, in, out, root, MPI_COMM_WORLD, &on_cpu, begins ? &request : NULL);
  while (request && status == TRINE_OK && !has_ended)
    status = trine_mpi_request_test(request, &has_ended);
  trine_mpi_request_release(request);
  return status;
}

static int merge(uint64_t* words, int is_partial, int root) {
  return is_partial
             ? trine_mpi_merge_partial((trine_partial_t*)words, root, MPI_COMM_WORLD, NULL)
             : trine_mpi_merge_exact_sum((trine_exact_sum_t*)words, root, MPI_COMM_WORLD, NULL);
}

static int fields(const char* function, uint32_t dtype, int64_t length, int64_t count,
                  int64_t leading_dimension, void* values, void* weights, void* mask,
                  void* results) {
  const uint32_t by = function_of(function);
  trine_mpi_fields_t of = {
      .values = trine_mpi_field_view(values, dtype, length, count, leading_dimension)};
  if (weights) of.weights = trine_mpi_field_view(weights, dtype, length, count, leading_dimension);
  if (mask) of.mask = trine_mpi_field_view(mask, TRINE_B32, length, 1, 0);
  return trine_mpi_reduce_fields(
      by, &of, 1, trine_host_vector(results, trine_result_dtype(by, TRINE_IDENTITY, dtype), count),
      MPI_COMM_WORLD, &on_cpu);
}

static trine_mpi_matrix_t matrix_of(uint32_t dtype, const Piece* piece) {
  trine_mpi_matrix_t matrix = {piece->distribution, {0}};
  (void)trine_mpi_col_major(&piece->distribution, piece->data, dtype, piece->leading_dimension,
                            MPI_COMM_WORLD, &matrix);
  return matrix;
}
static int transpose(uint32_t dtype, const Piece* a, const Piece* b) {
  const trine_mpi_matrix_t from = matrix_of(dtype, a), to = matrix_of(dtype, b);
  return trine_mpi_transpose(&from, &to, MPI_COMM_WORLD, &on_cpu);
}
static int gemm(uint32_t dtype, double alpha, const Piece* a, const Piece* b, double beta,
                const Piece* c, const char* numerics) {
  const trine_mpi_matrix_t of_a = matrix_of(dtype, a), of_b = matrix_of(dtype, b);
  const trine_mpi_matrix_t of_c = matrix_of(dtype, c);
  trine_options_t options = on_cpu;
  if (trine_parse_numerics(numerics, &options.numerics) != TRINE_OK) options.numerics = 99;
  return trine_mpi_gemm(alpha, &of_a, &of_b, beta, &of_c, MPI_COMM_WORLD, &options);
}
static int local_shape(const trine_mpi_distribution_t* distribution, int64_t* rows, int64_t* cols) {
  trine_mpi_matrix_t matrix;
  const trine_status status =
      trine_mpi_col_major(distribution, NULL, TRINE_F64, 0, MPI_COMM_WORLD, &matrix);
  *rows = matrix.local.rows, *cols = matrix.local.cols;
  return status;
}

const Language in_c = {result, reduce, merge, fields, transpose, gemm, local_shape};

int fortran_result(const char*, const char*, uint32_t, int64_t, int64_t, void*, void*, int64_t,
                   void*);
int fortran_reduce(const char*, uint32_t, int64_t, void*, void*, int, int);
int fortran_merge(uint64_t*, int, int);
int fortran_fields(const char*, uint32_t, int64_t, int64_t, int64_t, void*, void*, void*, void*);
int fortran_transpose(uint32_t, const Piece*, const Piece*);
int fortran_gemm(uint32_t, double, const Piece*, const Piece*, double, const Piece*, const char*);
int fortran_local_shape(const trine_mpi_distribution_t*, int64_t*, int64_t*);

const Language in_fortran = {fortran_result,    fortran_reduce, fortran_merge,      fortran_fields,
                             fortran_transpose, fortran_gemm,   fortran_local_shape};
