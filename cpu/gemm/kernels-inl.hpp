// micro_kernel's inner parts for one dtype: TRINE_KERNELS() gives the table of TRINE_ELEMENT for the best
// target of this machine.
//
// Included once per target.
#include "gemm/target-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {
namespace {

const gemm::Kernels<TRINE_ELEMENT>& element_table() { return table<TRINE_ELEMENT>(); }

}  // namespace
}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trine::cpu {
namespace {
HWY_EXPORT(element_table);
}  // namespace

const gemm::Kernels<TRINE_ELEMENT>& gemm::TRINE_KERNELS() {
  return HWY_DYNAMIC_DISPATCH(element_table)();
}

}  // namespace trine::cpu
#endif
