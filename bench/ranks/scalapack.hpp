// ScaLAPACK, found when the program runs: the peer for matrices. Nothing is linked to it.
#pragma once

#include <trine/mpi_matrix.hpp>

#include <string>

#include "bench/cases/problem.hpp"
#include "model.hpp"

namespace trine::bench::ranks {

/// Loads the one of this program's MPI, which computes with `threads` threads a rank. Returns its name with that of
/// its BLAS, or why it is absent.
std::string load_scalapack(int threads);
bool has_scalapack();

/// A grid of all ranks of a communicator, in ScaLAPACK's words.
class Context {
 public:
  Context(MPI_Comm comm, Grid grid);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

/// A matrix on it, whose parts are column-major and dense.
class Descriptor {
 public:
  Descriptor(const Context& context, const mpi::Distribution& distribution, int rank);
  const int* numbers() const { return numbers_; }

 private:
  int numbers_[9];
};

/// pdgemm or psgemm: c = a b; pdtran or pstran: c = a^T.
void scalapack_gemm(const Problem& problem, const void* a, const Descriptor& of_a, const void* b,
                    const Descriptor& of_b, void* c, const Descriptor& of_c);
void scalapack_transpose(const Problem& problem, const void* a, const Descriptor& of_a, void* c,
                         const Descriptor& of_c);

}  // namespace trine::bench::ranks
