// The rungs of the CPU's reduce ladder, one function each; rungs.cpp gathers them.
#pragma once

#include "rung.hpp"

namespace trine::cpu {

ReduceRung::Run reduce_sequential, reduce_kokkos_range, reduce_kokkos_team, reduce_simd,
    reduce_exact;
ReduceRung::WorkspaceBytes simd_workspace, exact_workspace;
ReduceRung::Refuses plain_only;  // why most rungs refuse a product, and states

}  // namespace trine::cpu
