// The shim's results are Trine's, bit by bit, whichever way a call went: small ones on the calling
// thread, large ones through the library; and what a BLAS does beside computing.
#include <gmock/gmock.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <trine/host.hpp>

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <limits>
#include <new>
#include <random>
#include <thread>
#include <vector>

#include "blas.hpp"
#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace {

/// On this thread, while it is set.
thread_local bool allocations_fail = false;
}  // namespace
#ifndef __clang_analyzer__  // which takes what GoogleTest keeps for leaks of malloc()
[[gnu::noinline]] void* operator new(std::size_t size) {
  void* const memory = allocations_fail ? nullptr : std::malloc(size);
  return memory ? memory : throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif
namespace {

/// A program's own error handler was told this.
thread_local std::string told_routine;
thread_local int told_info = 0;
}  // namespace
extern "C" TRINE_API void xerbla_(const char* routine, const int* info, std::size_t length) {
  told_routine.assign(routine, length);
  told_info = *info;
}
namespace {

constexpr int kOne = 1;
const trine::HostOptions kCpu{.device = "cpu"};

enum class Kind { plain, integers, cancelling, wild, special, tiny };
constexpr Kind kKinds[] = {Kind::plain, Kind::integers, Kind::cancelling,
                           Kind::wild,  Kind::special,  Kind::tiny};

template <class T>
struct Random {
  std::mt19937_64 engine;
  T value(Kind kind) {
    using L = std::numeric_limits<T>;
    const auto uniform = [&] { return T(std::uniform_real_distribution<double>(-1, 1)(engine)); };
    switch (kind) {
      case Kind::integers: return T(int(engine() % 9) - 4);
      case Kind::wild:
        return std::ldexp(uniform(), int(engine() % (2 * L::max_exponent)) - L::max_exponent);
      case Kind::tiny: return std::ldexp(uniform(), L::min_exponent + int(engine() % 30) - 25);
      case Kind::special: {
        const T odd[] = {L::infinity(), -L::infinity(), L::quiet_NaN(), T(0), -T(0), L::max()};
        return engine() % 8 ? uniform() : odd[engine() % 6];
      }
      default: return uniform();
    }
  }
  /// Cancelling: the second half is the first, negated, and a little.
  std::vector<T> values(std::size_t n, Kind kind) {
    std::vector<T> all(n);
    for (T& x : all) x = value(kind);
    if (kind == Kind::cancelling)
      for (std::size_t i = n / 2; i < n; ++i) all[i] = -all[i - n / 2];
    if (kind == Kind::cancelling && n % 3 == 0) all[n / 3] += std::numeric_limits<T>::min();
    return all;
  }
};

template <class T>
bool same(T a, T b) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  return std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b) || (std::isnan(a) && std::isnan(b));
}
template <class T>
testing::AssertionResult same(const std::vector<T>& a, const std::vector<T>& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!same(a[i], b[i]))
      return testing::AssertionFailure() << "element " << i << ": " << a[i] << ", not " << b[i];
  return testing::AssertionSuccess();
}

