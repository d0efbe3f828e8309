// Rungs of gemm for NVIDIA's GPUs of compute capability 9.0: warps with roles, tensor cores.
#include <algorithm>
#include <array>
#include <string_view>

#include "backends/gpu/gemm_launch.hpp"
#include "backends/gpu/gemm_self_check.hpp"

namespace trine::gpu {
namespace {

// --- tensor: f64 on tensor cores ------------------------------------------------------------------

constexpr const char* kDouble[] = {"double"};
constexpr Macro kTensorMacros[] = {{"T", kDouble}, {"SIZE", kSizes}, {"LAYOUT", kLayouts}};
constexpr int64_t kTensorStages = 4, kTensorDepth = 16, kTensorPadding = 4;

int64_t tensor_elements(int64_t size) {
  return kTensorStages * 2 * size * (kTensorDepth + kTensorPadding);
}

/// In dynamic local memory, which only CUDA's driver counts: NVIDIA's OpenCL says 48 KB and takes more.
Group tensor_group(const Request& request) {
  const int64_t size = size_of(request);
  return {size, size, 2 * size, request.target.backend == kCuda ? tensor_elements(size) : 0};
}

const char* tensor_refuses(const Request& request) {
  if (request.as<trine_gemm>().dtype != TRINE_F64) return "tensor is for f64";
  if (!request.target.has(TRINE_CAN_INLINE_PTX)) return "tensor needs NVIDIA's tensor cores";
  return refuse_tiles(request, tensor_group(request));
}

void tensor_plan(const Request& request, Plan& plan) {
  const auto& op = request.as<trine_gemm>();
  const Problem p(op);
  plan.macro[1] = request.selection.values[0];
  plan.macro[2] = layout_of(p);
  if (p.empty()) return;
  const Group group = tensor_group(request);
  add_tiles(plan, op, p, group).dynamic_local_bytes =
      static_cast<uint32_t>(tensor_elements(group.tile_m) * 8);
}

void check_plan(const Target& target, void* input, void* output, Plan& plan) {
  const trine_gemm op = gemm_check::operation<double>(input, output);
  trine_selection selection{};
  selection.size = sizeof selection;
  selection.values[0] =
      1;  // the specialization that asks most of the device, where it isn't too much
  const trine_call call{sizeof call, TRINE_GEMM, &op};
  const Request request{target, selection, call, nullptr};
  if (tensor_refuses(request)) selection.values[0] = 0;
  tensor_plan(request, plan);
}

constexpr SelfCheck kTensorCheck[] = {gemm_check::of<double>(check_plan)};

// --- warp_specialized ----------------------------------------------------------------------------

constexpr const char* kFourBytes[] = {"float", "int"};
constexpr const char* kTiles[] = {"16x32",  "32x64",   "48x96",   "64x128",     "96x96",
                                  "96x192", "128x256", "192x192", "128x256_cut"};
constexpr trine_parameter kTileParameters[] = {
    {sizeof(trine_parameter), std::size(kTiles), 6, "tile", kTiles}};
constexpr Macro kWarpMacros[] = {{"T", kFourBytes}, {"TILE", kTiles}, {"CONTINUED", kNoYes}};

/// A kernel of warp_roles.h: a group's tile and work-items, its stages, and the steps of k in each.
struct WarpTile {
  Group group;
  int64_t stages, depth;
  Special special = kNone;
};

/// Every warp that multiplies has a flag in the control area.
constexpr int64_t kCutWarps = 8, kMostCut = TRINE_CONTROL_BYTES / sizeof(uint32_t) / kCutWarps;

/// How many tiles are cut: one for each multiprocessor, as far as there are tiles and flags.
int64_t cut_of(const Request& request, const WarpTile& tile) {
  const Problem p(request.as<trine_gemm>());
  if (tile.special != kCut || p.empty()) return 0;
  const int64_t tiles = tiles_of(p, tile.group), units = request.target.facts->compute_units;
  return std::min({tiles, units, kMostCut});
}

uint64_t cut_workspace(const Request& request, const WarpTile& tile) {
  const int64_t sums = cut_of(request, tile) * tile.group.tile_m * tile.group.tile_n;
  const uint32_t element = trine_dtype_size(request.as<trine_gemm>().dtype);
  return sums == 0 ? 0 : TRINE_CONTROL_BYTES + static_cast<uint64_t>(sums) * element;
}

/// Makes `launch` one of a kernel with CUT_ARGUMENTS, if the tile asks for it.
void add_cut(const Request& request, const WarpTile& tile, Launch& launch) {
  if (tile.special != kCut) return;
  const int64_t cut = cut_of(request, tile);
  // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): self-checks have none, and take no tile that is cut
  const trine_workspace& space = *request.workspace;
  const uint32_t element = trine_dtype_size(request.as<trine_gemm>().dtype);
  launch.grid[0] += static_cast<uint32_t>(cut);
  launch.memory(space.memory).i64(static_cast<int64_t>(space.offset / sizeof(uint32_t)));
  launch.memory(space.memory);
  launch.i64(static_cast<int64_t>((space.offset + TRINE_CONTROL_BYTES) / element));
  launch.i32(static_cast<int32_t>(cut));
}

const char* refuse_warp_tiles(const Request& request, const WarpTile& tile) {
  const Problem p(request.as<trine_gemm>());
  if (tile.special == kCut && p.continues) return "tiles that are cut begin their chains at 0";
  if (const char* why = refuse_tiles(request, tile.group)) return why;
  return tile.special == kCut && tiles_of(p, tile.group) > kMaxGroups - kMostCut ? kTooMany
                                                                                 : nullptr;
}

/// As warp_specialized.kernel.h defines them.
constexpr WarpTile kWarpTiles[std::size(kTiles)] = {
    {{16, 32, 256}, 6, 32},   {{32, 64, 256}, 6, 32},   {{48, 96, 256}, 4, 32},
    {{64, 128, 256}, 6, 16},  {{96, 96, 256}, 6, 16},   {{96, 192, 384}, 6, 16},
    {{128, 256, 384}, 6, 16}, {{192, 192, 384}, 6, 16}, {{128, 256, 384}, 6, 16, kCut}};
constexpr int64_t kWarpPadding = 4;

constexpr const char* kNoBarriers = "its barriers that count arrivals are NVIDIA's";

/// Integers have no peer to win against: two tiles are enough for them.
bool warp_exists(const int* macro) {
  if (kWarpTiles[macro[1]].special == kCut && macro[2] != 0) return false;
  return macro[0] == 0 || macro[1] == 3 || macro[1] == 6;
}

const char* warp_refuses(const Request& request) {
  const uint32_t dtype = request.as<trine_gemm>().dtype;
  const int32_t tile = request.selection.values[0];
  if (dtype == TRINE_F64) return "warp_specialized is for 4-byte dtypes";
  const int macro[] = {dtype == TRINE_F32 ? 0 : 1, tile, 0};
  if (!warp_exists(macro)) return "of i32 there are the tiles 64x128 and 128x256";
  if (!request.target.has(TRINE_CAN_INLINE_PTX)) return kNoBarriers;
  return refuse_warp_tiles(request, kWarpTiles[tile]);
}

void warp_plan(const Request& request, Plan& plan) {
  const auto& op = request.as<trine_gemm>();
  const WarpTile& tile = kWarpTiles[request.selection.values[0]];
  const Problem p(op);
  plan.macro[0] = op.dtype == TRINE_F32 ? 0 : 1;
  plan.macro[1] = request.selection.values[0];
  plan.macro[2] = p.continues ? 1 : 0;
  if (p.empty()) return;
  Launch& launch = add_tiles(plan, op, p, tile.group);
  launch.dynamic_local_bytes = static_cast<uint32_t>(
      tile.stages * tile.depth * (tile.group.tile_m + tile.group.tile_n + 2 * kWarpPadding) * 4);
  add_cut(request, tile, launch);
}

uint64_t warp_workspace(const Request& request) {
  return cut_workspace(request, kWarpTiles[request.selection.values[0]]);
}

void plan_warp_check(const Target& target, void* input, void* output, Plan& plan) {
  const trine_gemm op = gemm_check::operation<float>(input, output);
  trine_selection selection{};
  selection.size = sizeof selection;
  selection.values[0] = kTileParameters[0].default_value;  // asks most of the device
  warp_plan({target, selection, {sizeof(trine_call), TRINE_GEMM, &op}, nullptr}, plan);
}

/// Not of the arithmetic: whether the driver takes more local memory than NVIDIA's OpenCL says it has.
constexpr SelfCheck kWarpCheck[] = {gemm_check::of<float>(plan_warp_check)};

// --- tensor_specialized --------------------------------------------------------------------------

constexpr const char* kTensorTiles[] = {
    "16x32",  "32x32",  "32x64",  "48x64",  "48x96",   "64x64",   "96x64",       "96x96",
    "128x56", "128x64", "96x112", "128x96", "128x112", "128x128", "128x128_cut", "32x48"};
constexpr trine_parameter kTensorTileParameters[] = {
    {sizeof(trine_parameter), std::size(kTensorTiles), 13, "tile", kTensorTiles}};
constexpr const char* kDoubleOrAccurate[] = {"double", "float"};
constexpr Macro kTensorTileMacros[] = {{"T", kDoubleOrAccurate},
                                       {"TILE", kTensorTiles},
                                       {"LAYOUT", kLayouts},
                                       {"ODD", kNoYes},
                                       {"CONTINUED", kNoYes}};

/// As tensor_specialized.kernel.h defines them.
constexpr WarpTile kTensorTileSizes[std::size(kTensorTiles)] = {{{16, 32, 256}, 8, 32},
                                                                {{32, 32, 256}, 12, 32, kOddRows},
                                                                {{32, 64, 256}, 6, 16},
                                                                {{48, 64, 256}, 3, 32},
                                                                {{48, 96, 256}, 6, 16},
                                                                {{64, 64, 384}, 6, 32, kOddRows},
                                                                {{96, 64, 384}, 4, 32, kOddRows},
                                                                {{96, 96, 384}, 6, 16, kOddRows},
                                                                {{128, 56, 384}, 4, 32},
                                                                {{128, 64, 384}, 4, 32, kOddRows},
                                                                {{96, 112, 512}, 6, 16, kOddRows},
                                                                {{128, 96, 384}, 6, 16, kOddRows},
                                                                {{128, 112, 384}, 5, 16, kOddRows},
                                                                {{128, 128, 384}, 5, 16, kOddRows},
                                                                {{128, 128, 384}, 5, 16, kCut},
                                                                {{32, 48, 256}, 9, 32}};

/// Of f32 there is no tile that is cut, nor one whose copies don't divide among the work-items.
bool widens_tile(const WarpTile& tile) {
  return tile.special != kCut && tile.group.tile_n % 16 == 0;
}

bool tensor_tile_exists(const int* macro) {
  const WarpTile& tile = kTensorTileSizes[macro[1]];
  const Special special = tile.special;
  const bool odd = macro[3] == 1, continued = macro[4] == 1;
  if (macro[0] == 1) return widens_tile(tile) && !odd && !continued;
  return odd ? special == kOddRows && !continued : special != kCut || !continued;
}

/// Rows of A, B or C, as they lie in memory, begin an odd number of elements apart. C's, too: the form for them stores it in
/// whole lines.
bool has_odd_rows(const Problem& p) {
  const auto odd = [](const Operand& x) {
    return (x.col == 1 && x.row % 2 != 0) || (x.row == 1 && x.col % 2 != 0);
  };
  return odd(p.a) || odd(p.b) || odd(p.c);
}

/// Of a panel with a row for each of `size` lanes, or for each of `depth` steps of k: whichever takes more.
int64_t tensor_panel(int64_t size, int64_t depth, bool odd) {
  return size * depth + std::max(size, depth) * (odd ? kTensorPadding + 1 : kTensorPadding);
}
/// The same of f32, whose stages have 32 steps.
int64_t widened_panel(int64_t size) { return size * 32 + std::max(size * 4, int64_t{32} * 8); }

const char* tensor_tile_refuses(const Request& request) {
  const auto& op = request.as<trine_gemm>();
  const WarpTile& tile = kTensorTileSizes[request.selection.values[0]];
  const bool widens = trine_is_accurate(&op);
  if (op.dtype != TRINE_F64 && !widens)
    return "tensor_specialized is for f64, and for f32 of numerics accurate";
  if (widens && !widens_tile(tile)) return "of f32 there are all tiles but 128x56 and 128x128_cut";
  if (!request.target.has(TRINE_CAN_INLINE_PTX)) return kNoBarriers;
  return refuse_warp_tiles(request, tile);
}

void tensor_tile_plan(const Request& request, Plan& plan) {
  const auto& op = request.as<trine_gemm>();
  const WarpTile& tile = kTensorTileSizes[request.selection.values[0]];
  const Problem p(op);
  const bool widens = op.dtype == TRINE_F32;
  plan.macro[0] = widens ? 1 : 0;
  plan.macro[1] = request.selection.values[0];
  plan.macro[2] = layout_of(p);
  const bool odd = !widens && tile.special == kOddRows && !p.continues && has_odd_rows(p);
  plan.macro[3] = odd ? 1 : 0;
  plan.macro[4] = p.continues ? 1 : 0;
  if (p.empty()) return;
  Launch& launch = add_tiles(plan, op, p, tile.group);
  const auto panel = [&](int64_t size) {
    return widens ? widened_panel(size) : tensor_panel(size, tile.depth, odd);
  };
  const int64_t stage = panel(tile.group.tile_m) + panel(tile.group.tile_n);
  launch.dynamic_local_bytes = static_cast<uint32_t>(tile.stages * stage * p.element);
  add_cut(request, tile, launch);
}

uint64_t tensor_tile_workspace(const Request& request) {
  return cut_workspace(request, kTensorTileSizes[request.selection.values[0]]);
}

constexpr int32_t tensor_tile(std::string_view name) {
  return static_cast<int32_t>(std::ranges::find(kTensorTiles, name) - kTensorTiles);
}

template <int32_t kTile, int kOdd>
void plan_tile_check(const Target& target, void* input, void* output, Plan& plan) {
  const trine_gemm op = gemm_check::operation<double>(input, output);
  trine_selection selection{};
  selection.size = sizeof selection;
  selection.values[0] = kTile;
  tensor_tile_plan({target, selection, {sizeof(trine_call), TRINE_GEMM, &op}, nullptr}, plan);
  plan.macro[3] = kOdd;
}

/// Tiles go by one of two instructions (STEP in tensor_specialized.kernel.h): 128x64, whose form for odd rows asks most local
/// memory, by that of 16 steps of k, 128x128 by that of 8.
constexpr SelfCheck kTensorTileChecks[] = {
    gemm_check::of<double>(plan_tile_check<tensor_tile("128x64"), 1>),
    gemm_check::of<double>(plan_tile_check<tensor_tile("128x128"), 0>)};

// --- tensor_small --------------------------------------------------------------------------------

constexpr Macro kSmallMacros[] = {{"T", kDouble}, {"SIDE", kSides}, {"LAYOUT", kLayouts}};

/// As tensor_small.kernel.h has it: a warp for each 16 rows.
constexpr SmallRung kTensorSmall{[](int64_t side) { return divide_up(side, 16) * 32; }, true};

const char* tensor_small_refuses(const Request& request) {
  if (request.as<trine_gemm>().dtype != TRINE_F64) return "tensor_small is for f64";
  if (!request.target.has(TRINE_CAN_INLINE_PTX)) return "tensor_small needs NVIDIA's tensor cores";
  return kTensorSmall.refuses(request);
}

constexpr const char* kTensorSmallEntries[] = {"tensor_small", "tensor_small_runs"};

void tensor_small_plan(const Request& request, Plan& plan) {
  const auto& op = request.as<trine_gemm>();
  const Problem p(op);
  kTensorSmall.plan(op, side_index(p), plan);
  if (in_odd_runs(p)) plan.launches[0].entry = 1;
}

void plan_small_check(const Target&, void* input, void* output, Plan& plan) {
  static_assert(std::size(kTensorSmallEntries) == 2);
  trine_gemm half = gemm_check::operation<double>(input, output);
  half.a.rows = half.c.rows /= 2;
  for (int entry = 0; entry < static_cast<int>(std::size(kTensorSmallEntries)); ++entry) {
    // Of the largest side, which asks most of the device.
    kTensorSmall.plan(half, std::size(kSides) - 1, plan);
    plan.launches[entry].entry = entry;
    for (trine_view* view : {&half.a, &half.c})
      view->offset += static_cast<uint64_t>(view->rows * view->row_stride) * sizeof(double);
  }
}

constexpr SelfCheck kSmallCheck[] = {gemm_check::of<double>(plan_small_check)};

// --- three_tf32: f32 in two parts ----------------------------------------------------------------

constexpr Macro kPartsMacros[] = {{"T", kFloat}};
constexpr const char* kPartsEntries[] = {"three_tf32_split", "three_tf32"};
/// As three_tf32.cu has them: the tile of a pair of groups and a group's work-items, the steps of k in a block and stages of
/// them, the warps that multiply, and the lanes and steps that a group splits.
constexpr Group kPartsTile{256, 192, 384};
constexpr int64_t kPartsDepth = 16, kPartsStages = 5, kPartsWarps = 8, kPartsPatch = 64,
                  kPartsSplitters = 256;
/// Blocks that take as long as the sums' way from one pair to another, the share of all that is lost where pairs aren't at
/// the same step of k, and the fewest blocks that are worth a pair.
constexpr int64_t kPartsWay = 12, kPartsDrift = 50, kPartsFewest = 8;

/// Where the parts of a product's operands and the sums for other pairs lie in the workspace, in elements.
struct PartsShape {
  Problem p;
  int64_t k, blocks, tiles, groups, shared = 0;
  int64_t a_patches, b_patches, a_groups, b_groups;  // of a matrix; of all
  int64_t a_parts, b_parts, b_first, first_sum, first_flag, flags = 0, elements;

