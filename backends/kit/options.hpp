// The options of a device string, "threads=8,spin=no", as a backend reads them:
//
//   kit::Options options(text);
//   int threads = options.integer("threads", 1, 4096, all);   // default when it isn't given
//   options.finish();                                          // refuses what nobody asked for
#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>

#include "error.hpp"
#include "words.hpp"

namespace trine::kit {

class Options {
 public:
  /// Refuses (TRINE_INVALID_ARGUMENT) what isn't key=value,key=value.
  explicit Options(std::string_view text) {
    while (!text.empty()) {
      const auto comma = text.find(',');
      const std::string_view word = text.substr(0, comma);
      text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
      const auto equals = word.find('=');
      if (equals == std::string_view::npos || equals == 0 || count_ == kMost) {
        fail(TRINE_INVALID_ARGUMENT, "device option '%.*s' is not key=value", int(word.size()),
             word.data());
      }
      pairs_[count_++] = {word.substr(0, equals), word.substr(equals + 1), false};
    }
  }

  std::string_view text(std::string_view key, std::string_view otherwise) {
    known(key);
    for (int i = 0; i < count_; ++i) {
      if (pairs_[i].key != key) continue;
      pairs_[i].taken = true;
      otherwise = pairs_[i].value;
    }
    return otherwise;
  }

  int64_t integer(std::string_view key, int64_t least, int64_t most, int64_t otherwise) {
    const std::string_view word = text(key, {});
    if (word.data() == nullptr) return otherwise;
    int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size() || value < least || value > most) {
      fail(TRINE_INVALID_ARGUMENT,
           "device option %.*s=%.*s: a whole number from %lld to %lld is needed", int(key.size()),
           key.data(), int(word.size()), word.data(), static_cast<long long>(least),
           static_cast<long long>(most));
    }
    return value;
  }

  /// Refuses options that no call above asked for.
  void finish() const {
    for (int i = 0; i < count_; ++i) {
      if (pairs_[i].taken) continue;
      const std::string_view near = closest(pairs_[i].key, known_, known_ + known_count_);
      fail(TRINE_NOT_FOUND, "no device option '%.*s'%s%.*s%s", int(pairs_[i].key.size()),
           pairs_[i].key.data(), near.empty() ? "" : "; did you mean '", int(near.size()),
           near.data(), near.empty() ? "" : "'?");
    }
  }

 private:
  struct Pair {
    std::string_view key, value;
    bool taken = false;
  };
  void known(std::string_view key) {
    if (known_count_ < kMost) known_[known_count_++] = key;
  }

  static constexpr int kMost = 16;
  Pair pairs_[kMost];
  std::string_view known_[kMost];
  int count_ = 0, known_count_ = 0;
};

}  // namespace trine::kit
