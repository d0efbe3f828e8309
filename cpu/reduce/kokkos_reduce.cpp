// Rung `kokkos_reduce`: `sequential` on every thread of Kokkos's pool, the parallel CPU version that
// document 001 wished for. Threads share the results; few results are cut into stretches, and the
// stretches' results reduced once more. Where a stretch ends depends on the number of threads, and
// with it the bits of a float sum: a study.
#include <algorithm>

#include "arithmetic.hpp"
#include "rungs.hpp"

namespace trine::cpu {
namespace {

// Stretches per result: enough for every thread to take several.
std::int64_t stretches_of(const Problem& p, int threads) {
  const std::int64_t wanted = 4 * std::int64_t(threads);
  if (p.outputs >= wanted) return 1;
  return std::max<std::int64_t>(1, std::min(wanted, p.length() / 4096));
}

// Stretch `s` of `count` of result `r`: a part of its rows, or of its only one.
Problem stretch(const Problem& whole, std::int64_t r, std::int64_t s, std::int64_t count) {
  Problem part = whole;
  const bool rows = whole.outer >= count;
  std::int64_t& extent = rows ? part.outer : part.inner;
  const std::int64_t step = rows ? whole.outer_step : whole.inner_step;
  const std::int64_t begin = extent * s / count;
  const std::int64_t size = trine_dtype_size(whole.dtype);
  part.input += size * (r * whole.output_step + step * begin);
  extent = extent * (s + 1) / count - begin;
  part.outputs = 1;
  return part;
}

}  // namespace

const char* kokkos_refuses(const trine_reduce& op, const std::int64_t* parameters) {
  if (const char* reason = plain_only(op, parameters)) return reason;
  return op.function == TRINE_ARGMIN || op.function == TRINE_ARGMAX
             ? "stretches are reduced again by value; indices need another rung"
             : nullptr;
}

std::size_t kokkos_workspace(const trine_reduce& op, const std::int64_t*, int threads) {
  const Problem p = problem_of(op);
  return static_cast<std::size_t>(p.outputs * stretches_of(p, threads)) * sizeof(double);
}

void reduce_kokkos(const trine_reduce& op, const std::int64_t*, void* workspace,
                   Parallel& parallel) {
  const Problem p = problem_of(op);
  const std::int64_t count = stretches_of(p, parallel.threads());
  if (count == 1) {
    const std::int64_t parts = std::min<std::int64_t>(p.outputs, 8 * parallel.threads());
    const std::int64_t size = trine_dtype_size(p.dtype);
    const std::int64_t result_size = trine_dtype_size(p.result_dtype);
    parallel.parallel_for(parts, [&](std::int64_t i, int) {
      const std::int64_t begin = p.outputs * i / parts;
      Problem part = p;
      part.input += size * begin * p.output_step;
      part.output += result_size * begin * p.result_step;
      part.outputs = p.outputs * (i + 1) / parts - begin;
      reduce_in_order(part);
    });
    return;
  }
  auto* partial = static_cast<std::byte*>(workspace);
  const std::int64_t size = trine_dtype_size(p.result_dtype);
  parallel.parallel_for(p.outputs * count, [&](std::int64_t i, int) {
    Problem part = stretch(p, i / count, i % count, count);
    part.output = partial + size * i;
    reduce_in_order(part);
  });
  Problem rest = p;
  rest.map = TRINE_IDENTITY;
  rest.dtype = p.result_dtype;
  rest.input = partial;
  rest.output_step = count;
  rest.outer = 1;
  rest.inner = count;
  rest.inner_step = 1;
  parallel.parallel_for(1, [&](std::int64_t, int) { reduce_in_order(rest); });
}

}  // namespace trine::cpu
