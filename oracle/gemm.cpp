// The reference of gemm.
//
// A tile of kRows x kCols results keeps its accumulators in registers while k ascends; A and B come
// packed (and padded with zeros, whose results are not stored), so any strides cost the same. An
// exact product has each result from a superaccumulator of its own.
#include "gemm.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "bits.hpp"
#include "clones.hpp"
#include "exact_sum.hpp"
#include "parallel.hpp"
#include "philox.hpp"

namespace trine::oracle {
namespace {

constexpr int kRows = 4;
template <class T>
constexpr int kCols = 256 / sizeof(T);

inline float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
inline uint32_t fused(uint32_t a, uint32_t b, uint32_t c) { return a * b + c; }

template <class T>
inline __attribute__((always_inline)) void chain_tile(const T* a, const T* b, int64_t k, T* out) {
  T acc[kRows][kCols<T>];
  std::copy_n(out, kRows * kCols<T>, &acc[0][0]);
  for (int64_t p = 0; p < k; ++p)
    for (int r = 0; r < kRows; ++r)
      for (int c = 0; c < kCols<T>; ++c)
        acc[r][c] = fused(a[p * kRows + r], b[p * kCols<T> + c], acc[r][c]);
  std::copy_n(&acc[0][0], kRows * kCols<T>, out);
}

TRINE_ORACLE_CLONES void chain(const float* a, const float* b, int64_t k, float* out) {
  chain_tile(a, b, k, out);
}
TRINE_ORACLE_CLONES void chain(const double* a, const double* b, int64_t k, double* out) {
  chain_tile(a, b, k, out);
}
TRINE_ORACLE_CLONES void chain(const uint32_t* a, const uint32_t* b, int64_t k, uint32_t* out) {
  chain_tile(a, b, k, out);
}

template <class T>
T scalar(const trine_scalar& s) {
  T value;
  std::memcpy(&value, &s, sizeof value);
  return value;
}

template <class T>
const char* element(const trine_view& v, int64_t b, int64_t i, int64_t j) {
  return origin(v) + element_offset(v, sizeof(T), b, i, j);
}

/// The value with which the chain of an element of C begins. `c` is read only when the operation
/// asks for it.
template <class T>
T begin(const trine_gemm& op, T alpha, const char* c) {
  return trine_continues(&op) && alpha != T(0) ? load<T>(c) : T(0);
}

/// Applies alpha, beta and C to the chain. `c` is read only if beta isn't 0.
template <class T>
T finish(const trine_gemm& op, T acc, T alpha, T beta, const char* c) {
  const bool has_chain = op.a.cols != 0 || trine_continues(&op);
  const T t = alpha == T(0) || !has_chain ? T(0) : T(alpha * T(acc + T(0)));
  return beta == T(0) ? t : fused(beta, load<T>(c), t);
}

/// Rows [i0, i0 + kRows) of A, or columns of B, as k groups of `width`, zeros beyond `limit`.
template <class T, class At>
void pack(int64_t k, int width, int64_t first, int64_t limit, At&& at, std::vector<T>& panel) {
  panel.assign(size_t(k) * size_t(width), T(0));
  const int used = int(std::min<int64_t>(width, limit - first));
  for (int64_t p = 0; p < k; ++p)
    for (int x = 0; x < used; ++x) panel[size_t(p * width + x)] = load<T>(at(p, first + x));
}

/// One panel of kCols columns of one batch: packed once, used by all rows.
template <class T>
void compute_panel(const trine_gemm& op, int64_t batch, int64_t j0) {
  const int64_t m = op.c.rows, n = op.c.cols, k = op.a.cols;
  const T alpha = scalar<T>(op.alpha), beta = scalar<T>(op.beta);
  const int64_t chain_length = alpha == T(0) ? 0 : k;
  std::vector<T> a, b;
  pack(
      chain_length, kCols<T>, j0, n,
      [&](int64_t p, int64_t j) { return element<T>(op.b, batch, p, j); }, b);
  for (int64_t i0 = 0; i0 < m; i0 += kRows) {
    pack(
        chain_length, kRows, i0, m,
        [&](int64_t p, int64_t i) { return element<T>(op.a, batch, i, p); }, a);
    T acc[kRows * kCols<T>] = {};
    const auto each = [&](auto&& body) {
      for (int64_t i = i0; i < std::min(m, i0 + kRows); ++i)
        for (int64_t j = j0; j < std::min<int64_t>(n, j0 + kCols<T>); ++j)
          body(acc[(i - i0) * kCols<T> + (j - j0)],
               origin(op.c) + element_offset(op.c, sizeof(T), batch, i, j));
    };
    each([&](T& sum, const char* c) { sum = begin(op, alpha, c); });
    chain(a.data(), b.data(), chain_length, acc);
    each([&](T sum, char* c) { store(c, finish(op, sum, alpha, beta, c)); });
  }
}

template <class T>
void compute_chains(const trine_gemm& op) {
  const int64_t panels = (op.c.cols + kCols<T> - 1) / kCols<T>;
  const int64_t work = std::max<int64_t>(1, op.c.rows * op.a.cols * kCols<T>);
  parallel(op.c.batch * panels, 1 + (int64_t{1} << 20) / work,
           [&](int64_t, int64_t begin, int64_t end) {
             for (int64_t p = begin; p < end; ++p)
               compute_panel<T>(op, p / panels, p % panels * kCols<T>);
           });
}

template <class T>
T one_chain(const trine_gemm& op, const Position& at) {
  const T alpha = scalar<T>(op.alpha);
  const char* c = element<T>(op.c, at.batch, at.row, at.col);
  T acc = begin(op, alpha, c);
  for (int64_t p = 0; p < op.a.cols && !(alpha == T(0)); ++p)
    acc = fused(load<T>(element<T>(op.a, at.batch, at.row, p)),
                load<T>(element<T>(op.b, at.batch, p, at.col)), acc);
  return finish(op, acc, alpha, scalar<T>(op.beta), c);
}

/// The real number alpha * sum(a * b) + beta * c. Where alpha is 0 or k is 0, only beta * c is
/// left, even if alpha is NaN.
template <class T>
ExactSum real_number(const trine_gemm& op, const Position& at) {
  const T alpha = scalar<T>(op.alpha), beta = scalar<T>(op.beta);
  ExactSum products, total;
  total.add(T(0));  // an exact zero is +0
  for (int64_t p = 0; p < op.a.cols && alpha != T(0); ++p)
    products.add_product(load<T>(element<T>(op.a, at.batch, at.row, p)),
                         load<T>(element<T>(op.b, at.batch, p, at.col)));
  if (op.a.cols != 0 && alpha != T(0)) total.add_multiple(products, alpha);
  if (beta != T(0)) total.add_product(beta, load<T>(element<T>(op.c, at.batch, at.row, at.col)));
  return total;
}

/// How far `got` is from a real number, in units of that number's last place in T.
template <class T>
double ulps_between(ExactSum real, T got) {
  const T right = real.round<T>();
  if (!std::isfinite(right) || !std::isfinite(got))
    return right == got || (right != right && got != got) ? 0
                                                          : std::numeric_limits<double>::infinity();
  real.add(-got);
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  const T size = std::fabs(right), next = std::nextafter(size, kInfinity);
  const T ulp = next == kInfinity ? size - std::nextafter(size, T(0)) : next - size;
  return std::fabs(real.round<double>()) / double(ulp);
}

/// body(T{}): the C++ type of a gemm's elements and chains. i32 wraps, so it is unsigned.
template <class Body>
void with_type(const trine_gemm& op, Body&& body) {
  if (op.dtype == TRINE_F32) return body(float{});
  if (op.dtype == TRINE_F64) return body(double{});
  if (op.dtype == TRINE_I32) return body(uint32_t{});
  throw std::invalid_argument("oracle: gemm has no such dtype");
}

template <class T>
T one_result(const trine_gemm& op, const Position& at) {
  if constexpr (std::is_floating_point_v<T>)
    if (trine_is_exact(&op)) return real_number<T>(op, at).template round<T>();
  return one_chain<T>(op, at);
}

/// How many exact results are worth a thread.
int64_t grain_of(const trine_gemm& op) { return 1 + (1 << 14) / (op.a.cols + 1); }

template <class T>
double bound_at(const trine_gemm& op, const Position& at, const Exactness& exactness) {
  const double alpha = scalar<T>(op.alpha), beta = scalar<T>(op.beta), k = double(op.a.cols);
  double products = 0, operands = 0,
         special = alpha * 0 + beta * 0;  // becomes NaN where an input isn't finite
  for (int64_t p = 0; p < op.a.cols && alpha != 0; ++p) {
    const double a = load<T>(element<T>(op.a, at.batch, at.row, p));
    const double b = load<T>(element<T>(op.b, at.batch, p, at.col));
    products += std::fabs(a * b);
    operands += std::fabs(a) + std::fabs(b);
    special += a * 0 + b * 0;
  }
  const bool begins_at_c = trine_continues(&op) && alpha != 0;
  // Only where the product reads it: the caller may have no such C.
  const double c =
      begins_at_c || beta != 0 ? double(load<T>(element<T>(op.c, at.batch, at.row, at.col))) : 0;
  if (begins_at_c) {
    products += std::fabs(c);
    special += c * 0;
  }
  double size = std::fabs(alpha) * products;
  if (beta != 0) {
    size += std::fabs(beta * c);
    special += c * 0;
  }
  if (std::isnan(special)) return 0;  // NaN and Inf come out of every order alike
  constexpr double kLargest = double(std::numeric_limits<T>::max());
  if (!(std::max(products, size) * (1 + 1e-3) < kLargest))
    return std::numeric_limits<double>::infinity();
  const double tiny = double(std::numeric_limits<T>::denorm_min()) * (1 + std::fabs(alpha));
  const double lost = std::fabs(alpha) * exactness.operand * operands;
  return 2 * (k + 3) * (exactness.unit * size + tiny) + lost;
}

}  // namespace

void reference(const trine_gemm& op) {
  with_type(op, [&]<class T>(T) {
    if (!trine_is_exact(&op)) return compute_chains<T>(op);
    const int64_t rows = op.c.rows, cols = op.c.cols;
    parallel(op.c.batch * rows * cols, grain_of(op), [&](int64_t, int64_t begin, int64_t end) {
      for (int64_t e = begin; e < end; ++e) {
        const Position at{e / cols / rows, e / cols % rows, e % cols};
        store(origin(op.c) + element_offset(op.c, sizeof(T), at.batch, at.row, at.col),
              one_result<T>(op, at));
      }
    });
  });
}

std::vector<Position> sample_positions(const trine_view& c, int64_t count, uint64_t seed) {
  std::vector<Position> positions;
  if (c.batch < 1 || c.rows < 1 || c.cols < 1) return positions;
  const int64_t edges_b[] = {0, c.batch - 1}, edges_i[] = {0, c.rows - 1},
                edges_j[] = {0, c.cols - 1};
  for (int64_t b : edges_b)
    for (int64_t i : edges_i)
      for (int64_t j : edges_j) positions.push_back({b, i, j});
  uint64_t counter = 0;
  const auto below = [&](int64_t limit) {
    return int64_t(philox_bits(seed, counter++) % uint64_t(limit));
  };
  while (int64_t(positions.size()) < count) {
    Position p{below(c.batch), below(c.rows), below(c.cols)};
    // A quarter of them lie on an edge, where tiles are cut.
    if (positions.size() % 8 == 0) p.row = edges_i[p.row & 1];
    if (positions.size() % 8 == 4) p.col = edges_j[p.col & 1];
    positions.push_back(p);
  }
  return positions;
}

void reference_at(const trine_gemm& op, std::span<const Position> positions, void* results) {
  with_type(op, [&]<class T>(T) {
    parallel(int64_t(positions.size()), 64, [&](int64_t, int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p)
        store(static_cast<char*>(results) + p * int64_t(sizeof(T)),
              one_result<T>(op, positions[size_t(p)]));
    });
  });
}

