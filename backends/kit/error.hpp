// Failures inside a backend or a rung pack: the calling thread's sentence for last_error(), an
// exception to carry it up, and the guard that turns every exception into a status at the ABI.
//
//   static trine_status queue_wait(trine_queue* queue) {
//     return kit::guard([&] { …; if (bad) kit::fail(TRINE_BACKEND_ERROR, "cuda:%d: %s", …); });
//   }
#pragma once

#include <cstdarg>
#include <cstdio>
#include <exception>
#include <new>

#include "../abi.h"

namespace trine::kit {

constexpr std::size_t kErrorBytes = 1024;

/// The calling thread's text: fixed memory, so that it works when there is none left.
inline char* error_text() noexcept {
  static thread_local char text[kErrorBytes] = "no error";
  return text;
}

inline const char* last_error() noexcept { return error_text(); }

/// Stores the sentence and gives back the status: return kit::report(TRINE_UNSUPPORTED, "…");
[[gnu::format(printf, 2, 3)]] inline trine_status report(trine_status status, const char* format,
                                                         ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(error_text(), kErrorBytes, format, arguments);
  va_end(arguments);
  return status;
}

/// Thrown by fail(); its sentence already stands in error_text().
struct Failure : std::exception {
  explicit Failure(trine_status reason) noexcept : status(reason) {}
  const char* what() const noexcept override { return error_text(); }
  trine_status status;
};

[[noreturn, gnu::format(printf, 2, 3)]] inline void fail(trine_status status, const char* format,
                                                         ...) {
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(error_text(), kErrorBytes, format, arguments);
  va_end(arguments);
  throw Failure(status);
}

/// Runs body() and returns its status (TRINE_OK when it returns nothing). Nothing is thrown on.
template <class Body>
trine_status guard(Body&& body) noexcept {
  try {
    if constexpr (requires { trine_status(body()); }) {
      return body();
    } else {
      body();
      return TRINE_OK;
    }
  } catch (const Failure& failure) { return failure.status; } catch (const std::bad_alloc&) {
    return report(TRINE_OUT_OF_MEMORY, "host memory is exhausted");
  } catch (const std::exception& error) {
    return report(TRINE_INTERNAL, "a defect of the backend: %s", error.what());
  } catch (...) { return report(TRINE_INTERNAL, "a defect of the backend: an unknown exception"); }
}

}  // namespace trine::kit
