// The kernels of kernels.hpp for every SIMD target, and the certain sums behind the quick ones.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "blas/targets.cpp"
#include "kernels.hpp"

#include "cpu/simd.hpp"

#include "cpu/transpose/registers-inl.hpp"

#include "cpu/gemm/chain-inl.hpp"
#include "cpu/gemm/tile-inl.hpp"

#include "environment-inl.hpp"
#include "gemm-inl.hpp"
#include "sums-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {
namespace {

template <class T>
const blas::Kernels<T>& blas_kernels() {
  static constexpr blas::Kernels<T> kAll{gemm<T>,   dot<T>,  asum<T>,
                                         nrm2<T>,   axpy<T>, iamax<T>,
                                         copy<T>,   turn<T>, is_default_environment,
                                         largest<T>};
  return kAll;
}
const blas::Kernels<float>& blas_f32() { return blas_kernels<float>(); }
const blas::Kernels<double>& blas_f64() { return blas_kernels<double>(); }

}  // namespace
}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "backends/kit/root_of_squares.hpp"
#include "blas/flags.hpp"
#include "cpu/gemm/exact_element.hpp"

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

// The environment is set at once where it is another: then the kernel is tried again, in which all
// is usual.
template <class T>
T exact_dot(int64_t n, const T* x, int64_t x_stride, const T* y, int64_t y_stride) {
  if (!kernels<T>().is_default_environment())
    return in_default_environment([=] { return kernels<T>().dot(n, x, x_stride, y, y_stride); });
  Flags flags;
  const kit::FloatEnvironment environment;
  cpu::SuperAccumulator sum;
  bool all_minus_zero = n > 0;
  for (int64_t i = 0; i < n; ++i) {
    const T a = x[i * x_stride], b = y[i * y_stride];
    sum.add_product(a, b);
    all_minus_zero &= (a == 0 || b == 0) && std::signbit(a) != std::signbit(b);
  }
  const T rounded = sum.round<T>();
  flags.raised = flags_of_sum(rounded, n, x, x_stride, y, y_stride);
  return rounded == 0 && all_minus_zero ? -T(0) : rounded;
}

template <class T>
T exact_asum(int64_t n, const T* x, int64_t stride) {
  if (!kernels<T>().is_default_environment())
    return in_default_environment([=] { return kernels<T>().asum(n, x, stride); });
  Flags flags;
  const kit::FloatEnvironment environment;
  cpu::SuperAccumulator sum;
  for (int64_t i = 0; i < n; ++i) sum.add(static_cast<double>(std::abs(x[i * stride])));
  const T rounded = sum.round<T>();
  flags.raised = flags_of_sum(rounded, n, x, stride, x, stride);
  return rounded;
}

template <class T>
T exact_nrm2(int64_t n, const T* x, int64_t stride) {
  if (!kernels<T>().is_default_environment())
    return in_default_environment([=] { return kernels<T>().nrm2(n, x, stride); });
  Flags flags;
  const kit::FloatEnvironment environment;
  const T root = static_cast<T>(kit::root_of_squares([=](int exponent) {
    cpu::SuperAccumulator sum;
    for (int64_t i = 0; i < n; ++i) {
      const double scaled = std::ldexp(static_cast<double>(x[i * stride]), exponent);
      sum.add_product(scaled, scaled);
    }
    return sum.round<double>();
  }));
  flags.raised = flags_of_sum(root, n, x, stride, x, stride);
  return root;
}

template <class T>
void exact_gemm(const Product<T>& p) {
  {
    const kit::FloatEnvironment environment;
    const cpu::gemm::Problem<T> problem{.m = p.m,
                                        .n = p.n,
                                        .k = p.k,
                                        .a = {p.a.data, p.a.row_stride, p.a.col_stride},
                                        .b = {p.b.data, p.b.row_stride, p.b.col_stride},
                                        .c = {p.c, 1, p.ldc},
                                        .alpha = p.alpha,
                                        .beta = p.beta,
                                        .product = p.reads_inputs(),
                                        .continues = false,
                                        .reads_c = p.beta != 0};
    for (int64_t j = 0; j < p.n; ++j)
      for (int64_t i = 0; i < p.m; ++i)
        *problem.c.at(i, j) = cpu::gemm::exact_element(problem, i, j);
  }
  raise_flags_of(p);
}

#define TRINE_BLAS_EXACT(T)                                            \
  template void exact_gemm(const Product<T>&);                         \
  template T exact_dot(int64_t, const T*, int64_t, const T*, int64_t); \
  template T exact_asum(int64_t, const T*, int64_t);                   \
  template T exact_nrm2(int64_t, const T*, int64_t);
TRINE_BLAS_EXACT(float)
TRINE_BLAS_EXACT(double)

}  // namespace trine::blas
#endif
