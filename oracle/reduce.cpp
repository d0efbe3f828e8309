// The reference of reduce. A "line" has the elements of one result: the whole view, a row or a
// column.
#include "reduce.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "bits.hpp"
#include "exact_sum.hpp"
#include "parallel.hpp"

namespace trine::oracle {
namespace {

constexpr int64_t kGrain = int64_t{1} << 16;

/// The places of a line's elements; strides are in bytes.
struct Lie {
  const char* first;
  int64_t row_pitch, col_pitch;
};

/// Strided elements in logical row-major order, and the factor of each in a sum of products: the
/// element of the second input, or the element itself.
struct Line : Lie {
  int64_t rows, cols;
  Lie second;
  int64_t size() const { return rows * cols; }
};

Lie lie_of(const trine_reduce& op, const trine_view& v, int64_t index) {
  const int64_t size = trine_dtype_size(op.dtype);
  const int64_t row = v.row_stride * size, col = v.col_stride * size;
  switch (op.axis) {
    case TRINE_EACH_ROW: return {origin(v) + index * row, 0, col};
    case TRINE_EACH_COLUMN: return {origin(v) + index * col, 0, row};
    default: return {origin(v), row, col};
  }
}

Line line_of(const trine_reduce& op, int64_t index) {
  const trine_view& v = op.input;
  const int64_t rows = op.axis == TRINE_ALL ? v.rows : 1;
  const int64_t cols = op.axis == TRINE_EACH_COLUMN ? v.rows : v.cols;
  return {lie_of(op, v, index), rows, cols,
          lie_of(op, op.map == TRINE_PRODUCT ? op.second : v, index)};
}

template <class T, class Visit>
void for_each(const Line& line, int64_t row_begin, int64_t row_end, Visit&& visit) {
  for (int64_t i = row_begin; i < row_end; ++i) {
    const char* p = line.first + i * line.row_pitch;
    for (int64_t j = 0; j < line.cols; ++j, p += line.col_pitch) visit(load<T>(p));
  }
}

/// The same with both factors of a product.
template <class T, class Visit>
void for_each_pair(const Line& line, int64_t row_begin, int64_t row_end, Visit&& visit) {
  const Lie& other = line.second;
  for (int64_t i = row_begin; i < row_end; ++i) {
    const char *p = line.first + i * line.row_pitch, *q = other.first + i * other.row_pitch;
    for (int64_t j = 0; j < line.cols; ++j, p += line.col_pitch, q += other.col_pitch)
      visit(load<T>(p), load<T>(q));
  }
}

/// A line without the repetitions of strides of 0, and how often it counts. That suffices for sums.
struct Broadcast {
  Line line;
  uint64_t times;
};

Broadcast collapse(Line line) {
  uint64_t times = 1;
  const bool same_rows = line.row_pitch == 0 && line.second.row_pitch == 0;
  const bool same_cols = line.col_pitch == 0 && line.second.col_pitch == 0;
  if (line.rows > 1 && same_rows) times *= uint64_t(line.rows), line.rows = 1;
  if (line.cols > 1 && same_cols) times *= uint64_t(line.cols), line.cols = 1;
  return {line, times};
}

// --- Maps ---------------------------------------------------------------------------------------

bool is_product(uint32_t map) { return map == TRINE_SQUARE || map == TRINE_PRODUCT; }

template <class T>
T absolute(T value) {
  using F = FloatBits<T>;
  return std::bit_cast<T>(std::bit_cast<typename F::Bits>(value) & ~F::kSign);
}

/// An integer element, mapped, modulo 2^64.
template <class T>
uint64_t mapped_integer(T value, uint32_t map) {
  const auto wide = static_cast<uint64_t>(
      static_cast<std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>(value));
  if (map == TRINE_SQUARE) return wide * wide;
  if (map == TRINE_ABS && std::is_signed_v<T> && value < 0) return 0 - wide;
  return wide;
}

// --- Sum ----------------------------------------------------------------------------------------

template <class T>
void add_rows(ExactSum& sum, const Line& line, uint32_t map, int64_t begin, int64_t end) {
  if (is_product(map))
    return for_each_pair<T>(line, begin, end, [&](T x, T y) { sum.add_product(x, y); });
  for_each<T>(line, begin, end, [&](T x) { sum.add(map == TRINE_ABS ? absolute(x) : x); });
}

/// One result's sum by all threads: a single long row is cut by columns, a matrix by rows.
template <class T>
void add_in_parts(ExactSum& sum, const Line& line, uint32_t map) {
  const bool by_columns = line.rows == 1;
  const int64_t count = by_columns ? line.cols : line.rows;
  const int64_t grain =
      std::max<int64_t>(1, by_columns ? kGrain : kGrain / std::max<int64_t>(1, line.cols));
  std::vector<ExactSum> parts(size_t(parts_of(count, grain)));
  parallel(count, grain, [&](int64_t part, int64_t begin, int64_t end) {
    Line piece = line;
    if (by_columns) {
      piece.first += begin * line.col_pitch, piece.cols = end - begin;
      piece.second.first += begin * line.second.col_pitch;
    }
    add_rows<T>(parts[size_t(part)], piece, map, by_columns ? 0 : begin, by_columns ? 1 : end);
  });
  for (const ExactSum& part : parts) sum.merge(part);
}

template <class T>
ExactSum exact_sum(const Line& whole, uint32_t map, bool threads) {
  const auto [line, times] = collapse(whole);
  ExactSum sum;
  threads ? add_in_parts<T>(sum, line, map) : add_rows<T>(sum, line, map, 0, line.rows);
  sum.multiply(times);
  return sum;
}

template <class T>
uint64_t integer_sum(const Line& whole, uint32_t map) {
  const auto [line, times] = collapse(whole);
  uint64_t sum = 0;
  for_each<T>(line, 0, line.rows, [&](T x) { sum += mapped_integer(x, map); });
  return sum * times;
}

// --- Product ------------------------------------------------------------------------------------

/// The fixed tree, split at the largest power of two below n: like a binary counter, finished
/// subtrees of equal size merge as elements arrive; what is left folds from the smallest up.
template <class T>
class ProductTree {
 public:
  void add(T value) {
    for (uint64_t n = count_++; (n & 1) != 0; n >>= 1) value = stack_[--depth_] * value;
    stack_[depth_++] = value;
  }
  T result() const {
    if (depth_ == 0) return T(1);
    T value = stack_[depth_ - 1];
    for (int d = depth_ - 2; d >= 0; --d) value = stack_[d] * value;
    return value;
  }

