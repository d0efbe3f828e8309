// Which way a call goes: the calling thread, or a device of Trine.
#pragma once

#include <trine/host.hpp>

#include <optional>

#include "backends/kit/float_environment.hpp"
#include "log.hpp"

namespace trine::blas {

/// Up to so much work (multiply-adds, or elements) the calling thread is at least as fast as Trine's own
/// path, whose call costs some µs; docs/results has the sizes where they meet.
constexpr int64_t kSmallProduct = 96 * 96 * 96, kSmallMatrix = 128 * 128, kSmallVector = 8192;

/// TRINE_BLAS_DEVICE: `auto` and `cpu` leave small calls to the calling thread; a device that is named
/// otherwise takes every call.
const std::string& device_name();
bool keeps_small();
/// A forked child has no devices: Trine's threads and drivers stayed in the parent.
bool is_forked();
/// Says once in a process, on stderr, that the device asked for doesn't compute.
void tell_once(const char* why);
/// Where a device failed after it may have changed what the call reads, there is no right result.
[[noreturn]] void end_wrong(const char* why);

/// Whether this thread rounds to nearest and keeps denormals, found by four sums: reading the control
/// register takes 11 ns on Zen 4, twice as long as a small call.
inline bool has_default_environment() {
  static const volatile double kOne = 1, kTiny = 0x1p-60, kLeast = 0x1p-1074;
  static const volatile double kSmall = 0x1p-1022, kMinus = -0x1.8p-1022;
  return kOne + kTiny == 1 && kOne - kTiny == 1 && kLeast + kLeast != 0 && kSmall + kMinus != 0;
}

/// The default floating-point environment for the calling thread; the caller's is put back at the end.
class Environment {
 public:
  Environment() {
    if (!has_default_environment()) [[unlikely]]
      other_.emplace();
  }

 private:
  std::optional<kit::FloatEnvironment> other_;
};

/// Runs `on_device(options)` where the call is worth it, and `here()` for the rest: small calls, and those
/// that no device took. `repeats`: whether the call may be run again after it failed half-way.
template <class OnDevice, class Here>
void route(LoggedCall& call, bool is_small, bool repeats, OnDevice on_device, Here here) {
  const Environment environment;
  if (is_small && keeps_small()) [[likely]] {
    call.ran_on("cpu");
    return here();
  }
  if (is_forked()) {
    call.ran_on("cpu", "a forked child has no devices");
    return here();
  }
  try {
    Choice choice;
    // Without overlap nothing is written before the last copy: a call that lacks memory may go on here.
    on_device(HostOptions{.device = device_name(), .overlap = repeats, .choice = &choice});
    return call.ran_on(choice.device.id());
  } catch (const Error& error) {
    const bool refused = error.status() != Status::backend_error &&
                         error.status() != Status::device_lost &&
                         error.status() != Status::internal;
    if (!refused && !repeats) end_wrong(error.what());
    tell_once(error.what());
    call.ran_on("cpu", error.what());
  } catch (const std::bad_alloc&) { call.ran_on("cpu", "out of memory"); }
  here();
}

}  // namespace trine::blas