template <class T>
class BlasBits : public testing::Test {
 protected:
  Random<T> random{std::mt19937_64(20261124)};
  T c_ = 1;
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(BlasBits, Types);

// A vector with an increment as BLAS means it: its elements in logical order.
template <class T>
std::vector<T> taken(const std::vector<T>& x, int n, int increment) {
  std::vector<T> all;
  all.reserve(std::size_t(n));
  for (int i = 0; i < n; ++i) all.push_back(x[(increment < 0 ? i - n + 1 : i) * increment]);
  return all;
}

template <class T>
T exact_norm(const std::vector<T>& x) {
  const auto squares = [&](int exponent) {
    std::vector<T> scaled;
    scaled.reserve(x.size());
    for (const T v : x) scaled.push_back(std::ldexp(v, exponent));
    double sum = 0;
    trine::reduce(trine::Function::sum, trine::Map::square, trine::Axis::all,
                  trine::host_vector(scaled.data(), trine::dtype_of<T>, int64_t(x.size())),
                  trine::host_vector(&sum, trine::Dtype::f64, 1), kCpu);
    return sum;
  };
  const double sum = squares(0);
  const bool in_range = (sum >= 0x1p-900 && sum <= 0x1p1000) || std::isnan(sum) || sizeof(T) == 4;
  const int exponent = in_range ? 0 : sum > 1 ? -600 : 600;
  return T(std::ldexp(std::sqrt(squares(exponent)), -exponent));
}

TYPED_TEST(BlasBits, SumsAreExact) {
  using T = TypeParam;
  for (const Kind kind : kKinds)
    for (const int n : {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 64, 100, 513, 2000, 9000})
      for (const auto& [incx, incy] : {std::pair{1, 1}, {2, 1}, {1, -3}, {-2, -1}}) {
        SCOPED_TRACE(testing::Message() << "kind " << int(kind) << ", n " << n << ", " << incx);
        const auto a = this->random.values(n * std::abs(incx), kind),
                   b = this->random.values(n * std::abs(incy), kind);
        const auto x = taken(a, n, incx), y = taken(b, n, incy);
        EXPECT_TRUE(
            same(Blas<T>::dot(&n, a.data(), &incx, b.data(), &incy), trine::dot(x, y, kCpu)));
        EXPECT_TRUE(same(Blas<T>::asum(&n, a.data(), &incx),
                         incx < 0 ? T(0) : T(trine::sum(x, trine::Map::abs, kCpu))));
        EXPECT_TRUE(same(Blas<T>::nrm2(&n, a.data(), &incx), exact_norm(x)));
      }
}

// Numbers of a size: many of their sums lie halfway between two results.
TYPED_TEST(BlasBits, TiesGoToEven) {
  using T = TypeParam;
  for (int round = 0; round < 500; ++round) {
    const int n = 2 + round % 20;
    std::vector<T> x = this->random.values(n, Kind::plain);
    for (T& value : x) value = std::copysign(std::abs(value) / 2 + T(0.5), value);
    const std::vector<T> ones(n, 1);
    EXPECT_TRUE(
        same(Blas<T>::dot(&n, x.data(), &kOne, ones.data(), &kOne), trine::dot(x, ones, kCpu)));
    EXPECT_TRUE(same(Blas<T>::asum(&n, x.data(), &kOne), trine::sum(x, trine::Map::abs, kCpu)));
    EXPECT_TRUE(same(Blas<T>::nrm2(&n, x.data(), &kOne), exact_norm(x)));
  }
}

// A sum halfway between two results, but for a term that quick ways round away; among others that
// cancel.
TYPED_TEST(BlasBits, TheLeastTermBreaksATie) {
  using T = TypeParam;
  const T half = std::numeric_limits<T>::epsilon() / 2;
  for (const int pairs : {0, 1, 3, 10, 40})
    for (const T least : {T(0), T(0x1p-80), T(0x1p-120), -T(0x1p-80), -T(0x1p-120)})
      for (const T first : {T(1), 1 + 2 * half}) {
        std::vector<T> x{first, half, least};
        for (int i = 0; i < pairs; ++i) {
          const T value = this->random.value(Kind::plain);
          x.insert(x.begin() + i % 3, {value, -value});
        }
        const int n = int(x.size());
        const std::vector<T> ones(n, 1);
        const T expected = least > 0 || (least == 0 && first != 1) ? first + 2 * half : first;
        EXPECT_EQ((Blas<T>::dot(&n, x.data(), &kOne, ones.data(), &kOne)), expected) << n;
        EXPECT_TRUE(same(Blas<T>::asum(&n, x.data(), &kOne), trine::sum(x, trine::Map::abs, kCpu)));
      }
}

TYPED_TEST(BlasBits, ZerosHaveTheirSigns) {
  using T = TypeParam;
  for (const int n : {1, 5, 16, 40}) {
    const std::vector<T> minus(n, -T(0)), ones(n, 1), zeros(n, 0);
    EXPECT_TRUE(same(Blas<T>::dot(&n, minus.data(), &kOne, ones.data(), &kOne), -T(0)));
    EXPECT_TRUE(same(Blas<T>::dot(&n, zeros.data(), &kOne, ones.data(), &kOne), T(0)));
    EXPECT_TRUE(same(Blas<T>::asum(&n, minus.data(), &kOne), T(0)));
  }
}

// As the reference: comparisons with NaN are false, so only a NaN in front is found.
TYPED_TEST(BlasBits, IamaxIsTheReferences) {
  using T = TypeParam;
  for (const Kind kind : kKinds)
    for (const int n : {1, 2, 8, 9, 33, 64, 500, 20000}) {
      const std::vector<T> x = this->random.values(n, kind);
      int first = 0;
      for (int i = 1; i < n; ++i)
        if (std::abs(x[i]) > std::abs(x[first])) first = i;
      EXPECT_EQ(Blas<T>::iamax(&n, x.data(), &kOne), first + 1) << n << " kind " << int(kind);
    }
}

TYPED_TEST(BlasBits, AxpyIsOneFma) {
  using T = TypeParam;
  for (const int n : {1, 3, 8, 33, 1000}) {
    const std::vector<T> x = this->random.values(2 * n, Kind::wild);
    std::vector<T> y = this->random.values(n, Kind::wild), expected = y;
    const T alpha = T(0.1);
    for (const int increment : {1, -2}) {
      const auto in = taken(x, n, increment);
      for (int i = 0; i < n; ++i) expected[i] = std::fma(alpha, in[i], expected[i]);
      Blas<T>::axpy(&n, &alpha, x.data(), &increment, y.data(), &kOne);
      EXPECT_TRUE(same(y, expected)) << n;
    }
  }
}

template <class T>
trine::ConstHostView matrix(const std::vector<T>& data, int rows, int cols, int ld, bool turned) {
  trine::ConstHostView view = trine::host_col_major(data.data(), trine::dtype_of<T>, rows, cols);
  view.row_stride = turned ? ld : 1;
  view.col_stride = turned ? 1 : ld;
  return view;
}

TYPED_TEST(BlasBits, GemmAndGemvAreOneChain) {
  using T = TypeParam;
  constexpr int kShapes[][3] = {{1, 1, 1},  {3, 2, 4},   {17, 9, 33},  {64, 64, 64},
                                {65, 3, 7}, {5, 1, 200}, {100, 1, 70}, {130, 120, 110}};
  for (const Kind kind : {Kind::plain, Kind::special, Kind::tiny})
    for (const auto& [m, n, k] : kShapes)
      for (const char* trans : {"NN", "TN", "NC", "tt"})
        for (const auto& [alpha, beta] : {std::pair<T, T>{1, 0}, {T(0.7), T(-2)}, {0, T(0.5)}}) {
          SCOPED_TRACE(testing::Message() << m << "x" << n << "x" << k << " " << trans << " "
                                          << alpha << " " << beta << " kind " << int(kind));
          const bool ta = std::toupper(trans[0]) != 'N', tb = std::toupper(trans[1]) != 'N';
          const int lda = (ta ? k : m) + 3, ldb = (tb ? n : k) + 1, ldc = m + 2;
          const auto a = this->random.values(lda * (ta ? m : k), kind),
                     b = this->random.values(ldb * (tb ? k : n), kind);
          // Read or not: with beta = 0, what C holds counts for nothing.
          std::vector<T> c = this->random.values(ldc * n, kind), expected = c;
          Blas<T>::gemm(trans, trans + 1, &m, &n, &k, &alpha, a.data(), &lda, b.data(), &ldb, &beta,
                        c.data(), &ldc);
          trine::HostView out = trine::host_col_major(expected.data(), trine::dtype_of<T>, m, n);
          out.col_stride = ldc;
          trine::gemm(alpha, matrix(a, m, k, lda, ta), matrix(b, k, n, ldb, tb), beta, out, kCpu);
          EXPECT_TRUE(same(c, expected));
          if (n != 1) continue;
          std::vector<T> y(2 * m, 5), x(3 * k), column(m, 5);
          for (int i = 0; i < k; ++i) x[3 * (k - 1 - i)] = tb ? b[i * ldb] : b[i];
          const int rows = ta ? k : m, cols = ta ? m : k, incx = -3, incy = 2;
          Blas<T>::gemv(trans, &rows, &cols, &alpha, a.data(), &lda, x.data(), &incx, &beta,
                        y.data(), &incy);
          out = trine::host_vector(column.data(), trine::dtype_of<T>, m);
          trine::gemm(alpha, matrix(a, m, k, lda, ta), matrix(b, k, n, ldb, tb), beta, out, kCpu);
          EXPECT_TRUE(same(taken(y, m, incy), column));
        }
}

TYPED_TEST(BlasBits, OmatcopyCopiesAndTurns) {
  using T = TypeParam;
  for (const auto& [rows, cols] : {std::pair{1, 1}, {7, 3}, {64, 33}, {200, 150}})
    for (const T alpha : {T(1), T(0), T(0.3)})
      for (const char* order : {"R", "C"})
        for (const char* trans : {"N", "T"}) {
          const bool by_rows = *order == 'R', turns = *trans == 'T';
          const int lda = (by_rows ? cols : rows) + 1, ldb = std::max(rows, cols) + 2;
          const auto a = this->random.values(lda * (by_rows ? rows : cols), Kind::special);
          std::vector<T> b(ldb * ldb, -1);
          Blas<T>::omatcopy(order, trans, &rows, &cols, &alpha, a.data(), &lda, b.data(), &ldb);
          int wrong = 0;
          for (int i = 0; i < rows; ++i)
            for (int j = 0; j < cols; ++j) {
              const T in = by_rows ? a[i * lda + j] : a[i + j * lda];
              const T out = by_rows != turns ? b[i * ldb + j] : b[i + j * ldb];
              wrong += !same(out, alpha == 0 ? T(0) : alpha * in);
            }
          EXPECT_EQ(wrong, 0) << rows << "x" << cols << " " << order << trans << " " << alpha;
        }
}

TEST(Blas, TheCallersRoundingChangesNothingAndStays) {
  const int n = 40;
  const std::vector<double> x = Random<double>{}.values(n, Kind::plain), y(n, 1.0 / 3);
  const double expected = ddot_(&n, x.data(), &kOne, y.data(), &kOne);
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(mode);
    const double result = ddot_(&n, x.data(), &kOne, y.data(), &kOne);
    const int after = std::fegetround();
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(result, expected);
    EXPECT_EQ(after, mode);
  }
}

