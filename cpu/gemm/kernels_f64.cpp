// micro_kernel's inner parts for f64, compiled for every SIMD target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "gemm/kernels_f64.cpp"
#include "gemm/target-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {
namespace {

const gemm::Kernels<double>& table_f64() { return table<double>(); }

}  // namespace
}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trine::cpu {

HWY_EXPORT(table_f64);

const gemm::Kernels<double>& gemm::kernels_f64() { return HWY_DYNAMIC_DISPATCH(table_f64)(); }

}  // namespace trine::cpu
#endif
