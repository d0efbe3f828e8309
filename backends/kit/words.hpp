// The closest match to a misspelled word, by edit distance; numbers in digits, whatever the locale;
// a value from a file of the system's; text as a JSON string.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace trine::kit {

/// The number that digits alone make, as parameters of rungs have it. strtoll takes 10 ns of each
/// launch.
constexpr std::int64_t number_of(const char* digits) noexcept {
  std::int64_t number = 0;
  while (*digits != '\0') number = 10 * number + (*digits++ - '0');
  return number;
}

/// A number as std::to_chars writes it: the shortest text that gives it back, or in a format with
/// so many digits. printf and streams ask the program's locale, which may have a comma for the
/// point.
template <class... Format>
std::string number_text(double value, Format... format) {
  char text[384];  // 1e308 has 309 digits
  return {text, std::to_chars(text, text + sizeof text, value, format...).ptr};
}

/// Insertions, deletions, replacements and swaps of neighbours between two words of at most 63
/// letters, capital or small; 64 beyond.
inline std::size_t edit_distance(std::string_view a, std::string_view b) noexcept {
  const auto same = [](char x, char y) {
    const int small = x | 0x20;
    return x == y || ((x ^ y) == 0x20 && small >= 'a' && small <= 'z');
  };
  constexpr std::size_t most = 64;
  if (a.size() >= most || b.size() >= most) return most;
  std::size_t rows[3][most] = {};  // two rows back, for the swaps
  for (std::size_t j = 0; j <= b.size(); ++j) rows[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    const std::size_t* const before = rows[(i + 1) % 3];
    const std::size_t* const above = rows[(i - 1) % 3];
    std::size_t* const row = rows[i % 3];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1])) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
  }
  return rows[a.size() % 3][b.size()];
}

/// The word of [first, last) nearest to `word`, or none when nothing resembles it: at most a third
/// of its letters, rounded up, may differ.
template <class Iterator>
std::string_view closest(std::string_view word, Iterator first, Iterator last) noexcept {
  std::string_view best;
  std::size_t least = (word.size() + 2) / 3 + 1;
  for (; first != last; ++first) {
    const std::size_t distance = edit_distance(word, *first);
    if (distance < least) least = distance, best = *first;
  }
  return best;
}

/// Finds in a file of lines "key: value" the first value of a key that begins with `key`, without
/// the blanks and quotes around it; where none has any, `otherwise`.
inline void line_value(const char* path, std::string_view key, char separator,
                       const char* otherwise, char* text, std::size_t bytes) {
  std::snprintf(text, bytes, "%s", otherwise);
  std::FILE* file = std::fopen(path, "re");
  if (!file) return;
  constexpr const char* around = " \t\"\n";
  for (char line[512]; std::fgets(line, sizeof line, file);) {
    std::string_view value(line);
    const std::size_t at = value.find(separator);
    if (!value.starts_with(key) || at == std::string_view::npos) continue;
    const std::size_t begin = value.find_first_not_of(around, at + 1);
    if (begin == std::string_view::npos) continue;
    value = value.substr(begin, value.find_last_not_of(around) + 1 - begin);
    std::snprintf(text, bytes, "%.*s", static_cast<int>(value.size()), value.data());
    break;
  }
  std::fclose(file);
}

/// Any text as JSON's string; control characters become blanks.
inline std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return out + '"';
}

}  // namespace trine::kit
