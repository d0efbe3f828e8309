// Where the ranks of a run are, and how a call of some of them is timed while the others sleep.
#pragma once

#include <trine/mpi.hpp>

#include <functional>
#include <string>
#include <vector>

namespace trine::bench::ranks {

/// This rank's number in `comm`, and how many there are.
int rank_in(MPI_Comm comm);
int size_in(MPI_Comm comm);

/// The first ranks of a run, with a communicator of their own; one that isn't among them has none.
class Group {
 public:
  /// Collective over all ranks.
  explicit Group(int of_ranks);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  int ranks() const { return ranks_; }
  bool has_me() const { return comm_ != MPI_COMM_NULL; }
  MPI_Comm comm() const { return comm_; }
  /// Whether all of them say so.
  bool all(bool mine) const;

 private:
  int ranks_;
  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// All ranks.
struct Job {
  Job();

  int rank = 0, ranks = 1;
  int here = 1;   ///< ranks on this one's host
  int cores = 1;  ///< that they share
  bool is_first() const { return rank == 0; }
  /// What the first rank says.
  bool first_says(bool mine) const;
  /// The first text that a rank has, with its rank; empty where none has.
  std::string first_text(const std::string& mine) const;
  /// Waits until all ranks are here, asleep: the cores are for those that work meanwhile.
  void gather_asleep() const;
};

/// Seconds of a call on the slowest rank of `comm`, the mean of `calls` in a row.
double seconds_of(MPI_Comm comm, int calls, const std::function<void()>& call);
/// So many calls take `seconds` together, by two that aren't kept; at least one.
int calls_for(MPI_Comm comm, double seconds, const std::function<void()>& call);

}  // namespace trine::bench::ranks
