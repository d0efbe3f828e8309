// Comparing and digesting host views.
#include "compare.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "bits.hpp"
#include "parallel.hpp"

namespace trine::oracle {
namespace {

constexpr int64_t kGrain = int64_t{1} << 16;

/// The element's bits, one NaN for all.
template <class T>
auto canonical(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    using Bits = typename FloatBits<T>::Bits;
    return is_nan_bits(value) ? FloatBits<T>::kQuietNan : std::bit_cast<Bits>(value);
  } else {
    return value;
  }
}

template <class T>
bool same(T a, T b) {
  return canonical(a) == canonical(b);
}

template <class T>
const char* at(const trine_view& v, int64_t b, int64_t i, int64_t j) {
  return origin(v) + element_offset(v, sizeof(T), b, i, j);
}

void note(Difference& d, uint32_t dtype, int64_t b, int64_t i, int64_t j, const char* expected,
          const char* got) {
  if (d.wrong++ != 0) return;
  d.batch = b, d.row = i, d.col = j;
  d.expected = element_text(dtype, expected);
  d.got = element_text(dtype, got);
}

/// Calls body(difference, b, i, j) over all elements, in parts, and joins what the parts found.
template <class Body>
Difference over(const trine_view& v, Body&& body) {
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, v.cols));
  std::vector<Difference> parts(size_t(parts_of(v.batch * v.rows, grain)));
  parallel(v.batch * v.rows, grain, [&](int64_t part, int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r)
      for (int64_t j = 0; j < v.cols; ++j) body(parts[size_t(part)], r / v.rows, r % v.rows, j);
  });
  Difference all;
  for (const Difference& part : parts) {
    const int64_t wrong = all.wrong + part.wrong;
    if (all.wrong == 0 && part.wrong != 0) all = part;
    all.wrong = wrong;
  }
  all.compared = v.batch * v.rows * v.cols;
  return all;
}

template <class T>
bool within(T expected, T got, double bound) {
  if constexpr (!std::is_floating_point_v<T>) {
    return same(expected, got);
  } else {
    if (same(expected, got) || bound == std::numeric_limits<double>::infinity()) return true;
    if (bound == 0) return expected == got;
    return !(!(std::fabs(double(got) - double(expected)) <= bound));
  }
}

/// Compares by is_right(expected, got, b, i, j).
template <class IsRight>
Difference compare_by(uint32_t dtype, const trine_view& expected, const trine_view& got,
                      IsRight&& is_right) {
  return with_dtype(dtype, [&]<class T>(T) {
    return over(expected, [&](Difference& d, int64_t b, int64_t i, int64_t j) {
      const char *e = at<T>(expected, b, i, j), *g = at<T>(got, b, i, j);
      if (!is_right(load<T>(e), load<T>(g), b, i, j)) note(d, dtype, b, i, j, e, g);
    });
  });
}

inline uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

template <class T>
uint64_t element_digest(T value, uint64_t position) {
  const auto plain = canonical(value);
  const uint64_t salt = (position + 1) * 0x9e3779b97f4a7c15;
  if constexpr (sizeof(T) == 16) {
    uint64_t word[2];
    std::memcpy(word, &plain, sizeof word);
    return mix(mix(word[0] ^ salt) + word[1]);
  } else {
    uint64_t bits = 0;
    std::memcpy(&bits, &plain, sizeof plain);
    return mix(bits ^ salt);
  }
}

}  // namespace

std::string Difference::sentence() const {
  if (none()) return std::to_string(compared) + " equal";
  return std::to_string(wrong) + " of " + std::to_string(compared) + " differ, first at (" +
         std::to_string(batch) + ", " + std::to_string(row) + ", " + std::to_string(col) +
         "): expected " + expected + ", got " + got;
}

Difference compare(uint32_t dtype, const trine_view& expected, const trine_view& got) {
  return compare_by(dtype, expected, got,
                    [](auto e, auto g, int64_t, int64_t, int64_t) { return same(e, g); });
}

Difference compare_within(uint32_t dtype, const trine_view& expected, const trine_view& got,
                          std::span<const double> bounds) {
  if (int64_t(bounds.size()) != expected.batch * expected.rows * expected.cols)
    throw std::invalid_argument("oracle: one bound for each element is needed");
  return compare_by(dtype, expected, got, [&](auto e, auto g, int64_t b, int64_t i, int64_t j) {
    return within(e, g, bounds[size_t((b * expected.rows + i) * expected.cols + j)]);
  });
}

uint64_t digest(uint32_t dtype, const trine_view& v) {
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, v.cols));
  std::vector<uint64_t> parts(size_t(parts_of(v.batch * v.rows, grain)));
  with_dtype(dtype, [&]<class T>(T) {
    parallel(v.batch * v.rows, grain, [&](int64_t part, int64_t begin, int64_t end) {
      uint64_t sum = 0;
      for (int64_t r = begin; r < end; ++r)
        for (int64_t j = 0; j < v.cols; ++j)
          sum += element_digest(load<T>(at<T>(v, r / v.rows, r % v.rows, j)),
                                uint64_t(r * v.cols + j));
      parts[size_t(part)] += sum;
    });
  });
  uint64_t total = uint64_t(v.batch) * 31 + uint64_t(v.rows) * 7 + uint64_t(v.cols);
  for (uint64_t part : parts) total += part;
  return mix(total);
}

std::string element_text(uint32_t dtype, const char* address) {
  return with_dtype(dtype, [&]<class T>(T) -> std::string {
    char text[96];
    const T value = load<T>(address);
    if constexpr (std::is_same_v<T, float>)
      std::snprintf(text, sizeof text, "%s (0x%08x)", digits(double(value), 9).c_str(),
                    std::bit_cast<uint32_t>(value));
    else if constexpr (std::is_same_v<T, double>)
      std::snprintf(text, sizeof text, "%s (0x%016llx)", digits(value, 17).c_str(),
                    static_cast<unsigned long long>(std::bit_cast<uint64_t>(value)));
    else if constexpr (std::is_same_v<T, Bits128>)
      std::snprintf(text, sizeof text, "0x%016llx%016llx",
                    static_cast<unsigned long long>(value.high),
                    static_cast<unsigned long long>(value.low));
    else if constexpr (std::is_signed_v<T>)
      std::snprintf(text, sizeof text, "%lld", static_cast<long long>(value));
    else
      std::snprintf(text, sizeof text, "%llu", static_cast<unsigned long long>(value));
    return text;
  });
}

}  // namespace trine::oracle
