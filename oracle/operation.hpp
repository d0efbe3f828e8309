// Each operation described once: its operands, the bytes it moves, its flops, how it is filled, its
// result, how a result is checked. Conformance, the benchmarks and the tuner read this.
//
// An operation is the contract's own descriptor over views of host memory. A plan has views whose
// `memory` is null: shapes, strides and offsets, nothing to read.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "backends/lists.h"
#include "compare.hpp"
#include "gemm.hpp"
#include "reduce.hpp"
#include "transpose.hpp"
#include "values.hpp"

namespace trine::oracle {

using Operation = std::variant<TRINE_DESCRIPTORS>;

// --- Plans with dense row-major views; change the views for other layouts ------------------------

Operation plan_reduce(uint32_t function, uint32_t map, uint32_t axis, uint32_t dtype, int64_t rows,
                      int64_t cols);
Operation plan_transpose(uint32_t element_size, int64_t rows, int64_t cols, int64_t batch = 1);
/// alpha and beta are converted to the dtype.
Operation plan_gemm(uint32_t dtype, int64_t m, int64_t n, int64_t k, double alpha = 1,
                    double beta = 0, int64_t batch = 1);
trine_scalar scalar_of(uint32_t dtype, double value);
double scalar_value(uint32_t dtype, const trine_scalar& scalar);

/// Dense views, packed one matrix after the other.
trine_view dense_rows(int64_t rows, int64_t cols, int64_t batch = 1);
trine_view dense_columns(int64_t rows, int64_t cols, int64_t batch = 1);

// --- The parts of an operation ----------------------------------------------------------------

struct Operand {
  const char* name;  ///< "input", "second", "output", "a", "b", "c"
  uint32_t dtype;
  trine_view* view;
  bool read, written;
};

/// Makes a planned sum of floats write states; trine_writes_states() in ops.h.
void write_states(trine_reduce& op);

/// Inputs first, the output last (gemm's C is read too when beta isn't 0 or chains begin there).
std::vector<Operand> operands(Operation& op);
Operand output_of(Operation& op);

uint32_t kind_of(const Operation& op);  ///< trine_operation
const char* axis_name(uint32_t axis);   ///< "each_row"
/// Bytes that have to cross the memory interface once: each input's distinct elements, each output.
double bytes_moved(const Operation& op);
/// Additions and multiplications of a gemm; 0 for the memory-bound operations.
double flops(const Operation& op);
/// Bytes from a view's origin to the end of its last element; 0 for an empty view.
uint64_t extent_bytes(const trine_view& view, uint32_t dtype);
/// "sum square each_row f32 1024x33", "gemm f64 65x63x17 nt"
std::string title(const Operation& op);

// --- Running and checking on the host ------------------------------------------------------------

/// Fills the inputs (and C, which a gemm may read).
void fill(Operation& op, Values values, uint64_t seed);
void reference(const Operation& op);
/// The exactness of a gemm's rung that isn't reproducible.
Exactness exactness_of(uint32_t dtype, uint32_t numerics);
/// The error that each element of the output of `op` may have, where `numerics` allows any;
/// empty where it must be the same bits. `before`: the operation as it was before the reference ran
/// (gemm's C is overwritten); null where C wasn't read.
std::vector<double> error_bounds(const Operation& op, uint32_t numerics,
                                 const Operation* before = nullptr);
/// Checks `got` (host memory in the shape of the output) against the expected output that `op`
/// holds.
Difference check(const Operation& op, const trine_view& got, std::span<const double> bounds);
/// Checks `got` (host memory in the shape of the output) against the expected output that `op`
/// holds, as strictly as `numerics` asks. For study and fast, `before` is the operation as it was
/// before the reference ran (gemm's C is overwritten); pass null where C wasn't read.
Difference check(const Operation& op, const trine_view& got, uint32_t numerics,
                 const Operation* before = nullptr);

/// An operation with host memory of its own for each operand, 64-byte aligned.
class HostOperation {
 public:
  /// Allocates for the plan's views, keeping their strides and offsets.
  explicit HostOperation(const Operation& plan);
  HostOperation(HostOperation&&) = default;

  Operation op;
  /// Bytes of an operand's memory, by the order of operands().
  uint64_t bytes(size_t operand) const { return bytes_[operand]; }

 private:
  struct Free {
    void operator()(void* p) const { ::operator delete[](p, std::align_val_t{64}); }
  };
  std::vector<std::unique_ptr<void, Free>> memory_;
  std::vector<uint64_t> bytes_;
};

}  // namespace trine::oracle
