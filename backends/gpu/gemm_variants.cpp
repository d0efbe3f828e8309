// The upper end of gemm's ladder on GPU backends: kernels for today's hardware. The lower end is in
// gemm_study_variants.cpp, the choice of the default in gemm_choice.cpp.
#include <algorithm>
#include <array>

#include "backends/gpu/gemm_launch.hpp"
#include "backends/gpu/gemm_self_check.hpp"

namespace trine::gpu {
namespace {

// --- register_tile ------------------------------------------------------------------------------

constexpr const char* kSizes[] = {"64", "128"};
constexpr trine_parameter kSizeParameters[] = {{sizeof(trine_parameter), 2, 0, "size", kSizes}};
constexpr Macro kSizeMacros[] = {{"T", kTypes}, {"SIZE", kSizes}};

int64_t size_of(const Request& request) { return int64_t{64} << request.selection.values[0]; }

/// 128 x 128 f64 would need twice the registers there are.
bool register_exists(const int* macro) { return !(macro[0] == 1 && macro[1] == 1); }

/// In local memory: 4 stages of two panels, 8 steps deep.
Group register_group(const Request& request) {
  const int64_t size = size_of(request);
  return {size, size, size, 4 * 2 * 8 * (size + 4)};
}

const char* register_refuses(const Request& request) {
  // Measured: PoCL 5 leaves results of this kernel unwritten that PoCL 3 and GPUs write.
  if (request.target.is_pocl_since(4))
    return "wrong under PoCL 5 (4 is untried); private_tile is for CPUs";
  const Group group = register_group(request);
  if (group.tile_m == 128 && request.as<trine_gemm>().dtype == TRINE_F64)
    return "size=128 is for 4-byte dtypes";
  return refuse_tiles(request, group);
}

void register_plan(const Request& request, Plan& plan) {
  plan_tiles(request, plan, register_group(request));
}

// --- tensor: f64 on tensor cores ------------------------------------------------------------------

constexpr const char* kDouble[] = {"double"};
constexpr const char* kLayouts[] = {"nn", "nt", "tn", "tt"};
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

/// Which of kLayouts: do A's and B's columns have unit stride?
int layout_of(const Problem& p) { return (p.a.row == 1 ? 2 : 0) + (p.b.row == 1 ? 1 : 0); }

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
  const trine_gemm op = gemm_check::operation(input, output);
  trine_selection selection{};
  selection.size = sizeof selection;
  selection.values[0] =
      1;  // the specialization that asks most of the device, where it isn't too much
  const trine_call call{sizeof call, TRINE_GEMM, &op};
  const Request request{target, selection, call, nullptr};
  if (tensor_refuses(request)) selection.values[0] = 0;
  tensor_plan(request, plan);
}

constexpr SelfCheck kTensorCheck{gemm_check::kInputBytes, gemm_check::kOutputBytes,
                                 gemm_check::fill, check_plan, gemm_check::passes};

// --- warp_specialized: CUDA's own ------------------------------------------------------------------

constexpr const char* kFourBytes[] = {"float", "int"};
constexpr const char* kTiles[] = {"16x32", "32x64",  "48x96",   "64x128",
                                  "96x96", "96x192", "128x256", "192x192"};
constexpr trine_parameter kTileParameters[] = {
    {sizeof(trine_parameter), std::size(kTiles), 6, "tile", kTiles}};
constexpr Macro kWarpMacros[] = {{"T", kFourBytes}, {"TILE", kTiles}};

/// A kernel of warp_roles.h: a group's tile and work-items, its stages, and the steps of k in each.
struct WarpTile {
  Group group;
  int64_t stages, depth;
};
/// As warp_specialized.cu defines them.
constexpr WarpTile kWarpTiles[std::size(kTiles)] = {
    {{16, 32, 256}, 6, 32},   {{32, 64, 256}, 6, 32},  {{48, 96, 256}, 4, 32},
    {{64, 128, 256}, 6, 16},  {{96, 96, 256}, 6, 16},  {{96, 192, 384}, 6, 16},
    {{128, 256, 384}, 6, 16}, {{192, 192, 384}, 6, 16}};
constexpr int64_t kWarpPadding = 4;

/// Integers have no peer to win against: two tiles are enough for them.
bool warp_exists(const int* macro) { return macro[0] == 0 || macro[1] == 3 || macro[1] == 6; }

const char* warp_refuses(const Request& request) {
  const uint32_t dtype = request.as<trine_gemm>().dtype;
  const int32_t tile = request.selection.values[0];
  if (dtype == TRINE_F64) return "warp_specialized is for 4-byte dtypes";
  const int macro[] = {dtype == TRINE_F32 ? 0 : 1, tile};
  if (!warp_exists(macro)) return "of i32 there are the tiles 64x128 and 128x256";
  return refuse_tiles(request, kWarpTiles[tile].group);
}

void warp_plan(const Request& request, Plan& plan) {
  const auto& op = request.as<trine_gemm>();
  const WarpTile& tile = kWarpTiles[request.selection.values[0]];
  const Problem p(op);
  plan.macro[0] = op.dtype == TRINE_F32 ? 0 : 1;
  plan.macro[1] = request.selection.values[0];
  if (p.empty()) return;
  add_tiles(plan, op, p, tile.group).dynamic_local_bytes = static_cast<uint32_t>(
      tile.stages * tile.depth * (tile.group.tile_m + tile.group.tile_n + 2 * kWarpPadding) * 4);
}

// --- tensor_specialized: CUDA's own ----------------------------------------------------------------

constexpr const char* kTensorTiles[] = {"16x32", "32x64", "64x64", "96x96", "128x64", "128x128"};
constexpr trine_parameter kTensorTileParameters[] = {
    {sizeof(trine_parameter), std::size(kTensorTiles), 5, "tile", kTensorTiles}};
constexpr Macro kTensorTileMacros[] = {
    {"T", kDouble}, {"TILE", kTensorTiles}, {"LAYOUT", kLayouts}};

/// As tensor_specialized.cu defines them.
constexpr WarpTile kTensorTileSizes[std::size(kTensorTiles)] = {
    {{16, 32, 256}, 6, 16}, {{32, 64, 256}, 6, 16},  {{64, 64, 256}, 5, 16},
    {{96, 96, 352}, 6, 16}, {{128, 64, 384}, 6, 16}, {{128, 128, 384}, 5, 16}};

const char* tensor_tile_refuses(const Request& request) {
  if (request.as<trine_gemm>().dtype != TRINE_F64) return "tensor_specialized is for f64";
  return refuse_tiles(request, kTensorTileSizes[request.selection.values[0]].group);
}

void tensor_tile_plan(const Request& request, Plan& plan) {
  const auto& op = request.as<trine_gemm>();
  const auto& [group, stages, depth] = kTensorTileSizes[request.selection.values[0]];
  const Problem p(op);
  plan.macro[1] = request.selection.values[0];
  plan.macro[2] = layout_of(p);
  if (p.empty()) return;
  // Of a row of the panel for each lane, which is more than a row for each step of k.
  add_tiles(plan, op, p, group).dynamic_local_bytes =
      static_cast<uint32_t>(stages * (group.tile_m + group.tile_n) * (depth + kTensorPadding) * 8);
}

void plan_tile_check(const Target& target, void* input, void* output, Plan& plan) {
  const trine_gemm op = gemm_check::operation(input, output);
  trine_selection selection{};
  selection.size = sizeof selection;
  selection.values[0] = kTensorTileParameters[0].default_value;  // asks most of the device
  tensor_tile_plan({target, selection, {sizeof(trine_call), TRINE_GEMM, &op}, nullptr}, plan);
}

constexpr SelfCheck kTensorTileCheck{gemm_check::kInputBytes, gemm_check::kOutputBytes,
                                     gemm_check::fill, plan_tile_check, gemm_check::passes};

// --- private_tile: for CPUs behind OpenCL ----------------------------------------------------------

constexpr const char* kVectorBytes[] = {"32", "64"};
constexpr trine_parameter kVectorParameters[] = {
    {sizeof(trine_parameter), 2, 0, "vector_bytes", kVectorBytes}};
constexpr Macro kPrivateMacros[] = {{"T", kTypes}, {"VECTOR_BYTES", kVectorBytes}};
constexpr const char* kPrivateEntries[] = {"pack_a", "pack_b", "private_tile"};
constexpr int64_t kPackSteps = 256;          // of k that one work-item packs
constexpr int64_t kBlockBytes = 512 * 1024;  // of A that a work-item keeps in its L2 cache

/// Where the packed panels lie in the workspace, in elements. An operand that is broadcast over
/// the batch is packed once.
struct PrivateShape {
  Problem p;
  int64_t rows, cols;  // of a tile
  int64_t panels_m, panels_n, chunks, block, blocks;
  int64_t a_batch, b_batch, a_batches, b_batches, b_packed, elements;

