// A hostile floating-point environment: flush-to-zero, denormals-are-zero and upward rounding, set
// in the caller's thread while it calls the library, which must neither care nor change it.
#pragma once

#include <cfenv>
#include <cstdint>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace trine::conformance {

// The register that holds these modes: MXCSR, whose lowest bits are flags; FPCR, where FZ does
// both.
#if defined(__x86_64__)
inline constexpr uint64_t kFlushAndZero = 0x8040, kModes = 0xffc0;
inline uint64_t float_modes() { return _mm_getcsr(); }
inline void set_float_modes(uint64_t modes) { _mm_setcsr(static_cast<unsigned>(modes)); }
#elif defined(__aarch64__)
inline constexpr uint64_t kFlushAndZero = uint64_t{1} << 24, kModes = ~uint64_t{0};
inline uint64_t float_modes() {
  uint64_t modes;
  asm volatile("mrs %0, fpcr" : "=r"(modes));
  return modes;
}
inline void set_float_modes(uint64_t modes) { asm volatile("msr fpcr, %0" : : "r"(modes)); }
#else
#error "say here how this processor is told to flush denormals"
#endif

class HostileEnvironment {
 public:
  explicit HostileEnvironment(bool on) : on_(on) {
    if (!on_) return;
    std::fegetenv(&saved_);
    std::fesetround(FE_UPWARD);
    set_float_modes(float_modes() | kFlushAndZero);
    set_ = float_modes();
  }
  ~HostileEnvironment() { restore(); }
  HostileEnvironment(const HostileEnvironment&) = delete;

  void restore() {
    if (on_) std::fesetenv(&saved_);
    on_ = false;
  }

  /// Whether the environment is still as it was set.
  bool intact() const {
    return !on_ || ((float_modes() & kModes) == (set_ & kModes) && std::fegetround() == FE_UPWARD);
  }

 private:
  bool on_;
  std::fenv_t saved_{};
  uint64_t set_ = 0;
};

}  // namespace trine::conformance
