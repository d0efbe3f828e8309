/// Matrices distributed over the ranks of an MPI program: transposes, and products with the bits of
/// one device for any distribution. Errors, thread safety and what is collective: as in
/// <trine/mpi.hpp>.
/// ```cpp
/// // 300 x 200 doubles in blocks of 64 x 32 on a grid of 1 x (all ranks); each has its part
/// // column-major.
/// int rank = 0, ranks = 1;
/// MPI_Comm_rank(MPI_COMM_WORLD, &rank);
/// MPI_Comm_size(MPI_COMM_WORLD, &ranks);
/// trine::mpi::Distribution of_a = {.rows = 300, .cols = 200, .block_rows = 64, .block_cols = 32,
///                                  .grid_rows = 1, .grid_cols = ranks};
/// trine::mpi::Distribution of_t = {.rows = 200, .cols = 300, .block_rows = 10, .block_cols = 300,
///                                  .grid_rows = ranks, .grid_cols = 1};
/// std::vector<double> a(of_a.local_rows(rank) * of_a.local_cols(rank), rank);
/// std::vector<double> t(of_t.local_rows(rank) * of_t.local_cols(rank));
/// trine::mpi::transpose(trine::mpi::matrix(of_a, a.data(), MPI_COMM_WORLD),
///                       trine::mpi::matrix(of_t, t.data(), MPI_COMM_WORLD), MPI_COMM_WORLD);
/// ```
#pragma once

#include <trine/mpi.hpp>

namespace trine::mpi {

/// How many of `extent` elements a process has, if they are dealt out block by block in turns:
/// ScaLAPACK's numroc.
/// - extent: the number of elements, not negative.
/// - block: the elements of a block, at least 1; the last block may be shorter.
/// - process: which of the `processes`, from 0.
/// - first: the process that has the first block.
/// Throws nothing and checks nothing.
TRINE_API int64_t local_extent(int64_t extent, int64_t block, int process, int first,
                               int processes) noexcept;

/// Which rank has which elements of a matrix: 2-D block-cyclic, as ScaLAPACK has it. Blocks are
/// dealt out over a grid of processes: block (I, J) belongs to row (I + first_row) mod grid_rows,
/// column (J + first_col) mod grid_cols. Whole rows or columns a rank, one large block a rank, and
/// all on one rank, are special cases. A process keeps the elements of its rows and columns as a
/// matrix, in their order.
struct TRINE_API Distribution {
  /// Extents of the whole, in elements.
  int64_t rows = 0, cols = 0;
  /// Extents of a block, at least 1. They may exceed those of the whole.
  int64_t block_rows = 1, block_cols = 1;
  /// The grid. It may have fewer processes than the communicator has ranks; the others then have
  /// nothing.
  int grid_rows = 1, grid_cols = 1;
  /// The process that has the first block.
  int first_row = 0, first_col = 0;
  /// Which process a rank is: the first grid_cols ranks are the grid's first row; or with `true`
  /// the first grid_rows ranks its first column.
  bool ranks_by_columns = false;

  /// The row and column of a rank in the grid; -1 for one that has no place there.
  int grid_row(int rank) const noexcept;
  int grid_col(int rank) const noexcept;
  /// The extents of a rank's part; 0 for one that has no place in the grid.
  int64_t local_rows(int rank) const noexcept;
  int64_t local_cols(int rank) const noexcept;

