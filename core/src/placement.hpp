// How much work an operation is, and what that takes on a device.
#pragma once

#include <trine/place.hpp>

namespace trine::detail {

/// What an operation reads, writes and computes.
struct Work {
  Operation operation = Operation::reduce;
  Dtype dtype = Dtype::f32;
  double bytes_in = 0, bytes_out = 0;
  double flops = 0;  ///< of gemm, else 0

  /// So little that measuring, or waking a driver, would cost more than any device could save.
  bool is_tiny() const { return bytes_in + bytes_out <= 1 << 20 && flops <= 4e7; }
};

Work work_of(const Reduce& operation);
Work work_of(const Transpose& operation);
Work work_of(const Gemm& operation);

struct Verdict {
  Device device;
  double seconds = 0;  ///< 0 where nothing had to be predicted
  std::string sentence;
};

/// The best device for work on data at `where` (host or host_pinned).
Verdict best_device(const Work& work, Where where, int repeats);

}  // namespace trine::detail
