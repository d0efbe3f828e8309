// The functions behind the rows of cpu's transpose ladder.
#pragma once

#include <cstdint>

#include "rung.hpp"
#include "transpose/problem.hpp"

namespace trine::cpu::transpose {

void run_naive(const trine_transpose& op, const std::int64_t* parameters, void* workspace,
               Parallel& parallel);
void run_blocked(const trine_transpose& op, const std::int64_t* parameters, void* workspace,
                 Parallel& parallel);
void run_simd_streaming(const trine_transpose& op, const std::int64_t* parameters, void* workspace,
                        Parallel& parallel);

// blocked's work, for every kind of problem.
void move_blocked(const Problem& p, std::int64_t tile, Parallel& parallel);

}  // namespace trine::cpu::transpose