#if defined(__SSE2__)
// Denormals are kept, by a caller that flushes the results, the operands or both.
TEST(Blas, TheCallersFlushingChangesNothingAndStays) {
  constexpr unsigned kResults = 0x8000, kOperands = 0x40, kControl = 0xffc0;
  const double least = 0x1p-1074, small = 0x1.8p-1022, half = 0.5;
  for (const int n : {1, 2, 5, 40})
    for (const unsigned mode : {kResults, kOperands, kResults | kOperands}) {
      SCOPED_TRACE(testing::Message() << n << " elements, mode " << mode);
      const std::vector<double> x(std::size_t(n), small), denormals(std::size_t(n), least);
      std::vector<double> y(std::size_t(n), least), c(y);
      const unsigned before = _mm_getcsr();
      _mm_setcsr(before | mode);
      const double dot = ddot_(&n, x.data(), &kOne, std::vector<double>(n, 0.5).data(), &kOne);
      const double sum = dasum_(&n, denormals.data(), &kOne);
      daxpy_(&n, &half, x.data(), &kOne, y.data(), &kOne);
      dgemm_("N", "N", &n, &kOne, &kOne, &half, x.data(), &n, &half, &kOne, &half, c.data(), &n);
      const unsigned after = _mm_getcsr();
      _mm_setcsr(before);
      EXPECT_EQ(after & kControl, (before | mode) & kControl);
      EXPECT_EQ(dot, n * small / 2);
      EXPECT_EQ(sum, n * least);
      EXPECT_EQ(y[std::size_t(n) - 1], small / 2 + least);
      EXPECT_EQ(c[0], small / 4);
    }
}
#endif

