// What an operation over ranks costs: what a rank computes, and what it sends. docs/mpi.md has the formulas in words.
#pragma once

#include <map>

#include "bench/cases/problem.hpp"

namespace trine::bench::ranks {

/// Processes of a matrix's distribution: as square as the number of ranks allows.
struct Grid {
  int rows = 1, cols = 1;
};
Grid grid_of(int ranks);

/// The part of all work that the rank with the most of it has: blocks don't always come out even.
double largest_share(const Problem& problem, int ranks, int64_t block);

/// What the rank with the most traffic receives in a call; it sends as much.
struct Traffic {
  double messages = 0;  ///< one after the other
  double bytes = 0;
  double merges = 0;  ///< of the message with which every call begins, one after the other
};
Traffic traffic_of(const Problem& problem, int ranks, int64_t block);

/// Messages take latency + bytes / bandwidth (Hockney 1994), each rank has one under way at a time. What ranks
/// share, the memory of a host say, gives all of them together no more than `total` bytes/s.
struct Link {
  double latency = 0;    ///< seconds, one way
  double bandwidth = 0;  ///< bytes/s that one rank receives, alone
  double total = 0;      ///< bytes/s that all receive at most; 0: each its own
  double merge = 0;      ///< seconds that two first messages take to become one

  double bandwidth_of(int ranks) const;
  double seconds(const Traffic& traffic, int ranks) const;
};

/// A fat tree (Leiserson 1985) of full bisection, a rank on each node. Figures of the literature; docs/mpi.md cites
/// them.
struct FatTree {
  int ports = 36;                 ///< of a switch
  double latency = 1e-6;          ///< seconds between nodes on one switch
  double switch_latency = 90e-9;  ///< each further switch
  double bandwidth = 12.5e9;      ///< bytes/s of a node's link
  double effective = 0.575;       ///< of which static routes leave so much, beyond one switch

  int levels(int ranks) const;  ///< of switches
  Link link(int ranks, double merge) const;
};

/// Whether a transpose's messages are made of runs of a block's rows: on grids that aren't square. Else a rank sends
/// each other dense matrices.
bool is_in_runs(const Problem& problem, int ranks);

/// What ranks compute, as it was measured: the whole problem on one rank, the same with messages packed and unpacked in
/// runs, how much longer it takes where each core has a rank that computes at the same time, and on more ranks than
/// cores, which take turns, each with its share.
struct Local {
  double seconds = 0;
  double in_runs = 0;
  double at_once = 1;
  std::map<int, double> in_turns = {};  ///< seconds, by ranks
  int cores = 1;                        ///< that the ranks of the run share

  /// The time of what the busiest of `ranks` ranks of the run has of it.
  double of(const Problem& problem, int ranks, int64_t block) const;
};

/// The ranks of the run, on one host.
double predicted(const Problem& problem, int ranks, int64_t block, const Local& local,
                 const Link& link);

/// `problem` grown with the ranks, so that each has as much memory of it as one rank has of `problem`; ranks is a
/// square for matrices.
Problem grown(const Problem& problem, int ranks);

/// A prediction: `computing` and the link's share add up to `seconds`, as nothing overlaps.
struct Prediction {
  int ranks = 1;
  double computing = 0, link = 0;
  double seconds() const { return computing + link; }
  /// Work done a second and rank, of that of one rank.
  double efficiency = 1;
};
Prediction on_fat_tree(const Problem& problem, int ranks, int64_t block, const Local& local,
                       const FatTree& tree, double merge);

}  // namespace trine::bench::ranks
