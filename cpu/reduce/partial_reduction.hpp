// Spreads the pieces of a plan over threads, each with scratch of its own, and has results that came
// in parts finished by them as well.
#pragma once

#include <new>

#include "plan.hpp"
#include "rung.hpp"

namespace trine::cpu {

// Scratch per thread, then the partial states.
template <class Scratch, class State>
std::size_t bytes_for(const Work<Scratch, State>&, const Plan& plan, std::int64_t outputs,
                      int threads) {
  const std::size_t states = plan.parts > 1 ? static_cast<std::size_t>(outputs * plan.parts) : 0;
  return sizeof(Scratch) * static_cast<std::size_t>(threads) + sizeof(State) * states;
}

template <class Scratch, class State>
void partial_reduction(const Problem& p, const Plan& plan, void* workspace, Parallel& parallel,
                       const Work<Scratch, State>& work) {
  auto* scratch = static_cast<Scratch*>(workspace);
  auto* partials =
      plan.parts > 1 ? reinterpret_cast<State*>(scratch + parallel.threads()) : nullptr;
  for (int t = 0; t < parallel.threads(); ++t) new (scratch + t) Scratch;
  const auto run = [&](std::int64_t count, auto* part_of_work) {
    parallel.parallel_for(count, [&](std::int64_t index, int thread) {
      part_of_work({&p, &plan, scratch + thread, partials}, index);
    });
  };
  run(plan.pieces(), work.piece);
  if (partials) run(p.outputs, work.finish);
}

}  // namespace trine::cpu
