/// A solver's steps between its products and sums: axpby() for vectors, scalar() for single
/// numbers, both on the device. With Scalar, a loop like that of conjugate gradients needs no wait
/// for its sums (examples/conjugate_gradients.cpp).
///
/// Each result has the same bits on every device. Errors are those of run() (trine/operations.hpp);
/// a refused call has written nothing. Thread safety: all functions may be called from any thread.
#pragma once

#include <trine/operations.hpp>

namespace trine {

/// y = alpha * x + beta * y, element by element, enqueued on `queue`.
///
/// - alpha, beta: numbers that are exact in the dtype, or elements of device memory.
/// - x, y: of one shape and dtype (f32, f64, i32), with any strides; y's elements may not overlap.
///   x may be y itself; otherwise the two share no memory.
/// Each element is fma(alpha, x, t) with t = beta * y, each rounded once; i32 is modulo 2^32. With
/// beta = 0, t is +0 and y is not read; with alpha = 0, the result is t and x is not read: their
/// NaNs don't count.
/// ```cpp
/// trine::Queue queue(trine::open("cpu"));
/// trine::View x = trine::vector({queue.device(), 400}, trine::Dtype::f32, 100);
/// trine::View y = trine::vector({queue.device(), 400}, trine::Dtype::f32, 100);
/// trine::fill(queue, x, 1.0f);
/// trine::axpby(queue, 3, x, 0, y);    // y = 3 x
/// trine::axpby(queue, -1, x, 1, y);   // y = y - x: 2
/// trine::axpby(queue, 0.5, y, 0, y);  // y = 0.5 y: 1
/// queue.wait();
/// ```
TRINE_API void axpby(Queue& queue, const Scalar& alpha, const View& x, const Scalar& beta,
                     const View& y);

/// The functions of scalar(), each rounded once to nearest-even, as IEEE 754 has it.
enum class Arithmetic : uint32_t {
  add = TRINE_ADD,            ///< x + y
  subtract = TRINE_SUBTRACT,  ///< x - y
  multiply = TRINE_MULTIPLY,  ///< x * y
  divide = TRINE_DIVIDE,      ///< x / y
  sqrt = TRINE_SQRT           ///< the square root of x; NaN for x < 0
};

/// Computes one number from two, or from one, on the device of `queue`.
///
/// - x, y: numbers that are exact in the dtype, or elements of device memory. Arithmetic::sqrt
///   ignores y.
/// - result: one element (1 x 1) of dtype f32 or f64; it may be the element x or y.
/// Throws Error (unsupported) for divide and sqrt of f32 on a device without f64.
/// ```cpp
/// trine::Queue queue(trine::open("cpu"));
/// trine::Buffer numbers(queue.device(), 3 * sizeof(double));
/// auto at = [&](int i) {
///   return trine::vector(numbers, trine::Dtype::f64, 1, i * sizeof(double));
/// };
/// trine::scalar(queue, trine::Arithmetic::divide, 1, 3, at(0));
/// trine::scalar(queue, trine::Arithmetic::sqrt, at(0), 0, at(1));
/// trine::scalar(queue, trine::Arithmetic::multiply, at(0), at(1), at(2));
/// queue.wait();
/// ```
TRINE_API void scalar(Queue& queue, Arithmetic function, const Scalar& x, const Scalar& y,
                      const View& result);

}  // namespace trine
