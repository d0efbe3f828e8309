/// Receipts: what a call computed, in digests that are the same on every device.
///
/// HostOptions::receipt asks for the receipt of one call on host data. The environment's
/// TRINE_RECEIPTS=file leaves one for every call of the process, also on queues, as a line of JSON;
/// `trine replay` compares two such files, or runs the calls of one again. docs/receipts.md defines
/// the digest and the lines.
/// ```cpp
/// std::vector<float> x = {1, 2, 3};
/// trine::Receipt receipt;
/// trine::sum(x, {.receipt = &receipt});
/// // The digest of the sum: equal wherever it is computed.
/// std::cout << receipt.operands.back().digest << "\n";
/// ```
#pragma once

#include <trine/buffer.hpp>

namespace trine {

/// An operand in a receipt.
struct ReceiptOperand {
  /// "input", "second", "output"; "a", "b", "c"; "x", "y"; "result".
  std::string_view name;
  bool is_output = false;
  /// The view as the call had it: extents and strides in elements.
  Dtype dtype = Dtype::f32;
  int64_t rows = 0, cols = 0, batch = 1;
  int64_t row_stride = 0, col_stride = 1, batch_stride = 0;
  /// The digest(), of an output after the call; empty if the call doesn't read it (gemm with alpha
  /// = 0).
  std::string digest;
  /// The digest of an output that is also read (gemm with beta != 0, or one that continues), before
  /// the call; else empty.
  std::string before;
};

/// The inputs of a call, its result, and where it ran.
struct Receipt {
  /// The number of the call among those of the process that left a receipt, from 1.
  uint64_t call = 0;
  /// "reduce", "transpose", "gemm"; on queues also "axpby" and "scalar".
  std::string_view operation;
  /// The names of the function, map, axis and numerics that the call asked for; empty if the
  /// operation has none.
  std::string_view function, map, axis, numerics;
  /// The scalars of gemm and axpby, or the two arguments of scalar.
  double alpha = 0, beta = 0;
  /// Whether the chains of a gemm began at c.
  bool continues = false;
  /// The output comes last.
  std::vector<ReceiptOperand> operands;
  /// The device's id ("cuda:0") and name; the rung as run() takes it, and its promise.
  std::string device, device_name, rung;
  std::string_view promise;
  /// If not empty: the reason why there are no digests.
  std::string why;

  /// The receipt as a line of JSON, as TRINE_RECEIPTS has it, without the newline.
  TRINE_API std::string json() const;
};

/// The digest of a view's elements in the order (b, i, j), as 32 hexadecimal digits: equal elements
/// have equal digests, whatever their strides. All NaNs of f32 and f64 count as one.
///
/// Errors: Error (invalid_argument) for memory that is null, or extents that are too large. Large
/// views are read by several threads. Thread safety: any number of calls at a time.
/// ```cpp
/// std::vector<double> a = {1, 2, 3, 4, 5, 6}, t = {1, 4, 2, 5, 3, 6};
/// bool same = trine::digest(trine::host_row_major(a.data(), trine::Dtype::f64, 2, 3)) ==
///             trine::digest(trine::host_col_major(t.data(), trine::Dtype::f64, 2, 3));  // true
/// std::cout << same << "\n";
/// ```
TRINE_API std::string digest(const ConstHostView& view);

}  // namespace trine
