#include "work.hpp"

#include <trine/mpi_matrix.hpp>

#include <algorithm>
#include <numeric>

#include "bench/cases/operations.hpp"

namespace trine::bench::ranks {
namespace {

using Bytes = std::vector<std::byte>;

/// A sum in type T over an array that the ranks share, or element for element over a vector a rank.
template <class T>
void set_sums(Work& work, MPI_Comm comm, const Problem& p, std::span<const std::byte> whole,
              const std::string& device) {
  const MPI_Datatype type = sizeof(T) == sizeof(float) ? MPI_FLOAT : MPI_DOUBLE;
  const bool is_array = p.axis == Axis::all;
  const int64_t elements = p.size.rows * p.size.cols, me = rank_in(comm), ranks = size_in(comm);
  const T* const all = reinterpret_cast<const T*>(whole.data());
  const auto part = std::make_shared<const std::vector<T>>(all + elements * me / ranks,
                                                           all + elements * (me + 1) / ranks);
  work.result.resize(sizeof(T) * size_t(is_array ? 1 : p.size.cols));
  T* const result = reinterpret_cast<T*>(work.result.data());
  work.whole = [&work] { return work.result; };
  if (is_array) {
    work.ours = [=] { *result = mpi::sum(*part, comm, {.device = device}); };
    work.peer = [=] {
      const T mine = std::reduce(part->begin(), part->end());
      MPI_Allreduce(&mine, result, 1, type, MPI_SUM, comm);
    };
  } else {
    const std::span<T> sums(result, part->size());
    work.ours = [=] { mpi::allreduce(Function::sum, *part, sums, comm, {.device = device}); };
    work.peer = [=] {
      MPI_Allreduce(part->data(), result, int(part->size()), type, MPI_SUM, comm);
    };
  }
}

/// A rank's part of a matrix in blocks over a grid, column-major as the whole is.
struct Part {
  Part(MPI_Comm of_ranks, Dtype dtype, int64_t rows, int64_t cols, int64_t block)
      : comm(of_ranks), element(dtype == Dtype::f32 ? MPI_FLOAT : MPI_DOUBLE) {
    const Grid grid = grid_of(size_in(comm));
    matrix.distribution = {.rows = rows,
                           .cols = cols,
                           .block_rows = block,
                           .block_cols = block,
                           .grid_rows = grid.rows,
                           .grid_cols = grid.cols};
    const int me = rank_in(comm);
    matrix.local = host_col_major(nullptr, dtype, matrix.distribution.local_rows(me),
                                  matrix.distribution.local_cols(me));
    elements = int(matrix.local.rows * matrix.local.cols);
    const int extents[] = {int(rows), int(cols)}, blocks[] = {int(block), int(block)};
    const int dealt[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_CYCLIC};
    const int processes[] = {grid.rows, grid.cols};
    MPI_Type_create_darray(size_in(comm), me, 2, extents, dealt, blocks, processes,
                           MPI_ORDER_FORTRAN, element, &place);
    MPI_Type_commit(&place);
  }
  size_t bytes() const { return size_t(elements) * size_of(matrix.local.dtype); }

  Bytes taken_from(std::span<const std::byte> whole) const {
    Bytes own(bytes());
    MPI_Sendrecv(whole.data(), 1, place, 0, 0, own.data(), elements, element, 0, 0, MPI_COMM_SELF,
                 MPI_STATUS_IGNORE);
    return own;
  }
  /// The whole from all parts. Each rank has zeros where others have elements.
  Bytes whole_of(const Bytes& own) const {
    const auto all = size_t(matrix.distribution.rows * matrix.distribution.cols);
    Bytes whole(all * size_of(matrix.local.dtype));
    MPI_Sendrecv(own.data(), elements, element, 0, 0, whole.data(), 1, place, 0, 0, MPI_COMM_SELF,
                 MPI_STATUS_IGNORE);
    const MPI_Datatype bits = element == MPI_FLOAT ? MPI_UINT32_T : MPI_UINT64_T;
    MPI_Allreduce(MPI_IN_PLACE, whole.data(), int(all), bits, MPI_BOR, comm);
    return whole;
  }

  MPI_Comm comm;
  MPI_Datatype element, place = MPI_DATATYPE_NULL;  ///< place: of the part within the whole
  mpi::Matrix matrix;
  int elements = 0;
};

void set_matrices(Work& work, MPI_Comm comm, const Problem& p, int64_t block,
                  const std::vector<std::span<const std::byte>>& inputs,
                  const std::string& device) {
  const auto [m, n, k] = p.size;
  const bool multiplies = describe(p.operation).by_flops;
  std::vector<Part> of_inputs{{comm, p.dtype, m, multiplies ? k : n, block}};
  if (multiplies) of_inputs.emplace_back(comm, p.dtype, k, n, block);
  Part c(comm, p.dtype, multiplies ? m : n, multiplies ? n : m, block);
  work.result.resize(c.bytes());
  c.matrix.local.data = work.result.data();
  work.whole = [&work, c] { return c.whole_of(work.result); };
  std::vector<Bytes> data;
  for (size_t i = 0; i < of_inputs.size(); ++i) data.push_back(of_inputs[i].taken_from(inputs[i]));
  work.ours = [=, numerics = p.numerics, data = std::move(data)]() mutable {
    const HostOptions options{.device = device, .numerics = numerics};
    for (size_t i = 0; i < data.size(); ++i) of_inputs[i].matrix.local.data = data[i].data();
    const mpi::Matrix& a = of_inputs[0].matrix;
    if (multiplies)
      mpi::gemm(1, a, of_inputs[1].matrix, 0, c.matrix, comm, options);
    else
      mpi::transpose(a, c.matrix, comm, options);
  };
}

}  // namespace

std::unique_ptr<Work> work_on(MPI_Comm comm, const Problem& p, int64_t block,
                              const std::vector<std::span<const std::byte>>& inputs,
                              const std::string& device) {
  auto work = std::make_unique<Work>();
  if (!describe(p.operation).is_vector)
    set_matrices(*work, comm, p, block, inputs, device);
  else if (p.dtype == Dtype::f32)
    set_sums<float>(*work, comm, p, inputs[0], device);
  else
    set_sums<double>(*work, comm, p, inputs[0], device);
  return work;
}

}  // namespace trine::bench::ranks
