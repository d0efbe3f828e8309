// Spreads the pieces of a plan over threads, each with scratch of its own, and has results that
// came in parts finished by them as well.
#pragma once

#include <new>
#include <type_traits>

#include "plan.hpp"
#include "rung.hpp"

namespace trine::cpu {

// Scratch per thread, then the partial states.
template <class Scratch, class State>
std::size_t bytes_for(const Work<Scratch, State>&, const Plan& plan, std::int64_t outputs,
                      int threads) {
  const std::size_t states = plan.parts > 1 ? static_cast<std::size_t>(outputs * plan.parts) : 0;
  using Behind = typename State::Behind;
  constexpr std::size_t kState = sizeof(State) + (std::is_empty_v<Behind> ? 0 : sizeof(Behind));
  return sizeof(Scratch) * static_cast<std::size_t>(threads) + kState * states;
}

template <class Scratch, class State>
void partial_reduction(const Problem& p, const Plan& plan, void* workspace, Parallel& parallel,
                       const Work<Scratch, State>& work) {
  auto* scratch = static_cast<Scratch*>(workspace);
  auto* partials =
      plan.parts > 1 ? reinterpret_cast<State*>(scratch + parallel.threads()) : nullptr;
  for (int t = 0; t < parallel.threads(); ++t) new (scratch + t) Scratch;
  const auto run = [&](std::int64_t count, auto part_of_work) {
    const auto body = [&](std::int64_t index, int thread) {
      part_of_work(Piece<Scratch, State>{&p, &plan, scratch + thread, partials}, index);
    };
    parallel.parallel_for(count, body, Parallel::Order::own);
  };
  run(plan.pieces(), work.piece);
  if (!partials) return;
  // Handing out a piece costs as much as one result.
  const std::int64_t together = std::clamp<std::int64_t>(p.outputs / parallel.threads(), 1, 16);
  run(divide_up(p.outputs, together), [&](const auto& piece, std::int64_t index) {
    const std::int64_t first = index * together, end = std::min(p.outputs, first + together);
    for (std::int64_t r = first; r < end; ++r) work.finish(piece, r);
  });
}

}  // namespace trine::cpu
