// The closest match to a misspelled word, by edit distance.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace trine::kit {

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

}  // namespace trine::kit
