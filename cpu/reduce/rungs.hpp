// The rungs of the CPU's reduce ladder, one function each; rungs.cpp gathers them.
#pragma once

#include "problem.hpp"
#include "rung.hpp"

namespace trine::cpu {

ReduceRung::Run reduce_sequential, reduce_kokkos, reduce_simd, reduce_exact;
ReduceRung::WorkspaceBytes kokkos_workspace, simd_workspace, exact_workspace;
ReduceRung::Refuses kokkos_refuses;
ReduceRung::Refuses plain_only;  // why most rungs refuse a product, and states

// What `sequential` does, on the caller's thread.
void reduce_in_order(const Problem& p);

}  // namespace trine::cpu
