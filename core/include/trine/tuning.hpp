/// The tuning table: for each device a saved file of the rungs that were measured to be the
/// fastest.
///
/// `trine sweep --best` writes the table. run() and choose() look into it when the caller names no
/// rung, before they ask the backend. A row decides calls of the same kind (operation, function,
/// map, axis, dtypes, layouts, numerics) whose extents are all within a factor of two of the
/// measured ones; of several such rows, the nearest. The promise of the bits stays: a call that
/// asks for reproducible bits gets a reproducible rung. A rung that refuses the call is passed
/// over. Choice::why says when the table decided, or why an existing table wasn't used.
///
/// The files lie in TRINE_DATA_DIR, else XDG_DATA_HOME/trine, else ~/.local/share/trine; each
/// process reads a device's file once. TRINE_TUNING=off ignores the tables. A file of another host,
/// device, driver or version of Trine, or a damaged one, is refused with a reason and has no
/// effect.
///
/// Thread safety: all functions may be called from any thread. Two processes may save at the same
/// time: each replaces the file as a whole.
#pragma once

#include <trine/operations.hpp>

#include <string>
#include <vector>

namespace trine {

/// A row of the table.
struct Tuned {
  /// The kind and size of the calls, as tuning_key() writes it.
  std::string call;
  /// The rung as run() takes it, "blocked:tile=64". Empty: nothing was faster than the backend's
  /// own choice.
  std::string rung;
  /// Measured seconds of the rung, and of the backend's own choice in the same rounds.
  double seconds = 0, default_seconds = 0;
  /// The day of the measurement, "2026-11-21".
  std::string date;
};

/// A device's table as it was found.
struct Tuning {
  /// The file, whether it exists or not; empty where no folder can be used.
  std::string path;
  /// The reason why an existing file isn't used; `rows` is empty then.
  std::string refusal;
  /// Whether the file exists, usable or not.
  bool found = false;
  std::vector<Tuned> rows;
};
/// The table of `device`. An unusable file is no error: see Tuning::refusal.
/// ```cpp
/// for (const trine::Tuned& row : trine::tuning(trine::open("cpu")).rows) {
///   std::cout << row.call << ": " << row.rung << "\n";
/// }
/// ```
TRINE_API Tuning tuning(const Device& device);

/// The tuning key of a call: its kind and size, "gemm f32 rrr reproducible 512x512x512x1". The
/// views need shapes, strides and dtypes, but no buffers. Throws Error as run().
/// ```cpp
/// trine::Gemm product;
/// product.a = product.b = product.c = trine::row_major({}, trine::Dtype::f32, 512, 512);
/// std::cout << trine::tuning_key(product) << "\n";
/// ```
TRINE_API std::string tuning_key(const Reduce& operation);
TRINE_API std::string tuning_key(const Transpose& operation);
TRINE_API std::string tuning_key(const Gemm& operation);

/// Adds rows to the device's table and replaces rows of the same call. This process uses them from
/// now on. Returns the path of the file.
/// Throws Error: invalid_argument for a row that isn't well-formed or whose rung may only run when
/// it is named; not_found for an unknown rung; unsupported where no file can be written.
/// ```cpp
/// trine::Gemm product;
/// product.a = product.b = product.c = trine::row_major({}, trine::Dtype::f32, 512, 512);
/// trine::save_tuning(trine::open("cpu"), {{.call = trine::tuning_key(product),
///                                          .rung = "blocked:tile=64",
///                                          .seconds = 2.0e-3,
///                                          .default_seconds = 2.5e-3,
///                                          .date = "2026-11-21"}});
/// ```
TRINE_API std::string save_tuning(const Device& device, const std::vector<Tuned>& rows);

/// Removes the row of `call`, as tuning_key() writes it, from the device's table. Returns false
/// where there is no such row. Throws Error (unsupported) where the file can't be written.
TRINE_API bool forget_tuning(const Device& device, const std::string& call);

/// Removes the tables of all devices and returns the paths of the removed files.
TRINE_API std::vector<std::string> forget_tuning();

/// Lets this process use the tables or ignore them, and says whether it uses them. The initial
/// value is true, or false with TRINE_TUNING=off.
TRINE_API void use_tuning(bool on);
TRINE_API bool uses_tuning();

}  // namespace trine
