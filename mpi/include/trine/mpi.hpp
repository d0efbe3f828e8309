/// Reductions over the ranks of an MPI program: the same bits on 1, 7 or 10,000 ranks, however the data
/// is distributed, on any device, mixed ones in one job too.
/// ```cpp
/// // MPI_Init has been called. Each rank has a part, of any length.
/// int rank = 0;
/// MPI_Comm_rank(MPI_COMM_WORLD, &rank);
/// std::vector<double> part(1000 + rank, 0.1);
/// double total = trine::mpi::sum(part, MPI_COMM_WORLD);  // exact, rounded once, on all ranks
/// std::cout << total << "\n";
/// ```
/// CMake: `find_package(trine COMPONENTS mpi)`, target trine::mpi; pkg-config: trine-mpi. Of MPI (3.0 or
/// later) the C API alone is used. The program calls MPI_Init or MPI_Init_thread, and MPI_Finalize.
///
/// All functions are collective: all ranks of the communicator call them, in one order, as MPI's own. What
/// has to be the same on all ranks is named at each function; whether it is, the first message of each call
/// shows, before anything else moves. The first call on a communicator duplicates it, so that no message of
/// the program meets one of Trine's; the duplicate is freed with it, or by MPI_Finalize.
///
/// Errors: Error. What a rank finds wrong with its arguments, data or device (as thrown by the functions of
/// <trine/host.hpp>), and what isn't the same on all ranks (invalid_argument), all ranks throw, with one
/// sentence that names the ranks; nothing was written then, if it was found before the data moved. These
/// concern one rank alone: invalid_argument where MPI isn't initialized or has ended, for MPI_COMM_NULL and
/// for an intercommunicator; backend_error with MPI's own sentence where MPI fails, if the error handler
/// of the communicator lets it return.
///
/// Thread safety: that of the program's MPI. A call uses MPI in the calling thread alone: with
/// MPI_THREAD_FUNNELED in the main one. With MPI_THREAD_MULTIPLE, threads may call at the same time on
/// communicators of their own.
#pragma once

// C++ bindings, which MPI 3 took away, bring a library of their own.
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>
#include <trine/exact_sum.hpp>

namespace trine::mpi {

/// Merges the sums of all ranks; each then has the whole. One message of 576 bytes a step.
/// - sum: what this rank has added; of an error it is what it was before.
/// - comm: the ranks that take part.
/// ```cpp
/// trine::ExactSum energy;
/// for (int step = 0; step < 3; ++step) energy.add(std::vector<double>{0.1, 0.2});
/// trine::mpi::allreduce(energy, MPI_COMM_WORLD);
/// std::cout << energy.round<double>() << "\n";
/// ```
TRINE_API void allreduce(ExactSum& sum, MPI_Comm comm);
/// The same to one rank: `root`, the same on all, has the whole; the other ranks' sums stay what they were.
TRINE_API void reduce(ExactSum& sum, int root, MPI_Comm comm);

/// The exact sum of map(x) for all x of all ranks' parts, on all ranks; of a dot product, of all x * y.
/// - part, x, y: this rank's part, of any length, strides and place: host memory, or device memory with its
///   `queue`, whose earlier operations are seen. f32 or f64 and `map`, the same on all ranks.
/// - comm: the ranks that take part.
/// - options: as for ExactSum::add(); they may differ from rank to rank.
/// ```cpp
/// std::vector<float> rows(20 * 30, 0.5f);
/// trine::ExactSum squares = trine::mpi::exact_sum(trine::host_row_major(rows.data(), trine::Dtype::f32, 20, 30),
///                                                 trine::Map::square, MPI_COMM_WORLD);
/// std::cout << squares.round<double>() << "\n";
/// ```
TRINE_API ExactSum exact_sum(const ConstHostView& part, Map map, MPI_Comm comm,
                             const HostOptions& options = {});
TRINE_API ExactSum exact_dot(const ConstHostView& x, const ConstHostView& y, MPI_Comm comm,
                             const HostOptions& options = {});
TRINE_API ExactSum exact_sum(Queue& queue, const View& part, Map map, MPI_Comm comm);
TRINE_API ExactSum exact_dot(Queue& queue, const View& x, const View& y, MPI_Comm comm);

/// The same of ranges of float or double, rounded once to that type: the result of trine::sum() or
/// trine::dot() of the whole. A rank's range may be empty; x and y have one length on each rank.
/// ```cpp
/// std::vector<double> x(100, 0.5), y(100, 0.25);
/// double norm1 = trine::mpi::sum(x, trine::Map::abs, MPI_COMM_WORLD);
/// double product = trine::mpi::dot(x, y, MPI_COMM_WORLD, {.device = "cpu"});
/// std::cout << norm1 << " " << product << "\n";
/// ```
template <HostRange Range>
requires std::floating_point<ElementOf<Range>>
auto sum(const Range& part, Map map, MPI_Comm comm, const HostOptions& options = {}) {
  using T = ElementOf<Range>;
  return exact_sum(host_vector(std::data(part), dtype_of<T>, int64_t(std::size(part))), map, comm,
                   options)
      .template round<T>();
}
template <HostRange Range>
requires std::floating_point<ElementOf<Range>>
auto sum(const Range& part, MPI_Comm comm, const HostOptions& options = {}) {
  return sum(part, Map::identity, comm, options);
}
template <class X, class Y>
requires DotRanges<X, Y>
auto dot(const X& x, const Y& y, MPI_Comm comm, const HostOptions& options = {}) {
  using T = ElementOf<X>;
  return exact_dot(host_vector(std::data(x), dtype_of<T>, int64_t(std::size(x))),
                   host_vector(std::data(y), dtype_of<T>, int64_t(std::size(y))), comm, options)
      .template round<T>();
}

}  // namespace trine::mpi
