// micro_kernel's inner parts for i32, compiled for every SIMD target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "gemm/kernels_i32.cpp"
#define TRINE_ELEMENT std::uint32_t
#define TRINE_KERNELS kernels_i32
#include "gemm/kernels-inl.hpp"
