// Rungs of gemm for NVIDIA's GPUs of compute capability 9.0 alone (warps with roles) and of 9.0 or
// newer (tensor_small). Those that only CUDA has are in gemm_cuda_variants.cpp.
#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

#include "backends/gpu/gemm_exact.hpp"
#include "backends/gpu/gemm_launch.hpp"
#include "backends/gpu/gemm_self_check.hpp"
#include "backends/gpu/gemm_tiles.hpp"

namespace trine::gpu {
namespace {

// --- warp_specialized and tensor_specialized: tiles by warps with roles --------------------------

template <const RoleTiles& kRung>
const RoleTile& tile_of(const Request& request) {
  return kRung.tiles[static_cast<size_t>(request.selection.values[0])];
}

constexpr int64_t kCopiers = 128;

template <const RoleTiles& kRung>
Group role_group(const RoleTile& tile) {
  return {kRung.rows(tile), kRung.cols(tile),
          32 * tile.warps_down * tile.warps_across * tile.parts + kCopiers};
}

/// The launch of a tile whose panels take `stage_elements` of local memory a stage. A launch that
/// begins early takes the places that the one before leaves: where a multiprocessor holds three
/// groups and needs two, some would get three and others one. So groups are as large there as lets
/// two fit beside their barriers (H200, 844x844x844 by 48x64: 49.6 µs, now 34.9; 16384x64x512 by
/// 64x64: 40.9, 29.0).
template <const RoleTiles& kRung>
Launch& add_role_tiles(const Request& request, const Problem& p, const RoleTile& tile,
                       int64_t stage_elements, Plan& plan) {
  // A multiprocessor's, and what a group takes beside its own, on compute capability 9.0.
  constexpr int64_t kLocalMemory = 233472, kReserved = 1024, kTwoFit = kLocalMemory / 3 - kReserved;
  Launch& launch = add_tiles(plan, request.as<trine_gemm>(), p, role_group<kRung>(tile));
  int64_t bytes = tile.stages * stage_elements * p.element;
  const int64_t groups = launch.grid[0], units = request.target.facts->compute_units;
  if (tile.share_of == 3 && 2 * groups > 3 * units && groups <= 2 * units)
    bytes = std::max(bytes, kTwoFit);
  launch.dynamic_local_bytes = static_cast<uint32_t>(bytes);
  return launch;
}

/// Why the device or the call isn't for a tile, apart from its dtype.
template <const RoleTiles& kRung>
const char* role_refuses(const Request& request, const RoleTile& tile) {
  if (!request.target.has(TRINE_CAN_INLINE_PTX))
    return "its barriers that count arrivals are NVIDIA's";
  return refuse_tiles(request, role_group<kRung>(tile));
}

constexpr const char* kNotContinued = "chains begin at 0 in this tile, not at c";

constexpr const char* kFourBytes[] = {"float", "int"};
constexpr trine_parameter kWarpParameters[] = {{sizeof(trine_parameter), std::size(kWarpTiles),
                                                std::size(kWarpTiles) - 1, "tile",
                                                kWarpTileNames.data()}};
constexpr Macro kWarpMacros[] = {
    {"T", kFourBytes},
    {"TILE", kWarpTileNames, kWarpConstants, role_constant<kWarpTiles>},
    {"CONTINUED", kNoYes}};

bool warp_exists(const int* macro) {
  const unsigned asked = (macro[0] == 1 ? kIntegers : 0u) | (macro[2] == 1 ? kContinues : 0u);
  return (kWarpTiles[macro[1]].forms & asked) == asked;
}

const char* warp_refuses(const Request& request) {
  const RoleTile& tile = tile_of<kWarpRung>(request);
  const uint32_t dtype = request.as<trine_gemm>().dtype;
  if (dtype == TRINE_F64) return "warp_specialized is for 4-byte dtypes";
  if (dtype == TRINE_I32 && (tile.forms & kIntegers) == 0)
    return "of i32 there are the tiles 64x128 and 128x256";
  if (Problem(request.as<trine_gemm>()).continues && (tile.forms & kContinues) == 0)
    return kNotContinued;
  return role_refuses<kWarpRung>(request, tile);
}

void warp_plan(const Request& request, Plan& plan) {
  constexpr int64_t kPadding = 4;
  const auto& op = request.as<trine_gemm>();
  const RoleTile& tile = tile_of<kWarpRung>(request);
  const Problem p(op);
  plan.macro[0] = op.dtype == TRINE_F32 ? 0 : 1;
  plan.macro[1] = request.selection.values[0];
  plan.macro[2] = p.continues ? 1 : 0;
  const int64_t lanes = kWarpRung.rows(tile) + kWarpRung.cols(tile) + 2 * kPadding;
  if (!p.empty()) add_role_tiles<kWarpRung>(request, p, tile, tile.depth * lanes, plan);
}

void plan_warp_check(const Target& target, void* input, void* output, Plan& plan) {
  const trine_gemm op = gemm_check::operation<float>(input, output);
  trine_selection selection{};
  selection.size = sizeof selection;
  selection.values[0] = kWarpParameters[0].default_value;  // asks most of the device
  warp_plan({target, selection, {sizeof(trine_call), TRINE_GEMM, &op}, nullptr}, plan);
}

/// Whether the driver takes more local memory than NVIDIA's OpenCL says it has; the arithmetic is
/// ordinary.
constexpr SelfCheck kWarpCheck[] = {gemm_check::of<float>(plan_warp_check)};

// --- deep: small tiles whose panels run along k --------------------------------------------------

constexpr trine_parameter kDeepParameters[] = {
    {sizeof(trine_parameter), std::size(kDeepTiles), 0, "tile", kDeepTileNames.data()}};
constexpr Macro kDeepMacros[] = {
    {"T", kFloat}, {"TILE", kDeepTileNames, kWarpConstants, role_constant<kDeepTiles>}};

const char* deep_refuses(const Request& request) {
  if (request.as<trine_gemm>().dtype != TRINE_F32) return "deep is for f32";
  return role_refuses<kDeepRung>(request, tile_of<kDeepRung>(request));
}

void deep_plan(const Request& request, Plan& plan) {
  constexpr int64_t kPadding = 4;
  const auto& op = request.as<trine_gemm>();
  const RoleTile& tile = tile_of<kDeepRung>(request);
  const Problem p(op);
  plan.macro[1] = request.selection.values[0];
  const int64_t lines = kDeepRung.rows(tile) + kDeepRung.cols(tile);
  if (!p.empty())
    add_role_tiles<kDeepRung>(request, p, tile, (tile.depth + kPadding) * lines, plan);
}

// --- tensor_specialized --------------------------------------------------------------------------

/// The default is the largest tile that exact f32 has, too.
constexpr trine_parameter kTensorParameters[] = {{sizeof(trine_parameter), std::size(kTensorTiles),
                                                  tensor_tile("128x64"), "tile",
                                                  kTensorTileNames.data()}};
constexpr const char* kDouble[] = {"double"};
constexpr const char* kDoubleOrExact[] = {"double", "float"};
constexpr Macro kTensorMacros[] = {
    {"T", kDoubleOrExact},
    {"TILE", kTensorTileNames, kTensorConstants, role_constant<kTensorTiles>},
    {"LAYOUT", kLayouts},
    {"ODD", kNoYes},
    {"CONTINUED", kNoYes}};

/// No kernel has two of the forms.
bool tensor_exists(const int* macro) {
  const unsigned asked = (macro[0] == 1 ? kWidens : 0u) | (macro[3] == 1 ? kOddRows : 0u) |
                         (macro[4] == 1 ? kContinues : 0u);
  if (macro[0] == 0 && (kTensorTiles[macro[1]].forms & kNoOthers) != 0) return false;
  return (kTensorTiles[macro[1]].forms & asked) == asked && std::popcount(asked) < 2;
}

bool has_odd_rows(const Operand& x) {
  return (x.col == 1 && x.row % 2 != 0) || (x.row == 1 && x.col % 2 != 0);
}

/// The form for odd rows copies each from the 16 bytes that it begins in. They begin before the
/// buffer where its first row does so between two vectors; CUDA's handle is the address, and
/// OpenCL's buffers begin at a vector.
bool copies_from_before(const Operand& x, uint32_t backend) {
  return has_odd_rows(x) && backend == kCuda && x.offset == 0 &&
         reinterpret_cast<uintptr_t>(x.memory) % 16 != 0;
}

/// Rows of A, B or C are an odd number of elements apart in memory. C's, too: the form for them
/// stores whole rows of it.
bool takes_odd_form(const Problem& p, uint32_t backend) {
  return (has_odd_rows(p.a) || has_odd_rows(p.b) || has_odd_rows(p.c)) &&
         !copies_from_before(p.a, backend) && !copies_from_before(p.b, backend);
}

/// The elements of a panel with a row for each of `size` rows of A or columns of B, or with one for
/// each of `depth` steps of k: the larger number.
int64_t tensor_panel(int64_t size, int64_t depth, bool odd) {
  return size * depth + std::max(size, depth) * (odd ? 5 : 4);
}
/// The same of f32, whose stages have 32 steps.
constexpr int64_t kWidenedDepth = 32;
int64_t widened_panel(int64_t size) {
  return size * kWidenedDepth + std::max(size * 4, kWidenedDepth * 8);
}

/// Do its groups finish an exact product's elements themselves?
bool is_fused(const RoleTile& tile) {
  return kTensorRung.rows(tile) * kTensorRung.cols(tile) <= kFusedTile;
}

/// The groups that share the k of an exact product's tile, or the one that has it, whose chains
/// another launch adds; 0: groups round what they compute. Chains in memory cost little where a
/// cache holds them.
int64_t tensor_parts(const Request& request) {
  constexpr int64_t kMostChains = 1 << 22;
  const RoleTile& tile = tile_of<kTensorRung>(request);
  const Problem p(request.as<trine_gemm>());
  if (p.batch != 1 || !p.multiply) return 0;
  const int64_t parts = exact_parts(p, tiles_of(p, role_group<kTensorRung>(tile)),
                                    int64_t{request.target.facts->compute_units} * tile.share_of);
  return parts == 1 && (is_fused(tile) || p.m > kMostChains / std::max<int64_t>(p.n, 1)) ? 0
                                                                                         : parts;
}

uint64_t tensor_workspace(const Request& request) {
  return exact_workspace(request, tensor_parts(request));
}

const char* tensor_refuses(const Request& request) {
  const auto& op = request.as<trine_gemm>();
  const RoleTile& tile = tile_of<kTensorRung>(request);
  if (trine_is_exact(&op) != (op.dtype == TRINE_F32) || op.dtype == TRINE_I32)
    return "tensor_specialized is for f64, and for f32 of numerics exact";
  if (Problem(op).continues && (tile.forms & kContinues) == 0) return kNotContinued;
  if (op.dtype == TRINE_F64 && (tile.forms & kNoOthers) != 0) return "f64 has no such tile";
  if (op.dtype == TRINE_F64) return role_refuses<kTensorRung>(request, tile);
  if ((tile.forms & kWidens) == 0) return "exact f32 has no such tile";
  const char* why = role_refuses<kTensorRung>(request, tile);
  return why ? why : refuse_exact(request, tensor_parts(request));
}

void tensor_plan(const Request& request, Plan& plan) {
  const auto& op = request.as<trine_gemm>();
  const RoleTile& tile = tile_of<kTensorRung>(request);
  const Problem p(op);
  const bool widens = op.dtype == TRINE_F32;
  const bool odd = !widens && !p.continues && (tile.forms & kOddRows) != 0 &&
                   takes_odd_form(p, request.target.backend);
  plan.macro[0] = widens ? 1 : 0;
  plan.macro[1] = request.selection.values[0];
  plan.macro[2] = layout_of(p);
  plan.macro[3] = odd ? 1 : 0;
  plan.macro[4] = p.continues ? 1 : 0;
  const auto panel = [&](int64_t size) {
    return widens ? widened_panel(size) : tensor_panel(size, tile.depth, odd);
  };
  const auto add = [&](const Problem& product) -> Launch& {
    return add_role_tiles<kTensorRung>(
        request, product, tile, panel(kTensorRung.rows(tile)) + panel(kTensorRung.cols(tile)),
        plan);
  };
  const auto add_exact = [&](const ExactSpace& space) {
    Launch& launch = add(space.product());
    space.push(launch, space.by_chains);
    launch.i64(space.by_chains ? p.k : 0);
  };
  // As CHAIN_STEPS in tensor_specialized.kernel.h.
  const int64_t parts = tensor_parts(request), chain = is_fused(tile) ? 32 : 128;
  if (widens && is_fused(tile) && parts == 0 && !p.empty())
    add_exact(ExactSpace(request, 0, chain, tile.parts));
  else if (widens)
    plan_exact(request, plan, add_exact, parts, chain);
  else if (!p.empty())
    add(p);
}

template <int32_t kTile, int kOdd>
void plan_tensor_check(const Target& target, void* input, void* output, Plan& plan) {
  const trine_gemm op = gemm_check::operation<double>(input, output);
  trine_selection selection{};
  selection.size = sizeof selection;
  selection.values[0] = kTile;
  tensor_plan({target, selection, {sizeof(trine_call), TRINE_GEMM, &op}, nullptr}, plan);
  plan.macro[3] = kOdd;
}

/// These tiles cover the kernel's two instructions (STEP in tensor_specialized.kernel.h). 128x64
/// takes 16 steps of k at once, and its form for odd rows needs the most local memory; 128x128
/// takes 8.
constexpr SelfCheck kTensorChecks[] = {
    gemm_check::of<double>(plan_tensor_check<tensor_tile("128x64"), 1>),
    gemm_check::of<double>(plan_tensor_check<tensor_tile("128x128"), 0>)};

// --- tensor_small --------------------------------------------------------------------------------

constexpr Macro kSmallMacros[] = {{"T", kDouble}, {"SIDE", kSides}};

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
  kTensorSmall.plan(op, tile_side_index(p), plan);
  if (side_index(p) < std::size(kSides) && in_odd_runs(p)) plan.launches[0].entry = 1;
}

void plan_small_check(const Target&, void* input, void* output, Plan& plan) {
  static_assert(std::size(kTensorSmallEntries) == 2);
  trine_gemm half = gemm_check::operation<double>(input, output);
  half.a.rows = half.c.rows /= 2;
  for (int entry = 0; entry < static_cast<int>(std::size(kTensorSmallEntries)); ++entry) {
    // The plan is the largest side's, which asks most of the device.
    kTensorSmall.plan(half, std::size(kSides) - 1, plan);
    plan.launches[entry].entry = entry;
    for (trine_view* view : {&half.a, &half.c})
      view->offset += static_cast<uint64_t>(view->rows * view->row_stride) * sizeof(double);
  }
}

constexpr SelfCheck kSmallCheck[] = {gemm_check::of<double>(plan_small_check)};

// --- The rows ------------------------------------------------------------------------------------

constexpr Variant kVariants[] = {
    {.name = "warp_specialized",
     .operation = TRINE_GEMM,
     .summary = "some warps copy, the others multiply, barriers between them",
     .requirement = "elements of 4 bytes; an NVIDIA GPU of compute capability 9.0 alone",
     .default_for = "f32, i32 on compute capability 9.0",
     .file = "gemm/warp_specialized",
     .parameters = kWarpParameters,
     .macros = kWarpMacros,
     .exists = warp_exists,
     .refuses = warp_refuses,
     .takes = TRINE_CONTINUES,
     .plan = warp_plan,
     .self_checks = kWarpCheck,
     .self_check_on = kOpencl,
     .begins_early = true,
     .architectures = "90a"},
    {.name = "deep",
     .operation = TRINE_GEMM,
     .summary = "small tiles, panels along k: one read has four steps",
     .requirement = "f32; an NVIDIA GPU of compute capability 9.0 alone",
     .default_for = "f32 on compute capability 9.0, small C with long k",
     .file = "gemm/deep",
     .parameters = kDeepParameters,
     .macros = kDeepMacros,
     .refuses = deep_refuses,
     .plan = deep_plan,
     .begins_early = true,
     .architectures = "90a"},
    {.name = "tensor_specialized",
     .operation = TRINE_GEMM,
     .summary = "some warps copy, the others feed the f64 tensor cores: proven by a self-check",
     .requirement = "f64, or f32 of numerics exact; an NVIDIA GPU of compute capability 9.0 alone",
     .default_for = "f64, exact f32 on compute capability 9.0",
     .file = "gemm/tensor_specialized",
     .parameters = kTensorParameters,
     .macros = kTensorMacros,
     .exists = tensor_exists,
     .refuses = tensor_refuses,
     .takes = TRINE_CONTINUES | TRINE_TAKES_EXACT,
     .workspace_bytes = tensor_workspace,
     .plan = tensor_plan,
     .self_checks = kTensorChecks,
     .begins_early = true,
     .architectures = "90a"},
    {.name = "tensor_small",
     .operation = TRINE_GEMM,
     .summary =
         "a group for each small product or tile, f64 on tensor cores: proven by a self-check",
     .requirement = "f64, k of at most 64; an NVIDIA GPU of compute capability 9.0 or newer",
     .default_for = "many, f64 up to 64, on 9.0 or newer",
     .file = "gemm/tensor_small",
     .macros = kSmallMacros,
     .entries = kTensorSmallEntries,
     .refuses = tensor_small_refuses,
     .plan = tensor_small_plan,
     .self_checks = kSmallCheck,
     .architectures = "90"},
};

}  // namespace

std::span<const Variant, kHopperRungs> gemm_hopper_variants() { return kVariants; }

}  // namespace trine::gpu