/// Without it sums of doubles may raise `invalid` for an infinity, as docs/blas.md says.
bool has_avx512() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512dq") && !std::getenv("ONLY_TARGETS");
#else
  return false;
#endif
}

// The chains' flags, `invalid` and `overflow`, at each size and wherever a call was computed.
TYPED_TEST(BlasBits, ItLeavesTheFlagsOfItsChains) {
  using T = TypeParam;
  using L = std::numeric_limits<T>;
  const T one = 1, infinity = L::infinity(), kNone = 0;
  const auto raised = [](auto call) {
    std::feclearexcept(FE_ALL_EXCEPT);
    call();
    return std::fetestexcept(FE_INVALID | FE_OVERFLOW);
  };
  struct Case {
    const char* name;
    T in_a, in_b;  // one row's and one column's, of ones elsewhere
    int flags;
  };
  const Case kCases[] = {{"ones", 1, 1, 0},
                         {"infinity by zero", infinity, 0, FE_INVALID},
                         {"infinity", infinity, 1, 0},
                         {"infinity in the other", 1, infinity, 0},
                         {"NaN", L::quiet_NaN(), 0, 0},
                         {"too large", L::max(), 4, FE_OVERFLOW}};
  for (const int n : {1, 3, 8, 17, 50, 130, 260})
    for (const Case& one_case : kCases)
      for (const T beta : {T(0), T(1)}) {
        SCOPED_TRACE(testing::Message() << one_case.name << ", " << n << ", beta " << beta);
        // Element (n - 1, n - 1) alone has both; whether a is transposed changes nothing.
        std::vector<T> a(n * n, 1), b(n * n, 1), c(n * n, 1);
        a.back() = one_case.in_a;
        for (int j = 0; j < n; ++j) b[j * n + n - 1] = one_case.in_b;
        for (const char* trans : {"NN", "TN", "NT", "TT"}) {
          std::vector<T> turned = b;
          if (trans[1] == 'T')
            for (int i = 0; i < n * n; ++i) turned[i] = b[i / n + i % n * n];
          EXPECT_EQ(raised([&] {
                      Blas<T>::gemm(trans, trans + 1, &n, &n, &n, &one, a.data(), &n, turned.data(),
                                    &n, &beta, c.data(), &n);
                    }),
                    one_case.flags)
              << trans;
          c.assign(c.size(), 1);
          for (const int step : {1, 2}) {
            std::vector<T> x(2 * n, 1);
            x[(n - 1) * step] = one_case.in_b;
            EXPECT_EQ(raised([&] {
                        Blas<T>::gemv(trans, &n, &n, &one, a.data(), &n, x.data(), &step, &beta,
                                      c.data(), &step);
                      }),
                      one_case.flags)
                << trans << " " << step;
            c.assign(c.size(), 1);
          }
        }
      }
  for (const int n : {3, 130, 260})  // what C held before is no chain's
    for (const T held : {infinity, L::quiet_NaN()}) {
      const std::vector<T> a(n * n, 1);
      std::vector<T> c(n * n, held);
      EXPECT_EQ(raised([&] {
                  Blas<T>::gemm("N", "N", &n, &n, &n, &one, a.data(), &n, a.data(), &n, &one,
                                c.data(), &n);
                }),
                0)
          << n;
    }
  for (const int n : {1, 3, 5, 9, 17, 50})  // an infinite factor raises nothing without a zero
    for (const char* trans : {"NN", "TN", "NT", "TT"}) {
      const std::vector<T> a(n * n, 1);
      std::vector<T> c(n * n, 1), x(n, 1), y(n, 1);
      EXPECT_EQ(raised([&] {
                  Blas<T>::gemm(trans, trans + 1, &n, &n, &n, &one, a.data(), &n, a.data(), &n,
                                &infinity, c.data(), &n);
                }),
                0)
          << trans << " " << n;
      EXPECT_EQ(raised([&] {
                  Blas<T>::gemv(trans, &n, &n, &one, a.data(), &n, x.data(), &kOne, &infinity,
                                y.data(), &kOne);
                }),
                0)
          << trans << " " << n;
      EXPECT_EQ(raised([&] {
                  Blas<T>::omatcopy("C", trans, &n, &n, &infinity, a.data(), &n, c.data(), &n);
                }),
                0)
          << trans << " " << n;
    }
  // Sums, with the infinities and the NaN at each place of a vector. 8,192 are where devices begin.
  const T minus = -infinity, nan = L::quiet_NaN();
  for (const int n : {1, 2, 3, 4, 5, 8, 40, 41, 1000, 9000}) {
    const std::vector<T> ones(n, 1), zeros(n, 0), large(n, L::max());
    std::vector<T> x, y, sum = large;
    const auto raised_by = [&](auto routine) {
      return raised([&] { routine(&n, x.data(), &kOne); });
    };
    const auto raised_by_dot = [&] {
      return raised([&] { Blas<T>::dot(&n, x.data(), &kOne, y.data(), &kOne); });
    };
    const bool may_raise_more = sizeof(T) == 8 && n > 2 && n <= 8192 && !has_avx512();
    const int let_pass = may_raise_more ? FE_INVALID : 0;
    for (const T special : {infinity, minus, nan})
      for (const int at : {0, 1, n / 2, n - 2, n - 1}) {
        if (at < 0 || at >= n) continue;
        SCOPED_TRACE(testing::Message() << special << " at " << at << " of " << n);
        (x = ones)[at] = special;
        EXPECT_EQ(raised_by(Blas<T>::asum) & ~let_pass, 0);
        EXPECT_EQ(raised_by(Blas<T>::nrm2) & ~let_pass, 0);
        EXPECT_EQ((y = ones, raised_by_dot()) & ~let_pass, 0);
        EXPECT_EQ((y = x, raised_by_dot()) & ~let_pass, 0);
        EXPECT_EQ((y = zeros, raised_by_dot()), std::isnan(special) ? 0 : FE_INVALID);
        y = ones;
        if (n > 1) (x = ones)[at] = special, x[(at + 1) % n] = -special;
        EXPECT_EQ(raised_by_dot(), n > 1 && !std::isnan(special) ? FE_INVALID : 0);
      }
    x = zeros;
    EXPECT_EQ(raised_by(Blas<T>::asum) | raised_by(Blas<T>::nrm2), 0);
    x = large;
    if (n > 1) {
      EXPECT_TRUE(raised_by(Blas<T>::asum) & FE_OVERFLOW) << n;
      EXPECT_TRUE(raised_by(Blas<T>::nrm2) & FE_OVERFLOW) << n;
    }
    EXPECT_EQ(raised([&] { Blas<T>::axpy(&n, &kNone, x.data(), &kOne, sum.data(), &kOne); }), 0);
    EXPECT_EQ(raised([&] { Blas<T>::axpy(&n, &one, large.data(), &kOne, sum.data(), &kOne); }),
              FE_OVERFLOW);
  }
  // Set aside with the caller's rounding, and told all the same.
  std::fesetround(FE_UPWARD);
  const T zero = 0;
  const int flags =
      raised([&] { Blas<T>::axpy(&kOne, &infinity, &zero, &kOne, &this->c_, &kOne); });
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(flags, FE_INVALID);
}

