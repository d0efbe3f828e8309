// How core fails: one exception type, sentences put together from words.
#pragma once

#include <pthread.h>
#include <trine/types.hpp>

#include <new>
#include <string>
#include <string_view>

#include "backends/kit/fork.hpp"
#include "backends/kit/words.hpp"

namespace trine::detail {

inline void append(std::string& text, std::string_view word) { text += word; }
inline void append(std::string& text, const char* word) { text += word; }
template <class Number>
requires std::is_integral_v<Number>  // kit::number_text() for others: std::to_string asks the
                                     // locale
void append(std::string& text, Number word) { text += std::to_string(word); }

/// "rows is " + 3 + "…": one string of all words.
template <class... Words>
std::string cat(const Words&... words) {
  std::string text;
  (append(text, words), ...);
  return text;
}

/// "a, b, c" of words or numbers; "none" of none.
template <class Words>
std::string join(const Words& words, const char* between = ", ") {
  std::string text;
  for (const auto& word : words) append(text, cat(text.empty() ? "" : between, word));
  return text.empty() ? "none" : text;
}

/// " Did you mean 'sequential'?", or nothing where none of the words resembles it.
template <class Words>
std::string suggest(std::string_view word, const Words& words) {
  const std::string_view near = kit::closest(word, std::begin(words), std::end(words));
  return near.empty() ? "" : cat(" Did you mean '", near, "'?");
}

using kit::singleton;

/// "123 us", "4.5 ms", "6.7 s".
std::string time_text(double seconds);

/// out_of_memory, for which no memory is needed.
[[noreturn]] void fail_without_memory();

template <class... Words>
[[noreturn]] void fail(Status status, const Words&... words) {
  try {
    throw Error(status, cat(words...));
  } catch (const std::bad_alloc&) { fail_without_memory(); }
}

template <class... Words>
[[noreturn]] void refuse(const Words&... words) {
  fail(Status::invalid_argument, words...);
}

/// A thread that is cancelled inside a driver would be unwound through code that isn't made for it
/// and leaves locks held. So it is cancelled later, at the program's next cancellation point.
class Uncancelled {
 public:
  Uncancelled() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~Uncancelled() { pthread_setcancelstate(before_, nullptr); }
  Uncancelled(const Uncancelled&) = delete;
  Uncancelled& operator=(const Uncancelled&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

/// Runs a public function's body: Error is the one exception that leaves it.
template <class Body>
decltype(auto) entry(Body&& body) {
  const Uncancelled uncancelled;
  try {
    return body();
  } catch (const std::bad_alloc&) { fail_without_memory(); }
}

}  // namespace trine::detail
