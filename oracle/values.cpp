// Making values: positions in lines (where structured classes put what), random bits for a block of
// positions, and for each class the way from bits to an element.
#include "values.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "backends/lists.h"
#include "bits.hpp"
#include "clones.hpp"
#include "make_values.hpp"
#include "parallel.hpp"

namespace trine::oracle {
namespace {

/// In the order of the enumerators.
// clang-format off
constexpr const char* kNames[] = {
    "uniform",         "wide",          "mixed",           "denormal", "cancel",    "cancel_huge",
    "halfway",         "zeros",         "negative_zeros",  "nan",      "infinity",  "infinities",
    "small",           "ties",          "constant",        "extremes", "underflow", "near_one",
    "cancel_moderate", "cancel_slowly", "cancel_by_turns", "lone",     "late_infinity", "tail",
    "product_ties",    "mirrored",      "inverse",         "graded",   "lone_huge", "brink",
    "drift"};
// clang-format on
constexpr auto kEach = [] {
  std::array<Values, std::size(kNames)> all{};
  for (size_t i = 0; i < all.size(); ++i) all[i] = Values(i);
  return all;
}();
constexpr std::span<const Values> kAll = std::span(kEach).first<size_t(Values::kTail) + 1>();
constexpr std::span<const Values> kProducts = std::span(kEach).subspan<kAll.size()>();
static_assert(kProducts.front() == Values::kProductTies && kProducts.back() == Values::kDrift);

/// The classes with structure along a line.
constexpr Values kWithLines[] = {
    Values::kCancel,       Values::kCancelHuge,    Values::kHalfway,        Values::kNan,
    Values::kInfinity,     Values::kInfinities,    Values::kTies,           Values::kConstant,
    Values::kCancelSlowly, Values::kCancelByTurns, Values::kCancelModerate, Values::kLateInfinity};
bool has_lines(Values v) {
  return is_for_products(v) || std::ranges::find(kWithLines, v) != std::end(kWithLines);
}

// --- Bits to elements without structure ----------------------------------------------------------

template <class T>
T extreme(uint64_t r) {
  using L = std::numeric_limits<T>;
  if constexpr (std::is_floating_point_v<T>) {
    const T one_of[] = {L::max(), L::min(), L::denorm_min(), T(1)};
    const T value = one_of[(r >> 33) & 3];
    return (r & 1) != 0 ? -value : value;
  } else {
    const T one_of[] = {L::max(),        L::min(),        T(0), T(-1),
                        T(L::max() - 1), T(L::min() + 1), T(1), T(2)};
    return one_of[(r >> 33) & 7];
  }
}

template <class T>
T plain_element(Values values, uint64_t r) {
  if constexpr (std::is_floating_point_v<T>) {
    using Bits = typename FloatBits<T>::Bits;
    const T signed_zero = std::bit_cast<T>(Bits(Bits(r) & FloatBits<T>::kSign));
    switch (values) {
      case Values::kWide: return Make<T>::wide(r);
      case Values::kMixed: return Make<T>::mixed(r);
      case Values::kDenormal: return Make<T>::assemble(r, 0);
      case Values::kZeros: return signed_zero;
      case Values::kNegativeZeros: return T(-0.0);
      case Values::kSmall: return T(small_integer(r));
      case Values::kExtremes: return extreme<T>(r);
      case Values::kUnderflow: return Make<T>::underflow(r);
      case Values::kTail:
        if ((r >> 40 & 63) == 0) {
          const T any = Make<T>::wide(r);
          return std::abs(any) < 1 ? any : 1 / any;
        }
        [[fallthrough]];
      case Values::kNearOne: return T(1) + Make<T>::uniform(r) * T(0.0009765625);
      case Values::kLone:
        if ((r >> 40 & 0xffff) == 0) return std::numeric_limits<T>::denorm_min();
        [[fallthrough]];
      default: return Make<T>::uniform(r);
    }
  } else {
    switch (values) {
      case Values::kSmall: return T(small_integer(r));
      case Values::kExtremes: return extreme<T>(r);
      default: return T(r);
    }
  }
}

/// The classes that benchmarks fill with, as loops of their own that vectorize.
template <class T>
inline __attribute__((always_inline)) void plain_block(Values values, const uint64_t* bits,
                                                       T* out) {
  const auto each = [&](auto make) {
    for (int l = 0; l < kPhiloxLanes; ++l) out[l] = make(bits[l]);
  };
  if constexpr (std::is_floating_point_v<T>) {
    if (values == Values::kUniform) return each([](uint64_t r) { return Make<T>::uniform(r); });
    if (values == Values::kWide) return each([](uint64_t r) { return Make<T>::wide(r); });
  }
  if (values == Values::kSmall) return each([](uint64_t r) { return T(small_integer(r)); });
  each([values](uint64_t r) { return plain_element<T>(values, r); });
}

TRINE_ORACLE_CLONES void make_block(Values v, const uint64_t* bits, float* out) {
  plain_block(v, bits, out);
}
TRINE_ORACLE_CLONES void make_block(Values v, const uint64_t* bits, double* out) {
  plain_block(v, bits, out);
}
template <class T>
void make_block(Values v, const uint64_t* bits, T* out) {
  plain_block(v, bits, out);
}
void make_block(Values v, const uint64_t* bits, Bits128* out) {
  for (int l = 0; l < kPhiloxLanes; ++l)
    out[l] = {bits[l], (bits[l] ^ uint64_t(v)) * 0x9e3779b97f4a7c15};
}

// --- Elements of structured lines ----------------------------------------------------------------

template <class T>
struct Structured {
  const Fill& how;
  Place at;
  uint64_t hash = line_hash(how.seed, at.line);
  uint64_t random(int64_t position) const { return element_bits(how.seed, at, position); }