// Each call asks whether the caller's environment is the usual one, and leaves the vectors' upper
// halves clean: on an Intel Xeon these cost 40 ns and 140 ns, where they were done badly.
TYPED_TEST(BlasBits, ASmallCallCostsLittle) {
  using T = TypeParam;
  const T x[] = {1, 2, 3, 4}, alpha = T(1e-9);
  T y[] = {1, 2, 3, 4};
  const auto cost = [&](auto call, int n) {
    double best = 1;
    for (int round = 0; round < 50; ++round) {
      const std::clock_t start = std::clock();
      for (int i = 0; i < 10000; ++i) call(n);
      best = std::min(best, double(std::clock() - start) / CLOCKS_PER_SEC);
    }
    return best;
  };
  for (const int step : {1, 2}) {
    const std::pair<const char*, std::function<void(int)>> calls[] = {
        {"dot", [&](int n) { Blas<T>::dot(&n, x, &step, y, &step); }},
        {"asum", [&](int n) { Blas<T>::asum(&n, x, &step); }},
        {"nrm2", [&](int n) { Blas<T>::nrm2(&n, x, &step); }},
        {"iamax", [&](int n) { Blas<T>::iamax(&n, x, &step); }},
        {"axpy", [&](int n) { Blas<T>::axpy(&n, &alpha, x, &step, y, &step); }}};
    for (const auto& [name, call] : calls)
      EXPECT_LT(cost(call, 1), 6 * cost(call, 0)) << name << " by " << step;
  }
}

