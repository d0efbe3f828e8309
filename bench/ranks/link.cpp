#include "link.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "mpi/src/sizes.hpp"

namespace trine::bench::ranks {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr int kLarge = mpi::detail::slab_bytes(mpi::detail::usual_piece);  // of a transpose

/// Seconds of a message of `bytes`, one way: the half of there and back.
double one_way(MPI_Comm comm, int bytes, int calls) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  std::vector<char> data(size_t(bytes), 1);
  const auto send = [&] { MPI_Send(data.data(), bytes, MPI_CHAR, 1 - rank, 0, comm); };
  const auto receive = [&] {
    MPI_Recv(data.data(), bytes, MPI_CHAR, 1 - rank, 0, comm, MPI_STATUS_IGNORE);
  };
  return seconds_of(comm, calls,
                    [&] {
                      if (rank == 0) send();
                      receive();
                      if (rank == 1) send();
                    }) /
         2;
}

/// bytes/s that each rank receives while all send to all.
double received_each(MPI_Comm comm, int ranks) {
  const int bytes = kLarge / ranks;
  std::vector<char> from(size_t(bytes) * size_t(ranks), 1), to(from.size());
  const double seconds = seconds_of(comm, 4, [&] {
    MPI_Alltoall(from.data(), bytes, MPI_CHAR, to.data(), bytes, MPI_CHAR, comm);
  });
  return double(bytes) * (ranks - 1) / seconds;
}

/// Seconds of a call that is its first message alone.
double first_message(MPI_Comm comm) {
  const ExactSum one = [] {
    ExactSum sum;
    sum.add(std::vector<double>{1.0}, Map::identity, {.device = "cpu"});
    return sum;
  }();
  return seconds_of(comm, 200, [&] {
    ExactSum sum = one;
    mpi::allreduce(sum, comm);
  });
}

void keep_least(std::map<double, double>& best, double key, double value) {
  const auto at = best.try_emplace(key, kNever).first;
  at->second = std::min(at->second, value);
}

}  // namespace

MeasuredLink measure_link(const Job& job, const std::vector<std::unique_ptr<Group>>& groups,
                          int rounds) {
  MeasuredLink measured;
  for (int round = 0; round < rounds; ++round)
    for (const auto& group : groups) {
      if (group->has_me()) {
        const MPI_Comm comm = group->comm();
        const int ranks = group->ranks();
        if (ranks == 2)
          for (const int bytes : {8, int(mpi::detail::head_bytes), 4096, 65536, 1 << 20, kLarge})
            keep_least(measured.one_way, bytes, one_way(comm, bytes, bytes <= 4096 ? 200 : 4));
        if (ranks > 1) {
          double& rate = measured.received_each[ranks];
          rate = std::max(rate, received_each(comm, ranks));
        }
        const auto at = measured.first_message.try_emplace(ranks, kNever).first;
        at->second = std::min(at->second, first_message(comm));
      }
      job.gather_asleep();
    }
  if (job.ranks == 1) return measured;
  // The first rank is in all groups.
  Link& link = measured.link;
  if (job.is_first()) {
    link.latency = measured.one_way.at(8);
    link.bandwidth = kLarge / measured.one_way.at(kLarge);  // its latency is nothing beside it
    link.total = measured.received_each.at(job.ranks) * job.ranks;
    // What the call of two ranks takes beyond that of one and a message.
    link.merge = std::max(0.0, measured.first_message.at(2) - measured.first_message.at(1) -
                                   measured.one_way.at(double(mpi::detail::head_bytes)));
  }
  MPI_Bcast(&link, sizeof link, MPI_BYTE, 0, MPI_COMM_WORLD);
  return measured;
}

}  // namespace trine::bench::ranks
