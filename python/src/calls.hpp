// The operations over arrays of any rank: arrays are cut into parts that have the shape of a View,
// mostly one, and each part is one call of the library.
#pragma once

#include "array.hpp"

#include <optional>

namespace trine::python {

/// The options that a caller may give to any operation.
struct Call {
  std::string device = "auto";  ///< for data in the host's memory
  std::string rung;
  Numerics numerics = Numerics::reproducible;
  bool asks = false;  ///< only tell where it would run
  Where where = Where::host;
  int repeats = 1;
  std::optional<uint64_t> stream;  ///< to run on, for data on a device; else the arrays' own
};

/// The answer where `Call::asks`; else nothing, and the output is written.
using Answer = std::optional<Placement>;

/// `axes` are those of `input` that are reduced; `output` has the others, in order, and with
/// `keepdims` those with an extent of 1. `second` may be null.
Answer reduce(Function function, Map map, const Array& input, const Array* second,
              const Array& output, const std::vector<size_t>& axes, bool keepdims,
              const Call& call);
/// Axis i of `output` is axis axes[i] of `input`.
Answer transpose(const Array& input, const Array& output, const std::vector<size_t>& axes,
                 const Call& call);
/// The last two axes are matrices, those before them batches, which are broadcast as NumPy does; a
/// vector is a row on the left and a column on the right.
Answer matmul(double alpha, const Array& a, const Array& b, double beta, const Array& output,
              const Call& call);

/// Adds map(x) for all elements, or with `second` x * y.
void add(ExactSum& sum, Map map, const Array& x, const Array* second, const Call& call);
/// Adds elements with the indices from `first` on of the whole, in C's order.
void add(Partial& partial, const Array& x, int64_t first, const Call& call);

/// Waits until no call is in the library, and refuses calls from then on: the interpreter ends.
void finish_calls();
/// In a forked child, where the calls of other threads went on without it.
void forget_calls();

}  // namespace trine::python
