/// The three operations on device views, and the choice of the rung that runs them.
///
/// An operation is a plain struct of views and options. run() checks it, chooses a rung, enqueues
/// it and returns; the results are there after Queue::wait(). A refused call throws and has written
/// nothing. The rung is, in this order: the one that the caller names; the one that the device's
/// saved tuning table has for the call (trine/tuning.hpp); the backend's own choice.
///
/// Thread safety: all functions may be called from any thread. A struct is read during the call
/// only.
#pragma once

#include <trine/buffer.hpp>

namespace trine {

/// A reduction: `function` over map(x), for the elements x of `input`.
///
/// `input` is rows x cols with any strides, batch 1, of dtype f32, f64, i32, i64, u32 or u64.
/// `output` takes the results as a vector, r x 1 with any row_stride >= 1: r is 1 for Axis::all,
/// input.rows for each_row, input.cols for each_column. Its dtype is result_dtype(function, map,
/// input.dtype); a sum of f32 may also go to f64. Or it takes the states of a sum of floats, from
/// before their rounding: dtype u64, r x ExactSum::words, col_stride 1 (trine/exact_sum.hpp).
///
/// Results with Numerics::reproducible, the default:
/// - sum of floats: the exact real sum, rounded once to nearest-even. Where memory sets the time
///   (2^26 elements) it takes at most 3 % more time than a plain sum; smaller ones have 0.57 to 1.0
///   of a plain sum's speed on one CPU core, 0.78 to 0.97 on a GPU (docs/performance.md). Sources:
///   Neal, "Fast exact summation using small and large superaccumulators", 2015; Collange, Defour,
///   Graillat, Iakymchuk, "Numerical reproducibility for the parallel reduction on multi- and
///   many-core architectures", 2015.
/// - prod of floats: one fixed binary tree over the index, split at the largest power of two below
///   the number of elements, each product rounded.
/// - sum and prod of integers: modulo 2^64.
/// - min, max: NaN if there is one; -0 is less than +0.
/// - argmin, argmax: the index of the first NaN, else the lowest index of the extremum. The index
///   counts in row-major order of the view, or within the row or column.
/// - no elements: sum +0; prod 1; min +Inf or the largest integer; max -Inf or the smallest;
///   argmin and argmax -1.
/// Map::square and Map::product go with sum only. Map::product multiplies each element by the
/// element of `second`, which has input's shape and dtype (f32 or f64) and strides of its own: the
/// exact dot product of all elements, of each row or of each column. docs/numerics.md has every
/// rule.
/// ```cpp
/// trine::Queue queue(trine::open("cpu"));
/// trine::Buffer matrix(queue.device(), 40 * 50 * sizeof(float));
/// trine::View x = trine::row_major(matrix, trine::Dtype::f32, 40, 50);
/// trine::View norms = trine::vector({queue.device(), 40 * sizeof(float)}, trine::Dtype::f32, 40);
/// trine::fill(queue, x, 2.0f);
/// trine::run(queue, trine::Reduce{.map = trine::Map::square,
///                                 .axis = trine::Axis::each_row,
///                                 .input = x,
///                                 .output = norms});  // 40 sums of squares, each 200
/// queue.wait();
/// ```
struct Reduce {
  /// The function, and what is applied to each element before it.
  Function function = Function::sum;
  Map map = Map::identity;
  /// Whether the whole view, each row or each column becomes one result.
  Axis axis = Axis::all;
  View input = {}, output = {};
  /// reproducible or fast; exact is as reproducible.
  Numerics numerics = Numerics::reproducible;
  /// The second input of Map::product; without memory for every other map.
  View second = {};
};

/// A transposition: output(b, j, i) = input(b, i, j), each element's bits as they are.
///
/// `input` is batch x rows x cols, `output` batch x cols x rows. Elements have 1, 2, 4, 8 or 16
/// bytes, as many on both sides. Each side has a unit stride along its rows or its columns; an
/// input may also have strides of 0. The two share no memory, or are one view of square matrices: a
/// transposition in place, by a temporary of their size in the queue's workspace.
/// ```cpp
/// trine::Queue queue(trine::open("cpu"));
/// trine::View a = trine::row_major({queue.device(), 6 * 4 * 8}, trine::Dtype::f64, 6, 4);
/// trine::View t = trine::row_major({queue.device(), 4 * 6 * 8}, trine::Dtype::f64, 4, 6);
/// trine::run(queue, trine::Transpose{.input = a, .output = t});
/// queue.wait();
/// ```
struct Transpose {
  View input, output;
};

/// A matrix product: c = alpha * a * b + beta * c.
///
/// `a` is m x k, `b` is k x n, `c` is m x n, all of one dtype (f32, f64, i32) and one batch count;
/// a batch_stride of 0 uses one matrix of an input for the whole batch. Each operand has a unit
/// stride along its rows or its columns, so BLAS's transposition flags are strides here: a
/// column-major matrix with leading dimension lda is col_major() with col_stride = lda. `alpha` and
/// `beta` must be exact in the operands' dtype (0.1 is not exact in f32: invalid_argument).
///
/// Results with Numerics::reproducible, the default, for each element of c: one chain of fused
/// multiply-adds, k ascending,
///   acc = +0;  acc = fma(a_ik, b_kj, acc) for each k;  t = alpha * (acc + 0);
///   c_ij = t if beta is 0, else fma(beta, c_ij, t).
/// With alpha = 0 or k = 0, t is +0. With alpha = 0, a and b are not read; with beta = 0, c is not
/// read, so it may hold NaN. i32 is modulo 2^32. The price of the fixed order: k is never split
/// among groups, so a product with large k and few elements of c uses only a part of a GPU.
///
/// With Numerics::exact, an element of f32 or f64 is the real number alpha sum(a_ik b_kj) + beta
/// c_ij, rounded once to nearest even:
///   An exact zero is +0. A value that rounds beyond the largest finite number is +-Inf; subnormal
///   values are kept. A NaN, Inf - Inf and 0 * Inf give NaN; one kind of Inf gives it.
/// With alpha = 0, a and b are not read; with beta = 0, c is not. Such a product refuses
/// `continues` (invalid_argument), since c can't hold what a part of such a sum is, and scalars of
/// device memory (unsupported). Devices without f64 refuse it. i32 is as with reproducible.
///
/// With `continues`, acc begins at c_ij instead of +0, and beta must be 0: calls over one part of k
/// after the other, all but the last with alpha = 1, give the bits of one call over all of k. With
/// k = 0, t is then alpha * (c_ij + 0); with alpha = 0, still +0, and c is not read. So parts may
/// be empty, but not all of them: a product with k = 0 is one call without `continues` and gives
/// +0, while several calls would give alpha * (+0) (docs/numerics.md).
/// ```cpp
/// trine::Queue queue(trine::open("cpu"));
/// trine::View a = trine::row_major({queue.device(), 30 * 20 * 4}, trine::Dtype::f32, 30, 20);
/// trine::View b = trine::col_major({queue.device(), 20 * 10 * 4}, trine::Dtype::f32, 20, 10);
/// trine::View c = trine::row_major({queue.device(), 30 * 10 * 4}, trine::Dtype::f32, 30, 10);
/// trine::fill(queue, a, 1.0f);
/// trine::fill(queue, b, 1.0f);
/// trine::run(queue, trine::Gemm{.alpha = 0.5, .a = a, .b = b, .c = c});  // all elements 10
/// queue.wait();
/// ```
/// A scalar of device memory (see Scalar) gives the same bits as its value would. Then all operands
/// are read, and the product takes a temporary of c's size from the queue's workspace.
struct Gemm {
  Scalar alpha = 1, beta = 0;
  View a, b, c;
  /// reproducible, fast or exact.
  Numerics numerics = Numerics::reproducible;
  /// Whether the chains begin at c. Rungs that begin them at 0 refuse; each backend has some that
  /// don't.
  bool continues = false;
};

/// The rung that was chosen for a call, and the reason. Cheap to copy; its strings live as long as
/// the process.
struct TRINE_API Choice {
  /// The device that runs the call.
  Device device;
  Operation operation = Operation::reduce;
  /// The promise of the chosen rung, which may be stronger than what the call asked for.
  Numerics numerics = Numerics::reproducible;
  /// The reason: "named by the caller", "tuned: …", or the backend's own sentence.
  std::string_view why;
  /// Name and parameters as run() takes them: "sequential:threads=256,finish=atomic".
  std::string rung() const;
  /// The name alone: "sequential".
  std::string_view rung_name() const;
  /// The pack that the rung comes from; empty for the backend's own.
  std::string_view pack() const;
  /// Device, rung and reason in one sentence, to be printed.
  std::string sentence() const;

