// Facts of the processor, read from Linux, and the arithmetic probe.
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>

#include "backends/kit/words.hpp"
#include "handles.hpp"

namespace trine::cpu {
namespace {

// volatile: the processor has to compute these, not the compiler.
template <class T>
const char* probe() {
  const volatile T epsilon = std::numeric_limits<T>::epsilon();
  const volatile T one = 1;
  const volatile T tiny = std::numeric_limits<T>::denorm_min();
  const volatile T smallest = std::numeric_limits<T>::min();
  const T a = one + epsilon;
  if (std::fma(a, a, -(a * a)) != epsilon * epsilon) return "fma rounds twice";
  const volatile T product = a * a;
  if (product - (one + 2 * epsilon) != 0) return "a product is not rounded before it is added";
  if (one + epsilon / 2 != one || a + epsilon / 2 != one + 2 * epsilon)
    return "sums are not rounded to nearest, ties to even";
  if (smallest / 2 == 0 || tiny + tiny != 2 * tiny || tiny * one != tiny)
    return "denormals are flushed";
  return nullptr;
}

}  // namespace

void describe_processor(trine_device_facts& facts) {
  const kit::FloatEnvironment environment;
  facts.kind = TRINE_DEVICE_CPU;
  kit::line_value("/proc/cpuinfo", "model name", ':', "CPU", facts.name, sizeof facts.name);
  kit::line_value("/proc/cpuinfo", "vendor_id", ':', "", facts.vendor, sizeof facts.vendor);
  const auto pages = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES));
  facts.memory_bytes = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  facts.max_buffer_bytes = facts.memory_bytes;
  facts.capabilities = TRINE_CAN_F64 | TRINE_CAN_SHARE_MEMORY | TRINE_CAN_PIN |
                       TRINE_CAN_ATOMIC_64 | TRINE_CAN_ORDER_PAGEABLE;
  const char* f32 = probe<float>();
  const char* f64 = probe<double>();
  if (!f32 && !f64) {
    facts.capabilities |= TRINE_CAN_REPRODUCE;
    std::snprintf(facts.probe, sizeof facts.probe,
                  "f32 and f64: fma, rounding to nearest and denormals as IEEE 754 has them");
  } else {
    std::snprintf(facts.probe, sizeof facts.probe, "%s: %s", f32 ? "f32" : "f64", f32 ? f32 : f64);
  }
}

}  // namespace trine::cpu
