/// Reductions, transposes and products over the ranks of an MPI program, in C11: the C form of
/// <trine/mpi.hpp>, <trine/mpi_sums.hpp> and <trine/mpi_matrix.hpp>, with the same bits.
/// docs/mpi.md is the guide.
/// ```c
/// // MPI_Init has been called. Each rank has a part, of any length.
/// int rank = 0;
/// MPI_Comm_rank(MPI_COMM_WORLD, &rank);
/// const double part[] = {0.1, 0.1, 0.1};
/// const trine_host_view_t x = trine_host_vector(part, TRINE_F64, 2 + rank % 2);
/// double total;
/// if (trine_mpi_result(TRINE_SUM, TRINE_IDENTITY, &x, NULL, 0, &total, MPI_COMM_WORLD, NULL) !=
///     TRINE_OK)
///   return 1;
/// printf("%.17g\n", total);  // exact, rounded once, on all ranks
/// ```
/// CMake: `find_package(trine COMPONENTS mpi)`, target trine::mpi; pkg-config: trine-mpi.
///
/// All functions that take a communicator are collective, but for trine_mpi_col_major(). The
/// conventions are those of <trine/trine.h>: statuses, trine_last_error(), NULL, `size`, threads
/// (with those of MPI, which <trine/mpi.hpp> has). Errors: where a rank finds one in its arguments,
/// data or device, or an argument isn't the same on all ranks, the call fails on all ranks with one
/// status and one sentence. One rank alone fails for a communicator that is none, where MPI fails,
/// and with TRINE_OUT_OF_MEMORY where at the end of a call it lacks memory for the results that its
/// options ask for (choice, placement, trace, receipt). "The same on all ranks" and the rules of
/// each argument are those of the C++ function that the comment names.
#pragma once

#include <trine/mpi_c_api.h>
#include <trine/trine.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A `root` that is no rank: all ranks receive the result.
#define TRINE_MPI_ALL_RANKS INT32_MIN

/// A call that has begun; trine::mpi::Request. It goes on only inside of the two functions below,
/// inside of calls that block on its communicator, of MPI_Comm_free and of MPI_Finalize. Until it
/// has ended, the program keeps the inputs, the outputs and what the options point to, doesn't
/// change the inputs, and doesn't touch the outputs.
///
/// A function that can begin a call has the argument `request`. NULL: the call blocks. Else the
/// function returns at once, *request is the call, and errors come from it, also those of arguments
/// that can't be read. If the function itself fails (MPI, memory, no communicator), *request is
/// NULL. All ranks do the same of both.
/// ```c
/// const double mine[] = {1, 2};
/// double total[2];
/// trine_mpi_request_t* request;
/// if (trine_mpi_reduce(TRINE_SUM, trine_host_vector(mine, TRINE_F64, 2),
///                      trine_host_vector(total, TRINE_F64, 2), TRINE_MPI_ALL_RANKS,
///                      MPI_COMM_WORLD, NULL, &request) != TRINE_OK)
///   return 1;
/// trine_status status = trine_mpi_request_wait(request);  // or test it from time to time
/// trine_mpi_request_release(request);
/// if (status != TRINE_OK || total[1] != 2 * total[0]) return 1;
/// ```
typedef struct trine_mpi_request_t trine_mpi_request_t;
/// Goes on as far as possible without a wait. *has_ended becomes 1 if the call has ended, else 0.
/// An error of the call is returned, once; it has ended then.
TRINE_EXPORT trine_status trine_mpi_request_test(trine_mpi_request_t* request, int32_t* has_ended);
/// Goes on to the end; the same errors.
TRINE_EXPORT trine_status trine_mpi_request_wait(trine_mpi_request_t* request);
/// Frees the handle, before MPI_Finalize. Waits for a call that hasn't ended, whose error is lost.
/// NULL is legal.
TRINE_EXPORT void trine_mpi_request_release(trine_mpi_request_t* request);

/// For a rank that can't make the call that the other ranks make: takes part in it in its place.
/// The call then fails on all ranks with `status` and `sentence`, as this function or its request
/// does.
/// - status: a trine_status, not TRINE_OK.
/// - sentence: the reason, up to 1000 bytes.
/// - comm: the ranks that take part.
/// - request: NULL, or receives the call where the others have asked for a request.
TRINE_EXPORT trine_status trine_mpi_refuse(uint32_t status, const char* sentence, MPI_Comm comm,
                                           trine_mpi_request_t** request);

