// Spreads the pieces of a plan over threads, each with scratch of its own, and has results that came
// in parts finished by them as well.
#pragma once

#include <new>

#include "plan.hpp"
#include "rung.hpp"

namespace trine::cpu {

// Scratch per thread, then the partial states.
template <class Scratch, class State>
std::size_t bytes_for(void (*)(const Piece<Scratch, State>&, std::int64_t), const Plan& plan,
                      std::int64_t outputs, int threads) {
  const std::size_t states = plan.parts > 1 ? static_cast<std::size_t>(outputs * plan.parts) : 0;
  return sizeof(Scratch) * static_cast<std::size_t>(threads) + sizeof(State) * states;
}

template <class Scratch, class State>
void partial_reduction(const Problem& p, const Plan& plan, void* workspace, Parallel& parallel,
                       void (*work)(const Piece<Scratch, State>&, std::int64_t),
                       void (*finish)(const Problem&, const Plan&, State*, std::int64_t)) {
  auto* scratch = static_cast<Scratch*>(workspace);
  auto* partials =
      plan.parts > 1 ? reinterpret_cast<State*>(scratch + parallel.threads()) : nullptr;
  for (int t = 0; t < parallel.threads(); ++t) new (scratch + t) Scratch;
  parallel.parallel_for(plan.pieces(), [&](std::int64_t index, int thread) {
    work({&p, &plan, scratch + thread, partials}, index);
  });
  if (!partials) return;
  parallel.parallel_for(p.outputs, [&](std::int64_t r, int) { finish(p, plan, partials, r); });
}

}  // namespace trine::cpu
