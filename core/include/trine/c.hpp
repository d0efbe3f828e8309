/// The C API's values as those of C++, and errors as its statuses: for a library over Trine that
/// has C functions of its own, as trine_mpi has. Thread safety: any number of calls at a time.
#pragma once

#include <trine/trine.h>
#include <trine/trine.hpp>

#include <memory>

namespace trine::detail {
struct KeptOptions;
}

namespace trine::c_api {

/// The value that a handle holds; an empty one for NULL.
TRINE_API Queue value_of(const trine_queue_t* handle);

/// A view of C; its buffer, which may be NULL, is held from here on.
TRINE_API View view_of(const trine_view_t& view);
TRINE_API HostView view_of(const trine_host_view_t& view);

/// The status of the exception that is being handled; its sentence becomes that of
/// trine_last_error() in this thread. So a function of C ends: catch (...) { return failed(); }
TRINE_API trine_status failed() noexcept;

/// The options of a call on host data.
class TRINE_API Options {
 public:
  /// - given: as C has them, or NULL for the defaults. They, their texts and the places that they
  ///   name stay until the call has ended.
  /// Throws Error (invalid_argument, unsupported) for a struct that no version has.
  explicit Options(const trine_options_t* given);
  ~Options();
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;

  /// The same for C++. Results that the caller asked for go to this object at first.
  const HostOptions& host() const noexcept;
  /// After the call: hands the caller its results. Throws std::bad_alloc; then nothing is
  /// in flight.
  void deliver();

 private:
  std::unique_ptr<detail::KeptOptions> kept_;
};

}  // namespace trine::c_api