/// How the device of a queue computes; NULL or all zero are the defaults. trine::mpi::QueueOptions.
typedef struct trine_mpi_queue_options_t {
  uint32_t size;
  /// TRINE_REPRODUCIBLE (0 too), TRINE_FAST or TRINE_EXACT.
  uint32_t numerics;
  /// A rung as trine_run_…() takes it; NULL: Trine chooses.
  const char* rung;
  /// 1: the chains of a product begin at c; the same on all ranks.
  uint32_t continues;
  /// Zero.
  uint32_t reserved;
} trine_mpi_queue_options_t;

/// Reduces element for element, to all ranks or to one; trine::mpi::allreduce(), reduce(),
/// iallreduce() and ireduce().
/// - function: a trine_function, the same on all ranks.
/// - input: this rank's values: a dense vector or row-major matrix; dtype and length the same on
///   all ranks.
/// - output: as many elements, of trine_result_dtype(function, TRINE_IDENTITY, input.dtype). It may
///   be the input itself. On ranks that don't receive the result it is neither read nor written.
/// - root: the rank that receives the result, or TRINE_MPI_ALL_RANKS; the same on all ranks.
/// - comm: the ranks that take part.
/// - options: where and how this rank computes, or NULL; no event.
/// - request: NULL, or receives the call.
TRINE_EXPORT trine_status trine_mpi_reduce(uint32_t function, trine_host_view_t input,
                                           trine_host_view_t output, int32_t root, MPI_Comm comm,
                                           const trine_options_t* options,
                                           trine_mpi_request_t** request);
/// The same of device memory.
/// - queue: of this rank's device; the call comes after its earlier operations.
TRINE_EXPORT trine_status trine_mpi_reduce_on_queue(uint32_t function, trine_queue_t* queue,
                                                    trine_view_t input, trine_view_t output,
                                                    int32_t root, MPI_Comm comm,
                                                    const trine_mpi_queue_options_t* options,
                                                    trine_mpi_request_t** request);

/// Merges what all ranks have added to their sums or partials; trine::mpi::allreduce() and so on of
/// an ExactSum and of a Partial. A `request` reads the state at once, and replaces it at the end.
/// - sum, partial: what this rank has added; then the whole on the ranks that receive it. After an
///   error it is what it was before.
/// - root, comm, request: as above.
/// ```c
/// const double x[] = {0.1, 0.2};
/// trine_exact_sum_t energy = {{0}};
/// double value;
/// trine_status status =
///     trine_exact_sum_add(&energy, 0, trine_host_vector(x, TRINE_F64, 2), NULL);
/// if (status == TRINE_OK)
///   status = trine_mpi_merge_exact_sum(&energy, TRINE_MPI_ALL_RANKS, MPI_COMM_WORLD, NULL);
/// else  // so that no rank waits for this one
///   status = trine_mpi_refuse(status, trine_last_error(), MPI_COMM_WORLD, NULL);
/// if (status != TRINE_OK || trine_exact_sum_to_f64(&energy, &value) != TRINE_OK) return 1;
/// ```
TRINE_EXPORT trine_status trine_mpi_merge_exact_sum(trine_exact_sum_t* sum, int32_t root,
                                                    MPI_Comm comm, trine_mpi_request_t** request);
TRINE_EXPORT trine_status trine_mpi_merge_partial(trine_partial_t* partial, int32_t root,
                                                  MPI_Comm comm, trine_mpi_request_t** request);

/// The result of one array of which each rank has a part, on all ranks, as trine_host_reduce()
/// gives it for the whole; trine::mpi::sum(), dot(), min() and so on.
/// - function: a trine_function (0: TRINE_SUM), the same on all ranks.
/// - map: a trine_map (0: TRINE_IDENTITY), the same on all ranks.
/// - x: this rank's part, of any length, strides and place; its dtype is the same on all ranks.
/// - y: for TRINE_PRODUCT the other factors, of the shape and dtype of x; else NULL.
/// - first: the index of the part's first element in the whole, whose others follow without a gap.
///   It matters to TRINE_ARGMIN, TRINE_ARGMAX and to TRINE_PROD of floats.
/// - result: an object of trine_result_dtype(function, map, x->dtype).
/// - comm: the ranks that take part.
/// - options: where this rank computes, or NULL; no event.
TRINE_EXPORT trine_status trine_mpi_result(uint32_t function, uint32_t map,
                                           const trine_host_view_t* x, const trine_host_view_t* y,
                                           int64_t first, void* result, MPI_Comm comm,
                                           const trine_options_t* options);
/// The same of device memory, after the queue's earlier operations. `result` is host memory.
TRINE_EXPORT trine_status trine_mpi_result_on_queue(uint32_t function, uint32_t map,
                                                    trine_queue_t* queue, const trine_view_t* x,
                                                    const trine_view_t* y, int64_t first,
                                                    void* result, MPI_Comm comm);

