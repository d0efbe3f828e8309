// The cost of an operation over ranks: the work of a rank, and the data that it sends. docs/mpi.md
// has the formulas in words.
#pragma once

#include "bench/cases/problem.hpp"

namespace trine::bench::ranks {

/// Processes of a matrix's distribution: as square as the number of ranks allows.
struct Grid {
  int rows = 1, cols = 1;
};
Grid grid_of(int ranks);

/// The share of all work that the rank with the most of it has: blocks don't always come out even.
double largest_share(const Problem& problem, int ranks, int64_t block);

/// The rank with the most traffic receives so much in a call; it sends as much.
struct Traffic {
  double messages = 0;  ///< one after the other
  double bytes = 0;
};
Traffic traffic_of(const Problem& problem, int ranks, int64_t block);

/// Messages take latency + bytes / bandwidth (Hockney 1994), each rank has one under way at a time.
/// A thing that ranks share, the memory of a host say, gives all together at most `total` bytes/s.
struct Link {
  double latency = 0;    ///< seconds, one way
  double bandwidth = 0;  ///< bytes/s that one rank receives, alone
  double total = 0;      ///< bytes/s that all receive at most; 0: each its own

  double bandwidth_of(int ranks) const;
  double seconds(const Traffic& traffic, int ranks) const;
};

/// A fat tree (Leiserson 1985) of full bisection, a rank on each node, with figures of the
/// literature, which docs/mpi.md cites.
struct FatTree {
  static constexpr int ports = 36;                 ///< of a switch
  static constexpr double latency = 1e-6;          ///< seconds between nodes on one switch
  static constexpr double switch_latency = 90e-9;  ///< each further switch
  static constexpr double bandwidth = 12.5e9;      ///< bytes/s of a node's link
  static constexpr double effective = 0.575;  ///< of it, left by static routes beyond one switch

  static int levels(int ranks);  ///< of switches
  static Link link(int ranks);
};

/// One rank's time for the whole problem, and the cores that the ranks of the run share: more ranks
/// than cores take turns.
struct Local {
  double seconds = 0;
  int cores = 1;
};

/// The ranks of the run, on one host.
double predicted(const Problem& problem, int ranks, int64_t block, const Local& local,
                 const Link& link);

/// `problem` grown with the ranks, so that each has as much memory of it as one rank has of
/// `problem`; ranks is a square for matrices.
Problem grown(const Problem& problem, int ranks);

/// A prediction: `computing` and the link's share add up to `seconds`, as nothing overlaps.
struct Prediction {
  double computing = 0, link = 0;
  double seconds() const { return computing + link; }
  double efficiency = 1;  ///< work done a second and rank, over that of one rank
};
/// `seconds`: one rank's time for `problem`.
Prediction on_fat_tree(const Problem& problem, int ranks, int64_t block, double seconds);

}  // namespace trine::bench::ranks
