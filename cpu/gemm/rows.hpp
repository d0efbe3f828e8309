// The functions behind the rows of cpu's gemm ladder.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rung.hpp"

namespace trine::cpu::gemm {

void run_naive(const trine_gemm& op, const std::int64_t* parameters, void* workspace,
               Parallel& parallel);

std::size_t ikj_workspace_bytes(const trine_gemm& op, const std::int64_t* parameters, int threads);
void run_ikj(const trine_gemm& op, const std::int64_t* parameters, void* workspace,
             Parallel& parallel);

std::size_t blocked_workspace_bytes(const trine_gemm& op, const std::int64_t* parameters,
                                    int threads);
void run_blocked(const trine_gemm& op, const std::int64_t* parameters, void* workspace,
                 Parallel& parallel);

void run_kokkos(const trine_gemm& op, const std::int64_t* parameters, void* workspace,
                Parallel& parallel);

std::size_t micro_kernel_workspace_bytes(const trine_gemm& op, const std::int64_t* parameters,
                                         int threads);
void run_micro_kernel(const trine_gemm& op, const std::int64_t* parameters, void* workspace,
                      Parallel& parallel);

}  // namespace trine::cpu::gemm
