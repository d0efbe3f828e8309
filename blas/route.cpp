#include "route.hpp"

#include <sched.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "backends/gpu/device_files.hpp"

namespace trine::blas {
namespace {

const std::string& kDevice = *new std::string([] {  // outlives other libraries' destructors
  const char* const named = secure_getenv("TRINE_BLAS_DEVICE");
  return std::string(named && *named ? named : "auto");
}());
bool is_set(const char* variable) {
  const char* const value = secure_getenv(variable);
  return value && *value;
}
/// The library leaves the receipts.
const bool kKeepsSmall = (kDevice == "auto" || kDevice == "cpu") && !is_set("TRINE_RECEIPTS");

/// Whether Trine's CPU has one thread: then a call of it is only worth what packing gains.
bool has_one_thread() {
  const char* const given = std::getenv("OMP_NUM_THREADS");
  cpu_set_t cpus;
  return (given && std::atoi(given) == 1) ||
         (sched_getaffinity(0, sizeof cpus, &cpus) == 0 && CPU_COUNT(&cpus) == 1);
}

/// Whether `auto` has nothing but the CPU to choose.
bool is_cpu_alone() {
  return kDevice == "cpu" || (!gpu::has_nvidia_file() && !gpu::has_other_file());
}

}  // namespace

bool is_exact() {
  static const bool kIs = [] {
    const char* const named = secure_getenv("TRINE_BLAS_NUMERICS");
    const std::string_view word = named ? named : "";
    if (!word.empty() && word != "reproducible" && word != "exact")
      std::fprintf(
          stderr,
          "libtrine_blas: TRINE_BLAS_NUMERICS=%s: neither reproducible nor exact; products "
          "are reproducible.\n",
          named);
    return word == "exact";
  }();
  return kIs;
}

// A GPU that `auto` may choose is worth its transfers sooner than the CPU's panels. Exact products
// of more than a few terms are faster in Trine's own path.
const Sizes small = is_exact()          ? Sizes{8192, 64, 64}
                    : !has_one_thread() ? Sizes{8192, 128 * 128, 96 * 96 * 96}
                                        : Sizes{8192, 1 << 20, is_cpu_alone() ? 1 << 25 : 1 << 22};
// The log asks for itself here: its own flag may be initialized later.
const Sizes direct = !kKeepsSmall || is_set("TRINE_BLAS_LOG") ? Sizes{}
                     : is_exact()                             ? Sizes{.vector = small.vector}
                                                              : small;

const std::string& device_name() { return kDevice; }
bool keeps_small() { return kKeepsSmall; }

void tell_once(const char* why) {
  static std::atomic<bool> told{false};
  if (!told.exchange(true))
    std::fprintf(stderr, "libtrine_blas: computed on the calling thread instead: %s\n", why);
}

void end_wrong(const char* why) {
  Log::finish();
  std::fprintf(stderr, "libtrine_blas: a device failed within a call: %s\n", why);
  std::abort();
}

}  // namespace trine::blas
