// The time that an operation takes on a device, and the choice of a device.
#pragma once

#include <trine/place.hpp>

#include <functional>
#include <optional>

#include "core/src/operations/operations.hpp"
#include "grid.hpp"

namespace trine::detail {

/// The seconds of one of `repeats` runs, and the part of them that moves data.
struct Prediction : Estimate {
  double transfers = 0;
  bool calibrated = false;
};
/// Refuses a value that is no place.
void check_where(Where where, const char* function);
/// Empty if the calibration has no such calls.
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
/// The device lacks memory.
Refused memory_refusal(const Device& device, const Work& work);

/// The best device for work on data at `where` (host or host_pinned), among those whose memory
/// takes the operands and for which `ask(device)` throws no Error. All of a placement but its
/// Choice.
Placement best_device(const Work& work, Where where, int repeats,
                      const std::function<void(const Device&)>& ask,
                      std::span<const Device> among = {});

/// SavedCalibration::predict() of any operation.
Candidate predict(const SavedCalibration& file, const Calibration& measured,
                  const AnyOperation& operation, Where where, int repeats);

/// place() of any operation; its first view's buffer says where resident data lives.
Placement place(const AnyOperation& operation, Where where, int repeats,
                std::span<const Device> among);

/// A size at which the faster of two devices changes. `first` is surely faster at `low` and below,
/// `second` from `high` on, or the other way round; their times are equal at `size`.
struct Swap {
  bool first_below = false;
  double size = 0, low = 0, high = 0;
};
struct Swaps {
  std::vector<Swap> all;
  bool first_is_faster = false;  ///< at the largest size at which that is sure, or on the whole
  bool sure = false;             ///< whether one of them is surely faster at some size
};

/// The changes at sizes 1 to `limit`. If the intervals of the two overlap, neither is surely
/// faster. A change counts only between sizes at which one and then the other is surely faster, so
/// that equal devices don't change at every size.
Swaps find_swaps(const std::function<Estimate(double)>& first,
                 const std::function<Estimate(double)>& second, double limit);

}  // namespace trine::detail
