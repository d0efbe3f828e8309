// The tests share these: where they run, data that is the same on every rank, and how it is dealt
// out.
#pragma once

#include <trine/mpi.hpp>

#include <atomic>
#include <bit>
#include <limits>
#include <string>
#include <vector>

namespace trine::mpi::detail {
// mpi/src/call.hpp: the seams that cut early, and make steps and messages short
extern std::atomic<int64_t> chunk_bytes, message_bytes;
}  // namespace trine::mpi::detail

namespace ranks {

inline constexpr trine::Function kFunctions[] = {trine::Function::sum,    trine::Function::prod,
                                                 trine::Function::min,    trine::Function::max,
                                                 trine::Function::argmin, trine::Function::argmax};

inline int rank() {
  int value = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &value);
  return value;
}
inline int size() {
  int value = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &value);
  return value;
}

/// Whether all ranks say so; for what one of them found.
inline bool all(bool mine) {
  int value = mine ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return value != 0;
}
/// Whether a text is the same on all ranks.
inline bool same_on_all(const std::string& text) {
  std::vector<char> first(1 << 14);
  text.copy(first.data(), first.size() - 1);
  MPI_Bcast(first.data(), int(first.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
  return all(text == first.data());
}

/// Calls whose results on all ranks were compared with one device's, bit by bit; main.cpp and
/// cases.sh count them.
inline int cases = 0;

/// The devices beside the cpu that all ranks have.
inline std::vector<std::string> other_devices() {
  std::vector<std::string> found;
  for (const char* const name : {"opencl:0", "cuda:0"}) {
    bool is_here = true;
    try {
      trine::open(name);
    } catch (const trine::Error&) { is_here = false; }
    if (all(is_here)) found.emplace_back(name);
  }
  return found;
}
/// The devices of a job: one for all, or a mixture by rank. Those that aren't here are left out.
inline std::vector<std::vector<std::string>> jobs() {
  std::vector<std::vector<std::string>> found = {{"cpu"}};
  for (const std::string& device : other_devices())
    found.insert(found.end(), {{device}, {"cpu", device, "auto"}});
  return found;
}
inline const std::string& device_of(const std::vector<std::string>& job) {
  return job[size_t(rank()) % job.size()];
}

/// SplitMix64 (Steele, Lea, Flood 2014): the number at a place of a stream.
inline uint64_t random_at(uint64_t seed, uint64_t place) {
  uint64_t z = seed * 0xD1342543DE82EF95 + (place + 1) * 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

/// Kinds of values: of like size; of all exponents, in pairs that cancel; the smallest; with
/// special ones.
enum class Values { like, cancelling, denormal, minus_zero, infinite, with_nan };
#ifdef __SANITIZE_ADDRESS__  // which sees the same code at any values, and slows each call
inline constexpr bool kIsSanitized = true;
inline constexpr Values kAllValues[] = {Values::like};
#else
inline constexpr bool kIsSanitized = false;
inline constexpr Values kAllValues[] = {Values::like,       Values::cancelling, Values::denormal,
                                        Values::minus_zero, Values::infinite,   Values::with_nan};
#endif

template <class T>
T value_at(Values values, uint64_t seed, uint64_t place) {
  const uint64_t bits = random_at(seed, place);
  if constexpr (std::is_floating_point_v<T>) {
    using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    using L = std::numeric_limits<T>;
    const T like = T(int64_t(bits) >> 11) / T(1ull << 50);
    switch (values) {
      case Values::minus_zero: return T(-0.0);
      case Values::denormal: return like * L::min() / T(1 << 20);
      case Values::infinite: return place == 5 ? -L::infinity() : like;
      case Values::with_nan: return place == 7 ? L::quiet_NaN() : like;
      case Values::cancelling: {
        T any = std::bit_cast<T>(Bits(random_at(seed, place / 2)));
        if (!(any - any == 0)) any = T(1.5);
        return place % 2 == 0 ? any : -any + (bits % 8 == 0 ? L::min() : 0);
      }
      case Values::like: break;
    }
    return like;
  } else {
    return values == Values::minus_zero ? T(0) : values == Values::like ? T(bits % 100) : T(bits);
  }
}

template <class T>
std::vector<T> make(Values values, uint64_t seed, int64_t length) {
  std::vector<T> made(static_cast<size_t>(length));
  for (size_t i = 0; i < made.size(); ++i) made[i] = value_at<T>(values, seed, i);
  return made;
}

/// How an array is dealt out: equal blocks; blocks of any length; all to every third rank; each
/// element to any rank, in any order.
enum class Deal { even, ragged, some_empty, permuted };
inline constexpr Deal kAllDeals[] = {Deal::even, Deal::ragged, Deal::some_empty, Deal::permuted};

inline int owner(Deal deal, int64_t place, int64_t length, int ranks) {
  switch (deal) {
    case Deal::ragged: return int(place * place / length * ranks / length);
    case Deal::some_empty: return int(place * ranks / length) / 3 * 3;
    case Deal::permuted: return int(random_at(99, uint64_t(place)) % uint64_t(ranks));
    case Deal::even: break;
  }
  return int(place * ranks / length);
}
template <class T>
std::vector<T> part(const std::vector<T>& whole, Deal deal) {
  const auto length = int64_t(whole.size());
  const int me = rank(), ranks = size();
  std::vector<T> mine;
  for (int64_t i = 0; i < length; ++i) {
    const int64_t place = deal == Deal::permuted ? length - 1 - i : i;
    if (owner(deal, place, length, ranks) == me) mine.push_back(whole[size_t(place)]);
  }
  return mine;
}

/// Bits, to be compared; of a NaN they aren't promised.
template <class T>
uint64_t bits_of(T value) {
  if (value != value) return ~0ull;
  if constexpr (sizeof(T) == 4)
    return std::bit_cast<uint32_t>(value);
  else
    return std::bit_cast<uint64_t>(value);
}

}  // namespace ranks