  friend bool operator==(const Distribution&, const Distribution&) = default;
};

/// The distribution of a matrix's transpose when nothing moves: with transposed(local) it describes
/// the same memory. So transpose() of it copies the matrix to any other distribution.
/// - distribution: of the matrix.
/// ```cpp
/// // 30 x 20 doubles, whole rows a rank; then the same matrix in blocks of columns.
/// int ranks = 1, rank = 0;
/// MPI_Comm_size(MPI_COMM_WORLD, &ranks);
/// MPI_Comm_rank(MPI_COMM_WORLD, &rank);
/// trine::mpi::Distribution rows = {.rows = 30, .cols = 20, .block_cols = 20, .grid_rows = ranks};
/// trine::mpi::Distribution cols = {.rows = 30, .cols = 20, .block_rows = 30, .block_cols = 4,
///                                  .grid_cols = ranks};
/// std::vector<double> a(rows.local_rows(rank) * rows.local_cols(rank), rank);
/// std::vector<double> b(cols.local_rows(rank) * cols.local_cols(rank));
/// trine::mpi::Matrix from = trine::mpi::matrix(rows, a.data(), MPI_COMM_WORLD);
/// trine::mpi::transpose(trine::mpi::Matrix{transposed(rows), transposed(from.local)},
///                       trine::mpi::matrix(cols, b.data(), MPI_COMM_WORLD), MPI_COMM_WORLD);
/// ```
inline Distribution transposed(const Distribution& distribution) noexcept {
  return {.rows = distribution.cols,
          .cols = distribution.rows,
          .block_rows = distribution.block_cols,
          .block_cols = distribution.block_rows,
          .grid_rows = distribution.grid_cols,
          .grid_cols = distribution.grid_rows,
          .first_row = distribution.first_col,
          .first_col = distribution.first_row,
          .ranks_by_columns = !distribution.ranks_by_columns};
}

/// A distributed matrix as one rank sees it: how the whole is distributed, the same on all ranks,
/// and this rank's part: local_rows x local_cols, with a unit stride along its rows or columns,
/// which may differ from rank to rank. The other stride is the leading dimension. A part without
/// elements needs no memory.
struct Matrix {
  Distribution distribution;
  HostView local;
};
/// One that is only read.
struct ConstMatrix {
  ConstMatrix(const Distribution& is_distributed, const ConstHostView& part) noexcept
      : distribution(is_distributed), local(part) {}
  /// A matrix that may be written may also be read.
  ConstMatrix(const Matrix& matrix) noexcept
      : ConstMatrix(matrix.distribution, ConstHostView(matrix.local)) {}

