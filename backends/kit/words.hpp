// The closest match to a misspelled word, by edit distance.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace trine::kit {

/// Insertions, deletions and replacements between two words of at most 63 letters; 64 beyond.
inline std::size_t edit_distance(std::string_view a, std::string_view b) noexcept {
  constexpr std::size_t most = 64;
  if (a.size() >= most || b.size() >= most) return most;
  std::size_t row[most];
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
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
