// hash_block() for one instruction set.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>

#include "hash.hpp"

namespace trine::detail {
namespace {

template <class Word>
constexpr Word kInfinity = sizeof(Word) == 4 ? Word(0x7f800000) : Word(0x7ff0000000000000);
template <class Word>
constexpr Word kMagnitude = static_cast<Word>(~Word(0)) >> 1;
/// The value that every NaN counts as.
template <class Word>
constexpr Word kNaN = kInfinity<Word> | (kInfinity<Word> ^ kInfinity<Word> << 1) >> 1;

template <class Word>
Word word_at(const char* data, std::size_t i) {
  Word word;
  std::memcpy(&word, data + i * sizeof word, sizeof word);
  return word;
}

template <class Word>
bool has_nan(const char* data, std::size_t bytes) {
  constexpr std::size_t kStep = 128 / sizeof(Word);
  Word found[kStep] = {};  // their highest bits
  std::size_t i = 0;
  for (; i + kStep <= bytes / sizeof(Word); i += kStep)
    for (std::size_t j = 0; j < kStep; ++j)
      found[j] |= kInfinity<Word> - (word_at<Word>(data, i + j) & kMagnitude<Word>);
  for (; i < bytes / sizeof(Word); ++i)
    found[0] |= kInfinity<Word> - (word_at<Word>(data, i) & kMagnitude<Word>);
  for (std::size_t j = 1; j < kStep; ++j) found[0] |= found[j];
  return found[0] > kMagnitude<Word>;
}

Hash canonical(XXH128_hash_t hash) {
  XXH128_canonical_t bytes;
  XXH128_canonicalFromHash(&bytes, hash);
  Hash out;
  std::memcpy(out.data(), bytes.digest, out.size());
  return out;
}

/// The hash of a copy in which all NaNs are one.
template <class Word>
Hash without_nans(const char* data, std::size_t bytes) {
  XXH3_state_t state;
  XXH3_128bits_reset(&state);
  Word part[512] = {};
  for (std::size_t at = 0; at < bytes; at += sizeof part) {
    const std::size_t size = bytes - at < sizeof part ? bytes - at : sizeof part;
    std::memcpy(part, data + at, size);
    for (Word& word : part)
      if ((word & kMagnitude<Word>) > kInfinity<Word>) word = kNaN<Word>;
    XXH3_128bits_update(&state, part, size);
  }
  return canonical(XXH3_128bits_digest(&state));
}

Hash block_hash(const void* data, std::size_t bytes, Counted as) {
  const auto* const from = static_cast<const char*>(data);
  if (as == Counted::f32 && has_nan<uint32_t>(from, bytes))
    return without_nans<uint32_t>(from, bytes);
  if (as == Counted::f64 && has_nan<uint64_t>(from, bytes))
    return without_nans<uint64_t>(from, bytes);
  return canonical(XXH3_128bits(data, bytes));
}

}  // namespace
}  // namespace trine::detail
