// Whether this thread rounds to nearest and keeps denormals, found by sums at once: reading the
// control register takes 11 ns on Zen 4, longer than a small call. The least denormal is doubled: a
// denormal that comes out of two normal numbers costs 42 ns on an Intel Xeon.
#include "kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {
namespace {

HWY_INLINE bool is_default_environment() {
  static constexpr uint64_t kOne = 0x3ff0000000000000, kTiny = 0x3c30000000000000;  // 2^-60
  static constexpr uint64_t kMinusTiny = 0x8000000000000000 | kTiny;
  // The sums' sides, then their bits.
  alignas(32) static constexpr uint64_t kSums[] = {kOne,  kOne,       1, 1,  //
                                                   kTiny, kMinusTiny, 1, 1,  //
                                                   kOne,  kOne,       2, 2};
  const uint64_t* sums = kSums;
  asm("" : "+r"(sums));  // added here, not by the compiler
  const hn::CappedTag<double, 4> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const auto side = [&](size_t i) HWY_ATTR { return hn::BitCast(d, hn::Load(du, sums + i)); };
  for (size_t i = 0; i < 4; i += hn::MaxLanes(d)) {
    const auto sum = hn::BitCast(du, hn::Add(side(i), side(4 + i)));
    if (!hn::AllTrue(du, hn::Eq(sum, hn::Load(du, sums + 8 + i)))) return false;
  }
  return true;
}

}  // namespace
}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
