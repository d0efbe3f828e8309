// The times that `trine calibrate` measured on a device: for each class of calls and each kind of
// memory a grid of times. Read from the user's folder when it is first asked for, and checked
// whole.
#pragma once

#include <trine/place.hpp>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/src/operations/operations.hpp"
#include "core/src/runtime/persistent_file.hpp"
#include "grid.hpp"

namespace trine::detail {

/// The kinds of memory, as a file names them. A CPU that computes in the host's memory has only
/// `host`.
constexpr Where kWheres[] = {Where::device, Where::host, Where::host_pinned, Where::host_pipelined};
constexpr std::size_t kMemories = std::size(kWheres);
constexpr std::size_t index_of(Where where) { return static_cast<std::size_t>(where) - 1; }
std::string_view memory_word(Where where);  ///< "resident", "pageable", "pinned", "pipelined"

struct Calibration {
  using Tables = std::array<std::optional<Grid>, kMemories>;

  std::string date;  ///< ISO 8601, UTC
  std::vector<Tables> tables = std::vector<Tables>(call_classes().size());

  /// The table for a kind of memory, or nullptr if it wasn't measured. Pipelined calls use the
  /// table of pinned ones if they have none, and these that of pageable ones. A device without a
  /// resident table computes in place.
  const Grid* table(int call_class, Where where) const;
};

/// Rows of a saved file and back. Before complete(), a table has only what was measured.
std::vector<std::string> rows_of(const Calibration& measured);
/// Throws Error (invalid_argument) with the first mistake and its place in the file. The tables
/// that it returns are complete.
Calibration calibration_of(const Saved& saved);

constexpr std::string_view kCalibrationKind = "calibration";
constexpr int kCalibrationVersion = 2;

/// saved_key() with the mark of the tuning table under which it was measured, because another table
/// chooses other rungs, with other times.
PersistentKey calibration_key(const DeviceState& device);

/// A device's calibration, kept for the process until its tuning changes.
struct Known {
  std::shared_ptr<const Calibration> calibration;  ///< or nullptr
  std::string refusal;                             ///< why the file that is there isn't used
};
Known read_calibration(const PersistentKey& key);  ///< from its file, now
Known known_of(const Device& device);
/// "calibrated on 2026-11-21", or "not calibrated" and why the file that is there isn't used.
std::string words_of(const Known& known);
/// Replaces what this process knows.
void learn(const Device& device, std::shared_ptr<const Calibration> calibration);

}  // namespace trine::detail