/// Fields of one shape as one rank sees them; trine::mpi::Fields. Each field is a matrix or a
/// vector of any strides, and the views' `batch` counts the fields.
typedef struct trine_mpi_fields_t {
  /// This rank's part of each field, whose extents may differ from rank to rank.
  trine_host_view_t values;
  /// By what each element is multiplied, exactly; all zero: by nothing. A batch of 1 serves all
  /// fields.
  trine_host_view_t weights;
  /// An element counts if any bit of its mask is set; all zero: all count. Elements of 1, 2, 4 or 8
  /// bytes; a batch of 1 serves all fields.
  trine_host_view_t mask;
} trine_mpi_fields_t;
/// The same in the memory of a device.
typedef struct trine_mpi_device_fields_t {
  trine_view_t values, weights, mask;
} trine_mpi_device_fields_t;

/// A view of `count` vectors, for the members above; trine::mpi::fields().
/// - data: the first element; `dtype`: a trine_dtype, of masks TRINE_B8 to TRINE_B64.
/// - length: the elements of a field.
/// - count: the number of fields.
/// - leading_dimension: the distance of two fields' first elements; 0: `length`.
TRINE_EXPORT trine_host_view_t trine_mpi_field_view(const void* data, uint32_t dtype,
                                                    int64_t length, int64_t count,
                                                    int64_t leading_dimension);
/// Reduces each of many fields over all ranks, in one message; every rank has all results.
/// trine::mpi::reduce_fields(), of which trine::mpi::sums() is the case TRINE_SUM.
/// - function: TRINE_SUM (0 too), TRINE_MIN or TRINE_MAX; the same on all ranks.
/// - fields: `count` of them, which have their fields one after another. One dtype in a call; the
///   number of fields, and which of them have weights, are the same on all ranks.
/// - results: a vector of one element for each field, of trine_result_dtype(function,
///   TRINE_IDENTITY, dtype); for sums of f32 also f64.
/// - comm: the ranks that take part.
/// - options: where and how this rank computes, or NULL; no event.
/// ```c
/// // 3 fields of 4 cells each, with the cells' areas; one cell is land.
/// const double values[12] = {1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4}, areas[4] = {2, 2, 2, 2};
/// const int32_t is_ocean[4] = {1, 1, 1, 0};
/// double sums[3];
/// const trine_mpi_fields_t fields = {.values = trine_mpi_field_view(values, TRINE_F64, 4, 3, 0),
///                                    .weights = trine_mpi_field_view(areas, TRINE_F64, 4, 1, 0),
///                                    .mask = trine_mpi_field_view(is_ocean, TRINE_B32, 4, 1, 0)};
/// if (trine_mpi_reduce_fields(TRINE_SUM, &fields, 1, trine_host_vector(sums, TRINE_F64, 3),
///                             MPI_COMM_WORLD, NULL) != TRINE_OK)
///   return 1;
/// printf("%g\n", sums[2]);  // 12 times the number of ranks
/// ```
TRINE_EXPORT trine_status trine_mpi_reduce_fields(uint32_t function,
                                                  const trine_mpi_fields_t* fields, size_t count,
                                                  trine_host_view_t results, MPI_Comm comm,
                                                  const trine_options_t* options);
/// The same of device memory, after the queue's earlier operations. `results` is host memory.
TRINE_EXPORT trine_status trine_mpi_reduce_fields_on_queue(uint32_t function, trine_queue_t* queue,
                                                           const trine_mpi_device_fields_t* fields,
                                                           size_t count, trine_host_view_t results,
                                                           MPI_Comm comm);

/// Which rank has which elements of a matrix: 2-D block-cyclic, as ScaLAPACK has it;
/// trine::mpi::Distribution. The same on all ranks.
typedef struct trine_mpi_distribution_t {
  /// Extents of the whole, in elements.
  int64_t rows, cols;
  /// Extents of a block; 0: 1. They may exceed those of the whole.
  int64_t block_rows, block_cols;
  /// The grid; 0: 1. It may have fewer processes than the communicator has ranks.
  int32_t grid_rows, grid_cols;
  /// The process that has the first block.
  int32_t first_row, first_col;
  /// 0: the first grid_cols ranks are the grid's first row; 1: the first grid_rows ranks are its
  /// first column.
  uint32_t ranks_by_columns;
  /// Zero.
  uint32_t reserved;
} trine_mpi_distribution_t;

