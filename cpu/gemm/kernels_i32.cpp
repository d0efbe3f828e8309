// micro_kernel's inner parts for i32, compiled for every SIMD target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "gemm/kernels_i32.cpp"
#include "gemm/target-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {
namespace {

const gemm::Kernels<std::uint32_t>& table_i32() { return table<std::uint32_t>(); }

}  // namespace
}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trine::cpu {

HWY_EXPORT(table_i32);

const gemm::Kernels<std::uint32_t>& gemm::kernels_i32() {
  return HWY_DYNAMIC_DISPATCH(table_i32)();
}

}  // namespace trine::cpu
#endif
