// All tests of a program, on each rank; rank 0 reports them, the others their failures. What the library
// made of MPI's must be gone after MPI_Finalize. The first argument may be the level of threads that MPI is
// asked for: single, funneled, serialized; multiple where there is none.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdio>
#include <string_view>

#include "ledger.hpp"

namespace {
int level_of(std::string_view word) {
  if (word == "funneled") return MPI_THREAD_FUNNELED;
  if (word == "serialized") return MPI_THREAD_SERIALIZED;
  return word == "single" ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE;
}
}  // namespace

#ifdef __SANITIZE_ADDRESS__
// MPI_Finalize unloads MPI's plug-ins, and then the leak check knows neither what they keep nor whose it is.
extern "C" [[gnu::visibility("default")]] int dlclose(void*) { return 0; }
#endif

int main(int count, char** arguments) {
  int provided = 0, rank = 0;
  MPI_Init_thread(&count, &arguments, level_of(count > 1 ? arguments[1] : ""), &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) GTEST_FLAG_SET(brief, true);
  testing::InitGoogleTest(&count, arguments);
  int failed =
      RUN_ALL_TESTS() == 0 && testing::UnitTest::GetInstance()->test_to_run_count() > 0 ? 0 : 1;
  MPI_Finalize();
  if (ledger::open() != 0) {
    std::printf("rank %d: %d objects of MPI are left\n", rank, ledger::open());
    failed = 1;
  }
  return failed;
}
