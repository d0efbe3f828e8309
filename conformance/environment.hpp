// A hostile floating-point environment: flush-to-zero, denormals-are-zero and upward rounding, set
// in the caller's thread while it calls the library, which must neither care nor change it.
#pragma once

#include <cfenv>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace trine::conformance {

class HostileEnvironment {
 public:
  explicit HostileEnvironment(bool on) : on_(on) {
    if (!on_) return;
    std::fegetenv(&saved_);
    std::fesetround(FE_UPWARD);
#if defined(__x86_64__)
    _mm_setcsr(_mm_getcsr() | kFlushAndZero);
    set_ = _mm_getcsr();
#endif
  }
  ~HostileEnvironment() { restore(); }
  HostileEnvironment(const HostileEnvironment&) = delete;

  void restore() {
    if (on_) std::fesetenv(&saved_);
    on_ = false;
  }

  /// Whether the environment is still as it was set.
  bool intact() const {
    if (!on_) return true;
#if defined(__x86_64__)
    if ((_mm_getcsr() & kControl) != (set_ & kControl)) return false;
#endif
    return std::fegetround() == FE_UPWARD;
  }

 private:
  static constexpr unsigned kFlushAndZero = 0x8040, kControl = 0xffc0;
  bool on_;
  std::fenv_t saved_{};
  unsigned set_ = 0;
};

}  // namespace trine::conformance
