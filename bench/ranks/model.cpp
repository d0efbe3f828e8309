#include "model.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "bench/cases/operations.hpp"
#include "mpi/src/sizes.hpp"

namespace trine::bench::ranks {
namespace {

using namespace mpi::detail;

constexpr double kSlab = slab_bytes(usual_piece);
constexpr double kSegment = 32768;  // bytes: in such MPI libraries send what is long along a chain

/// Of `extent` elements in blocks, those of the process with the most.
double most(int64_t extent, int64_t block, int processes) {
  const int64_t blocks = (extent + block - 1) / block;
  return double(std::min(extent, (blocks + processes - 1) / processes * block));
}

/// Steps of an exchange in pairs by all ranks; two more where not all have a partner.
double steps(int ranks) {
  return std::bit_width(unsigned(ranks)) - 1 + (std::has_single_bit(unsigned(ranks)) ? 0 : 2);
}

/// The first message, and a last one where a device may have failed.
Traffic head(int ranks, bool can_fail) {
  const double up = steps(ranks);
  return {.messages = can_fail ? 2 * up : up, .bytes = double(head_bytes) * up, .merges = up};
}

/// Each rank has a slice of the vector: all send theirs to it, and it sends the result to all. One element goes with
/// the first message.
Traffic of_vectors(const Problem& p, int ranks) {
  if (p.size.cols == 1) return head(ranks, false);
  Traffic t = head(ranks, true);
  t.messages += 2 * double(ranks - 1);
  t.bytes += 2 * double(ranks - 1) / ranks * double(p.size.cols) * size_of(p.dtype);
  return t;
}

/// Slabs of up to 4 MiB of what a rank has: all but its own part goes; on a square grid all goes to the rank on the
/// other side of the diagonal.
Traffic of_transpose(const Problem& p, int ranks, int64_t block) {
  const Grid g = grid_of(ranks);
  const double mine =
      most(p.size.rows, block, g.rows) * most(p.size.cols, block, g.cols) * size_of(p.dtype);
  Traffic t = head(ranks, true);
  const bool to_one = g.rows == g.cols;
  t.messages += std::ceil(mine / kSlab) * (to_one ? 1 : double(ranks - 1));
  t.bytes += to_one ? mine : mine * double(ranks - 1) / ranks;
  return t;
}

/// The panels that others have: they come along a chain of the ranks of a row or column, in segments, as MPI
/// libraries send what is long; the chain fills once a panel.
void add_panels(Traffic& t, double lines, int64_t depth, double panels, int processes,
                uint32_t element) {
  if (processes == 1) return;
  const double bytes = lines * double(depth) * element * double(processes - 1) / processes;
  const double segment = std::min(kSegment, bytes / panels);
  t.messages += panels * double(processes - 1);
  t.bytes += bytes + panels * double(processes - 2) * segment;
}

Traffic of_product(const Problem& p, int ranks, int64_t block) {
  const Grid g = grid_of(ranks);
  Traffic t = head(ranks, true);
  const uint32_t element = size_of(p.dtype);
  const double rows = most(p.size.rows, block, g.rows), cols = most(p.size.cols, block, g.cols);
  const int64_t width = panel_width(usual_piece, int64_t(rows + cols) * element);
  const double panels = std::ceil(double(p.size.depth) / double(width));
  add_panels(t, rows, p.size.depth, panels, g.cols, element);
  add_panels(t, cols, p.size.depth, panels, g.rows, element);
  return t;
}

}  // namespace

Grid grid_of(int ranks) {
  int rows = std::max(1, int(std::sqrt(double(ranks))));
  while (ranks % rows != 0) --rows;
  return {rows, ranks / rows};
}

double largest_share(const Problem& p, int ranks, int64_t block) {
  if (p.operation == Operation::reduce) return 1.0 / ranks;
  const Grid g = grid_of(ranks);
  return most(p.size.rows, block, g.rows) * most(p.size.cols, block, g.cols) /
         (double(p.size.rows) * double(p.size.cols));
}

Traffic traffic_of(const Problem& p, int ranks, int64_t block) {
  if (ranks == 1) return {};
  if (p.operation == Operation::gemm) return of_product(p, ranks, block);
  if (p.operation == Operation::transpose) return of_transpose(p, ranks, block);
  return p.axis == Axis::all ? head(ranks, false) : of_vectors(p, ranks);
}

double Link::bandwidth_of(int ranks) const {
  return total > 0 ? std::min(bandwidth, total / ranks) : bandwidth;
}

double Link::seconds(const Traffic& t, int ranks) const {
  if (ranks == 1) return 0;
  return t.messages * latency + t.bytes / bandwidth_of(ranks) + t.merges * merge;
}

int FatTree::levels(int ranks) const {
  int level = 1;
  // Half of a switch's ports lead up; those of the highest all lead down.
  for (int nodes = ports; nodes < ranks; nodes *= ports / 2) ++level;
  return level;
}

Link FatTree::link(int ranks, double merge) const {
  const int level = levels(ranks);
  return {.latency = latency + switch_latency * (2 * level - 2),
          .bandwidth = level == 1 ? bandwidth : bandwidth * effective,
          .merge = merge};
}

bool is_in_runs(const Problem& p, int ranks) {
  const Grid g = grid_of(ranks);
  return p.operation == Operation::transpose && g.rows != g.cols;
}

double Local::of(const Problem& p, int ranks, int64_t block) const {
  const double share = largest_share(p, ranks, block);
  if (in_turns.contains(ranks)) return in_turns.at(ranks) * share * ranks;
  const int busy = std::min(ranks, cores);
  const double slower = cores > 1 ? 1 + (at_once - 1) * (busy - 1) / (cores - 1) : 1;
  return (is_in_runs(p, ranks) ? in_runs : seconds) * share * slower *
         std::max(1.0, double(ranks) / cores);
}

double predicted(const Problem& p, int ranks, int64_t block, const Local& local, const Link& link) {
  return local.of(p, ranks, block) + link.seconds(traffic_of(p, ranks, block), ranks);
}

Problem grown(const Problem& p, int ranks) {
  Problem more = p;
  if (p.operation == Operation::reduce) {
    more.size.rows *= ranks;
    return more;
  }
  const auto times = int64_t(std::lround(std::sqrt(double(ranks))));
  more.size = {p.size.rows * times, p.size.cols * times, p.size.depth * times};
  return more;
}

Prediction on_fat_tree(const Problem& p, int ranks, int64_t block, const Local& local,
                       const FatTree& tree, double merge) {
  const Problem whole = grown(p, ranks);
  const double times = work(whole) / work(p);
  Prediction at{.ranks = ranks};
  at.computing = local.seconds * times * largest_share(whole, ranks, block);
  at.link = tree.link(ranks, merge).seconds(traffic_of(whole, ranks, block), ranks);
  at.efficiency = local.seconds * times / ranks / at.seconds();
  return at;
}

}  // namespace trine::bench::ranks
