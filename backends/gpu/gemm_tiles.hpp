// The tiles of `warp_specialized`, `deep` and `tensor_specialized`, one row each: the constants
// that the kernel is compiled with (as macros, see Macro::constants), the sizes that the host
// launches, and the speed by which the default is chosen.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "backends/gpu/variant.hpp"

namespace trine::gpu {

/// Forms that a tile is compiled in beside the one for chains of the rung's own type that begin at
/// 0.
enum TileForms : unsigned {
  kIntegers = 1,   ///< elements are i32
  kWidens = 2,     ///< elements are f32 whose chains are f64, from 0
  kOddRows = 4,    ///< rows an odd number of elements apart are copied as vectors (tensor_panel.h)
  kContinues = 8,  ///< chains of the rung's own type begin at C
  kNoOthers = 16,  ///< not in the form for the rung's own type
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
  /// holds a single group, without a group's start and end, as shares of 53.7 (f32) and 60.8
  /// TFLOP/s (f64), which an H200 reaches at 8192.
  double full, alone;
  int share_of;
  /// Microseconds that a launch takes besides, and that a round of `share_of` groups does.
  double start, ends;
  /// The share of that speed that is left where rows of A or B begin between vectors of 16 bytes:
  /// `odd` with the tile's form for them, if it has one, and `without`. (Exact f32 has no such
  /// form, but keeps about as much as `odd`.)
  double odd, by_elements;
  /// The share of that speed that exact f32 has.
  double widened = 1;
  /// So many warps share the steps of a block, each with a stage in turn, and add up their sums:
  /// only where numerics exact lets them.
  int parts = 1;
  /// 1: blocks have half of a unit's rows.
  int half = 0;
};

/// RoleTile's constants, in order, as the kernels call them.
constexpr const char* kWarpConstants[] = {
    "HEIGHT", "BREADTH", "WARPS_DOWN", "WARPS_ACROSS",
    "GROUPS", "STAGES",  "DEPTH",      "MULTIPLIER_REGISTERS"};
constexpr const char* kTensorConstants[] = {
    "DOWN_BLOCKS", "ACROSS_BLOCKS", "WARPS_DOWN",           "WARPS_ACROSS", "GROUPS",
    "STAGES",      "STEPS",         "MULTIPLIER_REGISTERS", "PARTS",        "HALF"};
constexpr int RoleTile::*kRoleConstants[] = {
    &RoleTile::down,   &RoleTile::across, &RoleTile::warps_down, &RoleTile::warps_across,
    &RoleTile::groups, &RoleTile::stages, &RoleTile::depth,      &RoleTile::registers,
    &RoleTile::parts,  &RoleTile::half};

// Several forms; C: chains begin at C.
// clang-format off
constexpr unsigned kFours = kIntegers | kContinues, kWideOdd = kWidens | kOddRows;
constexpr unsigned kWideOddC = kWideOdd | kContinues;
constexpr unsigned kOddC = kOddRows | kContinues, kShared = kWidens | kNoOthers;
// In order: name, down, across, warps_down, warps_across, groups, stages, depth, registers, forms,
// full, alone, share_of, start, ends, odd, by_elements, widened, parts, half.
constexpr RoleTile kDeepTiles[] = {
    {"8x8",       1,  1, 2, 1, 2,  4, 128,   0, 0,          0.135, 0.106, 3, 1.13, 1.09, 1,      1},
    {"8x16",      1,  1, 2, 2, 2,  6, 64,    0, 0,          0.167, 0.139, 2, 0.49, 1.30, 0.82, 0.82},
    {"16x16",     2,  1, 2, 2, 2,  6, 64,    0, 0,          0.226, 0.199, 2, 0.72, 1.47, 1,      1},
    {"32x32",     4,  2, 2, 2, 2,  4, 64,    0, 0,          0.450, 0.426, 2, 0.81, 2.47, 1,      1}};
constexpr RoleTile kWarpTiles[] = {
    {"16x32",     2,  2, 2, 2, 3,  5, 64,    0, 0,          0.433, 0.346, 3, 0.82, 1.73, 0.90, 0.90},
    {"64x32",     4,  4, 4, 1, 3,  5, 32,    0, 0,          0.722, 0.611, 3, 1.13, 2.46, 0.93, 0.93},
    {"32x64",     4,  4, 2, 2, 2,  6, 32,    0, kContinues, 0.759, 0.664, 2, 0.54, 2.21, 0.92, 0.92},
    {"48x64",     6,  4, 2, 2, 3,  4, 32,    0, 0,          0.864, 0.728, 3, 1.52, 2.71, 0.94, 0.94},
    {"48x96",     6,  6, 2, 2, 2,  4, 32,    0, 0,          0.849, 0.701, 2, 1.71, 3.34, 1,      1},
    {"64x64",     8,  4, 2, 2, 3,  3, 32,    0, 0,          0.895, 0.768, 3, 1.77, 3.54, 1,      1},
    {"128x32",    8,  4, 4, 1, 3,  3, 32,    0, 0,          0.855, 0.685, 3, 1.74, 3.63, 0.94, 0.94},
    {"64x128",    8,  8, 2, 2, 2,  6, 16,  208, kFours,     0.940, 0.867, 2, 1.91, 3.13, 0.94, 0.94},
    {"32x128",    4,  8, 2, 2, 2,  4, 32,  208, 0,          0.868, 0.769, 2, 1.56, 2.93, 1,      1},
    {"96x64",    12,  4, 2, 2, 2,  4, 32,  208, 0,          0.938, 0.807, 2, 1.46, 4.24, 0.97, 0.97},
    {"96x96",    12,  6, 2, 2, 2,  6, 16,  208, 0,          0.934, 0.843, 2, 1.68, 4.82, 1,      1},
    {"128x256",  16,  8, 2, 4, 1,  6, 16,  232, kFours,     1.035, 1.035, 1, 0.00, 8.65, 0.95, 0.95}};
constexpr RoleTile kTensorTiles[] = {
    {"8x8",       1,  1, 1, 1, 1, 12, 64,   0, 0,          0.078, 0.078, 1, 0.26, 1.12, 1.00, 1.00, 1.00, 1, 1},
    {"16x16",     1,  1, 1, 2, 1, 10, 64,   0, 0,          0.276, 0.276, 1, 0.60, 1.59, 0.93, 0.93},
    {"16x32",     1,  1, 1, 4, 2,  8, 32,   0, kContinues, 0.388, 0.350, 2, 0.91, 1.70, 0.86, 0.86},
    {"16x32by2",  1,  2, 1, 2, 2,  8, 16,   0, kShared,    0.192, 0.173, 2, 0.40, 0.81, 1.00, 1.00, 1.00, 2},
    {"32x32",     1,  2, 2, 2, 2, 12, 32, 208, kOddRows,   0.590, 0.590, 1, 0.23, 2.10, 0.77, 0.77},
    {"32x32by2",  1,  2, 2, 2, 1,  8, 16,   0, kShared,    0.306, 0.306, 1, 0.40, 0.87, 1.00, 1.00, 1.00, 2},
    {"32x64",     1,  4, 2, 2, 2,  6, 16,   0, kContinues, 0.783, 0.616, 2, 0.93, 2.19, 0.88, 0.82},
    {"32x64by2",  1,  4, 2, 2, 1,  8, 16, 232, kShared,    0.570, 0.570, 1, 0.80, 1.50, 1.00, 1.00, 1.00, 2},
    {"48x64",     3,  2, 1, 4, 2,  3, 32, 208, 0,          0.867, 0.763, 2, 1.43, 3.32, 0.99, 0.99},
    {"48x96",     3,  3, 1, 4, 1,  6, 16,   0, 0,          0.806, 0.806, 1, 0.74, 2.51, 1.00, 1.00},
    {"64x64",     1,  4, 4, 2, 1,  6, 32, 232, kOddC,      0.955, 0.955, 1, 0.50, 3.19, 1.00, 0.78},
    {"96x48",     1,  3, 6, 2, 1,  6, 16, 160, kShared,    0.720, 0.720, 1, 0.50, 3.00, 0.93, 0.93},
    {"96x64",     3,  2, 2, 4, 1,  4, 32, 232, kShared,    0.919, 0.919, 1, 0.50, 4.08, 0.89, 0.79, 0.97},
    {"96x64pair", 3,  4, 2, 2, 2,  4, 16, 232, 0,          0.954, 0.896, 2, 1.61, 3.82, 0.99, 0.99},
    {"96x96",     3,  3, 2, 4, 1,  6, 16, 232, kOddRows,   1.002, 1.002, 1, 0.28, 4.14, 0.95, 0.95},
    {"128x56",    1,  7, 8, 1, 1,  4, 32, 232, 0,          0.950, 0.950, 1, 0.84, 4.00, 0.94, 0.94},
    {"128x64",    2,  4, 4, 2, 1,  4, 32, 232, kWideOddC,  0.987, 0.987, 1, 0.51, 4.60, 1.00, 0.81, 0.90},
    {"96x112",    1,  7, 6, 2, 1,  6, 16, 152, kOddRows,   0.993, 0.993, 1, 1.08, 5.06, 0.97, 0.97},
    {"128x128",   2,  8, 4, 2, 1,  5, 16, 240, kOddC,      1.063, 1.063, 1, 0.72, 6.56, 0.94, 0.88}};
// clang-format on

/// A rung's tiles, and the rows and columns that a unit of C has in this rung.
struct RoleTiles {
  const char* rung;
  std::span<const RoleTile> tiles;
  int64_t unit_rows, unit_cols;