 private:
  T stack_[64];
  int depth_ = 0;
  uint64_t count_ = 0;
};

template <class T>
T float_product(const Line& line, uint32_t map) {
  ProductTree<T> tree;
  for_each<T>(line, 0, line.rows, [&](T x) { tree.add(map == TRINE_ABS ? absolute(x) : x); });
  return tree.result();
}

template <class T>
uint64_t integer_product(const Line& line, uint32_t map) {
  uint64_t value = 1;
  for_each<T>(line, 0, line.rows, [&](T x) { value *= mapped_integer(x, map); });
  return value;
}

// --- Minima and maxima ---------------------------------------------------------------------------

/// A key whose unsigned order is the design's order of mapped values (-0 < +0).
template <class T>
uint64_t order_key(T value, uint32_t map) {
  if constexpr (std::is_floating_point_v<T>) {
    using F = FloatBits<T>;
    const auto bits = std::bit_cast<typename F::Bits>(map == TRINE_ABS ? absolute(value) : value);
    return (bits & F::kSign) != 0 ? typename F::Bits(~bits) : typename F::Bits(bits | F::kSign);
  } else if (std::is_signed_v<T> && map != TRINE_ABS) {
    return uint64_t(int64_t(value)) ^ (uint64_t{1} << 63);
  } else {
    return mapped_integer(value, map);
  }
}

/// Where the winner stands: the first NaN, else the lowest index of the extreme; -1 when empty.
template <class T>
struct Winner {
  int64_t index = -1;
  T value{};
};

template <class T>
Winner<T> winner(const Line& whole, uint32_t map, bool largest) {
  const Line line = collapse(whole).line;  // the first of equal elements is the one that counts
  Winner<T> best;
  uint64_t best_key = 0;
  bool nan = false;
  int64_t visited = 0;
  for_each<T>(line, 0, line.rows, [&](T x) {
    const uint64_t key = largest ? ~order_key(x, map) : order_key(x, map);
    const bool is_nan = is_nan_bits(x);
    if (best.index < 0 || (!nan && (is_nan || key < best_key))) {
      best = {visited, x};
      best_key = key;
      nan = is_nan;
    }
    ++visited;
  });
  if (best.index > 0 && line.cols != whole.cols)
    best.index = best.index / line.cols * whole.cols + best.index % line.cols;
  return best;
}

template <class T>
void store_extreme(const Line& line, const trine_reduce& op, char* target) {
  const bool largest = op.function == TRINE_MAX;
  const Winner<T> best = winner<T>(line, op.map, largest);
  if constexpr (std::is_floating_point_v<T>) {
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    if (best.index < 0) return store(target, largest ? -kInfinity : kInfinity);
    store(target, op.map == TRINE_ABS ? absolute(best.value) : best.value);
  } else {
    using Unsigned = std::make_unsigned_t<T>;
    const bool as_unsigned = op.map == TRINE_ABS || std::is_unsigned_v<T>;
    if (best.index >= 0) return store(target, Unsigned(mapped_integer(best.value, op.map)));
    const auto lowest = as_unsigned ? Unsigned(0) : Unsigned(std::numeric_limits<T>::min());
    const auto highest = as_unsigned ? Unsigned(-1) : Unsigned(std::numeric_limits<T>::max());
    store(target, largest ? lowest : highest);
  }
}

// --- One result ----------------------------------------------------------------------------------

template <class T>
void store_result(const trine_reduce& op, const Line& line, char* target, bool threads) {
  switch (op.function) {
    case TRINE_SUM:
      if constexpr (!std::is_floating_point_v<T>)
        return store(target, integer_sum<T>(line, op.map));
      else {
        const ExactSum sum = exact_sum<T>(line, op.map, threads);
        if (trine_writes_states(&op)) return sum.state(reinterpret_cast<uint64_t*>(target));
        if (op.result_dtype == TRINE_F64) return store(target, sum.to_f64());
        return store(target, sum.to_f32());
      }
    case TRINE_PROD:
      if constexpr (!std::is_floating_point_v<T>)
        return store(target, integer_product<T>(line, op.map));
      else
        return store(target, float_product<T>(line, op.map));
    case TRINE_MIN:
    case TRINE_MAX: return store_extreme<T>(line, op, target);
    default: return store(target, winner<T>(line, op.map, op.function == TRINE_ARGMAX).index);
  }
}

// --- Bounds --------------------------------------------------------------------------------------

template <class T>
struct LineFacts {
  double magnitude = 0;             ///< sum of |mapped x|
  double log_up = 0, log_down = 0;  ///< what a product's partial results may grow or shrink by
  bool special = false;             ///< NaN or Inf among the inputs
};

template <class T>
LineFacts<T> facts_of(const Line& line, uint32_t map) {
  LineFacts<T> facts;
  ExactSum sum;
  for_each_pair<T>(line, 0, line.rows, [&](T x, T y) {
    const T magnitude = absolute(x);
    if (!std::isfinite(x) || !std::isfinite(y)) return void(facts.special = true);
    is_product(map) ? sum.add_product(magnitude, absolute(y)) : sum.add(magnitude);
    if (magnitude == 0) return;
    const double log = std::log2(double(magnitude));
    (log > 0 ? facts.log_up : facts.log_down) += log;
  });
  facts.magnitude = sum.to_f64();
  return facts;
}

/// Sums in any order err by at most (n - 1) u sum|x| (S. Rump), products by (1 + u)^(n - 1); the
/// tree that a product is compared with errs as much again.
template <class T, class Result>
double error_bound(const trine_reduce& op, const Line& line, const char* exact) {
  constexpr double kUnit = std::numeric_limits<Result>::epsilon() / 2;
  constexpr double kLargest = double(std::numeric_limits<Result>::max());
  constexpr double kAnything = std::numeric_limits<double>::infinity();
  const double n = double(line.size());
  const LineFacts<T> facts = facts_of<T>(line, op.map);
  if (op.function == TRINE_PROD) {
    if (facts.log_up >= std::numeric_limits<Result>::max_exponent - 1 ||
        facts.log_down <= std::numeric_limits<Result>::min_exponent)
      return kAnything;
    return facts.special ? 0 : 2.2 * n * kUnit * std::fabs(double(load<Result>(exact)));
  }
  if (facts.special) return 0;
  const double rounding = (n + 1) * kUnit * facts.magnitude * 1.01;
  if (!(facts.magnitude + rounding < kLargest)) return kAnything;
  const double tiny = is_product(op.map) ? double(std::numeric_limits<Result>::denorm_min()) : 0;
  return rounding + n * tiny;
}

template <class Body>
void for_each_result(const trine_reduce& op, Body&& body) {
  const int64_t count = result_count(op.axis, op.input.rows, op.input.cols);
  const int64_t pitch = op.output.row_stride * trine_dtype_size(op.result_dtype);
  const int64_t length = count > 0 ? line_of(op, 0).size() : 0;
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, length));
  parallel(count, grain, [&](int64_t, int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r)
      body(r, line_of(op, r), origin(op.output) + (count > 1 ? r * pitch : 0), count == 1);
  });
}

