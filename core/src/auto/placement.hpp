// The time that an operation takes on a device, and which device is to do it.
#pragma once

#include <trine/place.hpp>

#include <functional>
#include <optional>

#include "core/src/operations/operations.hpp"
#include "grid.hpp"

namespace trine::detail {

/// Seconds of one of `repeats` runs, and how much of them is moving data.
struct Prediction : Estimate {
  double transfers = 0;
  bool calibrated = false;
};
/// Refuses a place that there isn't.
void check_where(Where where, const char* function);
/// Nothing where the calibration has no such calls.
std::optional<Prediction> predict(const Calibration& measured, const Work& work, Where where,
                                  int repeats);
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

/// The best device for work on data at `where` (host or host_pinned), of those that can do it:
/// whose memory takes the operands, and of which `ask(device)` throws no Error. All but the choice.
Placement best_device(const Work& work, Where where, int repeats,
                      const std::function<void(const Device&)>& ask,
                      std::span<const Device> among = {});

/// SavedCalibration::predict() of any operation.
Candidate predict(const SavedCalibration& file, const Calibration& measured,
                  const AnyOperation& operation, Where where, int repeats);

/// place() of any operation; its first view's buffer says where resident data lives.
Placement place(const AnyOperation& operation, Where where, int repeats,
                std::span<const Device> among);

/// Where two curves of times change places: surely `first` is faster at `low` and below, surely
/// `second` from `high` on, or the other way round; their times are equal at `size`.
struct Swap {
  bool first_below = false;
  double size = 0, low = 0, high = 0;
};
struct Swaps {
  std::vector<Swap> all;
  bool first_is_faster = false;  ///< at the largest size at which that is sure, or on the whole
  bool sure = false;             ///< one of them is surely faster at some size
};

/// The swaps at sizes 1 to `limit`. Where the intervals of the two overlap, neither is surely
/// faster; a change counts only from one that is to the other that is, so that equal devices don't
/// swap at every size.
Swaps find_swaps(const std::function<Estimate(double)>& first,
                 const std::function<Estimate(double)>& second, double limit);

}  // namespace trine::detail
