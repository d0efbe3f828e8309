// TRINE_BLAS_LOG=FILE: the calls by routine, shape, device and reason, as lines of JSON
// (docs/blas.md describes the fields); TRINE_BLAS_LOG_CALLS=1: each call. `trine why --trace FILE`
// reads both.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace trine::blas {

/// The names of names.def that go to the next BLAS (next.cpp).
const char* forwarded_name(unsigned index);
unsigned forwarded_count();

/// Calls gather in memory and go to the file in whole lines, by one write each time, so that
/// processes that share the file don't cut each other's lines: every few seconds, when there are
/// too many of them, and at exit.
class Log {
 public:
  static bool is_on() { return on_; }
  static void count_forwarded(unsigned index);
  /// Writes what is in memory, and how often each name was forwarded.
  static void finish() noexcept;

 private:
  static bool start();
  static const bool on_;
};

/// A number of a call's shape: {"m", 100}.
struct Extent {
  const char* name = nullptr;
  int64_t value = 0;
};
/// A call while it runs, written when it ends. Costs a test of a flag where there is no log.
class LoggedCall {
 public:
  LoggedCall(const char* routine, std::initializer_list<Extent> shape) {
    if (Log::is_on()) [[unlikely]]
      record_ = begin(routine, shape);
  }
  ~LoggedCall() {
    if (record_) [[unlikely]]
      end();
  }
  LoggedCall(const LoggedCall&) = delete;
  LoggedCall& operator=(const LoggedCall&) = delete;
  /// The device that computed; `why`: the reason why another than the one asked for did.
  void ran_on(std::string_view device, std::string_view why = {}) {
    if (record_) [[unlikely]]
      note(device, why);
  }

 private:
  struct Record;
  static Record* begin(const char* routine, std::initializer_list<Extent> shape);
  void note(std::string_view device, std::string_view why);
  void end();

  Record* record_ = nullptr;
};

}  // namespace trine::blas
