#include "job.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace trine::bench::ranks {

int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}
int size_in(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

namespace {

int reduced(int value, MPI_Op op, MPI_Comm comm) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, op, comm);
  return value;
}

/// The cores that the ranks of a host may use together, which may be bound to some each.
int cores_of(MPI_Comm host) {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  sched_getaffinity(0, sizeof mine, &mine);
  MPI_Allreduce(MPI_IN_PLACE, &mine, sizeof mine, MPI_BYTE, MPI_BOR, host);
  return CPU_COUNT(&mine);
}

}  // namespace

Group::Group(int of_ranks) : ranks_(of_ranks) {
  const int me = rank_in(MPI_COMM_WORLD);
  MPI_Comm_split(MPI_COMM_WORLD, me < ranks_ ? 0 : MPI_UNDEFINED, me, &comm_);
}

Group::~Group() {
  if (has_me()) MPI_Comm_free(&comm_);
}

bool Group::all(bool mine) const { return reduced(mine ? 1 : 0, MPI_MIN, comm_) != 0; }

Job::Job() : rank(rank_in(MPI_COMM_WORLD)), ranks(size_in(MPI_COMM_WORLD)) {
  MPI_Comm host = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host);
  here = size_in(host);
  cores = std::max(1, cores_of(host));
  MPI_Comm_free(&host);
}

bool Job::first_says(bool mine) const {
  int value = mine ? 1 : 0;
  MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return value != 0;
}

std::string Job::first_text(const std::string& mine) const {
  const int who = reduced(mine.empty() ? ranks : rank, MPI_MIN, MPI_COMM_WORLD);
  if (who == ranks) return {};
  int length = int(mine.size());
  MPI_Bcast(&length, 1, MPI_INT, who, MPI_COMM_WORLD);
  std::string text = mine;
  text.resize(size_t(length));
  MPI_Bcast(text.data(), length, MPI_CHAR, who, MPI_COMM_WORLD);
  return "rank " + std::to_string(who) + ": " + text;
}

void Job::gather_asleep() const {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (int is_done = 0;;) {
    MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    if (is_done != 0) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

double seconds_of(MPI_Comm comm, int calls, const std::function<void()>& call) {
  MPI_Barrier(comm);
  const double begin = MPI_Wtime();
  for (int i = 0; i < calls; ++i) call();
  double taken = (MPI_Wtime() - begin) / calls;
  MPI_Allreduce(MPI_IN_PLACE, &taken, 1, MPI_DOUBLE, MPI_MAX, comm);
  return taken;
}

int calls_for(MPI_Comm comm, double seconds, const std::function<void()>& call) {
  constexpr double kMost = 1e5;
  call();
  return int(std::clamp(seconds / std::max(1e-9, seconds_of(comm, 1, call)), 1.0, kMost));
}

}  // namespace trine::bench::ranks