[[noreturn]] void unknown_dtype() {
  throw std::invalid_argument("oracle: reduce has no such dtype");
}

}  // namespace

uint32_t result_dtype(uint32_t function, uint32_t map, uint32_t dtype) {
  const bool is_signed = dtype == TRINE_I32 || dtype == TRINE_I64;
  if (function == TRINE_ARGMIN || function == TRINE_ARGMAX) return TRINE_I64;
  if (dtype == TRINE_F32 || dtype == TRINE_F64) return dtype;
  if (function == TRINE_SUM || function == TRINE_PROD) return is_signed ? TRINE_I64 : TRINE_U64;
  if (map == TRINE_ABS && is_signed) return dtype == TRINE_I32 ? TRINE_U32 : TRINE_U64;
  return dtype;
}

int64_t result_count(uint32_t axis, int64_t rows, int64_t cols) {
  return axis == TRINE_EACH_ROW ? rows : axis == TRINE_EACH_COLUMN ? cols : 1;
}

void reference(const trine_reduce& op) {
  with_dtype(op.dtype, [&]<class T>(T) {
    if constexpr (std::is_arithmetic_v<T> && sizeof(T) >= 4) {
      for_each_result(op, [&](int64_t, const Line& line, char* target, bool threads) {
        store_result<T>(op, line, target, threads);
      });
    } else {
      unknown_dtype();
    }
  });
}

std::vector<double> error_bounds(const trine_reduce& op) {
  std::vector<double> bounds(size_t(result_count(op.axis, op.input.rows, op.input.cols)));
  const bool rounds = op.function == TRINE_SUM || op.function == TRINE_PROD;
  if (!rounds || (op.dtype != TRINE_F32 && op.dtype != TRINE_F64)) return bounds;
  for_each_result(op, [&](int64_t r, const Line& line, const char* exact, bool) {
    bounds[size_t(r)] = op.dtype == TRINE_F64 ? error_bound<double, double>(op, line, exact)
                        : op.result_dtype == TRINE_F64 ? error_bound<float, double>(op, line, exact)
                                                       : error_bound<float, float>(op, line, exact);
  });
  return bounds;
}

}  // namespace trine::oracle
