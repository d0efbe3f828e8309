// The tiles of `warp_specialized` and `tensor_specialized`, one row each: the constants that the
// kernel is compiled with (as macros, see Macro::constants), the sizes that the host launches, and
// the speed by which the default is chosen.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "backends/gpu/variant.hpp"

namespace trine::gpu {

/// Forms that a tile is compiled in beside those for chains of the rung's own type, which begin at
/// 0 or at C.
enum TileForms : unsigned {
  kIntegers = 1,  ///< elements are i32
  kWidens = 2,    ///< elements are f32 whose chains are f64, from 0
  kOddRows = 4,   ///< rows an odd number of elements apart are copied as vectors (tensor_panel.h)
};

struct RoleTile {
  const char* name;
  /// Constants of the kernel. A warp holds down x across units of C; warps_down x warps_across
  /// warps multiply. `groups` of a multiprocessor is the bound given to the compiler; `share_of` of
  /// them really fit. `stages` of panels have `depth` steps of k each. `registers` is the number
  /// that a multiplying work-item has, 0: as many as a copying one.
  int down, across, warps_down, warps_across, groups, stages, depth, registers;
  unsigned forms;
  /// The speed on a multiprocessor with `share_of` groups, as many as really fit, and on one that
  /// holds a single group, as shares of the fastest for the dtype (f32 53.7, f64 60.8 TFLOP/s of an
  /// H200), at sizes that leave few multiprocessors idle. Those of tensor_specialized have a
  /// group's start and end taken out, and then are the same within 2 % from 832 to 4096.
  double full, alone;
  int share_of;
  /// The share of that speed that is left where rows of A or B begin between vectors of 16 bytes:
  /// `odd` with the tile's form for them, if it has one, and `without`. (Exact f32 has no such
  /// form, but keeps about as much as `odd`.)
  double odd, by_elements;
};

/// RoleTile's constants, in order, as the kernels call them.
constexpr const char* kWarpConstants[] = {
    "HEIGHT", "BREADTH", "WARPS_DOWN", "WARPS_ACROSS",
    "GROUPS", "STAGES",  "DEPTH",      "MULTIPLIER_REGISTERS"};
constexpr const char* kTensorConstants[] = {
    "DOWN_BLOCKS", "ACROSS_BLOCKS", "WARPS_DOWN", "WARPS_ACROSS",
    "GROUPS",      "STAGES",        "STEPS",      "MULTIPLIER_REGISTERS"};
constexpr int RoleTile::*kRoleConstants[] = {
    &RoleTile::down,   &RoleTile::across, &RoleTile::warps_down, &RoleTile::warps_across,
    &RoleTile::groups, &RoleTile::stages, &RoleTile::depth,      &RoleTile::registers};

// clang-format off
constexpr unsigned kEvery = kWidens | kOddRows;
//   name  down across warps groups stages depth regs forms  full   alone of odd   without
constexpr RoleTile kWarpTiles[] = {
    {"16x32",    2,  2, 2, 2, 2,  6, 32,   0, 0,         0.35,  0.15,  3, 1,     1},
    {"32x64",    4,  4, 2, 2, 2,  6, 32,   0, 0,         0.71,  0.49,  2, 1,     1},
    {"48x96",    6,  6, 2, 2, 2,  4, 32,   0, 0,         0.73,  0.60,  2, 1,     1},
    {"64x128",   8,  8, 2, 2, 2,  6, 16, 208, kIntegers, 0.91,  0.79,  2, 1,     1},
    {"96x96",   12,  6, 2, 2, 2,  6, 16, 208, 0,         0.883, 0.744, 2, 1,     1},
    {"128x256", 16,  8, 2, 4, 1,  6, 16, 232, kIntegers, 1.00,  1.00,  1, 1,     1}};
constexpr RoleTile kTensorTiles[] = {
    {"16x32",    1,  1, 1, 4, 2,  8, 32,   0, kWidens,   0.31,  0.20,  2, 0.86,  0.86},
    {"32x32",    1,  2, 2, 2, 2, 12, 32, 208, kOddRows,   0.38,  0.38,  1, 0.83,  0.74},
    {"32x64",    1,  4, 2, 2, 2,  6, 16,   0, kWidens,   0.75,  0.55,  2, 0.82,  0.82},
    {"48x64",    3,  2, 1, 4, 2,  3, 32, 208, kWidens,   0.87,  0.71,  2, 0.80,  0.80},
    {"48x96",    3,  3, 1, 4, 1,  6, 16,   0, 0,         0.75,  0.75,  1, 0.86,  0.86},
    {"64x64",    1,  4, 4, 2, 1,  6, 32, 232, kEvery,    0.84,  0.84,  1, 0.93,  0.78},
    {"96x64",    3,  2, 2, 4, 1,  4, 32, 232, kEvery,    0.93,  0.93,  1, 0.89,  0.79},
    {"96x96",    3,  3, 2, 4, 1,  6, 16, 232, kEvery,    0.955, 0.955, 1, 0.915, 0.89},
    {"128x56",   1,  7, 8, 1, 1,  4, 32, 232, 0,         0.925, 0.925, 1, 0.67,  0.67},
    {"128x64",   2,  4, 4, 2, 1,  4, 32, 232, kEvery,    0.96,  0.96,  1, 0.90,  0.81},
    {"96x112",   1,  7, 6, 2, 1,  6, 16, 152, kOddRows,  0.95,  0.95,  1, 0.89,  0.83},
    {"128x128",  2,  8, 4, 2, 1,  5, 16, 240, kEvery,    1.00,  1.00,  1, 0.94,  0.88}};
// clang-format on

/// A rung's tiles, and the rows and columns that a unit of C has in this rung.
struct RoleTiles {
  const char* rung;
  std::span<const RoleTile> tiles;
  int64_t unit_rows, unit_cols;

  constexpr int64_t rows(const RoleTile& tile) const {
    return unit_rows * tile.down * tile.warps_down;
  }
  constexpr int64_t cols(const RoleTile& tile) const {
    return unit_cols * tile.across * tile.warps_across;
  }
};
/// A lane's element stands for 4 x 8 of its warp's; a unit of tensor cores is 16 x 8.
constexpr RoleTiles kWarpRung{"warp_specialized", kWarpTiles, 4, 8};
constexpr RoleTiles kTensorRung{"tensor_specialized", kTensorTiles, 16, 8};

template <size_t kCount>
constexpr auto names_of(const RoleTile (&tiles)[kCount]) {
  std::array<const char*, kCount> names{};
  std::ranges::transform(tiles, names.begin(), &RoleTile::name);
  return names;
}
constexpr auto kWarpTileNames = names_of(kWarpTiles);
constexpr auto kTensorTileNames = names_of(kTensorTiles);

constexpr int32_t tensor_tile(std::string_view name) {
  return static_cast<int32_t>(std::ranges::find(kTensorTileNames, name) - kTensorTileNames.begin());
}

template <const auto& kTiles>
int role_constant(int value, size_t index) {
  return kTiles[value].*kRoleConstants[index];
}

}  // namespace trine::gpu