/// A distributed matrix as one rank sees it: how the whole is distributed, and this rank's part.
typedef struct trine_mpi_matrix_t {
  trine_mpi_distribution_t distribution;
  trine_host_view_t local;
} trine_mpi_matrix_t;
/// One whose part is in a device's memory.
typedef struct trine_mpi_device_matrix_t {
  trine_mpi_distribution_t distribution;
  trine_view_t local;
} trine_mpi_device_matrix_t;

/// How many of `extent` elements a process has, if they are dealt out block by block in turns:
/// ScaLAPACK's numroc; trine::mpi::local_extent(). Checks nothing.
/// - extent: the number of elements; `block`: of a block.
/// - process: which of the `processes`, from 0; `first`: the one that has the first block.
TRINE_EXPORT int64_t trine_mpi_local_extent(int64_t extent, int64_t block, int32_t process,
                                            int32_t first, int32_t processes);
/// Describes a matrix whose part is column-major, as ScaLAPACK's are; trine::mpi::matrix(). Its
/// view says how large the part is. No other rank is asked.
/// - distribution: the same on all ranks.
/// - data: this rank's part, NULL if only its extents are asked for; `dtype`: a trine_dtype.
/// - leading_dimension: the distance of columns, in elements; 0: that of a dense part.
/// - comm: its rank of this process has the part.
/// - matrix: receives the description.
TRINE_EXPORT trine_status trine_mpi_col_major(const trine_mpi_distribution_t* distribution,
                                              const void* data, uint32_t dtype,
                                              int64_t leading_dimension, MPI_Comm comm,
                                              trine_mpi_matrix_t* matrix);

/// b = a^T, of any two distributions; trine::mpi::transpose().
/// - a, b: elements of 1, 2, 4, 8 or 16 bytes, as many on both sides. The parts share no memory.
/// - comm: the ranks that take part.
/// - options: where this rank transposes, or NULL; no event.
TRINE_EXPORT trine_status trine_mpi_transpose(const trine_mpi_matrix_t* a,
                                              const trine_mpi_matrix_t* b, MPI_Comm comm,
                                              const trine_options_t* options);
/// c = alpha * a * b + beta * c, with the bits of trine_host_gemm() of the whole, for any grid and
/// blocks; trine::mpi::gemm().
/// - alpha, beta: the same on all ranks.
/// - a, b, c: m x k, k x n and m x n, all f32, f64 or i32, on one grid; the rows of a and c are
///   dealt out alike, and so are the columns of b and c.
/// - comm: the ranks that take part.
/// - options: where and how this rank multiplies, or NULL; no event. All ranks have TRINE_EXACT, or
///   none.
/// ```c
/// int ranks = 1;
/// MPI_Comm_size(MPI_COMM_WORLD, &ranks);
/// const trine_mpi_distribution_t rows = {
///     .rows = 4, .cols = 4, .block_rows = 1, .block_cols = 4, .grid_rows = ranks};
/// double a[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, c[16];
/// trine_mpi_matrix_t of_a, of_c;
/// if (trine_mpi_col_major(&rows, a, TRINE_F64, 0, MPI_COMM_WORLD, &of_a) != TRINE_OK) return 1;
/// if (trine_mpi_col_major(&rows, c, TRINE_F64, 0, MPI_COMM_WORLD, &of_c) != TRINE_OK) return 1;
/// if (trine_mpi_gemm(1, &of_a, &of_a, 0, &of_c, MPI_COMM_WORLD, NULL) != TRINE_OK) return 1;
/// if (of_c.local.rows > 0 && c[0] != 4) return 1;
/// ```
TRINE_EXPORT trine_status trine_mpi_gemm(double alpha, const trine_mpi_matrix_t* a,
                                         const trine_mpi_matrix_t* b, double beta,
                                         const trine_mpi_matrix_t* c, MPI_Comm comm,
                                         const trine_options_t* options);
/// The same of parts in the memory of the queue's device, after its earlier operations.
TRINE_EXPORT trine_status trine_mpi_transpose_on_queue(trine_queue_t* queue,
                                                       const trine_mpi_device_matrix_t* a,
                                                       const trine_mpi_device_matrix_t* b,
                                                       MPI_Comm comm,
                                                       const trine_mpi_queue_options_t* options);
TRINE_EXPORT trine_status trine_mpi_gemm_on_queue(trine_queue_t* queue, double alpha,
                                                  const trine_mpi_device_matrix_t* a,
                                                  const trine_mpi_device_matrix_t* b, double beta,
                                                  const trine_mpi_device_matrix_t* c, MPI_Comm comm,
                                                  const trine_mpi_queue_options_t* options);

#ifdef __cplusplus
}
#endif
