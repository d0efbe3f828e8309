/// The saved tuning table: which rung was measured to be the fastest, at which size, on this device.
///
/// `trine sweep --best` writes it, selection reads it once a process, between the rung that a caller
/// names and the backend's own choice. A row decides the calls of its kind (operation, function, map,
/// axis, dtypes, layouts, numerics asked) whose extents all lie within a factor of two of the measured
/// ones; of several the nearest. It never moves a promise: what asks for reproducible bits gets a
/// reproducible rung, and a rung that refuses the call isn't used. Choice::why says which it was, or why
/// a table that is there wasn't used. Environment: TRINE_TUNING=off ignores it; TRINE_DATA_DIR says
/// where it lies (else XDG_DATA_HOME/trine, else ~/.local/share/trine).
#pragma once

#include <trine/operations.hpp>

#include <string>
#include <vector>

namespace trine {

/// A row of the table.
struct Tuned {
  std::string call;  ///< kind and size, as tuned_call() writes them
  std::string rung;  ///< "blocked:tile=64"; empty: nothing beat the backend's own choice there
  double seconds = 0,
         default_seconds = 0;  ///< of the rung, and of the backend's own choice beside it
  std::string date;            ///< "2026-11-21"
};

/// A device's table as it was found.
struct Tuning {
  std::string path;     ///< where it is or would be; empty where nothing can be kept
  std::string refusal;  ///< why the one that is there isn't used; then it has no rows
  bool found = false;   ///< there is one, usable or not
  std::vector<Tuned> rows;
};
TRINE_API Tuning tuning(const Device& device);

/// What a call is in the table's words: "gemm f32 rrr reproducible 512x512x512x1". Views need shapes,
/// strides and dtypes, no buffers. Throws as run() does.
TRINE_API std::string tuned_call(const Reduce& operation);
TRINE_API std::string tuned_call(const Transpose& operation);
TRINE_API std::string tuned_call(const Gemm& operation);

/// Adds rows to the device's table, in the place of those of the same call; this process uses them from
/// now on. Returns the file's path. Throws Error: invalid_argument or not_found where a row is none or
/// its rung may not be chosen by default, unsupported where no file can be written.
TRINE_API std::string save_tuning(const Device& device, const std::vector<Tuned>& rows);

/// Removes the row of `call`, as tuned_call() writes it, from the device's table; false where there is none.
/// Throws Error (unsupported) where the file can't be written.
TRINE_API bool forget_tuning(const Device& device, const std::string& call);

/// Removes the tables of all devices and returns their paths.
TRINE_API std::vector<std::string> forget_tuning();

/// Whether this process's selection looks at the tables; off from the beginning with TRINE_TUNING=off.
TRINE_API void use_tuning(bool on);
TRINE_API bool uses_tuning();

}  // namespace trine
