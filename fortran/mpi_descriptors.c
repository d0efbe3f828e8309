/* The calls of module trine_mpi on Fortran's arrays, as those of descriptors.c. A rank whose
 * arguments are refused here takes part in the call all the same, so that all ranks have its
 * sentence. */
#include <trine/mpi.h>

#include "descriptors.h"

/* A communicator: an integer, or an object of type(MPI_Comm), which holds one. One that has been
 * freed is none. */
static int comm_of(Array* given, MPI_Comm* comm) {
  const CFI_type_t type = given->type;
  const int can_hold_one = type == CFI_type_int || type == CFI_type_long ||
                           type == CFI_type_struct || type == CFI_type_other;
  *comm = MPI_COMM_NULL;
  if (given->rank != 0 || given->elem_len != sizeof(MPI_Fint) || !can_hold_one)
    return refuse("comm", "must be an integer or of type(MPI_Comm), not another; its bytes are",
                  (long)given->elem_len);
  const MPI_Comm found = MPI_Comm_f2c(*(const MPI_Fint*)given->base_addr);
  if (found != (MPI_Comm)0) *comm = found;
  return 1;
}

/* Where this rank can't make the call of the other ranks: they all fail with its sentence.
 * `request`: NULL, or receives the call that fails. */
static trine_status refuse_on_all(trine_status status, const char* why, MPI_Comm comm,
                                  trine_mpi_request_t** request, const char** sentence) {
  return ended(trine_mpi_refuse(status, why, comm, request), sentence);
}
static trine_status refused_on_all(MPI_Comm comm, trine_mpi_request_t** request,
                                   const char** sentence) {
  const trine_status status = refused(sentence);
  return refuse_on_all(status, *sentence, comm, request, sentence);
}

/* Whether a result can be of that type: the result of nothing is tried. */
static trine_status check_result(const trine_partial_t* partial, uint32_t dtype) {
  int64_t scratch;
  return trine_partial_result(partial, dtype, &scratch);
}

/* The result of arrays that have been read: this rank's state, then that of all ranks. */
static trine_status sum_of_products(Reading* of, trine_host_view_t out, MPI_Comm comm,
                                    const trine_options_t* options) {
  trine_exact_sum_t sum = {{0}};
  trine_status status = add_exactly(of, TRINE_PRODUCT, &sum, options);
  if (status != TRINE_OK) return trine_mpi_refuse(status, trine_last_error(), comm, NULL);
  status = trine_mpi_merge_exact_sum(&sum, TRINE_MPI_ALL_RANKS, comm, NULL);
  if (status != TRINE_OK) return status;
  return out.dtype == TRINE_F32 ? trine_exact_sum_to_f32(&sum, out.data)
                                : trine_exact_sum_to_f64(&sum, out.data);
}

static trine_status reduction(Reading* of, uint32_t function, uint32_t map, int64_t first,
                              trine_host_view_t out, MPI_Comm comm,
                              const trine_options_t* options) {
  trine_partial_t partial;
  trine_status status = trine_partial_init(&partial, function, map, dtype_of(of->arrays[0]));
  if (status == TRINE_OK) status = check_result(&partial, out.dtype);
  if (status == TRINE_OK) status = add_parts(of, first, &partial, options);
  if (status != TRINE_OK) return trine_mpi_refuse(status, trine_last_error(), comm, NULL);
  status = trine_mpi_merge_partial(&partial, TRINE_MPI_ALL_RANKS, comm, NULL);
  return status == TRINE_OK ? trine_partial_result(&partial, out.dtype, out.data) : status;
}

trine_status trine_fortran_mpi_result(const char* function_name, const char* map_name, Array* x,
                                      Array* y, int64_t first, Array* result, Array* comm_given,
                                      const char* device, const char** sentence) {
  const trine_options_t options = {.device = device};
  MPI_Comm comm;
  uint32_t function, map;
  Reading of;
  trine_host_view_t out;
  if (!comm_of(comm_given, &comm)) return refused(sentence);
  trine_status status = trine_parse_function(function_name, &function);
  if (status == TRINE_OK) status = trine_parse_map(map_name, &map);
  if (status != TRINE_OK) return refuse_on_all(status, trine_last_error(), comm, NULL, sentence);
  if (first < 1) {
    refuse("first", "counts from 1, and is", (long)first);
    return refused_on_all(comm, NULL, sentence);
  }
  if (result->rank != 0) {
    refuse("result", "must be a scalar, its rank is", result->rank);
    return refused_on_all(comm, NULL, sentence);
  }
  if (!read_arrays(x, y, &of) || !results_of(result, &out))
    return refused_on_all(comm, NULL, sentence);
  take_unsigned(function, map, dtype_of(x), &out);
  status = y ? sum_of_products(&of, out, comm, &options)
             : reduction(&of, function, map, first - 1, out, comm, &options);
  if (status == TRINE_OK) count_from_one(function, out);
  return ended(status, sentence);
}

