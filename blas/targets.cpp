// The kernels of kernels.hpp for every SIMD target, and the certain sums behind the quick ones.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "blas/targets.cpp"
#include "kernels.hpp"

#include "cpu/simd.hpp"

#include "cpu/transpose/registers-inl.hpp"

#include "gemm-inl.hpp"
#include "sums-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {
namespace {

template <class T>
const blas::Kernels<T>& blas_kernels() {
  static constexpr blas::Kernels<T> kAll{gemm<T>,
                                         certain_sum<Terms::product, T>,
                                         certain_sum<Terms::magnitude, T>,
                                         certain_norm<T>,
                                         axpy<T>,
                                         iamax<T>,
                                         turn<T>};
  return kAll;
}
const blas::Kernels<float>& blas_f32() { return blas_kernels<float>(); }
const blas::Kernels<double>& blas_f64() { return blas_kernels<double>(); }

}  // namespace
}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "cpu/reduce/super_accumulator.hpp"

namespace trine::cpu {
HWY_EXPORT(blas_f32);
HWY_EXPORT(blas_f64);
}  // namespace trine::cpu

namespace trine::blas {

// Before constructors that may call a BLAS; a guard at each call would cost a third of a small one.
#define TRINE_BLAS_EARLY __attribute__((init_priority(200)))
TRINE_BLAS_EARLY const Kernels<float> f32_kernels = [] {
  using namespace cpu;
  return HWY_DYNAMIC_DISPATCH(blas_f32);
}()();
TRINE_BLAS_EARLY const Kernels<double> f64_kernels = [] {
  using namespace cpu;
  return HWY_DYNAMIC_DISPATCH(blas_f64);
}()();

template <class T>
T exact_dot(int64_t n, const T* x, const T* y) {
  cpu::SuperAccumulator sum;
  bool all_minus_zero = n > 0;
  for (int64_t i = 0; i < n; ++i) {
    sum.add_product(x[i], y[i]);
    all_minus_zero &= (x[i] == 0 || y[i] == 0) && std::signbit(x[i]) != std::signbit(y[i]);
  }
  const T rounded = sum.round<T>();
  return rounded == 0 && all_minus_zero ? -T(0) : rounded;
}

template <class T>
T exact_asum(int64_t n, const T* x) {
  cpu::SuperAccumulator sum;
  for (int64_t i = 0; i < n; ++i) sum.add(static_cast<double>(std::abs(x[i])));
  return sum.round<T>();
}

namespace {
template <class T>
double squares(int64_t n, const T* x, int exponent) {
  cpu::SuperAccumulator sum;
  for (int64_t i = 0; i < n; ++i) {
    const double scaled = std::ldexp(static_cast<double>(x[i]), exponent);
    sum.add_product(scaled, scaled);
  }
  return sum.round<double>();
}
}  // namespace
double exact_squares(int64_t n, const float* x, int exponent) { return squares(n, x, exponent); }
double exact_squares(int64_t n, const double* x, int exponent) { return squares(n, x, exponent); }

template float exact_dot(int64_t, const float*, const float*);
template double exact_dot(int64_t, const double*, const double*);
template float exact_asum(int64_t, const float*);
template double exact_asum(int64_t, const double*);

}  // namespace trine::blas
#endif
