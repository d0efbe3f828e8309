// micro_kernel's inner parts for f32, compiled for every SIMD target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "gemm/kernels_f32.cpp"
#include "gemm/target-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {
namespace {

const gemm::Kernels<float>& table_f32() { return table<float>(); }

}  // namespace
}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trine::cpu {

HWY_EXPORT(table_f32);

const gemm::Kernels<float>& gemm::kernels_f32() { return HWY_DYNAMIC_DISPATCH(table_f32)(); }

}  // namespace trine::cpu
#endif
