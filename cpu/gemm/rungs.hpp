// The functions behind the rows of cpu's gemm ladder.
#pragma once

#include "rung.hpp"

namespace trine::cpu::gemm {

GemmRung::Run run_naive, run_ikj, run_blocked, run_kokkos_team, run_micro_kernel, run_residues;
GemmRung::WorkspaceBytes ikj_workspace_bytes, blocked_workspace_bytes, micro_kernel_workspace_bytes,
    residues_workspace_bytes;
GemmRung::Refuses residues_refuse;
GemmRung::Pays residues_pay;

// Whether only one thread could have a share of the product.
bool is_one_tile(const trine_gemm& op);

}  // namespace trine::cpu::gemm
