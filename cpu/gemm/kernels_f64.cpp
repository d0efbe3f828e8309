// micro_kernel's inner parts for f64, compiled for every SIMD target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "gemm/kernels_f64.cpp"
#define TRINE_ELEMENT double
#define TRINE_KERNELS kernels_f64
#include "gemm/kernels-inl.hpp"
