// The floating-point environment that the numerics are stated for: round to nearest, denormals
// kept, no traps. Whatever a program has set (FTZ, DAZ, rounding upward, traps) is put aside while
// our code runs on its thread and put back afterwards, sticky exception flags included. Threads
// that start meanwhile inherit the default one.
#pragma once

#include <cfenv>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace trine::kit {

/// All of it, for calls of foreign code: drivers, and the start of threads.
class WholeFloatEnvironment {
 public:
  WholeFloatEnvironment() {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~WholeFloatEnvironment() { std::fesetenv(&saved_); }
  WholeFloatEnvironment(const WholeFloatEnvironment&) = delete;
  WholeFloatEnvironment& operator=(const WholeFloatEnvironment&) = delete;

 private:
  std::fenv_t saved_;
};

#if defined(__SSE2__)
/// The environment that our own code computes in: 64-bit code uses SSE registers alone, and saving
/// the x87 words too would cost 50 ns.
class FloatEnvironment {
 public:
  FloatEnvironment() : saved_(_mm_getcsr()) { _mm_setcsr(kDefault); }
  ~FloatEnvironment() { _mm_setcsr(saved_); }
  FloatEnvironment(const FloatEnvironment&) = delete;
  FloatEnvironment& operator=(const FloatEnvironment&) = delete;

 private:
  static constexpr unsigned kDefault = 0x1f80;
  unsigned saved_;
};
#else
// On aarch64 all of it is FPCR, which has flush-to-zero too, and FPSR.
using FloatEnvironment = WholeFloatEnvironment;
#endif

}  // namespace trine::kit
