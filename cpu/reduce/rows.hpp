// The rungs of the CPU's reduce ladder, one function each; rows.cpp gathers them.
#pragma once

#include "rung.hpp"

namespace trine::cpu {

void reduce_sequential(const trine_reduce& op, const std::int64_t* parameters, void* workspace,
                       Parallel& parallel);

void reduce_exact(const trine_reduce& op, const std::int64_t* parameters, void* workspace,
                  Parallel& parallel);
std::size_t exact_workspace(const trine_reduce& op, const std::int64_t* parameters, int threads);

}  // namespace trine::cpu
