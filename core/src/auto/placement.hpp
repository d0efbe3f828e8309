// What an operation takes on a device, and which one is to do it.
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

}  // namespace trine::detail
