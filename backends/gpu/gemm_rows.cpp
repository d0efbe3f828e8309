// The rows of gemm on a GPU backend: how a call is brought to one shape, which launches of which
// instance compute it, and which rung is the default for which dtype and size.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "backends/gpu/row.hpp"

namespace trine::gpu {
namespace {

constexpr int64_t kMaxGroups = 0x7fffffff;  // of a one-dimensional grid
constexpr const char* kTooMany = "the result needs more than 2^31 - 1 work-groups";

struct Operand {
  void* memory;
  int64_t offset, batch, row, col;  // elements; strides along extents of 1 are 0

  Operand(const trine_view& view, uint32_t element)
      : memory(view.memory),
        offset(static_cast<int64_t>(view.offset / element)),
        batch(view.batch > 1 ? view.batch_stride : 0),
        row(view.rows > 1 ? view.row_stride : 0),
        col(view.cols > 1 ? view.col_stride : 0) {}
  void transpose() { std::swap(row, col); }
};

/// A gemm as its kernels see it. C's columns have unit stride: where its rows have, the transposed
/// problem is computed, C' = B' A', whose chains are the same.
struct Problem {
  uint32_t element;
  Operand a, b, c;
  int64_t m, n, k, batch;
  bool multiply, add_c;

  explicit Problem(const trine_gemm& op)
      : element(trine_dtype_size(op.dtype)),
        a(op.a, element),
        b(op.b, element),
        c(op.c, element),
        m(op.c.rows),
        n(op.c.cols),
        k(op.a.cols),
        batch(op.c.batch),
        multiply(k > 0 && !is_zero(op.dtype, op.alpha)),
        add_c(!is_zero(op.dtype, op.beta)) {
    if (c.row == 1 && c.col != 1) {
      std::swap(a, b);
      std::swap(m, n);
      a.transpose();
      b.transpose();
      c.transpose();
    }
  }
  static bool is_zero(uint32_t dtype, const trine_scalar& x) {
    return dtype == TRINE_F32 ? x.f32 == 0 : dtype == TRINE_F64 ? x.f64 == 0 : x.i32 == 0;
  }
  bool empty() const { return m == 0 || n == 0 || batch == 0; }
};

int64_t divide_up(int64_t n, int64_t by) { return n / by + (n % by != 0); }

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

const char* register_refuses(const Request& request) {
  const int64_t size = register_size(request);
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

// The self-check multiplies kCheckM x kCheckK by kCheckK x kCheckN and wants the bits of the chain.
// Row classes tell rival orders apart: full mantissas (any other association rounds elsewhere),
// values that cancel over 2^+-40 (a wider or truncated accumulator, a descending one), products
// below 2^-1022 (flushed ones), and signed zeros.
constexpr int64_t kCheckM = 32, kCheckN = 32, kCheckK = 52;

double check_value(uint64_t index, int64_t kind) {
  uint64_t bits = (index + 1) * 0x9e3779b97f4a7c15u;
  bits = (bits ^ (bits >> 31)) * 0xbf58476d1ce4e5b9u;
  bits ^= bits >> 29;
  const double sign = (bits & 1) != 0 ? -1.0 : 1.0;
  const double value = sign * (1.0 + static_cast<double>(bits >> 12) * 0x1p-52);
  switch (kind) {
    case 0: return value;
    case 1: return std::ldexp(value, static_cast<int>(bits >> 1 & 63) - 32);
    case 2: return std::ldexp(value, -520);
    default: return (bits >> 1 & 7) == 0 ? std::ldexp(value, -540) : sign * 0.0;
  }
}

void check_fill(void* input) {
  double* values = static_cast<double*>(input);
  for (int64_t i = 0; i < kCheckM * kCheckK; ++i)
    values[i] = check_value(static_cast<uint64_t>(i), i / kCheckK % 4);
  for (int64_t j = 0; j < kCheckN * kCheckK; ++j)
    values[kCheckM * kCheckK + j] =
        check_value(static_cast<uint64_t>(kCheckM * kCheckK + j), j / kCheckK / 4 % 4);
}

trine_gemm check_operation(void* input, void* output) {
  trine_gemm op{};
  op.size = sizeof op;
  op.numerics = TRINE_REPRODUCIBLE;
  op.dtype = TRINE_F64;
  op.alpha.f64 = 1;
  op.a = {input, 0, kCheckM, kCheckK, 1, kCheckK, 1, 0};
  op.b = {input, kCheckM * kCheckK * sizeof(double), kCheckK, kCheckN, 1, 1, kCheckK, 0};
  op.c = {output, 0, kCheckM, kCheckN, 1, kCheckN, 1, 0};
  return op;
}

void check_plan(const Target& target, void* input, void* output, Plan& plan) {
  const trine_gemm op = check_operation(input, output);
  trine_selection selection{};
  selection.size = sizeof selection;
  selection.values[0] = 1;  // the instance that asks most of the device
  const trine_call call{sizeof call, TRINE_GEMM, &op};
  tensor_plan(Request{target, selection, call, nullptr}, plan);
}

bool check_passes(const void* input, const void* output) {
  const double* a = static_cast<const double*>(input);
  const double* b = a + kCheckM * kCheckK;
  const double* c = static_cast<const double*>(output);
  for (int64_t i = 0; i < kCheckM; ++i)
    for (int64_t j = 0; j < kCheckN; ++j) {
      double acc = 0;
      for (int64_t l = 0; l < kCheckK; ++l)
        acc = std::fma(a[i * kCheckK + l], b[j * kCheckK + l], acc);
      acc += 0.0;
      if (std::memcmp(&acc, &c[i * kCheckN + j], sizeof acc) != 0) return false;
    }
  return true;
}

constexpr SelfCheck kTensorCheck{(kCheckM + kCheckN) * kCheckK * sizeof(double),
                                 kCheckM* kCheckN * sizeof(double), check_fill, check_plan,
                                 check_passes};

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

}  // namespace

std::span<const Row> gemm_rows() { return kRows; }

const Row* choose_gemm(const Target& target, const trine_gemm& op, trine_selection& selection) {
  for (int32_t& value : selection.values) value = 0;
  if (target.backend == kOpencl && target.is_cpu()) {
    selection.values[0] = has_wide_vectors(*target.facts) ? 1 : 0;
    selection.why = "private_tile: on a CPU a work-item is a loop, vectors hold the tile";
    return &kRows[kPrivateTile];
  }
  // A 128 x 128 tile is the faster one wherever there are enough of them for every multiprocessor.
  const int64_t tiles =
      divide_up(op.c.rows, 128) * divide_up(op.c.cols, 128) * std::max<int64_t>(op.c.batch, 1);
  const bool large = tiles >= target.facts->compute_units;
  selection.values[0] = large ? 1 : 0;
  if (op.dtype == TRINE_F64 && target.has(TRINE_CAN_INLINE_PTX) && target.runs(kRows[kTensor])) {
    selection.why = large ? "tensor: f64 tensor cores, 128 x 128 tiles"
                          : "tensor: f64 tensor cores, 64 x 64 tiles to keep every unit busy";
    return &kRows[kTensor];
  }
  if (op.dtype == TRINE_F64) selection.values[0] = 0;
  selection.why = selection.values[0] == 1
                      ? "register_tile: enough 128 x 128 tiles for every multiprocessor"
                      : "register_tile: 64 x 64 tiles, to keep every multiprocessor busy";
  return &kRows[kRegisterTile];
}

}  // namespace trine::gpu
