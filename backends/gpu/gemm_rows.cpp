// The rows of gemm on a GPU backend: how a call is brought to one shape, which launches of which
// instance compute it, and which rung is the default for which dtype and size.

#include <algorithm>
#include <cmath>
#include <cstring>

#include "backends/gpu/gemm_problem.hpp"
#include "backends/gpu/gemm_self_check.hpp"
#include "backends/gpu/row.hpp"

namespace trine::gpu {
namespace {

constexpr int64_t kMaxGroups = 0x7fffffff;  // of a one-dimensional grid
constexpr const char* kTooMany = "the result needs more than 2^31 - 1 work-groups";

bool too_many_groups(int64_t rows, int64_t cols, int64_t batch) {
  if (rows == 0 || cols == 0 || batch == 0) return false;
  return rows > kMaxGroups / cols || rows * cols > kMaxGroups / batch;
}

void push_scalar(Launch& launch, uint32_t dtype, const trine_scalar& x) {
  if (dtype == TRINE_F32)
    launch.f32(x.f32);
  else if (dtype == TRINE_F64)
    launch.f64(x.f64);
  else
    launch.i32(x.i32);
}

void push_scaling(Launch& launch, const trine_gemm& op, const Problem& p) {
  push_scalar(launch, op.dtype, op.alpha);
  push_scalar(launch, op.dtype, op.beta);
  launch.i32((p.multiply ? 1 : 0) | (p.add_c ? 2 : 0));
}

void push_operand(Launch& launch, const Operand& x) {
  launch.memory(x.memory).i64(x.offset).i64(x.batch).i64(x.row).i64(x.col);
}

/// The launch of a kernel with GEMM_ARGUMENTS, a group for each tile_m x tile_n of C.
Launch& add_tiles(Plan& plan, const trine_gemm& op, int64_t tile_m, int64_t tile_n) {
  const Problem p(op);
  const int64_t tiles_m = divide_up(p.m, tile_m), tiles_n = divide_up(p.n, tile_n);
  Launch& launch = plan.add(0);
  launch.grid[0] = static_cast<uint32_t>(tiles_m * tiles_n * p.batch);
  push_operand(launch, p.a);
  push_operand(launch, p.b);
  push_operand(launch, p.c);
  launch.i64(p.m).i64(p.n).i64(p.k);
  push_scaling(launch, op, p);
  launch.i32(static_cast<int32_t>(tiles_m)).i32(static_cast<int32_t>(tiles_n));
  return launch;
}

const char* refuse_tiles(const Request& request, int64_t tile_m, int64_t tile_n, int64_t threads) {
  const auto& op = request.as<trine_gemm>();
  if (op.dtype != TRINE_F32 && op.dtype != TRINE_F64 && op.dtype != TRINE_I32)
    return "gemm takes f32, f64 and i32";
  if (op.dtype == TRINE_F64 && !request.target.has(TRINE_CAN_F64)) return "the device has no f64";
  if (op.dtype != TRINE_I32 && !request.target.has(TRINE_CAN_REPRODUCE))
    return "the device failed the arithmetic probe";
  if (threads > request.target.facts->max_group_threads) return "the device's groups are too small";
  const Problem p(op);
  return too_many_groups(divide_up(p.m, tile_m), divide_up(p.n, tile_n), p.batch) ? kTooMany
                                                                                  : nullptr;
}

constexpr const char* kTypes[] = {"float", "double", "int"};
int type_index(uint32_t dtype) { return dtype == TRINE_F32 ? 0 : dtype == TRINE_F64 ? 1 : 2; }

// --- naive, shared ------------------------------------------------------------------------------

constexpr int64_t kNaiveTile = 16;
constexpr Macro kNaiveMacros[] = {{"T", kTypes}};
constexpr const char* kNaiveEntries[] = {"naive"};

const char* naive_refuses(const Request& request) {
  return refuse_tiles(request, kNaiveTile, kNaiveTile, kNaiveTile * kNaiveTile);
}

void naive_plan(const Request& request, Plan& plan) {
  const auto& op = request.as<trine_gemm>();
  plan.macro[0] = type_index(op.dtype);
  if (Problem(op).empty()) return;
  Launch& launch = add_tiles(plan, op, kNaiveTile, kNaiveTile);
  launch.block[0] = launch.block[1] = kNaiveTile;
}

constexpr const char* kTiles[] = {"16", "32"};
constexpr trine_parameter kSharedParameters[] = {{sizeof(trine_parameter), 2, 1, "tile", kTiles}};
constexpr Macro kSharedMacros[] = {{"T", kTypes}, {"TILE", kTiles}};
constexpr const char* kSharedEntries[] = {"shared"};

int64_t shared_tile(const Request& request) { return int64_t{16} << request.selection.values[0]; }

const char* shared_refuses(const Request& request) {
  const int64_t tile = shared_tile(request);
  return refuse_tiles(request, tile, tile, tile * tile);
}

void shared_plan(const Request& request, Plan& plan) {
  const auto& op = request.as<trine_gemm>();
  const int64_t tile = shared_tile(request);
  plan.macro[0] = type_index(op.dtype);
  plan.macro[1] = request.selection.values[0];
  if (Problem(op).empty()) return;
  Launch& launch = add_tiles(plan, op, tile, tile);
  launch.block[0] = launch.block[1] = static_cast<uint32_t>(tile);
}

// --- register_tile
// --------------------------------------------------------------------------------

constexpr const char* kSizes[] = {"64", "128"};
constexpr trine_parameter kSizeParameters[] = {{sizeof(trine_parameter), 2, 0, "size", kSizes}};
constexpr Macro kSizeMacros[] = {{"T", kTypes}, {"SIZE", kSizes}};
constexpr const char* kRegisterEntries[] = {"register_tile"};

int64_t register_size(const Request& request) { return int64_t{64} << request.selection.values[0]; }

/// 128 x 128 f64 would need twice the registers there are.
bool register_exists(const int* macro) { return !(macro[0] == 1 && macro[1] == 1); }

/// Bytes of local memory: stages of two panels, 8 steps deep.
uint64_t register_local_bytes(int64_t size, uint32_t dtype) {
  return static_cast<uint64_t>(4 * 2 * 8 * (size + 4)) * trine_dtype_size(dtype);
}

const char* register_refuses(const Request& request) {
  // Measured: PoCL 5 leaves results of this kernel unwritten that PoCL 3 and GPUs write.
  if (request.target.is_pocl_since(4))
    return "wrong under PoCL 5 (4 is untried); private_tile is for CPUs";
  const int64_t size = register_size(request);
  if (register_local_bytes(size, request.as<trine_gemm>().dtype) >
      request.target.facts->local_memory_bytes)
    return "the device has too little local memory";
  if (size == 128 && request.as<trine_gemm>().dtype == TRINE_F64)
    return "size=128 is for 4-byte dtypes";
  return refuse_tiles(request, size, size, size);
}

void register_plan(const Request& request, Plan& plan) {
  const auto& op = request.as<trine_gemm>();
  const int64_t size = register_size(request);
  plan.macro[0] = type_index(op.dtype);
  plan.macro[1] = request.selection.values[0];
  if (Problem(op).empty()) return;
  add_tiles(plan, op, size, size).block[0] = static_cast<uint32_t>(size);
}

// --- tensor: f64 on tensor cores ------------------------------------------------------------------

constexpr const char* kDouble[] = {"double"};
constexpr const char* kLayouts[] = {"nn", "nt", "tn", "tt"};
constexpr Macro kTensorMacros[] = {{"T", kDouble}, {"SIZE", kSizes}, {"LAYOUT", kLayouts}};
constexpr const char* kTensorEntries[] = {"tensor"};
constexpr int64_t kTensorStages = 4, kTensorDepth = 16, kTensorPadding = 4;

const char* tensor_refuses(const Request& request) {
  if (request.as<trine_gemm>().dtype != TRINE_F64) return "tensor is for f64";
  if (!request.target.has(TRINE_CAN_INLINE_PTX)) return "tensor needs NVIDIA's tensor cores";
  const int64_t size = register_size(request);
  return refuse_tiles(request, size, size, 2 * size);
}

void tensor_plan(const Request& request, Plan& plan) {
  const auto& op = request.as<trine_gemm>();
  const int64_t size = register_size(request);
  const Problem p(op);
  plan.macro[1] = request.selection.values[0];
  plan.macro[2] = (p.a.row == 1 ? 2 : 0) + (p.b.row == 1 ? 1 : 0);
  if (p.empty()) return;
  Launch& launch = add_tiles(plan, op, size, size);
  launch.block[0] = static_cast<uint32_t>(2 * size);
  launch.dynamic_local_bytes = static_cast<uint32_t>(
      kTensorStages * 2 * size * (kTensorDepth + kTensorPadding) * sizeof(double));
}

void check_plan(const Target& target, void* input, void* output, Plan& plan) {
  const trine_gemm op = gemm_check::operation(input, output);
  trine_selection selection{};
  selection.size = sizeof selection;
  selection.values[0] = 1;  // the instance that asks most of the device
  const trine_call call{sizeof call, TRINE_GEMM, &op};
  tensor_plan(Request{target, selection, call, nullptr}, plan);
}

constexpr SelfCheck kTensorCheck{gemm_check::kInputBytes, gemm_check::kOutputBytes,
                                 gemm_check::fill, check_plan, gemm_check::passes};

// --- warp_specialized: CUDA's own ------------------------------------------------------------------

constexpr const char* kFourBytes[] = {"float", "int"};
constexpr const char* kShapes[] = {"medium", "large"};
constexpr trine_parameter kShapeParameters[] = {{sizeof(trine_parameter), 2, 1, "shape", kShapes}};
constexpr Macro kWarpMacros[] = {{"T", kFourBytes}, {"SHAPE", kShapes}};
constexpr const char* kWarpEntries[] = {"warp_specialized"};

struct WarpShape {
  int64_t tile_m, tile_n, threads, stages;
};
constexpr WarpShape kWarpShapes[] = {{64, 128, 256, 5}, {128, 256, 384, 4}};
constexpr int64_t kWarpDepth = 16, kWarpPadding = 4;

const char* warp_refuses(const Request& request) {
  const WarpShape& shape = kWarpShapes[request.selection.values[0]];
  if (request.as<trine_gemm>().dtype == TRINE_F64) return "warp_specialized is for 4-byte dtypes";
  return refuse_tiles(request, shape.tile_m, shape.tile_n, shape.threads);
}

void warp_plan(const Request& request, Plan& plan) {
  const auto& op = request.as<trine_gemm>();
  const WarpShape& shape = kWarpShapes[request.selection.values[0]];
  plan.macro[0] = op.dtype == TRINE_F32 ? 0 : 1;
  plan.macro[1] = request.selection.values[0];
  if (Problem(op).empty()) return;
  Launch& launch = add_tiles(plan, op, shape.tile_m, shape.tile_n);
  launch.block[0] = static_cast<uint32_t>(shape.threads);
  launch.dynamic_local_bytes = static_cast<uint32_t>(
      shape.stages * kWarpDepth * (shape.tile_m + shape.tile_n + 2 * kWarpPadding) * 4);
}

// --- private_tile: for CPUs behind OpenCL
// ----------------------------------------------------------

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
  if (const char* why = refuse_tiles(request, 6, 8, 1)) return why;
  const PrivateShape shape(request);
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

// --- The ladder
// -------------------------------------------------------------------------------------

enum Rung { kNaive, kShared, kRegisterTile, kWarpSpecialized, kTensor, kPrivateTile };

constexpr Row kRows[] = {
    {"naive",
     TRINE_GEMM,
     TRINE_REPRODUCIBLE,
     "one work-item per element of C",
     nullptr,
     "gemm/naive",
     kBoth,
     {},
     kNaiveMacros,
     kNaiveEntries,
     nullptr,
     naive_refuses,
     nullptr,
     naive_plan,
     nullptr,
     nullptr,
     nullptr},
    {"shared", TRINE_GEMM, TRINE_REPRODUCIBLE, "square tiles of A and B in local memory", nullptr,
     "gemm/shared", kBoth, kSharedParameters, kSharedMacros, kSharedEntries, nullptr,
     shared_refuses, nullptr, shared_plan, nullptr, nullptr, nullptr},
    {"register_tile", TRINE_GEMM, TRINE_REPRODUCIBLE,
     "a block of C in registers, panels copied in the background", nullptr, "gemm/register_tile",
     kBoth, kSizeParameters, kSizeMacros, kRegisterEntries, register_exists, register_refuses,
     nullptr, register_plan, nullptr, nullptr, nullptr},
    {"warp_specialized", TRINE_GEMM, TRINE_REPRODUCIBLE,
     "some warps copy, the others multiply, barriers between them",
     "an NVIDIA GPU of compute capability 9.0", "gemm/warp_specialized", kCuda, kShapeParameters,
     kWarpMacros, kWarpEntries, nullptr, warp_refuses, nullptr, warp_plan, nullptr, nullptr, "90a"},
    {"tensor", TRINE_GEMM, TRINE_REPRODUCIBLE,
     "f64 on tensor cores, which compute the same chain: proven by a self-check",
     "an NVIDIA GPU of compute capability 9.0", "gemm/tensor", kBoth, kSizeParameters,
     kTensorMacros, kTensorEntries, nullptr, tensor_refuses, nullptr, tensor_plan, &kTensorCheck,
     nullptr, "90"},
    {"private_tile", TRINE_GEMM, TRINE_REPRODUCIBLE,
     "packed panels, one work-item per block of vector registers", nullptr, "gemm/private_tile",
     kOpencl, kVectorParameters, kPrivateMacros, kPrivateEntries, nullptr, private_refuses,
     private_workspace, private_plan, nullptr, nullptr, nullptr},
};

/// Does the CPU behind OpenCL have 64-byte vectors? PoCL puts LLVM's name of it into the device's.
bool has_wide_vectors(const trine_device_facts& facts) {
  constexpr const char* kWide[] = {"avx512",  "cascadelake", "cooperlake", "cannonlake",
                                   "icelake", "tigerlake",   "rocketlake", "sapphirerapids",
                                   "emerald", "granite",     "znver4",     "znver5"};
  return std::any_of(std::begin(kWide), std::end(kWide),
                     [&](const char* name) { return std::strstr(facts.name, name) != nullptr; });
}

/// A rung with its parameter as choose_gemm weighs it. `full` is its speed on a multiprocessor that
/// holds `groups` of its groups, `alone` on one that holds a single one: shares of the fastest for
/// the dtype, measured on an H200 at 4096 (full; f32 49.0, f64 47.7 TFLOP/s) and at 512 and 1024
/// (alone).
struct Candidate {
  Rung rung;
  int value;
  bool f64;
  int64_t tile_m, tile_n, groups;
  double full, alone;
};
constexpr Candidate kCandidates[] = {
    {kWarpSpecialized, 1, false, 128, 256, 1, 1.00, 1.00},
    {kWarpSpecialized, 0, false, 64, 128, 2, 0.93, 0.80},
    {kRegisterTile, 1, false, 128, 128, 2, 0.82, 0.45},
    {kRegisterTile, 0, false, 64, 64, 4, 0.78, 0.30},
    {kTensor, 1, true, 128, 128, 1, 1.00, 1.00},
    {kTensor, 0, true, 64, 64, 2, 0.89, 0.60},
    {kRegisterTile, 0, true, 64, 64, 2, 0.44, 0.25},
};

/// The time of the busiest of `units` multiprocessors, in elements of C at full speed.
double busiest(const Candidate& one, const Problem& p, int64_t units) {
  const double tiles = static_cast<double>(divide_up(p.m, one.tile_m)) *
                       static_cast<double>(divide_up(p.n, one.tile_n)) *
                       static_cast<double>(p.batch);
  const double held = std::ceil(tiles / static_cast<double>(std::max<int64_t>(units, 1)));
  const double share = one.groups == 1 ? 1.0 : (held - 1) / static_cast<double>(one.groups - 1);
  const double rate = one.alone + (one.full - one.alone) * std::min(share, 1.0);
  return held * static_cast<double>(one.tile_m * one.tile_n) / rate;
}

}  // namespace

std::span<const Row> gemm_rows() { return kRows; }

const Row* choose_gemm(const Target& target, const trine_gemm& op, trine_selection& selection) {
  for (int32_t& value : selection.values) value = 0;
  if (target.backend == kOpencl && target.is_cpu()) {
    selection.values[0] = has_wide_vectors(*target.facts) ? 1 : 0;
    selection.why = "private_tile: on a CPU a work-item is a loop, vectors hold the tile";
    return &kRows[kPrivateTile];
  }
  const Problem problem(op);
  const Candidate* best = nullptr;
  for (const Candidate& one : kCandidates) {
    if (one.f64 != (op.dtype == TRINE_F64)) continue;
    if (one.rung == kWarpSpecialized && target.backend != kCuda) continue;
    if (one.rung == kTensor && !target.has(TRINE_CAN_INLINE_PTX)) continue;
    if (one.rung != kRegisterTile && !target.runs(kRows[one.rung])) continue;
    if (one.rung == kRegisterTile &&
        register_local_bytes(one.tile_m, op.dtype) > target.facts->local_memory_bytes)
      continue;
    if (!best || busiest(one, problem, target.facts->compute_units) <
                     busiest(*best, problem, target.facts->compute_units))
      best = &one;
  }
  if (!best) {
    selection.why = "naive: the device's local memory is too small for tiles";
    return &kRows[kNaive];
  }
  selection.values[0] = best->value;
  selection.why = "of this device's rungs, the one whose tiles load its multiprocessors best";
  return &kRows[best->rung];
}

}  // namespace trine::gpu
