// Preloaded, takes away all of Highway's targets but those of ONLY_TARGETS (a mask), so that a test
// runs the shim's kernels for lesser processors. Where this machine has none of them, the test is
// right with what is left.
#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>

namespace hwy {
__attribute__((visibility("default"))) int64_t SupportedTargets();
int64_t SupportedTargets() {
  constexpr int64_t kBaseline = int64_t(3) << 61;  // EMU128 or SCALAR
  const auto real =
      reinterpret_cast<int64_t (*)()>(dlsym(RTLD_NEXT, "_ZN3hwy16SupportedTargetsEv"));
  const char* const only = std::getenv("ONLY_TARGETS");
  const int64_t wanted = only ? std::strtoll(only, nullptr, 0) : -1;
  const int64_t left = real() & wanted;
  return left != 0 ? left : kBaseline;
}
}  // namespace hwy
