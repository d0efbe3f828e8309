// The floating-point flags `invalid` and `overflow` that a routine leaves on the calling thread,
// where it was computed on other threads, on a device or in integers. They are found from the
// operands, and where these don't rule them out, from the results: a NaN that comes of no NaN was
// invalid, an infinity that comes of no infinity overflowed.
#pragma once

#include "kernels.hpp"

namespace trine::blas {

/// The flags of the sum of x[i] y[i], or of x alone, where y is x.
template <class T>
int flags_of_sum(T sum, int64_t n, const T* x, int64_t x_stride, const T* y, int64_t y_stride);

/// Raises what the chains of a product would have raised, after a device has computed it.
template <class T>
void raise_flags_of(const Product<T>& p);

}  // namespace trine::blas
