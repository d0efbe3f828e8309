// The places of the ranks of a run, the speed of their link, and the time of a call of some of them
// while the others sleep.
#pragma once

#include <trine/mpi.hpp>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "model.hpp"

namespace trine::bench::ranks {

/// This rank's number in `comm`, and how many there are.
int rank_in(MPI_Comm comm);
int size_in(MPI_Comm comm);
/// Whether all ranks of `comm` have it so.
bool all_of(MPI_Comm comm, bool mine);

/// The first ranks of a run, with a communicator of their own, which lasts as long as the program;
/// a rank that isn't among them has none. Making it is collective over all ranks.
struct Group {
  explicit Group(int of_ranks);
  bool has_me() const { return comm != MPI_COMM_NULL; }

  int ranks;
  MPI_Comm comm = MPI_COMM_NULL;
};
using Groups = std::vector<Group>;

/// All ranks.
struct Job {
  Job();

  int rank = 0, ranks = 1;
  int here = 1;   ///< ranks on this one's host
  int cores = 1;  ///< that they share
  bool is_first() const { return rank == 0; }
  /// The first rank's answer, on all.
  bool first_says(bool mine) const;
  /// The first text that a rank has, with its rank; empty where none has.
  std::string first_text(const std::string& mine) const;
  /// Waits asleep until all ranks are here: the cores are for those that work meanwhile.
  void gather_asleep() const;
};

/// Seconds of a call on the slowest rank of `comm`, the mean of `calls` in a row.
double seconds_of(MPI_Comm comm, int calls, const std::function<void()>& call);
/// So many calls take `seconds` together, by two that aren't kept; at least one.
int calls_for(MPI_Comm comm, double seconds, const std::function<void()>& call);

struct MeasuredLink {
  Link link;
  /// Ranks that exchange at once, and the bytes/s that each receives. On the first rank alone.
  std::map<int, double> received_each = {};
};
/// Ping-pong between the first two ranks, and an exchange of all with all in each of the groups;
/// one rank has no link, and all is 0. The best of `rounds`. Collective over all ranks.
MeasuredLink measure_link(const Job& job, const Groups& groups, int rounds);

}  // namespace trine::bench::ranks
