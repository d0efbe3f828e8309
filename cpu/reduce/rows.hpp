// The rungs of the CPU's reduce ladder, one function each; rows.cpp gathers them.
#pragma once

#include "problem.hpp"
#include "rung.hpp"

namespace trine::cpu {

void reduce_sequential(const trine_reduce& op, const std::int64_t* parameters, void* workspace,
                       Parallel& parallel);

// Why most rungs refuse a product.
const char* one_input_only(const trine_reduce& op, const std::int64_t* parameters);

// What `sequential` does, on the caller's thread.
void reduce_in_order(const Problem& p);

void reduce_kokkos(const trine_reduce& op, const std::int64_t* parameters, void* workspace,
                   Parallel& parallel);
std::size_t kokkos_workspace(const trine_reduce& op, const std::int64_t* parameters, int threads);
const char* kokkos_refuses(const trine_reduce& op, const std::int64_t* parameters);

void reduce_simd(const trine_reduce& op, const std::int64_t* parameters, void* workspace,
                 Parallel& parallel);
std::size_t simd_workspace(const trine_reduce& op, const std::int64_t* parameters, int threads);

void reduce_exact(const trine_reduce& op, const std::int64_t* parameters, void* workspace,
                  Parallel& parallel);
std::size_t exact_workspace(const trine_reduce& op, const std::int64_t* parameters, int threads);

}  // namespace trine::cpu