  Distribution distribution;
  ConstHostView local;
};

/// One whose part is in a device's memory.
struct DeviceMatrix {
  Distribution distribution;
  View local;
};

/// A matrix whose part is column-major, as ScaLAPACK's are. Other layouts: Matrix{distribution,
/// view}.
/// - distribution: the same on all ranks.
/// - data: this rank's part, of a type of 1, 2, 4, 8 or 16 bytes that operations know.
/// - comm: its rank of this process has the part. Throws Error (backend_error) if MPI fails.
/// - leading_dimension: the distance of columns, in elements; 0: that of a dense part.
template <class T>
auto matrix(const Distribution& distribution, T* data, MPI_Comm comm,
            int64_t leading_dimension = 0) {
  int rank = 0;
  if (MPI_Comm_rank(comm, &rank) != MPI_SUCCESS)
    throw Error(Status::backend_error, "MPI_Comm_rank failed.");
  auto local = host_col_major(data, dtype_of<std::remove_const_t<T>>, distribution.local_rows(rank),
                              distribution.local_cols(rank));
  if (leading_dimension != 0) local.col_stride = leading_dimension;
  return std::conditional_t<std::is_const_v<T>, ConstMatrix, Matrix>{distribution, local};
}

/// One whose part is column-major in new memory of a device, with undefined content.
/// - distribution: the same on all ranks. A rank that has no place in its grid gets a part without
///   elements.
/// - device, dtype: of this rank's part.
/// - comm: its rank of this process gets the part.
/// No rank waits for another: one whose allocation fails throws alone, and mustn't leave the others
/// in the next call. Throws Error as Buffer's constructor; invalid_argument for a part that exceeds
/// the address space; backend_error where MPI fails.
TRINE_API DeviceMatrix matrix(const Distribution& distribution, const Device& device, Dtype dtype,
                              MPI_Comm comm);

/// b = a^T, each element's bits as they are.
/// - a, b: any two distributions over `comm`, of any grids and blocks; the same on all ranks.
///   Elements of 1, 2, 4, 8 or 16 bytes, as many on both sides. The parts share no memory.
/// - comm: the ranks that take part.
/// - options: where this rank transposes; they may differ from rank to rank. No event.
/// A rank needs memory for about 20 MiB of elements: they go in chunks, and one chunk is packed
/// while another is sent. With very many ranks it may be more, because chunks are whole rows or
/// columns (the shorter ones) of what this rank shares with another: up to 5 of them for each rank.
/// The memory stays with `comm` for the next call. An error that is found before data moves leaves
/// b as it was; a device that fails later doesn't.
TRINE_API void transpose(const ConstMatrix& a, const Matrix& b, MPI_Comm comm,
                         const HostOptions& options = {});

/// c = alpha * a * b + beta * c, with the bits of trine::gemm() on one device, for any grid and
/// blocks: each element of c is one chain, k ascending. By SUMMA: the parts of a go along the
/// grid's rows, those of b along its columns.
/// - alpha, beta: as for trine::gemm(); the same on all ranks. With beta = 0, c is not read; with
///   alpha = 0, a and b are not.
/// - a, b, c: m x k, k x n and m x n, all f32, f64 or i32, on one grid. The rows of a and of c are
///   dealt out alike, and so are the columns of b and of c; a and b may each deal out k in its own
///   way. c shares no memory with a or b.
/// - comm: the ranks that take part.
/// - options: where and how this rank multiplies; they may differ from rank to rank, but for
///   `continues`, with which the chains begin at c, and Numerics::exact (f32, f64), with which each
///   element is the real number, rounded once. No event. With Numerics::fast the promise is fast's,
///   for each part of k. The results that options point to are those of the last part, or block.
/// A rank needs memory for twice 512 columns of its part of a, and as many rows of b's, but
/// together no more than 64 MiB where two of each fit there; none for an operand that the grid has
/// in one column (a) or row (b). It stays with `comm` for the next call. With beta other than 0 a
/// rank also needs memory for one more part like c's. Column-major parts go as they are, others are
/// transposed on the way.
/// With Numerics::exact a rank computes c block by block, from all k of some rows of a and columns
/// of b. It needs memory for these: 64 MiB, or twice that of its parts of a, b and c if that is
/// more, but at least for two rows of a and two columns of b. If they don't fit in there together,
/// b is sent several times.
/// An error that is found before data moves leaves c as it was; a device that fails later doesn't.
/// ```cpp
/// int ranks = 1, rank = 0;
/// MPI_Comm_size(MPI_COMM_WORLD, &ranks);
/// MPI_Comm_rank(MPI_COMM_WORLD, &rank);
/// // Each rank has some rows of a, b and c; those of b go to all, step by step.
/// trine::mpi::Distribution rows = {.rows = 100, .cols = 100, .block_rows = 8, .block_cols = 100,
///                                  .grid_rows = ranks};
/// const size_t length = size_t(rows.local_rows(rank) * rows.local_cols(rank));
/// std::vector<double> a(length, 0.5), b(length, 2), c(length);
/// const auto as_matrix = [&](std::vector<double>& part) {
///   return trine::mpi::matrix(rows, part.data(), MPI_COMM_WORLD);
/// };
/// // All elements are 100:
/// trine::mpi::gemm(1, as_matrix(a), as_matrix(b), 0, as_matrix(c), MPI_COMM_WORLD);
/// ```
TRINE_API void gemm(double alpha, const ConstMatrix& a, const ConstMatrix& b, double beta,
                    const Matrix& c, MPI_Comm comm, const HostOptions& options = {});

/// The same of parts in the memory of a device, which transposes and multiplies them there: c never
/// leaves it. Some ranks of a call may have theirs there, and others in host memory.
/// - queue: of this rank's device. The call comes after its earlier operations and returns when all
///   of its work has ended. An adopted cl_command_queue is of Trine's own context
///   (Device::native()).
/// - options: may differ from rank to rank, but for `continues` and Numerics::exact.
/// A rank needs its memory on its device. It also needs pinned memory for what MPI moves, unless
/// MPI is given the device's memory (docs/mpi.md, "Data on devices").
/// ```cpp
/// int ranks = 1;
/// MPI_Comm_size(MPI_COMM_WORLD, &ranks);
/// trine::Queue queue(trine::open("cpu"));
/// trine::mpi::Distribution rows = {
///     .rows = 64, .cols = 64, .block_rows = 8, .block_cols = 64, .grid_rows = ranks};
/// trine::mpi::DeviceMatrix a =
///     trine::mpi::matrix(rows, queue.device(), trine::Dtype::f64, MPI_COMM_WORLD);
/// trine::mpi::DeviceMatrix c =
///     trine::mpi::matrix(rows, queue.device(), trine::Dtype::f64, MPI_COMM_WORLD);
/// const double half = 0.5;
/// trine::fill(queue, a.local, &half);
/// trine::mpi::gemm(queue, 1, a, a, 0, c, MPI_COMM_WORLD);  // all elements 16
/// ```
TRINE_API void transpose(Queue& queue, const DeviceMatrix& a, const DeviceMatrix& b, MPI_Comm comm,
                         const QueueOptions& options = {});
TRINE_API void gemm(Queue& queue, double alpha, const DeviceMatrix& a, const DeviceMatrix& b,
                    double beta, const DeviceMatrix& c, MPI_Comm comm,
                    const QueueOptions& options = {});

}  // namespace trine::mpi
