// How a call cuts what it sends. A model of its cost (bench/ranks) takes these numbers from here.
#pragma once

#include <algorithm>
#include <cstdint>

namespace trine::mpi::detail {

/// The size of the message with which every call begins.
inline constexpr int64_t head_bytes = 128;
/// Memory that a call takes for messages, at most; the panels of an exact product may have more.
inline constexpr int64_t usual_chunk = int64_t{1} << 26;

/// The bytes of a transposed matrix that a rank sends before it waits for them.
constexpr int64_t transposed_bytes(int64_t chunk) { return chunk / 16; }

/// The k of a step of a product, at most; c is read and written once a step.
inline constexpr int64_t most_width = 512;
/// The k that a step takes, if one k has `bytes` in both panels.
constexpr int64_t panel_width(int64_t chunk, int64_t bytes) {
  return std::clamp<int64_t>(chunk / 2 / std::max<int64_t>(1, bytes), 1, most_width);
}

/// Memory for the panels of an exact product, if a process has `parts` bytes of a, b and c: as
/// panels have all of k, it grows with them.
constexpr int64_t panels_room(int64_t chunk, int64_t parts) {
  return 2 * parts > usual_chunk ? 2 * parts : chunk;
}
/// The rows of a panel if a process has `rows` of `bytes` each. All of them are one panel where
/// that fits in half of the memory; else two panels do.
constexpr int64_t panel_rows(int64_t room, int64_t rows, int64_t bytes) {
  if (rows <= room / 2 / bytes) return rows;
  const int64_t most = std::max<int64_t>(1, room / 4 / bytes), panels = (rows + most - 1) / most;
  return (rows + panels - 1) / panels;
}

}  // namespace trine::mpi::detail
