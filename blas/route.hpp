// Which way a call goes: the calling thread, or a device of Trine.
#pragma once

#include <trine/host.hpp>

#include <exception>
#include <new>

#include "log.hpp"

namespace trine::blas {

/// Sizes of calls.
struct Sizes {
  int vector = 0;
  int64_t matrix = 0, product = 0;  // in elements, and in multiply-adds
  bool takes(int64_t m, int64_t n) const { return fits(matrix, m, n); }
  bool takes(int64_t m, int64_t n, int64_t k) const {
    return fits(product, m, n) && fits(product, m * n, k);
  }

 private:
  static bool fits(int64_t most, int64_t m, int64_t n) {
    return m <= most && n <= most && m * n <= most;  // `most` is small: none overflows
  }
};
/// Up to these, the calling thread is at least as fast as Trine's own path, whose call costs some
/// µs and has threads, if there are several; docs/results has the sizes where they meet.
extern const Sizes small;
/// Up to these, and with increments of 1, a routine calls its kernel at once: as above, or 0 where
/// calls are logged or a device is named, of exact products, and before the library has been
/// initialized.
extern const Sizes direct;

/// TRINE_BLAS_NUMERICS=exact: products are rounded once. Another word but `reproducible` is told on
/// stderr.
bool is_exact();
/// TRINE_BLAS_DEVICE: `auto` and `cpu` leave small calls to the calling thread; a device that is
/// named otherwise takes every call.
const std::string& device_name();
bool keeps_small();
/// Says once in a process, on stderr, that the device asked for doesn't compute.
void tell_once(const char* why);
/// Where a device failed after it may have changed what the call reads, there is no right result.
[[noreturn]] void end_wrong(const char* why);

/// Runs `on_device(options)` where the call is worth it, and `here()` for the rest: small calls,
/// and those that no device took. `repeats`: whether the call may be run again after it failed
/// half-way.
template <class OnDevice, class Here>
void route(LoggedCall& call, bool is_small, bool repeats, OnDevice on_device, Here here) {
  if (is_small && keeps_small()) [[likely]] {
    call.ran_on("cpu");
    return here();
  }
  Choice choice;  // gets its device when the call begins to write
  try {
    // Without overlap nothing is written before the last copy: a call that lacks memory may go on
    // here.
    on_device(HostOptions{.device = device_name(),
                          .numerics = is_exact() ? Numerics::exact : Numerics::reproducible,
                          .overlap = repeats,
                          .choice = &choice});
    return call.ran_on(choice.device.id());
  } catch (const Error& error) {
    const bool refused = error.status() != Status::backend_error &&
                         error.status() != Status::device_lost &&
                         error.status() != Status::internal;
    if (!refused && !repeats && choice.device) end_wrong(error.what());
    tell_once(error.what());
    call.ran_on("cpu", error.what());
  } catch (const std::bad_alloc&) {
    call.ran_on("cpu", "out of memory");
  } catch (const std::exception& error) {  // nothing else is expected, and nothing may leave a BLAS
    if (!repeats && choice.device) end_wrong(error.what());
    tell_once(error.what());
    call.ran_on("cpu", error.what());
  }
  here();
}

}  // namespace trine::blas
