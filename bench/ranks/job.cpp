#include "job.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "mpi/src/sizes.hpp"

namespace trine::bench::ranks {
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

/// Seconds of a message of `bytes`, one way: the half of there and back.
double one_way(MPI_Comm comm, int bytes, int calls) {
  const int rank = rank_in(comm);
  std::vector<char> data(size_t(bytes), 1);
  const auto there_and_back = [&] {
    for (const int sender : {0, 1})
      if (rank == sender)
        MPI_Send(data.data(), bytes, MPI_CHAR, 1 - rank, 0, comm);
      else
        MPI_Recv(data.data(), bytes, MPI_CHAR, sender, 0, comm, MPI_STATUS_IGNORE);
  };
  return seconds_of(comm, calls, there_and_back) / 2;
}

/// bytes/s that each rank receives while all send to all.
double received_each(MPI_Comm comm, int ranks, int bytes_a_rank) {
  const int bytes = bytes_a_rank / ranks;
  std::vector<char> from(size_t(bytes) * size_t(ranks), 1), to(from.size());
  const double seconds = seconds_of(comm, 4, [&] {
    MPI_Alltoall(from.data(), bytes, MPI_CHAR, to.data(), bytes, MPI_CHAR, comm);
  });
  return double(bytes) * (ranks - 1) / seconds;
}

}  // namespace

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
bool all_of(MPI_Comm comm, bool mine) { return reduced(mine ? 1 : 0, MPI_MIN, comm) != 0; }

Group::Group(int of_ranks) : ranks(of_ranks) {
  const int me = rank_in(MPI_COMM_WORLD);
  MPI_Comm_split(MPI_COMM_WORLD, me < ranks ? 0 : MPI_UNDEFINED, me, &comm);
}

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

MeasuredLink measure_link(const Job& job, const Groups& groups, int rounds) {
  constexpr int kSmall = 8, kLarge = mpi::detail::transposed_bytes(mpi::detail::usual_chunk);
  MeasuredLink measured;
  Link& link = measured.link;
  double small = 0, large = 0;  // the least seconds, one way
  const auto keep_least = [](double& least, double value) {
    if (least == 0 || value < least) least = value;
  };
  for (int round = 0; round < rounds; ++round)
    for (const Group& group : groups) {
      if (group.has_me() && group.ranks == 2) {
        keep_least(small, one_way(group.comm, kSmall, 200));
        keep_least(large, one_way(group.comm, kLarge, 4));
      }
      if (group.has_me() && group.ranks > 1) {
        double& rate = measured.received_each[group.ranks];
        rate = std::max(rate, received_each(group.comm, group.ranks, kLarge));
      }
      job.gather_asleep();
    }
  if (job.ranks > 1 && job.is_first())
    link = {.latency = small,
            .bandwidth = kLarge / large,  // beside which the latency is nothing
            .total = measured.received_each.at(job.ranks) * job.ranks};
  MPI_Bcast(&link, sizeof link, MPI_BYTE, 0, MPI_COMM_WORLD);
  return measured;
}

}  // namespace trine::bench::ranks
