// Runs all tests of a program on each rank; rank 0 reports them, the others their failures. The MPI
// objects that the library made must be gone after MPI_Finalize. The first argument may be the
// level of threads that MPI is asked for: single, funneled, serialized; multiple where there is
// none.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "ledger.hpp"
#include "ranks.hpp"

namespace {
int level_of(std::string_view word) {
  if (word == "funneled") return MPI_THREAD_FUNNELED;
  if (word == "serialized") return MPI_THREAD_SERIALIZED;
  return word == "single" ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE;
}

/// Where the number of cases goes when all have passed, PROGRAM.RANKS in the folder that
/// TRINE_MPI_CASES names; what was there is gone. "" without such a folder.
std::string file_of_cases(std::string_view program) {
  const char* const folder = std::getenv("TRINE_MPI_CASES");
  if (folder == nullptr || *folder == 0) return "";
  const auto name = std::string(program.substr(program.rfind('/') + 1));
  const auto file = std::filesystem::path(folder) / (name + "." + std::to_string(ranks::size()));
  std::filesystem::create_directories(folder);
  std::filesystem::remove(file);
  return file;
}
}  // namespace

#ifdef __SANITIZE_ADDRESS__
// MPI_Finalize unloads MPI's plug-ins, and then the leak check knows neither what they keep nor
// whose it is.
extern "C" [[gnu::visibility("default")]] int dlclose(void*) { return 0; }
#endif

int main(int count, char** arguments) {
  int provided = 0, rank = 0;
  MPI_Init_thread(&count, &arguments, level_of(count > 1 ? arguments[1] : ""), &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) GTEST_FLAG_SET(brief, true);
  const std::string cases_in = rank == 0 ? file_of_cases(arguments[0]) : "";
  testing::InitGoogleTest(&count, arguments);
  int failed =
      RUN_ALL_TESTS() == 0 && testing::UnitTest::GetInstance()->test_to_run_count() > 0 ? 0 : 1;
  MPI_Finalize();
  if (ledger::open() != 0) {
    std::printf("rank %d: %d objects of MPI are left\n", rank, ledger::open());
    failed = 1;
  }
  if (failed == 0 && ranks::cases != 0 && !cases_in.empty())
    std::ofstream(cases_in) << ranks::cases << "\n";
  return failed;
}
