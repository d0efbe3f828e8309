// How much work an operation is, what that takes on a device, and which one is to do it.
#pragma once

#include <trine/place.hpp>

#include <functional>

#include "grid.hpp"

namespace trine::detail {

/// What an operation reads, writes and computes.
struct Work {
  Operation operation = Operation::reduce;
  Dtype dtype = Dtype::f32;
  double bytes_in = 0, bytes_out = 0;
  double flops = 0;  ///< of gemm, else 0
  /// Bytes of each operand's memory: used in place, and as a host call brings it to a device.
  struct Memory {
    uint64_t span = 0, packed = 0;
  } operands[3] = {};
  int call_class = -1;  ///< where a calibration has it: calibration.hpp
  /// Elements, or results and elements of each; rows and columns; m, n, k. A batch counts as rows.
  double extents[3] = {};

  /// So little that measuring, or waking a driver, would cost more than any device could save.
  bool is_tiny() const { return bytes_in + bytes_out <= 1 << 20 && flops <= 4e7; }
};

Work work_of(const Reduce& operation);
Work work_of(const Transpose& operation);
Work work_of(const Gemm& operation);

/// Seconds of one of `repeats` runs, and how much of them is moving data.
struct Prediction : Estimate {
  double transfers = 0;
  bool calibrated = false;
};
Prediction predict(const Device& device, const Work& work, Where where, int repeats);
/// "calibrated on 2026-11-21", "roofs measured now".
std::string source_of(const Device& device, const Work& work);

/// Why a device can't do the work; Status::ok where it can.
struct Refused {
  Status status = Status::ok;
  std::string sentence;
};
/// For want of memory.
Refused memory_refusal(const Device& device, const Work& work);

struct Verdict {
  Device device;
  std::string sentence;
  std::vector<Candidate> candidates;  ///< fastest first; none where nothing had to be predicted
  double seconds() const { return candidates.empty() ? 0 : candidates[0].seconds; }
};

/// An input goes to a device as it lies, in one piece, unless its gaps are more than its elements;
/// all else is packed.
inline bool goes_whole(uint64_t span, uint64_t payload, bool is_output) {
  return !is_output && span <= 2 * payload;
}

/// The best device for work on data at `where` (host or host_pinned), of those that can do it:
/// whose memory takes the operands, and of which `ask(device)` throws no Error.
Verdict best_device(const Work& work, Where where, int repeats,
                    const std::function<void(const Device&)>& ask,
                    std::span<const Device> among = {});

}  // namespace trine::detail