  constexpr int64_t rows(const RoleTile& tile) const {
    return unit_rows * tile.down * tile.warps_down / (tile.half + 1);
  }
  constexpr int64_t cols(const RoleTile& tile) const {
    return unit_cols * tile.across * tile.warps_across;
  }
};
/// The elements of the largest tile of `tensor_specialized` whose groups finish exact products
/// themselves, as FUSED in tensor_specialized.kernel.h.
constexpr int64_t kFusedTile = 4608;
/// A lane's element stands for 4 x 8 of its warp's; a unit of tensor cores is 16 x 8.
constexpr RoleTiles kWarpRung{"warp_specialized", kWarpTiles, 4, 8};
constexpr RoleTiles kDeepRung{"deep", kDeepTiles, 4, 8};
constexpr RoleTiles kTensorRung{"tensor_specialized", kTensorTiles, 16, 8};

template <size_t kCount>
constexpr auto names_of(const RoleTile (&tiles)[kCount]) {
  std::array<const char*, kCount> names{};
  std::ranges::transform(tiles, names.begin(), &RoleTile::name);
  return names;
}
constexpr auto kWarpTileNames = names_of(kWarpTiles);
constexpr auto kDeepTileNames = names_of(kDeepTiles);
constexpr auto kTensorTileNames = names_of(kTensorTiles);

constexpr int32_t tensor_tile(std::string_view name) {
  return static_cast<int32_t>(std::ranges::find(kTensorTileNames, name) - kTensorTileNames.begin());
}

template <const auto& kTiles>
int role_constant(int value, size_t index) {
  return kTiles[value].*kRoleConstants[index];
}

}  // namespace trine::gpu