  T magnitude(uint64_t r, int64_t p, int64_t half) const {
    constexpr int64_t kSlowest = sizeof(T) == 4 ? 100 : 300, kBias = sizeof(T) == 4 ? 127 : 1023;
    switch (how.values) {
      case Values::kCancelHuge: return Make<T>::huge(r);
      case Values::kCancelModerate: return Make<T>::moderate(r);
      case Values::kCancelSlowly:
        return Make<T>::assemble(r, uint32_t(kBias + kSlowest - 2 * kSlowest * p / half));
      case Values::kCancelByTurns:
        return Make<T>::assemble(r, uint32_t(kBias + (p >> (p >> 8) % 8 & 1 ? -1 : 1) * kSlowest));
      default: return Make<T>::wide(r);
    }
  }

  /// Position p of `length`: a random value in the first half, its partner's negative in the
  /// second, a few denormals in the middle of an odd line.
  T cancelling(int64_t p, int64_t length) const {
    const int64_t partner = length - 1 - p;
    const uint64_t r = random(std::min(p, partner));
    if (p == partner) return std::numeric_limits<T>::denorm_min() * T(r % 3);
    const T value = magnitude(r, std::min(p, partner), length / 2);
    return p < partner ? value : -value;
  }

  /// A number, half of its last place, and the smallest denormal times -1, 0 or 1; all other
  /// elements cancel.
  T halfway() const {
    const int64_t p = (at.position + int64_t(hash % uint64_t(at.length))) % at.length;
    if (at.length < 3) return Make<T>::uniform(random(p));
    using Bits = typename FloatBits<T>::Bits;
    const Bits number = (Bits(hash >> 3) & FloatBits<T>::kMantissaMask) | std::bit_cast<Bits>(T(1));
    const T sign = (hash & 4) != 0 ? T(-1) : T(1);
    if (p == 0) return sign * std::bit_cast<T>(number);
    if (p == 1) return sign * std::numeric_limits<T>::epsilon() / 2;
    if (p == 2) return std::numeric_limits<T>::denorm_min() * T(int(hash >> 60) % 3 - 1);
    return cancelling(p - 3, at.length - 3);
  }

  /// Whether this position holds the line's special value number `which`; a line in four has none.
  bool is_special(uint64_t which) const {
    if (how.axis != TRINE_ALL && (hash >> 62) == 0) return false;
    const uint64_t place = which == 0 ? hash : hash / 3 + uint64_t(at.length) / 2;
    return uint64_t(at.position) == (place & 0xffffffffffff) % uint64_t(at.length);
  }

