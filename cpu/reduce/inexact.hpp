// Whether an operation on floating-point numbers was rounded: IEEE 754 has the processor raise a
// flag then, which stays until it is lowered. Reading it tells of thousands of additions at once.
#pragma once

#include <cfenv>

namespace trine::cpu {

// The operations asked about stand in functions that aren't inlined and write their results to
// memory: the compiler doesn't know about the flag, but moves no such call past a volatile `asm`.
class Inexact {
 public:
#if defined(__SSE2__)
  static void lower() {
    unsigned state = word();
    if ((state & kFlag) == 0) return;
    state &= ~kFlag;
    asm volatile("ldmxcsr %0" : : "m"(state) : "memory");
  }
  static bool is_raised() { return word() & kFlag; }

 private:
  static constexpr unsigned kFlag = 0x20;
  static unsigned word() {
    unsigned state;
    asm volatile("stmxcsr %0" : "=m"(state) : : "memory");
    return state;
  }
#else
  static void lower() {
    asm volatile("" : : : "memory");
    std::feclearexcept(FE_INEXACT);
    asm volatile("" : : : "memory");
  }
  static bool is_raised() {
    asm volatile("" : : : "memory");
    return std::fetestexcept(FE_INEXACT) != 0;
  }
#endif

 public:
  // Emulators of processors may leave the flag out; valgrind does.
  static bool is_told() {
    static const bool told = [] {
      volatile double large = 1, small = 0x1p-60;
      lower();
      const bool before = is_raised();
      volatile double sum = large + small;
      return sum == 1 && !before && is_raised();
    }();
    return told;
  }
};

}  // namespace trine::cpu