/* An array without gaps, in its order. */
static int dense(const char* name, Array* array, trine_host_view_t* view) {
  Reading of;
  if (!read_arrays(array, NULL, &of)) return 0;
  if (of.shapes[0].rank > 2)
    return refuse(name, "has gaps between its elements, and this number of subscripts",
                  array->rank);
  *view = part_of(&of, 0, NULL);
  return 1;
}

/* `root`: NULL for all ranks; `request`: NULL for a call that blocks. */
trine_status trine_fortran_mpi_reduce(const char* function_name, Array* x, Array* results,
                                      const int* root, Array* comm_given, const char* device,
                                      trine_mpi_request_t** request, const char** sentence) {
  const trine_options_t options = {.device = device};
  MPI_Comm comm;
  uint32_t function;
  trine_host_view_t in, out;
  if (!comm_of(comm_given, &comm)) return refused(sentence);
  const trine_status status = trine_parse_function(function_name, &function);
  if (status != TRINE_OK) return refuse_on_all(status, trine_last_error(), comm, request, sentence);
  if (!dense("x", x, &in) || !dense("results", results, &out))
    return refused_on_all(comm, request, sentence);
  return ended(trine_mpi_reduce(function, in, out, root ? *root : TRINE_MPI_ALL_RANKS, comm,
                                &options, request),
               sentence);
}

/* `words`: of a trine_exact_sum_t, or with `is_partial` of a trine_partial_t. */
trine_status trine_fortran_mpi_merge(uint64_t* words, int is_partial, const int* root,
                                     Array* comm_given, const char** sentence) {
  const int32_t to = root ? *root : TRINE_MPI_ALL_RANKS;
  MPI_Comm comm;
  if (!comm_of(comm_given, &comm)) return refused(sentence);
  return ended(is_partial ? trine_mpi_merge_partial((trine_partial_t*)words, to, comm, NULL)
                          : trine_mpi_merge_exact_sum((trine_exact_sum_t*)words, to, comm, NULL),
               sentence);
}

trine_status trine_fortran_mpi_local_shape(const trine_mpi_distribution_t* distribution,
                                           int64_t* rows, int64_t* cols, Array* comm_given,
                                           const char** sentence) {
  MPI_Comm comm;
  trine_mpi_matrix_t matrix;
  if (!comm_of(comm_given, &comm)) return refused(sentence);
  const trine_status status = trine_mpi_col_major(distribution, NULL, TRINE_F64, 0, comm, &matrix);
  if (status == TRINE_OK) *rows = matrix.local.rows, *cols = matrix.local.cols;
  return ended(status, sentence);
}

/* A distributed matrix whose part is an array of rank 2. */
static int part(const char* name, Array* array, uint32_t dtype,
                const trine_mpi_distribution_t* distribution, trine_mpi_matrix_t* matrix) {
  matrix->distribution = *distribution;
  if (array->rank != 2) return refuse(name, "must have rank 2, not", array->rank);
  return matrices(name, array, dtype, 0, &matrix->local);
}

trine_status trine_fortran_mpi_transpose(Array* a, const trine_mpi_distribution_t* of_a, Array* b,
                                         const trine_mpi_distribution_t* of_b, Array* comm_given,
                                         const char* device, const char** sentence) {
  const trine_options_t options = {.device = device};
  MPI_Comm comm;
  trine_mpi_matrix_t from, to;
  if (!comm_of(comm_given, &comm)) return refused(sentence);
  if (!part("a", a, bits_of(a), of_a, &from) || !part("b", b, bits_of(b), of_b, &to))
    return refused_on_all(comm, NULL, sentence);
  return ended(trine_mpi_transpose(&from, &to, comm, &options), sentence);
}

