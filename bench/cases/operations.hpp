// What the program says of each operation, once: a new one is added here, to the library's descriptions
// (core/src/operations) and to the oracle's (oracle/operation.hpp).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "case.hpp"
#include "oracle/operation.hpp"

namespace trine::bench {

struct Description {
  Operation operation;
  std::string layout;  ///< a letter for each operand: all row-major

  size_t factors;  ///< that a size has at most: RxC or MxNxK
  bool is_vector;  ///< whether a size of one number is a vector, not a square

  std::vector<Dtype> dtypes;                 ///< that it takes; empty: all
  std::vector<std::string> default_dtypes;   ///< where a command names none
  std::vector<std::string> default_sizes;    ///< likewise; the last where a command shows one alone
  std::string gpu_roof_size, cpu_roof_size;  ///< `trine roof`: on GPUs beyond the caches

  bool by_flops;  ///< its rate is quoted in flop/s, not in bytes/s
  /// How many times its operands are in memory at once while it is verified: the data, the outputs, those
  /// that are expected, those of data that the rung hasn't seen.
  double copies;

  /// The oracle's description: dense, row-major.
  oracle::Operation (*plan)(const Problem&);
  /// The library's call; `view(i)` is operand i.
  DeviceOperation (*call)(const Problem&, const std::function<View(size_t)>& view);
  /// The one-line call on host data.
  void (*call_on_host)(const Problem&, const std::vector<HostView>& views, const HostOptions&);
};

const Description& describe(Operation operation);

}  // namespace trine::bench
