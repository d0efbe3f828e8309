// The option of a device string, "threads=8", as a backend reads it.
#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>

#include "error.hpp"
#include "words.hpp"

namespace trine::kit {

/// The whole number that `text` ("key=value,…") gives to `key`, else `value`. Refuses any other key
/// (TRINE_NOT_FOUND), and what isn't a list of pairs or no number within the bounds.
inline int64_t integer_option(std::string_view text, std::string_view key, int64_t least,
                              int64_t most, int64_t value) {
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(','));
    text.remove_prefix(word.size() == text.size() ? word.size() : word.size() + 1);
    const auto equals = word.find('=');
    if (equals == std::string_view::npos || equals == 0)
      fail(TRINE_INVALID_ARGUMENT, "device option '%.*s' is not key=value", int(word.size()),
           word.data());
    if (const std::string_view name = word.substr(0, equals); name != key) {
      const std::string_view near = closest(name, &key, &key + 1);
      fail(TRINE_NOT_FOUND, "no device option '%.*s'%s%.*s%s", int(name.size()), name.data(),
           near.empty() ? "" : "; did you mean '", int(near.size()), near.data(),
           near.empty() ? "" : "'?");
    }
    const char* const begin = word.data() + equals + 1;
    const char* const end = word.data() + word.size();
    const auto [behind, error] = std::from_chars(begin, end, value);
    if (error != std::errc{} || behind != end || value < least || value > most)
      fail(TRINE_INVALID_ARGUMENT, "device option %.*s: a whole number from %lld to %lld is needed",
           int(word.size()), word.data(), static_cast<long long>(least),
           static_cast<long long>(most));
  }
  return value;
}

}  // namespace trine::kit