// Their offsets don't fit a gather's.
TYPED_TEST(BlasBits, SumsOfElementsThatLieFarApart) {
  using T = TypeParam;
  constexpr int kStep = 1 << 26, kN = 9;
  constexpr std::size_t kBytes = sizeof(T) * kN * kStep;
  void* const room = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) GTEST_SKIP() << "no " << kBytes << " bytes of addresses";
  T* const x = static_cast<T*>(room);
  const std::vector<T> values = this->random.values(kN, Kind::plain);
  for (int i = 0; i < kN; ++i) x[int64_t{i} * kStep] = values[i];
  const T* const y = values.data();
  EXPECT_TRUE(same(Blas<T>::dot(&kN, x, &kStep, y, &kOne), Blas<T>::dot(&kN, y, &kOne, y, &kOne)));
  EXPECT_TRUE(same(Blas<T>::asum(&kN, x, &kStep), Blas<T>::asum(&kN, y, &kOne)));
  EXPECT_TRUE(same(Blas<T>::nrm2(&kN, x, &kStep), Blas<T>::nrm2(&kN, y, &kOne)));
  EXPECT_EQ(Blas<T>::iamax(&kN, x, &kStep), Blas<T>::iamax(&kN, y, &kOne));
  munmap(room, kBytes);
}

