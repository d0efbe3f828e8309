// The functions behind the rows of cpu's transpose ladder.
#pragma once

#include "rung.hpp"
#include "transpose/problem.hpp"

namespace trine::cpu::transpose {

TransposeRung::Run run_naive, run_blocked, run_kokkos_mdrange, run_simd_streaming;
TransposeRung::WorkspaceBytes simd_streaming_workspace_bytes;

// blocked's work, for every kind of problem.
void move_blocked(const Problem& p, std::int64_t tile, Parallel& parallel);

}  // namespace trine::cpu::transpose
