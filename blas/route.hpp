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

/// Runs `on_device(options)` where the call is worth it, and `here()` for the rest: small calls, and those
/// that no device took. `repeats`: whether the call may be run again after it failed half-way.
template <class OnDevice, class Here>
void route(LoggedCall& call, bool is_small, bool repeats, OnDevice on_device, Here here) {
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
    on_device(HostOptions{.device = device_name(), .choice = &choice});
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

/// The default floating-point environment for the calling thread, put back at the end. To set it costs more
/// than a small call, so a caller who has it keeps it.
class Environment {
 public:
#if defined(__SSE2__)
  Environment() : control_(_mm_getcsr()) {
    constexpr unsigned kFlags = 0x3f, kDefault = 0x1f80;
    if ((control_ & ~kFlags) != kDefault) [[unlikely]]
      other_.emplace();
  }
  /// Takes back what an attempt that came to nothing has raised.
  void drop_flags() const {
    if (!other_) _mm_setcsr(control_);
  }

 private:
  unsigned control_;
  std::optional<kit::FloatEnvironment> other_;
#else
  void drop_flags() const {}

 private:
  kit::FloatEnvironment other_;
#endif
};

}  // namespace trine::blas