trine_status trine_fortran_mpi_gemm(double alpha, Array* a, const trine_mpi_distribution_t* of_a,
                                    Array* b, const trine_mpi_distribution_t* of_b, double beta,
                                    Array* c, const trine_mpi_distribution_t* of_c,
                                    Array* comm_given, const char* numerics, const char* device,
                                    const char** sentence) {
  trine_options_t options = {.device = device};
  MPI_Comm comm;
  trine_mpi_matrix_t left, right, out;
  if (!comm_of(comm_given, &comm)) return refused(sentence);
  const trine_status status = trine_parse_numerics(numerics, &options.numerics);
  if (status != TRINE_OK) return refuse_on_all(status, trine_last_error(), comm, NULL, sentence);
  if (!part("a", a, dtype_of(a), of_a, &left) || !part("b", b, dtype_of(b), of_b, &right) ||
      !part("c", c, dtype_of(c), of_c, &out))
    return refused_on_all(comm, NULL, sentence);
  return ended(trine_mpi_gemm(alpha, &left, &right, beta, &out, comm, &options), sentence);
}

/* A member of fields, whose subscripts behind the first `rank` count the fields; NULL: absent. It
 * must have the extents of the values, which come first. */
static int add_member(const char* name, Array* array, int rank, Reading* of) {
  Shape* const shape = &of->shapes[of->count];
  if (!array) return 1;
  if (array->rank != rank && array->rank != rank + 1)
    return refuse(name, "must have the rank of a field or one more, not", array->rank);
  if (!read_shape(name, array, shape)) return 0;
  shape->rank = rank;
  for (int d = 0; d < rank; ++d)
    if (shape->extent[d] != of->shapes[0].extent[d])
      return refuse(name, "must have the shape of a field, and has another extent of subscript",
                    d + 1);
  of->arrays[of->count++] = array;
  return 1;
}

/* The view of a member that has been read, with the fields as its batch. */
static trine_host_view_t view_of_fields(const Reading* of, int which, int rank, uint32_t dtype) {
  trine_host_view_t view = part_of(of, which, NULL);
  view.dtype = dtype;
  if (of->arrays[which]->rank == rank) return view;
  view.batch = of->shapes[which].extent[rank];
  view.batch_stride = of->shapes[which].stride[rank];
  return view;
}

/* Whether the members that are there have types that C's views can say. */
static int check_types(Array* weights, Array* mask) {
  if (weights && !dtype_of(weights))
    return refuse("weights", "must have the type of values, and have elements of these bytes",
                  (long)weights->elem_len);
  if (mask && !bits_of(mask))
    return refuse("mask", "must have elements of 1, 2, 4 or 8 bytes, not", (long)mask->elem_len);
  return 1;
}

/* `results` is a scalar: the values are one field; or it has rank 1: their last subscript counts
 * the fields. */
trine_status trine_fortran_mpi_reduce_fields(const char* function_name, Array* values,
                                             Array* weights, Array* mask, Array* results,
                                             Array* comm_given, const char* device,
                                             const char** sentence) {
  const trine_options_t options = {.device = device};
  MPI_Comm comm;
  uint32_t function;
  trine_host_view_t out;
  trine_mpi_fields_t fields = {.mask = {.dtype = 0}};
  Reading of = {.count = 0};
  if (!comm_of(comm_given, &comm)) return refused(sentence);
  const trine_status status = trine_parse_function(function_name, &function);
  if (status != TRINE_OK) return refuse_on_all(status, trine_last_error(), comm, NULL, sentence);
  const int rank = values->rank - results->rank;
  if (rank < 0) {
    refuse("results", "have more subscripts than values, which have", values->rank);
    return refused_on_all(comm, NULL, sentence);
  }
  if (!check_types(weights, mask) || !results_of(results, &out) ||
      !add_member("values", values, rank, &of) || !add_member("weights", weights, rank, &of) ||
      !add_member("mask", mask, rank, &of))
    return refused_on_all(comm, NULL, sentence);
  if (rank > 2) join_subscripts(&of);
  if (of.shapes[0].rank > 2) {
    refuse("values", "have gaps between their elements, and this number of subscripts", rank);
    return refused_on_all(comm, NULL, sentence);
  }
  fields.values = view_of_fields(&of, 0, rank, dtype_of(values));
  if (weights) fields.weights = view_of_fields(&of, 1, rank, dtype_of(weights));
  if (mask) fields.mask = view_of_fields(&of, of.count - 1, rank, bits_of(mask));
  return ended(trine_mpi_reduce_fields(function, &fields, 1, out, comm, &options), sentence);
}
