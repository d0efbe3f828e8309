// `trine ladder access`: the lessons of a memory optimization lecture, shown by the rungs that
// there are instead of kernels of its own, each figure verified.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "bench/cases/operations.hpp"
#include "bench/ui/screen.hpp"
#include "bench/ui/table.hpp"
#include "ladder.hpp"

namespace trine::bench {
namespace {

/// One row of a table: its words, and the case and rung that show it.
struct Shown {
  std::string what;
  Problem problem;
  std::string rung = {};
};

struct Pattern {
  std::string title, what;  ///< what: the head of the lines' column
  std::vector<Shown> lines;
};

/// Sums of i32, whose reference costs least; transposes and products of f32.
Problem dense(Operation operation, const Size& size) {
  return problem_of(operation, describe(operation).has_function ? Dtype::i32 : Dtype::f32, size);
}

/// The sizes that the tables measure on a device.
struct Sizes {
  int64_t elements;  ///< that lie 4 bytes apart
  int64_t fewest;    ///< in a line: enough for the launch not to count
  int64_t product;   ///< m = n = k
};

/// On a GPU 256 MiB, at least four times the L2 of an H200. Cores launch at less cost, and take
/// longer.
Sizes sizes_for(const Device& device) {
  if (on_host(device)) return {int64_t{1} << 24, int64_t{1} << 19, 512};
  return {int64_t{1} << 26, int64_t{1} << 22, 1024};
}

/// The farther apart, the fewer: all lines of a table span as much, but for those that would have
/// too few.
int64_t spread_out(const Sizes& sizes, int64_t stride) {
  return std::max(sizes.elements / stride, sizes.fewest);
}

/// A vector read (by its sum), or written (by transpose: n x 1 becomes 1 x n).
std::vector<Shown> strides(Operation operation, const Sizes& sizes) {
  const bool reads = describe(operation).has_function;
  const auto spaced = [&](int64_t stride, int64_t offset) {
    Problem p = dense(operation, {spread_out(sizes, stride), 1, 0});
    (reads ? p.stride_in : p.stride_out) = stride;
    (reads ? p.offset_in : p.offset_out) = offset;
    return p;
  };
  std::vector<Shown> all;
  for (const int64_t stride : {1, 2, 4, 8, 16, 32})
    all.push_back({fmt::format("stride {}", stride), spaced(stride, 0)});
  for (const int64_t offset : {1, 4, 32})
    all.push_back({fmt::format("offset {}", offset), spaced(1, offset)});
  return all;
}

std::vector<Shown> paddings() {
  const Problem p = dense(Operation::transpose, {4096, 4096, 0});
  return {{"no padding", p, "shared:block=32"},
          {"1 column of padding", p, "shared_padded:block=32,padding=1"},
          {"2 columns of padding", p, "shared_padded:block=32,padding=2"},
          {"swizzle", p, "vector"}};
}

/// Each value read from memory is used as often as the tile is wide.
std::vector<Shown> widths(int64_t n) {
  const Problem p = dense(Operation::gemm, {n, n, n});
  return {{"1 (no tile)", p, "naive"},
          {"16", p, "shared:tile=16"},
          {"32", p, "shared:tile=32"},
          {"64 (and registers)", p, "register_tile:size=64"},
          {"128 (and registers)", p, "register_tile:size=128"}};
}

/// Points of three values, as an array of structures (n x 3) and as a structure of arrays (3 x n).
std::vector<Shown> structures(int64_t points) {
  Problem field = dense(Operation::reduce, {points, 1, 0});
  Problem strided = field;
  strided.stride_in = 3;
  Problem together = dense(Operation::reduce, {points, 3, 0});
  together.axis = Axis::each_column;
  Problem apart = dense(Operation::reduce, {3, points, 0});
  apart.axis = Axis::each_row;
  return {{"one field, array of structures", strided},
          {"one field, structure of arrays", field},
          {"three fields, array of structures", together},
          {"three fields, structure of arrays", apart},
          {"conversion to structure of arrays", dense(Operation::transpose, {points, 3, 0})},
          {"conversion to array of structures", dense(Operation::transpose, {3, points, 0})}};
}

std::vector<Pattern> patterns(const Sizes& sizes) {
  // A copy has two sides: half as many elements touch as much memory.
  const Sizes copied = {sizes.elements / 2, sizes.fewest, 0};
  const int64_t points = sizes.elements / 4;
  return {{fmt::format("Reading i32 (their sum) over {} MiB or more: useful bytes a second",
                       sizes.elements >> 18),
           "pattern", strides(Operation::reduce, sizes)},
          {fmt::format("Writing f32 (a copy; its reads are dense) over {} MiB or more: useful "
                       "bytes a second",
                       copied.elements >> 18),
           "pattern", strides(Operation::transpose, copied)},
          {"Bank conflicts: transpose of 4096 x 4096 f32 through a tile", "tile", paddings()},
          {fmt::format("Reuse: gemm f32 of {}, by how often a value read is used", sizes.product),
           "tile width", widths(sizes.product)},
          {fmt::format("{} points of three values of 4 bytes, {} MiB", points, points * 12 >> 20),
           "layout", structures(points)}};
}

void print(const Pattern& pattern, const Device& device,
           const std::vector<std::vector<Result>>& measured) {
  const std::string method(common_method(measured));
  const Result* first = figure_of(measured.front(), method);
  say("\n{}, on {}, by the {} launch", pattern.title, device.id(), method);
  std::vector<std::vector<std::string>> rows{{pattern.what, "rung", "time", "single", "sustained",
                                              "rate", "to the first", "of roof", "verified"}};
  for (size_t i = 0; i < measured.size(); ++i) {
    const Result &last = measured[i].back(), *figure = figure_of(measured[i], method);
    rows.push_back(line_of({pattern.lines[i].what, last.rung.empty() ? last.requested : last.rung},
                           measured[i], method,
                           {figure && first ? ratio_text(figure->rate / first->rate) : "-"}));
  }
  print_table(rows, 2, kWideColumns);
  for (size_t i = 0; i < measured.size(); ++i)
    for (const Result& r : measured[i])
      if (!r.verified) say("{}: {}: {}", verdict_text(r), pattern.lines[i].what, r.failure);
  std::fflush(stdout);
}

}  // namespace

void show_access(LadderRun& run, const std::vector<Device>& devices) {
  say("(ours: all sizes; on a GPU beyond its L2)");
  std::vector<std::vector<Pattern>> of_device;
  of_device.reserve(devices.size());
  for (const Device& device : devices) of_device.push_back(patterns(sizes_for(device)));
  for (size_t p = 0; p < of_device.front().size(); ++p) {
    std::vector<std::vector<std::vector<Result>>> measured(devices.size());
    // Devices in turn: those that have the same line share its data and reference.
    for (size_t i = 0; i < of_device.front()[p].lines.size(); ++i)
      for (size_t d = 0; d < devices.size() && !run.control.stop(); ++d) {
        const Shown& line = of_device[d][p].lines[i];
        Runner runner(devices[d], run.budget);
        std::vector<Result> results = run.measure(runner, line.problem, line.rung);
        if (!results.empty()) measured[d].push_back(std::move(results));
      }
    for (size_t d = 0; d < devices.size(); ++d)
      if (!measured[d].empty()) print(of_device[d][p], devices[d], measured[d]);
  }
}

}  // namespace trine::bench
