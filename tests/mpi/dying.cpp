// A rank dies in the midst of a call: mpi_dying CALL MESSAGE FOLDER. All ranks make the CALL for
// ever; in one of them rank 1 is killed as it begins its MESSAGE-th message. Their process numbers
// are in the FOLDER; killed.sh looks what becomes of them.
#include <unistd.h>
#include <trine/mpi_sums.hpp>

#include <cstdlib>
#include <cstring>
#include <fstream>

#include "ledger.hpp"
#include "matrices.hpp"

namespace {

using namespace ranks;

void call(const char* which) {
  static std::vector<double> input(1000, 0.1), output(1000);
  static const Distribution square = {
      .rows = 100, .cols = 100, .block_rows = 7, .block_cols = 9, .grid_cols = size()};
  static const std::vector<double> whole(10000, 0.5);
  static Part<double> a(square, Layout::columns, whole), b = a, c = a;
  constexpr trine::Dtype kDtype = trine::Dtype::f64;
  const auto is = [&](const char* name) { return std::strcmp(which, name) == 0; };
  if (is("sum")) return void(trine::mpi::sum(input, MPI_COMM_WORLD));
  if (is("fields"))
    return trine::mpi::sums(trine::mpi::Fields{.values = trine::mpi::fields(input.data(), 10, 100)},
                            std::span(output).first(100), MPI_COMM_WORLD);
  if (is("prod")) return void(trine::mpi::prod(input, 1000 * rank(), MPI_COMM_WORLD));
  if (is("allreduce"))
    return trine::mpi::allreduce(trine::Function::max, input, output, MPI_COMM_WORLD);
  if (is("iallreduce"))
    return trine::mpi::iallreduce(trine::Function::sum, input, output, MPI_COMM_WORLD).wait();
  if (is("transpose"))
    return trine::mpi::transpose(a.matrix(kDtype), b.matrix(kDtype), MPI_COMM_WORLD);
  if (is("gemm"))
    return trine::mpi::gemm(1, a.matrix(kDtype), b.matrix(kDtype), 1, c.matrix(kDtype),
                            MPI_COMM_WORLD);
  std::abort();
}

}  // namespace

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  if (count != 4) return 2;
  std::ofstream(arguments[3] + ("/" + std::to_string(rank()))) << getpid() << std::endl;
  trine::mpi::detail::chunk_bytes = 1 << 14;  // several chunks and steps a call
  for (int i = 0; i < 3; ++i) call(arguments[1]);
  if (rank() == 1) ledger::die_at(std::atoi(arguments[2]));
  for (;;) call(arguments[1]);
}
