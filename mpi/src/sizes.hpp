// How a call cuts what it sends. A model of its cost (bench/ranks) takes these numbers from here.
#pragma once

#include <algorithm>
#include <cstdint>

namespace trine::mpi::detail {

/// The size of the message with which every call begins.
inline constexpr int64_t head_bytes = 128;
/// Memory that a call takes for messages, at most.
inline constexpr int64_t usual_piece = int64_t{1} << 26;

/// The bytes of a transposed matrix that a rank sends before it waits for them.
constexpr int64_t chunk_bytes(int64_t piece) { return piece / 16; }

/// The steps of k that a product takes at a time, if one step has `line` bytes in both panels.
constexpr int64_t panel_width(int64_t piece, int64_t line) {
  constexpr int64_t kWidth = 512;  // c is read and written once a panel
  return std::clamp<int64_t>(piece / 2 / std::max<int64_t>(1, line), 1, kWidth);
}

}  // namespace trine::mpi::detail
