// naive: the definition. Each thread writes whole rows of the output, element by element, and reads
// the input wherever that leads: a cache line is fetched again for each of its elements when a
// column of lines doesn't fit into the cache.
#include "transpose/rungs.hpp"

namespace trine::cpu::transpose {

void run_naive(const trine_transpose& op, const std::int64_t*, void*, Parallel& parallel) {
  const Problem p = problem(op);
  visit_size(p.size, [&]<int kSize>() {
    parallel.parallel_for(p.batch * p.q, [&](std::int64_t index, int) {
      const std::int64_t b = index / p.q, y = index % p.q;
      for (std::int64_t x = 0; x < p.p; ++x) {
        move_element<kSize>(p.out_at(b, y, x), p.in_at(b, y, x));
      }
    });
  });
}

}  // namespace trine::cpu::transpose