// No exception may leave a routine: where there is no memory, the same bits come another way.
TYPED_TEST(BlasBits, WithoutMemoryTheResultsAreTheSame) {
  using T = TypeParam;
  const auto both_ways = [](auto call) {
    const auto expected = call();
    allocations_fail = true;
    const auto result = call();
    allocations_fail = false;
    EXPECT_TRUE(same(result, expected));
  };
  for (const std::pair<int, int>& one : {std::pair{2000, -2}, {20000, 3}, {20000, 1}}) {
    const int n = one.first, step = one.second;
    SCOPED_TRACE(testing::Message() << n << " by " << step);
    const int forward = std::abs(step);
    const auto x = this->random.values(n * forward, Kind::plain),
               y = this->random.values(n * forward, Kind::plain);
    both_ways([&] { return Blas<T>::dot(&n, x.data(), &step, y.data(), &forward); });
    both_ways([&] { return Blas<T>::asum(&n, x.data(), &forward); });
    both_ways([&] { return Blas<T>::nrm2(&n, x.data(), &step); });
    both_ways([&] { return T(Blas<T>::iamax(&n, x.data(), &forward)); });
  }
  for (const int k : {30, 700, 3000}) {
    const int m = 65, n = 5, step = -2;
    const T alpha = T(0.7), beta = T(-2);
    const auto a = this->random.values(k * m, Kind::plain),
               b = this->random.values(2 * k * n, Kind::plain),
               c = this->random.values(2 * m * n, Kind::plain);
    std::vector<T> out(c.size());
    const auto written = [&](auto call) {
      both_ways([&] {
        std::memcpy(out.data(), c.data(), c.size() * sizeof(T));
        call();
        double sum = 0;  // of the bits, in an order
        for (std::size_t i = 0; i < out.size(); ++i) sum += double(out[i]) * double(i + 1);
        return T(sum);
      });
    };
    for (const char* trans : {"T", "N"}) {
      const int lda = *trans == 'T' ? k : m;
      written([&] {
        Blas<T>::gemm(trans, "N", &m, &n, &k, &alpha, a.data(), &lda, b.data(), &k, &beta,
                      out.data(), &m);
      });
      const int rows = *trans == 'T' ? k : m, cols = *trans == 'T' ? m : k;
      written([&] {
        Blas<T>::gemv(trans, &rows, &cols, &alpha, a.data(), &lda, b.data(), &step, &beta,
                      out.data(), &step);
      });
    }
  }
}

