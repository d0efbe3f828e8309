// A device's tuning table as selection reads it: rows resolved against the ladders, sorted by kind.
#pragma once

#include <trine/tuning.hpp>

#include <atomic>

#include "rungs.hpp"

namespace trine::detail {

struct TunedRow {
  TuningKey call;
  float logs[4] = {};   ///< of the extents, to the base 2
  Selected choice;      ///< without a rung if the backend's own choice is the best
  std::string why;      ///< "tuned: 12.3 us against 15.0 us of the default at 1048576 (…)"
  std::string refused;  ///< why the built-in choice runs instead, if it does
};

/// Immutable: a changed table replaces it. The old one is kept, because Choices refer to its
/// sentences.
struct TuningTable {
  unsigned generation = 0;
  std::vector<TunedRow> rows;  ///< by kind
  std::string refused;         ///< why the file that is there isn't used; or ""
  std::string mark = "none";   ///< the same for tables that choose alike; tuning_mark()
  Tuning found;

  /// The row that decides the call, or nullptr.
  const TunedRow* find(const TuningKey& asked) const;
};

extern std::atomic<bool> tuning_is_on;

/// The device's table, read on first use and kept for the process.
const TuningTable& load_tuning(const DeviceState& device);

/// nullptr if tables are off. Costs two loads in the steady state.
inline const TuningTable* tuning_of(const DeviceState& device) {
  if (!tuning_is_on.load(std::memory_order_relaxed)) return nullptr;
  const TuningTable* table = device.tuning.load(std::memory_order_acquire);
  if (table && table->generation == tuning_generation.load(std::memory_order_acquire)) return table;
  return &load_tuning(device);
}

/// Which rungs the device's table chooses for which calls, as a word; "none": the built-in ones.
/// A calibration, which is measured with these choices, holds under one mark alone.
inline std::string tuning_mark(const DeviceState& device) {
  const TuningTable* const table = tuning_of(device);
  return table ? table->mark : "none";
}

}  // namespace trine::detail
