// Exact sums and fma in MPFR, the arithmetic that the oracle itself is tested against.
#pragma once

#include <mpfr.h>

#include <cmath>

namespace trine::oracle {

/// Enough bits for any sum of products of three f64: from 2^-3222 to beyond 2^3072.
constexpr mpfr_prec_t kWholeRange = 6400;

class MpfrSum {
 public:
  MpfrSum() {
    mpfr_init2(sum_, kWholeRange), mpfr_init2(term_, kWholeRange), mpfr_set_zero(sum_, 1);
  }
  ~MpfrSum() { mpfr_clear(sum_), mpfr_clear(term_); }
  MpfrSum(const MpfrSum&) = delete;

  void add(double x) {
    mpfr_set_d(term_, x, MPFR_RNDN);
    mpfr_add(sum_, sum_, term_, MPFR_RNDN);
  }
  void add_product(double x, double y) {
    mpfr_set_d(term_, x, MPFR_RNDN);
    mpfr_mul_d(term_, term_, y, MPFR_RNDN);
    mpfr_add(sum_, sum_, term_, MPFR_RNDN);
  }
  void multiply(double x) { mpfr_mul_d(sum_, sum_, x, MPFR_RNDN); }
  bool is_zero() const { return mpfr_zero_p(sum_) != 0; }
  double to_f64() const { return mpfr_get_d(sum_, MPFR_RNDN); }
  float to_f32() const { return mpfr_get_flt(sum_, MPFR_RNDN); }

 private:
  mpfr_t sum_, term_;
};

/// a * b + c rounded once to nearest-even in T, denormals and overflow included.
template <class T>
T mpfr_fma_of(T a, T b, T c) {
  if (!std::isfinite(a) || !std::isfinite(b) || !std::isfinite(c)) return std::fma(a, b, c);
  mpfr_t x, y, z;
  mpfr_inits2(kWholeRange, x, y, z, static_cast<mpfr_ptr>(nullptr));
  mpfr_set_d(x, double(a), MPFR_RNDN);
  mpfr_set_d(y, double(b), MPFR_RNDN);
  mpfr_set_d(z, double(c), MPFR_RNDN);
  mpfr_fma(x, x, y, z, MPFR_RNDN);
  T result;
  if constexpr (sizeof(T) == 4)
    result = mpfr_get_flt(x, MPFR_RNDN);
  else
    result = mpfr_get_d(x, MPFR_RNDN);
  // An exact zero carries the sign that IEEE gives it; MPFR's inputs lost theirs.
  if (mpfr_zero_p(x)) result = std::fma(a, b, c);
  mpfr_clears(x, y, z, static_cast<mpfr_ptr>(nullptr));
  return result;
}

}  // namespace trine::oracle
