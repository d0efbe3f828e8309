// The floating-point flags `invalid` and `overflow` that a routine leaves on the calling thread, where
// it was computed on other threads, on a device or in integers. They are found from the operands, and
// where these don't rule them out, from the results: a NaN that comes of no NaN was invalid, an
// infinity that comes of no infinity overflowed.
#pragma once

#include "kernels.hpp"

namespace trine::blas {

/// The flags of the sum of x[i] y[i], or of x alone, where y is x.
template <class T>
int flags_of_sum(T sum, int64_t n, const T* x, int64_t x_stride, const T* y, int64_t y_stride);

/// Those of a product that a device computes. Begun before C is written.
template <class T>
class ProductFlags {
 public:
  explicit ProductFlags(const Product<T>& p);
  /// After it: raises what the chains would have raised.
  void raise() const;

 private:
  int of_results() const;

  const Product<T>& p_;
  /// Whether the results are to be looked at. Not where C held a NaN or an infinity: any may be its.
  bool asks_results_ = false;
};

}  // namespace trine::blas
