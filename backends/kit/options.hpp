// Lists "key=value,…": the options of a device string, "threads=8", and the parameters of a rung.
#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>

#include "error.hpp"
#include "words.hpp"

namespace trine::kit {

/// One pair of a list, and its two words.
struct Option {
  std::string_view pair, key, value;
};

/// Takes the first pair off a list. Without '=' the key is all of the pair.
inline Option take_option(std::string_view& list) noexcept {
  Option first;
  first.pair = list.substr(0, list.find(','));
  list.remove_prefix(std::min(first.pair.size() + 1, list.size()));
  const std::size_t equals = first.pair.find('=');
  first.key = first.pair.substr(0, equals);
  if (equals != std::string_view::npos) first.value = first.pair.substr(equals + 1);
  return first;
}

/// Why `list` isn't pairs with a comma between each two, each with a key of its own and a value:
/// words that follow the list in a sentence. nullptr where it is.
inline const char* flaw_of(std::string_view list) noexcept {
  if (list.empty() || list.back() == ',') return "ends without a pair";
  for (std::string_view rest = list; !rest.empty();) {
    const auto before = static_cast<std::size_t>(rest.data() - list.data());
    const Option option = take_option(rest);
    if (option.pair.empty()) return "has an empty pair";
    if (option.pair.size() == option.key.size()) return "has a word that is not key=value";
    if (option.key.empty()) return "has a value without a key";
    if (option.value.empty()) return "has a key without a value";
    for (std::string_view earlier = list.substr(0, before); !earlier.empty();)
      if (take_option(earlier).key == option.key) return "has a key twice";
  }
  return nullptr;
}

/// The whole number that `text` ("key=value,…") gives to `key`, else `value`. Refuses any other key
/// (TRINE_NOT_FOUND), and what isn't a list of pairs or no number within the bounds.
inline int64_t integer_option(std::string_view text, std::string_view key, int64_t least,
                              int64_t most, int64_t value) {
  if (text.empty()) return value;
  if (const char* const flaw = flaw_of(text))
    fail(TRINE_INVALID_ARGUMENT, "the list of options '%.*s' %s; it is key=value,…",
         int(text.size()), text.data(), flaw);
  while (!text.empty()) {
    const Option option = take_option(text);
    if (const std::string_view name = option.key; name != key) {
      const std::string_view near = closest(name, &key, &key + 1);
      fail(TRINE_NOT_FOUND, "no device option '%.*s'%s%.*s%s", int(name.size()), name.data(),
           near.empty() ? "" : "; did you mean '", int(near.size()), near.data(),
           near.empty() ? "" : "'?");
    }
    const char* const end = option.value.data() + option.value.size();
    const auto [behind, error] = std::from_chars(option.value.data(), end, value);
    if (error != std::errc{} || behind != end || value < least || value > most)
      fail(TRINE_INVALID_ARGUMENT, "device option %.*s: a whole number from %lld to %lld is needed",
           int(option.pair.size()), option.pair.data(), static_cast<long long>(least),
           static_cast<long long>(most));
  }
  return value;
}

}  // namespace trine::kit