  explicit PartsShape(const Request& request) : p(request.as<trine_gemm>()) {
    k = p.multiply ? p.k : 0;
    blocks = divide_up(k, kPartsDepth);
    const int64_t rows = divide_up(p.m, kPartsTile.tile_m) * kPartsTile.tile_m;
    const int64_t cols = divide_up(p.n, kPartsTile.tile_n) * kPartsTile.tile_n;
    tiles = tiles_of(p, kPartsTile);
    const int64_t pairs = std::max<int64_t>(request.target.facts->compute_units / 2, 1);
    groups = 2 * std::min(tiles, pairs);
    // Pairs compute whole tiles; if that left many idle at the end, of one tile each and what is left an even part. Then
    // they no longer read the same panels at the same time.
    const int64_t left = tiles % pairs, idle = left == 0 ? 0 : (pairs - left) * blocks / pairs;
    const int64_t all = divide_up(tiles, pairs) * blocks;
    if (idle > kPartsWay + all / kPartsDrift && blocks < kMostBlocks) {
      shared = tiles < pairs ? tiles : left + pairs;
      groups = 2 * std::min(pairs, std::max(tiles, tiles * blocks / kPartsFewest));
      flags = groups * kPartsWarps;
    }
    a_patches = rows / kPartsPatch;
    b_patches = cols / kPartsPatch;
    const int64_t deep = divide_up(k, kPartsPatch);
    const int64_t a_matrices = p.matrices(p.a), b_matrices = p.matrices(p.b);
    a_groups = deep * a_patches * a_matrices;
    b_groups = deep * b_patches * b_matrices;
    const int64_t both = 2 * blocks * kPartsDepth;  // of a lane
    a_parts = a_matrices == 1 ? 0 : rows * both;
    b_parts = b_matrices == 1 ? 0 : cols * both;
    b_first = rows * both * a_matrices;
    first_sum = b_first + cols * both * b_matrices;
    first_flag = first_sum + (shared > 0 ? groups * kPartsTile.tile_m / 2 * kPartsTile.tile_n : 0);
    elements = first_flag + flags;
  }
  static constexpr int64_t kMostBlocks = 1 << 22;  // whose numbers of shared tiles are 32 bits
};

uint64_t parts_workspace(const Request& request) {
  const PartsShape shape(request);
  return TRINE_CONTROL_BYTES + static_cast<uint64_t>(shape.elements) * sizeof(float);
}

const char* parts_refuses(const Request& request) {
  const auto& op = request.as<trine_gemm>();
  if (op.dtype != TRINE_F32) return "three_tf32 is for f32";
  // More than any device holds, before anything is multiplied.
  constexpr int64_t kMost = int64_t{1} << 31;
  const Problem p(op);
  if (const char* why = refuse_tiles(request, kPartsTile)) return why;
  if (p.m > kMost || p.n > kMost || p.k > kMost ||
      p.m * p.k > kMost * 64 / std::max<int64_t>(p.matrices(p.a), 1) ||
      p.n * p.k > kMost * 64 / std::max<int64_t>(p.matrices(p.b), 1) ||
      parts_workspace(request) > request.target.facts->max_buffer_bytes)
    return "the parts of the operands exceed the device's largest buffer";
  const PartsShape shape(request);
  return too_many_groups(shape.a_groups + shape.b_groups, 1, 1) ? kTooMany : nullptr;
}

void parts_plan(const Request& request, Plan& plan) {
  const auto& op = request.as<trine_gemm>();
  const PartsShape shape(request);
  const Problem& p = shape.p;
  if (p.empty()) return;
  // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): only refuses and workspace_bytes have none
  const trine_workspace& space = *request.workspace;
  const auto base = static_cast<int64_t>((space.offset + TRINE_CONTROL_BYTES) / sizeof(float));
  if (shape.k > 0) {
    Launch& split = plan.add(0);
    split.grid[0] = static_cast<uint32_t>(shape.a_groups + shape.b_groups);
    split.block[0] = kPartsSplitters;
    push_operand(split, p.a);
    push_operand(split, p.b);
    split.memory(space.memory).i64(base).i64(base + shape.b_first);
    split.i64(p.m).i64(p.n).i64(shape.k).i32(static_cast<int32_t>(shape.blocks));
    split.i32(static_cast<int32_t>(shape.a_patches)).i32(static_cast<int32_t>(shape.b_patches));
    split.i32(static_cast<int32_t>(shape.a_groups));
    split.i64(base + shape.first_flag).i32(static_cast<int32_t>(shape.flags));
  }
  Launch& launch = add_tiles(plan, op, p, kPartsTile);
  launch.entry = 1;
  launch.grid[0] = static_cast<uint32_t>(shape.groups);
  launch.dynamic_local_bytes = static_cast<uint32_t>(
      kPartsStages * kPartsDepth * 2 * (kPartsTile.tile_m / 2 + kPartsTile.tile_n) * sizeof(float));
  launch.memory(space.memory)
      .i64(base)
      .i64(shape.a_parts)
      .i64(base + shape.b_first)
      .i64(shape.b_parts);
  launch.i64(base + shape.first_sum).i32(static_cast<int32_t>(shape.blocks));
  launch.i32(static_cast<int32_t>(shape.tiles)).i32(static_cast<int32_t>(shape.shared));
}

// --- The rows ------------------------------------------------------------------------------------

constexpr Variant kVariants[] = {
    {.name = "warp_specialized",
     .operation = TRINE_GEMM,
     .summary = "some warps copy, the others multiply, barriers between them",
     .requirement = "elements of 4 bytes; an NVIDIA GPU of compute capability 9.0",
     .file = "gemm/warp_specialized",
     .parameters = kTileParameters,
     .macros = kWarpMacros,
     .exists = warp_exists,
     .refuses = warp_refuses,
     .takes = TRINE_CONTINUES,
     .workspace_bytes = warp_workspace,
     .plan = warp_plan,
     .self_checks = kWarpCheck,
     .self_check_on = kOpencl,
     .begins_early = true,
     .architectures = "90a"},
    {.name = "tensor",
     .operation = TRINE_GEMM,
     .summary = "f64 on tensor cores, which compute the same chain: proven by a self-check",
     .requirement = "f64; an NVIDIA GPU of compute capability 9.0",
     .file = "gemm/tensor",
     .parameters = kSizeParameters,
     .macros = kTensorMacros,
     .refuses = tensor_refuses,
     .plan = tensor_plan,
     .self_checks = kTensorCheck,
     .begins_early = true,
     .architectures = "90"},
    {.name = "tensor_specialized",
     .operation = TRINE_GEMM,
     .summary = "some warps copy, the others feed the f64 tensor cores: proven by a self-check",
     .requirement = "f64, or f32 of numerics accurate; an NVIDIA GPU of compute capability 9.0",
     .file = "gemm/tensor_specialized",
     .parameters = kTensorTileParameters,
     .macros = kTensorTileMacros,
     .exists = tensor_tile_exists,
     .refuses = tensor_tile_refuses,
     .takes = TRINE_CONTINUES | TRINE_TAKES_ACCURATE,
     .workspace_bytes = tensor_tile_workspace,
     .plan = tensor_tile_plan,
     .self_checks = kTensorTileChecks,
     .begins_early = true,
     .architectures = "90a"},
    {.name = "tensor_small",
     .operation = TRINE_GEMM,
     .summary = "a group for each small product, f64 on tensor cores: proven by a self-check",
     .requirement = "f64, m, n and k of at most 64; an NVIDIA GPU of compute capability 9.0",
     .file = "gemm/tensor_small",
     .macros = kSmallMacros,
     .entries = kTensorSmallEntries,
     .refuses = tensor_small_refuses,
     .plan = tensor_small_plan,
     .self_checks = kSmallCheck,
     .architectures = "90"},
    {.name = "three_tf32",
     .operation = TRINE_GEMM,
     .numerics = TRINE_FAST,
     .summary = "f32 in two parts each, three products of TF32 on tensor cores",
     .requirement =
         "f32; an NVIDIA GPU of compute capability 9.0; a workspace twice as large as A and B",
     .file = "gemm/three_tf32",
     .backends = kCuda,
     .macros = kPartsMacros,
     .entries = kPartsEntries,
     .refuses = parts_refuses,
     .workspace_bytes = parts_workspace,
     .plan = parts_plan,
     .begins_early = true,
     .architectures = "90a"},
};

}  // namespace

Special special_of(std::string_view rung, int32_t value) {
  if (rung == "warp_specialized") return kWarpTiles[value].special;
  if (rung == "tensor_specialized") return kTensorTileSizes[value].special;
  return kNone;
}

std::span<const Variant, kHopperRungs> gemm_hopper_variants() { return kVariants; }

}  // namespace trine::gpu
