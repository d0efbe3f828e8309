// blocked: square tiles whose lines, of the input and of the output, stay in the first cache until
// all their elements are used: each line is fetched once, where naive fetches it per element.
// `tile` elements a side; works for every stride.
#include <algorithm>

#include "transpose/rungs.hpp"

namespace trine::cpu::transpose {

void move_blocked(const Problem& p, std::int64_t tile, Parallel& parallel) {
  const std::int64_t p_tiles = divide_up(p.p, tile), q_tiles = divide_up(p.q, tile);
  visit_size(p.size, [&]<int kSize>() {
    parallel.parallel_for(p.batch * q_tiles * p_tiles, [&](std::int64_t index, int) {
      const std::int64_t b = index / (q_tiles * p_tiles);
      const std::int64_t y0 = index / p_tiles % q_tiles * tile, x0 = index % p_tiles * tile;
      const std::int64_t y1 = std::min(y0 + tile, p.q), x1 = std::min(x0 + tile, p.p);
      for (std::int64_t y = y0; y < y1; ++y) {
        for (std::int64_t x = x0; x < x1; ++x) {
          move_element<kSize>(p.out_at(b, y, x), p.in_at(b, y, x));
        }
      }
    });
  });
}

void run_blocked(const trine_transpose& op, const std::int64_t* parameters, void*,
                 Parallel& parallel) {
  move_blocked(problem(op), parameters[0], parallel);
}

}  // namespace trine::cpu::transpose
