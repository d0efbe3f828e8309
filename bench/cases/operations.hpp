// The program's description of each operation: a new one is added here, to the library's
// descriptions (core/src/operations) and to the oracle's (oracle/operation.hpp).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "case.hpp"
#include "oracle/operation.hpp"

namespace trine::bench {

struct Description {
  Operation operation;
  std::string layout;  ///< a letter for each operand: all row-major

  size_t inputs = 1;       ///< arrays that it reads; a product of a reduction reads one more
  size_t factors = 2;      ///< that a size has at most: RxC or MxNxK
  bool is_vector = false;  ///< whether a size of one number is a vector, not a square

  bool has_function = false;  ///< whether a function, a map and an axis belong to it
  bool is_batched = true;     ///< whether it takes several matrices
  bool is_cut = true;         ///< whether a call on host data is cut into chunks of rows
  bool moves_bits = false;    ///< and computes nothing
  bool turns = false;         ///< whether the first operand's rows are the output's columns

  std::vector<Dtype> dtypes = {};            ///< that it takes; empty: all
  std::vector<std::string> default_dtypes;   ///< where a command names none
  std::vector<std::string> default_sizes;    ///< likewise; the last where a command shows one alone
  std::string gpu_roof_size, cpu_roof_size;  ///< `trine roof`: on GPUs beyond the caches
  const char* memory_roof = "copy";          ///< "read" or "copy": what it does with memory

  /// The kinds of call that a calibration tells apart, and the sizes at which their results are
  /// checked: small and large, as odd as the calibration's own.
  std::vector<Function> calibrated_functions = {Function::sum};
  std::vector<Dtype> calibrated_dtypes;
  std::vector<std::pair<Axis, Size>> calibrated_sizes;

  bool by_flops = false;  ///< its rate is quoted in flop/s, not in bytes/s
  /// How many times its operands are in memory at once while it is verified: the data, the outputs,
  /// those that are expected, those of data that the rung hasn't seen.
  double copies = 4.5;
  /// Operations that count: two a multiply-add of a gemm, one an element of a reduction, none of a
  /// transpose.
  double (*flops)(const Problem&);

  /// The oracle's description: dense, row-major.
  oracle::Operation (*plan)(const Problem&);
  /// The library's call on its operands.
  DeviceOperation (*call)(const Problem&, const std::vector<View>& views);
  /// The one-line call on host data.
  void (*call_on_host)(const Problem&, const std::vector<HostView>& views, const HostOptions&);
};

const Description& describe(Operation operation);
/// How many arrays it reads.
size_t inputs_of(Operation operation, Map map);

}  // namespace trine::bench
