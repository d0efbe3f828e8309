// The ranks of a node share its cores: sharing THREADS. Each rank's cpu has so many threads,
// "share" for its part of the cores, and burns no time while the rank waits, that of other ranks if
// there are more than cores.
#include <trine/mpi.hpp>

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string_view>
#include <thread>
#include <vector>

namespace {

double cpu_milliseconds() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return 1e3 * double(time.tv_sec) + 1e-6 * double(time.tv_nsec);
}

int ranks_here() {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int ranks = 1;
  MPI_Comm_size(node, &ranks);
  MPI_Comm_free(&node);
  return ranks;
}

/// All cores that there are, for this thread from here on: mpirun may have been given a mask, and
/// ranks with one look bound.
int all_cores() {
  cpu_set_t mask;
  std::memset(&mask, 0xFF, sizeof mask);
  sched_setaffinity(0, sizeof mask, &mask);
  if (sched_getaffinity(0, sizeof mask, &mask) == 0) return CPU_COUNT(&mask);
  std::perror("sched_getaffinity");
  std::exit(1);
}

/// The CPU time that this process uses while it sleeps for 200 ms after some calls.
double idle_milliseconds() {
  const std::vector<double> values(1 << 18, 0.1);
  for (int i = 0; i < 20; ++i) {
    trine::mpi::sum(values, MPI_COMM_WORLD, {.device = "cpu"});
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const double before = cpu_milliseconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  return cpu_milliseconds() - before;
}

}  // namespace

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  const char* const given = count > 1 ? arguments[1] : "share";
  const int share = std::max(1, all_cores() / ranks_here());
  const int expected = given == std::string_view("share") ? share : std::atoi(given);
  const int threads = int(trine::open("cpu").facts().compute_units);
  // The best of three: what the system does in this process's name is counted too.
  const double idle = std::min({idle_milliseconds(), idle_milliseconds(), idle_milliseconds()});
  const bool is_fine = threads == expected && idle < 3;
  int all_are = is_fine ? 1 : 0, rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(MPI_IN_PLACE, &all_are, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (!is_fine || rank == 0)
    std::printf("rank %d: %d threads, expected %d; %.2f ms of 200 used while idle\n", rank, threads,
                expected, idle);
  MPI_Finalize();
  return all_are == 1 ? 0 : 1;
}
