// micro_kernel's way for exact products.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gemm/problem.hpp"
#include "rung.hpp"

namespace trine::cpu::gemm {

std::size_t exact_workspace_bytes(const trine_gemm& op, std::int64_t k_block);

// An element of p that a bound left open.
float open_element(const Problem<float>& p, std::int64_t i, std::int64_t j);

// Computes a matrix of a batch.
void multiply_exactly(const trine_gemm& op, std::int64_t batch, std::int64_t k_block,
                      std::byte* workspace, Parallel& parallel);

}  // namespace trine::cpu::gemm