  T special() const {
    using F = FloatBits<T>;
    const T uniform = Make<T>::uniform(random(at.position));
    const typename F::Bits sign = (hash >> 61 & 1) != 0 ? F::kSign : 0;
    if (!is_special(0) && !is_special(1)) return uniform;
    const bool second = !is_special(0);
    if (how.values == Values::kNan) {
      const uint64_t r = random(at.position);
      return std::bit_cast<T>(
          typename F::Bits((r & (F::kMantissaMask | F::kSign)) | F::kExponentMask | 1));
    }
    const bool flip = second && how.values == Values::kInfinities;
    return std::bit_cast<T>(typename F::Bits(F::kExponentMask | (flip ? sign ^ F::kSign : sign)));
  }

  T tie() const {
    const uint64_t r = random(at.position) >> 40;
    if constexpr (std::is_floating_point_v<T>) {
      const T one_of[] = {T(0.0), T(-0.0), T(-1), T(1)};
      return one_of[(hash & 1) != 0 ? r & 1 : r & 3];
    } else {
      const T one_of[] = {T(0), T(-1), T(1), T(7)};
      return one_of[(hash & 1) != 0 ? r & 1 : r & 3];
    }
  }

  T element() const {
    if (how.values == Values::kTies) return tie();
    if (how.values == Values::kConstant) return plain_element<T>(Values::kUniform, hash);
    if constexpr (std::is_floating_point_v<T>) {
      if (is_for_products(how.values)) return product_element<T>(how, at);
      switch (how.values) {
        case Values::kCancel:
        case Values::kCancelHuge:
        case Values::kCancelModerate:
        case Values::kCancelSlowly:
        case Values::kCancelByTurns: return cancelling(at.position, at.length);
        case Values::kHalfway: return halfway();
        case Values::kLateInfinity:
          return at.position == at.length / 8 * 7
                     ? std::copysign(std::numeric_limits<T>::infinity(), hash & 1 ? T(-1) : T(1))
                     : Make<T>::wide(random(at.position));
        default: return special();
      }
    } else {
      return plain_element<T>(Values::kUniform, random(at.position));
    }
  }
};

template <>
struct Structured<Bits128> {
  const Fill& how;
  Place at;
  Bits128 element() const {
    const uint64_t r = philox_bits(how.seed, uint64_t(at.line * at.length + at.position));
    return {r, ~r * 0x9e3779b97f4a7c15};
  }
};

// --- Over a view ---------------------------------------------------------------------------------

/// The extents that need filling: 1 along a stride of 0.
struct Extents {
  int64_t batch, rows, cols;
  explicit Extents(const trine_view& v)
      : batch(v.batch_stride == 0 ? std::min<int64_t>(v.batch, 1) : v.batch),
        rows(v.row_stride == 0 ? std::min<int64_t>(v.rows, 1) : v.rows),
        cols(v.col_stride == 0 ? std::min<int64_t>(v.cols, 1) : v.cols) {}
};

Place place_of(uint32_t axis, const Extents& e, int64_t b, int64_t i, int64_t j) {
  if (axis == TRINE_EACH_ROW) return {b * e.rows + i, j, e.cols};
  if (axis == TRINE_EACH_COLUMN) return {b * e.cols + j, i, e.rows};
  return {b, i * e.cols + j, e.rows * e.cols};
}

template <class T>
void fill_structured_row(const Fill& how, const trine_view& v, const Extents& e, int64_t b,
                         int64_t i) {
  for (int64_t j = 0; j < e.cols; ++j)
    store(origin(v) + element_offset(v, sizeof(T), b, i, j),
          Structured<T>{how, place_of(how.axis, e, b, i, j)}.element());
}

/// Overlapping views are filled in order: the last to write an element has it.
int64_t grain_of(const trine_view& v, const Extents& e, int64_t grain) {
  const int64_t reach = (e.batch - 1) * v.batch_stride + (e.rows - 1) * v.row_stride +
                        (e.cols - 1) * v.col_stride + 1;
  return reach < e.batch * e.rows * e.cols ? e.batch * e.rows * e.cols : grain;
}

/// Writes elements [first, first + count) of the view's logical order to their places, by runs
/// within a row. Blocks of random bits don't depend on the length of rows.
template <class T>
void scatter(const trine_view& v, const Extents& e, int64_t first, int64_t count, const T* block) {
  const int64_t pitch = v.col_stride * int64_t(sizeof(T));
  int64_t row = first / e.cols, j = first % e.cols;
  for (int64_t done = 0; done < count; ++row, j = 0) {
    const int64_t run = std::min(count - done, e.cols - j);
    char* target = origin(v) + element_offset(v, sizeof(T), row / e.rows, row % e.rows, j);
    if (pitch == int64_t(sizeof(T))) {
      std::memcpy(target, block + done, size_t(run) * sizeof(T));
    } else {
      for (int64_t l = 0; l < run; ++l) store(target + l * pitch, block[done + l]);
    }
    done += run;
  }
}

template <class T>
void fill_plain_part(const Fill& how, const trine_view& v, const Extents& e, int64_t begin,
                     int64_t end) {
  uint64_t counters[kPhiloxLanes], bits[kPhiloxLanes];
  T block[kPhiloxLanes];
  for (int64_t first = begin; first < end; first += kPhiloxLanes) {
    for (int l = 0; l < kPhiloxLanes; ++l) counters[l] = uint64_t(first + l);
    philox_lanes(how.seed, counters, bits);
    make_block(how.values, bits, block);
    scatter(v, e, first, std::min<int64_t>(kPhiloxLanes, end - first), block);
  }
}

template <class T>
void fill_plain(const Fill& how, const trine_view& v, const Extents& e) {
  constexpr int64_t kGrain = int64_t{1} << 18;
  // A vector, and a matrix without gaps, are one long row.
  trine_view line = v;
  Extents extents = e;
  if (e.rows > 1 && (e.cols == 1 || v.row_stride == e.cols * v.col_stride)) {
    line.col_stride = e.cols == 1 ? v.row_stride : v.col_stride;
    extents.cols *= e.rows;
    extents.rows = 1;
  }
  parallel(e.batch * e.rows * e.cols, grain_of(v, e, kGrain),
           [&](int64_t, int64_t begin, int64_t end) {
             fill_plain_part<T>(how, line, extents, begin, end);
           });
}

}  // namespace

std::span<const Values> all_values() { return kAll; }
std::span<const Values> product_values() { return kProducts; }

const char* name_of(Values values) { return kNames[size_t(values)]; }

Values values_named(std::string_view name) {
  std::string list;
  for (Values v : kEach) {
    if (name == name_of(v)) return v;
    list += list.empty() ? name_of(v) : std::string(", ") + name_of(v);
  }
  throw std::invalid_argument("unknown value class '" + std::string(name) + "'; there are " + list);
}

bool suits(Values values, uint32_t dtype) {
  if (dtype == TRINE_F32 || dtype == TRINE_F64) return true;
  switch (values) {
    case Values::kUniform: return true;
    case Values::kSmall:
    case Values::kTies:
    case Values::kConstant:
    case Values::kExtremes:
      return dtype == TRINE_I32 || dtype == TRINE_I64 || dtype == TRINE_U32 || dtype == TRINE_U64;
    default: return false;
  }
}

const char* dtype_name(uint32_t dtype) {
  constexpr const char* kDtypes[] = {TRINE_DTYPES(TRINE_WORD)};
  return word_of(kDtypes, dtype);
}

void fill(const Fill& how, uint32_t dtype, const trine_view& view) {
  const Extents e(view);
  if (e.batch < 1 || e.rows < 1 || e.cols < 1) return;
  with_dtype(dtype, [&]<class T>(T) {
    if (!has_lines(how.values)) return fill_plain<T>(how, view, e);
    parallel(e.batch * e.rows, grain_of(view, e, 1 + 4096 / e.cols),
             [&](int64_t, int64_t begin, int64_t end) {
               for (int64_t r = begin; r < end; ++r)
                 fill_structured_row<T>(how, view, e, r / e.rows, r % e.rows);
             });
  });
}

void fill_line(const Fill& how, uint32_t dtype, int64_t count, void* memory) {
  fill(how, dtype, {memory, 0, 1, count, 1, count, 1, 0});
}

}  // namespace trine::oracle