double most_ulps(const trine_gemm& op, const trine_view& got) {
  double most = 0;
  with_type(op, [&]<class T>(T) {
    if constexpr (std::is_floating_point_v<T>)
      for (int64_t b = 0; b < op.c.batch; ++b)
        for (int64_t i = 0; i < op.c.rows; ++i)
          for (int64_t j = 0; j < op.c.cols; ++j)
            most = std::max(most, ulps_between(real_number<T>(op, {b, i, j}),
                                               load<T>(element<T>(got, b, i, j))));
  });
  return most;
}

std::vector<double> error_bounds_at(const trine_gemm& op, std::span<const Position> positions,
                                    const Exactness& exactness) {
  std::vector<double> bounds(positions.size());
  if (op.dtype == TRINE_I32) return bounds;
  parallel(int64_t(positions.size()), 64, [&](int64_t, int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p)
      bounds[size_t(p)] = op.dtype == TRINE_F64
                              ? bound_at<double>(op, positions[size_t(p)], exactness)
                              : bound_at<float>(op, positions[size_t(p)], exactness);
  });
  return bounds;
}

std::vector<double> error_bounds(const trine_gemm& op, const Exactness& exactness) {
  std::vector<Position> all;
  all.reserve(size_t(op.c.batch * op.c.rows * op.c.cols));
  for (int64_t b = 0; b < op.c.batch; ++b)
    for (int64_t i = 0; i < op.c.rows; ++i)
      for (int64_t j = 0; j < op.c.cols; ++j) all.push_back({b, i, j});
  return error_bounds_at(op, all, exactness);
}

}  // namespace trine::oracle
