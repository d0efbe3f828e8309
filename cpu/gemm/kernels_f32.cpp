// micro_kernel's inner parts for f32, compiled for every SIMD target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "gemm/kernels_f32.cpp"
#define TRINE_ELEMENT float
#define TRINE_KERNELS kernels_f32
#include "gemm/kernels-inl.hpp"
