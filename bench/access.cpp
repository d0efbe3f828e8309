// `trine ladder access`: what a memory optimization lecture shows with kernels of its own, shown with the
// rungs that there are, each figure verified.
#include <fmt/format.h>

#include <cstdio>

#include "ladder.hpp"
#include "table.hpp"

namespace trine::bench {
namespace {

/// One line of a table: what is said of it, and the case and rung that show it.
struct Shown {
  std::string what;
  Problem problem;
  std::string rung = {};
};

Problem problem_of(Operation operation, Size size) {
  Problem p;
  p.operation = operation;
  p.size = size;
  p.layout = default_layout(operation);
  return p;
}

constexpr int64_t kElements = int64_t{1} << 22;  // 16 MiB of f32: beyond most caches once strided

Problem sum(int64_t stride, int64_t offset) {
  Problem p = problem_of(Operation::reduce, {kElements, 1, 0});
  p.stride_in = stride;
  p.offset_in = offset;
  return p;
}

/// A vector copied by transpose: n x 1 becomes 1 x n.
Problem scatter(int64_t stride, int64_t offset) {
  Problem p = problem_of(Operation::transpose, {kElements, 1, 0});
  p.stride_out = stride;
  p.offset_out = offset;
  return p;
}

std::vector<Shown> strides(bool written) {
  std::vector<Shown> all;
  for (const int64_t stride : {1, 2, 4, 8, 16, 32})
    all.push_back(
        {fmt::format("stride {}", stride), written ? scatter(stride, 0) : sum(stride, 0)});
  for (const int64_t offset : {1, 2, 4, 8, 16, 32})
    all.push_back(
        {fmt::format("offset {}", offset), written ? scatter(1, offset) : sum(1, offset)});
  return all;
}

std::vector<Shown> paddings() {
  const Problem p = problem_of(Operation::transpose, {4096, 4096, 0});
  return {{"no padding", p, "shared:block=32"},
          {"1 column of padding", p, "shared_padded:block=32,padding=1"},
          {"2 columns of padding", p, "shared_padded:block=32,padding=2"},
          {"swizzle", p, "vector"}};
}

/// Each value read from memory is used as often as the tile is wide.
std::vector<Shown> widths() {
  const Problem p = problem_of(Operation::gemm, {1024, 1024, 1024});
  return {{"1 (no tile)", p, "naive"},
          {"16", p, "shared:tile=16"},
          {"32", p, "shared:tile=32"},
          {"64 (and registers)", p, "register_tile:size=64"},
          {"128 (and registers)", p, "register_tile:size=128"}};
}

/// Points of three f32, as an array of structures (n x 3) and as a structure of arrays (3 x n).
std::vector<Shown> structures() {
  constexpr int64_t kPoints = kElements / 4;
  Problem field = problem_of(Operation::reduce, {kPoints, 1, 0});
  Problem strided = field;
  strided.stride_in = 3;
  Problem together = problem_of(Operation::reduce, {kPoints, 3, 0});
  together.axis = Axis::each_column;
  Problem apart = problem_of(Operation::reduce, {3, kPoints, 0});
  apart.axis = Axis::each_row;
  return {{"one field, array of structures", strided},
          {"one field, structure of arrays", field},
          {"three fields, array of structures", together},
          {"three fields, structure of arrays", apart},
          {"conversion to structure of arrays", problem_of(Operation::transpose, {kPoints, 3, 0})},
          {"conversion to array of structures", problem_of(Operation::transpose, {3, kPoints, 0})}};
}

void show(LadderRun& run, const Device& device, const char* title, const std::string& what,
          const std::vector<Shown>& lines) {
  std::vector<std::vector<std::string>> rows{
      {what, "rung", "time", "rate", "to the first", "of roof", "verified"}};
  double first = 0;
  std::string refusals;
  for (const Shown& line : lines) {
    if (run.control.stop()) break;
    Runner runner(device, run.budget);
    const std::vector<Result> results = run.measure(runner, line.problem, line.rung);
    const Result& r = results.front();
    if (!r.verified) {
      refusals += fmt::format("{}: {}\n", line.what, r.failure);
      continue;
    }
    if (first == 0) first = r.rate;
    rows.push_back({line.what, r.rung, time_text(r.kernel), rate_text(r),
                    ratio_text(r.rate / first), share_text(r, 1), verdict_text(r)});
  }
  if (rows.size() > 1) {
    std::printf("\n%s, on %s\n", title, device.id().c_str());
    print_table(rows, 2);
  }
  std::printf("%s", refusals.c_str());
  std::fflush(stdout);
}

}  // namespace

void show_access(LadderRun& run, const Device& device) {
  show(run, device, "Reading 2^22 f32 (their sum): useful bytes a second", "pattern",
       strides(false));
  show(run, device, "Writing 2^22 f32 (a copy; its reads are dense): useful bytes a second",
       "pattern", strides(true));
  show(run, device, "Bank conflicts: transpose of 4096 x 4096 f32 through a tile", "tile",
       paddings());
  show(run, device, "Reuse: gemm f32 of 1024, by how often a value read is used", "tile width",
       widths());
  show(run, device, "2^20 points of three f32", "layout", structures());
}

}  // namespace trine::bench
