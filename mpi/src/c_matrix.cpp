// <trine/mpi.h>: matrices.
#include <trine/mpi_matrix.hpp>

#include "c.hpp"

using namespace trine;
using namespace trine::mpi::detail;
using c_api::value_of, c_api::view_of;

namespace {

mpi::Distribution value_of(const trine_mpi_distribution_t& d) {
  if (d.reserved != 0) refuse("the reserved field of a distribution must be zero.");
  const auto one_or = [](auto given) { return given == 0 ? 1 : given; };
  return {.rows = d.rows,
          .cols = d.cols,
          .block_rows = one_or(d.block_rows),
          .block_cols = one_or(d.block_cols),
          .grid_rows = one_or(d.grid_rows),
          .grid_cols = one_or(d.grid_cols),
          .first_row = d.first_row,
          .first_col = d.first_col,
          .ranks_by_columns = d.ranks_by_columns != 0};
}

mpi::Matrix value_of(const trine_mpi_matrix_t* matrix) {
  const auto& m = pointed_to(matrix, "a matrix");
  return {value_of(m.distribution), view_of(m.local)};
}
mpi::DeviceMatrix value_of(const trine_mpi_device_matrix_t* matrix) {
  const auto& m = pointed_to(matrix, "a matrix");
  return {value_of(m.distribution), view_of(m.local)};
}

/// A call on matrices of host memory, `call(matrices, options)`, or of device memory.
template <class... Matrices>
trine_status on_host(MPI_Comm comm, const trine_options_t* given, auto&& call,
                     const Matrices*... matrices) {
  return collective(
      comm, nullptr,
      [&] {
        return std::pair(std::array{value_of(matrices)...},
                         std::make_unique<c_api::Options>(given));
      },
      [&](const auto& read) {
        call(read.first, read.second->host());
        read.second->deliver();
      });
}
template <class... Matrices>
trine_status on_queue(trine_queue_t* queue, MPI_Comm comm, const trine_mpi_queue_options_t* given,
                      auto&& call, const Matrices*... matrices) {
  return collective(
      comm, nullptr,
      [&] {
        return std::tuple(c_api::value_of(queue), std::array{value_of(matrices)...},
                          queue_options(given));
      },
      [&](auto& read) { call(std::get<0>(read), std::get<1>(read), std::get<2>(read)); });
}

}  // namespace

int64_t trine_mpi_local_extent(int64_t extent, int64_t block, int32_t process, int32_t first,
                               int32_t processes) {
  return mpi::local_extent(extent, block, process, first, processes);
}

trine_status trine_mpi_col_major(const trine_mpi_distribution_t* distribution, const void* data,
                                 uint32_t dtype, int64_t leading_dimension, MPI_Comm comm,
                                 trine_mpi_matrix_t* matrix) {
  return guard([&] {
    pointed_to(matrix, "the place of the matrix");
    const mpi::Distribution d = value_of(pointed_to(distribution, "the distribution"));
    if (comm == MPI_COMM_NULL) refuse("the communicator is MPI_COMM_NULL.");
    int rank = 0;
    check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
    trine_host_view_t local =
        trine_host_col_major(data, dtype, d.local_rows(rank), d.local_cols(rank));
    if (leading_dimension != 0) local.col_stride = leading_dimension;
    *matrix = {*distribution, local};
  });
}

trine_status trine_mpi_transpose(const trine_mpi_matrix_t* a, const trine_mpi_matrix_t* b,
                                 MPI_Comm comm, const trine_options_t* options) {
  return on_host(
      comm, options,
      [&](const auto& m, const HostOptions& o) { mpi::transpose(m[0], m[1], comm, o); }, a, b);
}
trine_status trine_mpi_gemm(double alpha, const trine_mpi_matrix_t* a, const trine_mpi_matrix_t* b,
                            double beta, const trine_mpi_matrix_t* c, MPI_Comm comm,
                            const trine_options_t* options) {
  return on_host(
      comm, options,
      [&](const auto& m, const HostOptions& o) {
        mpi::gemm(alpha, m[0], m[1], beta, m[2], comm, o);
      },
      a, b, c);
}

trine_status trine_mpi_transpose_on_queue(trine_queue_t* queue, const trine_mpi_device_matrix_t* a,
                                          const trine_mpi_device_matrix_t* b, MPI_Comm comm,
                                          const trine_mpi_queue_options_t* options) {
  return on_queue(
      queue, comm, options,
      [&](Queue& used, const auto& m, const mpi::QueueOptions& o) {
        mpi::transpose(used, m[0], m[1], comm, o);
      },
      a, b);
}
trine_status trine_mpi_gemm_on_queue(trine_queue_t* queue, double alpha,
                                     const trine_mpi_device_matrix_t* a,
                                     const trine_mpi_device_matrix_t* b, double beta,
                                     const trine_mpi_device_matrix_t* c, MPI_Comm comm,
                                     const trine_mpi_queue_options_t* options) {
  return on_queue(
      queue, comm, options,
      [&](Queue& used, const auto& m, const mpi::QueueOptions& o) {
        mpi::gemm(used, alpha, m[0], m[1], beta, m[2], comm, o);
      },
      a, b, c);
}
