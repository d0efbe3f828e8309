/// Trine: reduce, transpose and gemm on CUDA, OpenCL and the CPU, with the same bits on each.
/// Include this for everything but the Kokkos interop (trine/kokkos.hpp).
#pragma once

#include <trine/version.h>
#include <trine/host.hpp>
#include <trine/tuning.hpp>