  /// The rung's index into Device::rungs(operation).
  uint32_t rung_index = 0;
  /// For each parameter of the rung, the index of its value.
  int32_t values[8] = {};
};

/// Enqueues an operation on `queue`. The results are there after queue.wait().
///
/// `rung` is empty (Trine chooses), "name", or "name:parameter=value,parameter=value"; a named rung
/// runs or is refused, no other takes its place. Returns the choice.
/// Throws Error:
/// - invalid_argument: an empty buffer or one of another device; extents that overflow or exceed
///   the buffer; an output whose elements overlap or that overlaps an input; a wrong dtype; an
///   address or an offset that is not a multiple of the dtype's size;
/// - not_found: no such rung, parameter or value; the sentence names the closest one;
/// - unsupported: the device or the named rung can't run this call; the sentence says why;
/// - out_of_memory: no room for the rung's workspace, after waiting for dropped buffers;
/// - device_lost, backend_error: from the driver. Failures of the work itself reach Queue::wait().
/// ```cpp
/// trine::Queue queue(trine::open("cpu"));
/// trine::View x = trine::vector({queue.device(), 800}, trine::Dtype::f64, 100);
/// trine::View total = trine::vector({queue.device(), 8}, trine::Dtype::f64, 1);
/// trine::fill(queue, x, 0.5);
/// trine::Reduce sum{.input = x, .output = total};
/// trine::Choice choice = trine::run(queue, sum);
/// trine::run(queue, sum, "sequential");  // this rung, or an error
/// queue.wait();
/// std::cout << choice.sentence() << "\n";
/// ```
TRINE_API Choice run(Queue& queue, const Reduce& operation, std::string_view rung = {});
TRINE_API Choice run(Queue& queue, const Transpose& operation, std::string_view rung = {});
TRINE_API Choice run(Queue& queue, const Gemm& operation, std::string_view rung = {});

/// The exact dot product, rounded once: run() of a Reduce with Map::product.
/// - x, y: vectors, or matrices with results as `axis` says; of one shape, both f32 or both f64.
/// - output: the results, as Reduce has them.
/// - rung: as in run().
/// Errors, thread safety and the Choice returned are those of run().
/// ```cpp
/// trine::Queue queue(trine::open("cpu"));
/// trine::View x = trine::vector({queue.device(), 100 * sizeof(double)}, trine::Dtype::f64, 100);
/// trine::View result = trine::vector({queue.device(), sizeof(double)}, trine::Dtype::f64, 1);
/// trine::fill(queue, x, 2.0);
/// trine::dot(queue, x, x, result);  // 400
/// queue.wait();
/// ```
inline Choice dot(Queue& queue, const View& x, const View& y, const View& output,
                  Axis axis = Axis::all, std::string_view rung = {}) {
  return run(queue,
             Reduce{.map = Map::product, .axis = axis, .input = x, .output = output, .second = y},
             rung);
}

/// The choice that run() would make on `device`, without running anything. The views need shapes,
/// strides and dtypes, but no buffers. Throws as run().
/// ```cpp
/// trine::Gemm product;
/// product.a = product.b = product.c = trine::row_major({}, trine::Dtype::f32, 512, 512);
/// std::cout << trine::choose(trine::open("cpu"), product).sentence() << "\n";
/// ```
TRINE_API Choice choose(const Device& device, const Reduce& operation, std::string_view rung = {});
TRINE_API Choice choose(const Device& device, const Transpose& operation,
                        std::string_view rung = {});
TRINE_API Choice choose(const Device& device, const Gemm& operation, std::string_view rung = {});

}  // namespace trine
