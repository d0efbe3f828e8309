/// The three operations on device views, and what was chosen to run them.
///
/// An operation is a plain struct. run() checks it, chooses a rung, hands it over and returns; the
/// results are there after queue.wait(). A refused call throws and has written nothing.
/// Selection, in order: the rung you name; the saved tuning table's (trine/tuning.hpp); the backend's
/// own choice.
#pragma once

#include <trine/buffer.hpp>

namespace trine {

/// function over map(x) for the elements x of `input` (rows x cols, any strides, batch 1).
/// `output` takes the results as a vector: 1, input.rows or input.cols of them (rows = that, cols =
/// 1, any row_stride >= 1), of result_dtype(function, map, input.dtype); an f32 sum may ask for f64.
/// Sums of floats are the exact real sum, rounded once to nearest-even. prod is one fixed binary
/// tree over the index, split at the largest power of two below n. min, max: NaN wins, -0 < +0;
/// argmin, argmax: the first NaN, else the lowest index of the extremum, counted in row-major order
/// of the view (or within its row or column), -1 when empty. square goes with sum alone.
/// Dtypes: f32 f64 i32 i64 u32 u64. docs/numerics.md has every rule and its source.
struct Reduce {
  Function function = Function::sum;
  Map map = Map::identity;
  Axis axis = Axis::all;
  View input, output;
  Numerics numerics = Numerics::reproducible;
};

/// output(b, j, i) = input(b, i, j), bits moved as they are. Element sizes 1, 2, 4, 8, 16; equal
/// sizes on both sides. Each side has a unit stride along rows or columns.
struct Transpose {
  View input, output;
};

/// c = alpha a b + beta c, batched. a: m x k, b: k x n, c: m x n, one dtype (f32, f64, i32); every
/// operand has a unit stride along rows or columns, so neither transposition nor layout needs a
/// flag; the other stride is BLAS's leading dimension (col_major(), then col_stride = lda). An
/// input's batch stride may be 0. alpha and beta must be exact in the operand dtype.
/// acc = +0; acc = fma(a_ik, b_kj, acc), k ascending; t = alpha * (acc + 0), or +0 when alpha = 0 (a,
/// b are not read) or k = 0; result t when beta = 0 (c is not read), else fma(beta, c, t).
/// i32 is modulo 2^32.
struct Gemm {
  double alpha = 1, beta = 0;
  View a, b, c;
  Numerics numerics = Numerics::reproducible;
};

/// What ran, and why. Cheap to copy; the strings live as long as the process.
struct TRINE_API Choice {
  Device device;
  Operation operation = Operation::reduce;
  Numerics numerics = Numerics::reproducible;  ///< of the rung that was chosen
  std::string_view why;      ///< "named by the caller", "tuned: …", or the backend's own reason
  std::string rung() const;  ///< "sequential:threads=256,finish=atomic"
  std::string_view rung_name() const;
  std::string_view pack() const;  ///< empty for the backend's own rungs
  std::string sentence() const;   ///< device, rung and reason, in words

  uint32_t rung_index = 0;  ///< into Device::rungs(operation)
  int32_t values[8] = {};   ///< parameter values, by index
};

/// Enqueues. `rung` is "" or "name" or "name:parameter=value,…". Throws Error: invalid_argument
/// (null or foreign buffers, extents that overflow or exceed the buffer, overlapping or broadcast
/// output, dtypes; a buffer's address or a view's offset that is no multiple of the dtype's size, for
/// transpose of min(element size, 4)),
/// not_found (no such rung or parameter; the closest is named), unsupported (with the reason),
/// out_of_memory (for the rung's workspace; waits as Buffer() does before it fails).
TRINE_API Choice run(Queue& queue, const Reduce& operation, std::string_view rung = {});
TRINE_API Choice run(Queue& queue, const Transpose& operation, std::string_view rung = {});
TRINE_API Choice run(Queue& queue, const Gemm& operation, std::string_view rung = {});

/// What run() would choose, without running; views may lack their buffers. Throws as run().
TRINE_API Choice choose(const Device& device, const Reduce& operation, std::string_view rung = {});
TRINE_API Choice choose(const Device& device, const Transpose& operation,
                        std::string_view rung = {});
TRINE_API Choice choose(const Device& device, const Gemm& operation, std::string_view rung = {});

}  // namespace trine
