// The floating-point environment that the numerics are stated for: round to nearest, denormals kept,
// no traps. Whatever a program has set (FTZ, DAZ, rounding upward) is put aside while our code runs
// on its thread and put back afterwards, sticky exception flags included.
#pragma once

#if defined(__SSE2__)
#include <immintrin.h>
#else
#include <cfenv>
#endif

namespace trine::cpu {

class FloatEnvironment {
 public:
#if defined(__SSE2__)
  // 64-bit code computes in SSE registers alone; saving the x87 words too would cost 50 ns.
  FloatEnvironment() : saved_(_mm_getcsr()) { _mm_setcsr(kDefault); }
  ~FloatEnvironment() { _mm_setcsr(saved_); }

 private:
  static constexpr unsigned kDefault = 0x1f80;
  unsigned saved_;
#else
  FloatEnvironment() {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~FloatEnvironment() { std::fesetenv(&saved_); }

 private:
  std::fenv_t saved_;
#endif

 public:
  FloatEnvironment(const FloatEnvironment&) = delete;
  FloatEnvironment& operator=(const FloatEnvironment&) = delete;
};

}  // namespace trine::cpu