  explicit PrivateShape(const Request& request) : p(request.as<trine_gemm>()) {
    const bool wide = request.selection.values[0] == 1;
    rows = wide ? 12 : 6;
    cols = 2 * (wide ? 64 : 32) / p.element;
    panels_m = divide_up(p.m, rows);
    panels_n = divide_up(p.n, cols);
    chunks = divide_up(p.k, kPackSteps);
    block = std::max<int64_t>(1, kBlockBytes / std::max<int64_t>(1, rows * p.k * p.element));
    block = std::min<int64_t>(block, 32);
    blocks = divide_up(panels_m, block);
    a_batches = p.a.batch == 0 ? 1 : p.batch;
    b_batches = p.b.batch == 0 ? 1 : p.batch;
    const int64_t a_elements = panels_m * rows * p.k, b_elements = panels_n * cols * p.k;
    a_batch = a_batches == 1 ? 0 : a_elements;
    b_batch = b_batches == 1 ? 0 : b_elements;
    b_packed = divide_up(a_elements * a_batches, cols) * cols;
    elements = p.multiply ? b_packed + b_elements * b_batches : 0;
  }
};

uint64_t private_workspace(const Request& request) {
  const PrivateShape shape(request);
  return TRINE_CONTROL_BYTES + static_cast<uint64_t>(shape.elements) * shape.p.element;
}

const char* private_refuses(const Request& request) {
  if (!request.target.is_cpu()) return "private_tile is for CPUs";
  const PrivateShape shape(request);
  if (const char* why = refuse_tiles(request, {shape.rows * shape.block, shape.cols, 1}))
    return why;
  if (too_many_groups(shape.chunks, shape.panels_m, shape.a_batches) ||
      too_many_groups(shape.chunks, shape.panels_n, shape.b_batches))
    return kTooMany;
  if (private_workspace(request) > request.target.facts->max_buffer_bytes)
    return "the packed operands exceed the device's largest buffer";
  return nullptr;
}

void add_pack(Plan& plan, int entry, const Operand& x, int64_t lane_stride, int64_t k_stride,
              const trine_workspace& workspace, int64_t packed, int64_t lanes, int64_t panels,
              int64_t batches, const PrivateShape& shape) {
  Launch& launch = plan.add(entry);
  launch.grid[0] = static_cast<uint32_t>(shape.chunks * panels * batches);
  launch.memory(x.memory).i64(x.offset).i64(x.batch).i64(lane_stride).i64(k_stride);
  launch.memory(workspace.memory).i64(packed).i64(lanes).i64(shape.p.k);
  launch.i32(static_cast<int32_t>(shape.chunks)).i32(static_cast<int32_t>(panels));
}

void private_plan(const Request& request, Plan& plan) {
  const auto& op = request.as<trine_gemm>();
  const PrivateShape shape(request);
  const Problem& p = shape.p;
  plan.macro[0] = type_index(op.dtype);
  plan.macro[1] = request.selection.values[0];
  if (p.empty()) return;
  const trine_workspace& workspace = *request.workspace;
  const int64_t base = static_cast<int64_t>((workspace.offset + TRINE_CONTROL_BYTES) / p.element);
  if (p.multiply) {
    add_pack(plan, 0, p.a, p.a.row, p.a.col, workspace, base, p.m, shape.panels_m, shape.a_batches,
             shape);
    add_pack(plan, 1, p.b, p.b.col, p.b.row, workspace, base + shape.b_packed, p.n, shape.panels_n,
             shape.b_batches, shape);
  }
  Launch& launch = plan.add(2);
  launch.grid[0] = static_cast<uint32_t>(shape.panels_n * shape.blocks * p.batch);
  launch.memory(workspace.memory).i64(base).i64(shape.a_batch);
  launch.i64(base + shape.b_packed).i64(shape.b_batch);
  push_operand(launch, p.c);
  launch.i64(p.m).i64(p.n).i64(p.multiply ? p.k : 0);
  push_scaling(launch, op, p);
  launch.i32(static_cast<int32_t>(shape.block)).i32(static_cast<int32_t>(shape.blocks));
  launch.i32(static_cast<int32_t>(shape.panels_n));
}

// --- The ladder ---------------------------------------------------------------------------------

constexpr Variant kVariants[] = {
    {.name = "register_tile",
     .operation = TRINE_GEMM,
     .summary = "a block of C in registers, panels copied in the background",
     .file = "gemm/register_tile",
     .parameters = kSizeParameters,
     .macros = kSizeMacros,
     .exists = register_exists,
     .refuses = register_refuses,
     .plan = register_plan},
    {.name = "warp_specialized",
     .operation = TRINE_GEMM,
     .summary = "some warps copy, the others multiply, barriers between them",
     .requirement = "elements of 4 bytes; an NVIDIA GPU of compute capability 9.0",
     .file = "gemm/warp_specialized",
     .backends = kCuda,
     .parameters = kTileParameters,
     .macros = kWarpMacros,
     .exists = warp_exists,
     .refuses = warp_refuses,
     .plan = warp_plan,
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
     .self_check = &kTensorCheck,
     .architectures = "90"},
    {.name = "tensor_specialized",
     .operation = TRINE_GEMM,
     .summary = "some warps copy, the others feed the f64 tensor cores: proven by a self-check",
     .requirement = "f64; an NVIDIA GPU of compute capability 9.0",
     .file = "gemm/tensor_specialized",
     .backends = kCuda,
     .parameters = kTensorTileParameters,
     .macros = kTensorTileMacros,
     .refuses = tensor_tile_refuses,
     .plan = tensor_tile_plan,
     .self_check = &kTensorTileCheck,
     .architectures = "90a"},
    {.name = "private_tile",
     .operation = TRINE_GEMM,
     .summary = "packed panels, one work-item per block of vector registers",
     .requirement = "a CPU device",
     .file = "gemm/private_tile",
     .backends = kOpencl,
     .parameters = kVectorParameters,
     .macros = kPrivateMacros,
     .entries = kPrivateEntries,
     .refuses = private_refuses,
     .workspace_bytes = private_workspace,
     .plan = private_plan},
};

}  // namespace

std::span<const Variant> gemm_variants() {
  static const auto ladder = [] {
    std::array<Variant, kStudyRungs + std::size(kVariants)> all;
    std::ranges::copy(kVariants, std::ranges::copy(gemm_study_variants(), all.begin()).out);
    return all;
  }();
  return ladder;
}

}  // namespace trine::gpu