TEST(Blas, WrongArgumentsReachTheProgramsXerbla) {
  const int m = 3, bad = 2, negative = -1;
  const double one = 1, zero = 0;
  double a[9] = {}, c[9] = {7};
  dgemm_("N", "X", &m, &m, &m, &one, a, &m, a, &m, &zero, c, &m);
  EXPECT_EQ(told_routine, "DGEMM ");
  EXPECT_EQ(told_info, 2);
  dgemm_("N", "T", &m, &m, &m, &one, a, &bad, a, &m, &zero, c, &m);
  EXPECT_EQ(told_info, 8);
  dgemv_("N", &negative, &m, &one, a, &m, a, &kOne, &zero, c, &kOne);
  EXPECT_EQ(told_routine, "DGEMV ");
  EXPECT_EQ(told_info, 2);
  domatcopy_("C", "T", &m, &m, &one, a, &m, c, &bad);
  EXPECT_EQ(told_routine, "DOMATCOPY");
  EXPECT_EQ(told_info, 9);
  cblas_dgemm(102, 111, 111, m, m, m, one, a, m, a, m, zero, c, bad);
  EXPECT_EQ(told_info, 13);
  EXPECT_EQ(c[0], 7) << "a refused call writes nothing";
}

TEST(Blas, ForwardsTheRest) {
  const int n = 2;
  const double one = 1, a[] = {2, 3, 0, 4};  // lower: x = (1, 2)
  double b[] = {2, 11};
  dtrsm_("L", "L", "N", "N", &n, &kOne, &one, a, &n, b, &n);
  EXPECT_THAT(b, testing::ElementsAre(1, 2));
}

TEST(Blas, EightThreadsAtOnce) {
  constexpr int n = 128;
  const std::vector<double> a = Random<double>{}.values(n * n, Kind::plain);
  const auto product = [&] {
    std::vector<double> c(n * n);
    const double one = 1, zero = 0;
    const int size = n;
    dgemm_("T", "N", &size, &size, &size, &one, a.data(), &size, a.data(), &size, &zero, c.data(),
           &size);
    return c;
  };
  const std::vector<double> expected = product();
  std::vector<std::thread> threads;
  threads.reserve(8);
  std::atomic<int> wrong{0};
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) wrong += !same(product(), expected);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

/// The routines with enough work for a device, C, y and the like among what they read: all of their
/// results.
std::vector<double> large_calls() {
  const int n = 300, many = n * n, two = 2;
  const double half = 0.5;
  const std::vector<double> x = Random<double>{}.values(size_t(many), Kind::plain);
  std::vector<double> all = x, y = x;
  const auto keep = [&](const std::vector<double>& results) {
    all.insert(all.end(), results.begin(), results.end());
  };
  dgemm_("N", "T", &n, &n, &n, &half, x.data(), &n, x.data(), &n, &half, y.data(), &n);
  keep(y);
  dgemv_("T", &n, &n, &half, x.data(), &n, x.data(), &two, &half, y.data(), &kOne);
  daxpy_(&many, &half, x.data(), &kOne, y.data(), &kOne);
  keep(y);
  domatcopy_("C", "T", &n, &n, &half, x.data(), &n, y.data(), &n);
  keep(y);
  keep({ddot_(&many, x.data(), &kOne, y.data(), &kOne), dasum_(&many, x.data(), &kOne),
        dnrm2_(&many, x.data(), &kOne), double(idamax_(&many, x.data(), &kOne))});
  return all;
}

/// Whether the calls give the same in a child, to the bit.
bool a_child_computes() {
  const std::vector<double> expected = large_calls();
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(same(large_calls(), expected) ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  return status == 0;
}

TEST(Blas, AForkedChildComputes) { EXPECT_TRUE(a_child_computes()); }

// With the number that its parent has: 1, in a namespace each.
TEST(Blas, AForkedChildWithItsParentsNumberComputes) {
  const auto leave_namespace = [] {  // the next child is the first one of its own
    if (unshare(CLONE_NEWPID) != 0) _exit(77);
  };
  const pid_t outer = fork();
  if (outer == 0) {
    leave_namespace();
    const pid_t parent = fork();
    if (parent == 0) {
      leave_namespace();
      _exit(getpid() == 1 && a_child_computes() ? 0 : 1);
    }
    int status = 1;
    waitpid(parent, &status, 0);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
  }
  int status = 1;
  waitpid(outer, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) GTEST_SKIP() << "no namespaces for this user";
  EXPECT_EQ(status, 0);
}

}  // namespace
