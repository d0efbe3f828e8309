#include "model.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "bench/cases/operations.hpp"
#include "mpi/src/sizes.hpp"

namespace trine::bench::ranks {
namespace {

using namespace mpi::detail;

/// The elements that the process with the most has, of `extent` ones in blocks.
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
  return {.messages = (can_fail ? 2 : 1) * steps(ranks), .bytes = head_bytes * steps(ranks)};
}

/// A rank adds up one share of the vectors: all send theirs to it, and it sends the sums to all.
/// One element goes with the first message.
Traffic of_vectors(const Problem& p, int ranks) {
  if (p.size.cols == 1) return head(ranks, false);
  Traffic t = head(ranks, true);
  t.messages += 2 * double(ranks - 1);
  t.bytes += 2 * double(ranks - 1) / ranks * double(p.size.cols) * size_of(p.dtype);
  return t;
}

/// A rank sends all but its own elements, in chunks; on a square grid it sends all of them to the
/// rank on the other side of the diagonal.
Traffic of_transpose(const Problem& p, int ranks, int64_t block) {
  const Grid g = grid_of(ranks);
  const double mine =
      most(p.size.rows, block, g.rows) * most(p.size.cols, block, g.cols) * size_of(p.dtype);
  Traffic t = head(ranks, true);
  const bool to_one = g.rows == g.cols;
  t.messages +=
      std::ceil(mine / double(transposed_bytes(usual_chunk))) * (to_one ? 1 : double(ranks - 1));
  t.bytes += to_one ? mine : mine * double(ranks - 1) / ranks;
  return t;
}

/// The panels that the other ranks of a grid's row, and of its column, have.
Traffic of_product(const Problem& p, int ranks, int64_t block) {
  const Grid g = grid_of(ranks);
  Traffic t = head(ranks, true);
  const double rows = most(p.size.rows, block, g.rows), cols = most(p.size.cols, block, g.cols);
  const int64_t width = panel_width(usual_chunk, int64_t(rows + cols) * size_of(p.dtype));
  const double panels = std::ceil(double(p.size.depth) / double(width));
  for (const auto& [extent, processes] : {std::pair{rows, g.cols}, {cols, g.rows}}) {
    t.messages += panels * (processes - 1);
    t.bytes += extent * double(p.size.depth) * size_of(p.dtype) * (processes - 1) / processes;
  }
  return t;
}

}  // namespace

Grid grid_of(int ranks) {
  int rows = std::max(1, int(std::sqrt(double(ranks))));
  while (ranks % rows != 0) --rows;
  return {rows, ranks / rows};
}

double largest_share(const Problem& p, int ranks, int64_t block) {
  if (describe(p.operation).is_vector) return 1.0 / ranks;
  const Grid g = grid_of(ranks);
  return most(p.size.rows, block, g.rows) * most(p.size.cols, block, g.cols) /
         (double(p.size.rows) * double(p.size.cols));
}

Traffic traffic_of(const Problem& p, int ranks, int64_t block) {
  if (ranks == 1) return {};
  if (describe(p.operation).by_flops) return of_product(p, ranks, block);
  if (describe(p.operation).moves_bits) return of_transpose(p, ranks, block);
  return p.axis == Axis::all ? head(ranks, false) : of_vectors(p, ranks);
}

double Link::bandwidth_of(int ranks) const {
  return total > 0 ? std::min(bandwidth, total / ranks) : bandwidth;
}

double Link::seconds(const Traffic& t, int ranks) const {
  if (ranks == 1) return 0;
  return t.messages * latency + t.bytes / bandwidth_of(ranks);
}

int FatTree::levels(int ranks) {
  int level = 1;
  // Half of a switch's ports lead up; those of the highest all lead down.
  for (int nodes = ports; nodes < ranks; nodes *= ports / 2) ++level;
  return level;
}

Link FatTree::link(int ranks) {
  const int level = levels(ranks);
  return {.latency = latency + switch_latency * (2 * level - 2),
          .bandwidth = level == 1 ? bandwidth : bandwidth * effective};
}

double predicted(const Problem& p, int ranks, int64_t block, const Local& local, const Link& link) {
  const double turns = std::max(1.0, double(ranks) / local.cores);
  return local.seconds * largest_share(p, ranks, block) * turns +
         link.seconds(traffic_of(p, ranks, block), ranks);
}

Problem grown(const Problem& p, int ranks) {
  Problem more = p;
  if (describe(p.operation).is_vector) {
    more.size.rows *= ranks;
    return more;
  }
  const auto times = int64_t(std::lround(std::sqrt(double(ranks))));
  more.size = {p.size.rows * times, p.size.cols * times, p.size.depth * times};
  return more;
}

Prediction on_fat_tree(const Problem& p, int ranks, int64_t block, double seconds) {
  const Problem whole = grown(p, ranks);
  const double times = work(whole) / work(p);
  Prediction at;
  at.computing = seconds * times * largest_share(whole, ranks, block);
  at.link = FatTree::link(ranks).seconds(traffic_of(whole, ranks, block), ranks);
  at.efficiency = seconds * times / ranks / at.seconds();
  return at;
}

}  // namespace trine::bench::ranks
