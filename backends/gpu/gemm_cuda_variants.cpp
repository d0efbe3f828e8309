// Rungs of gemm for compute capability 9.0 that CUDA alone has: `three_tf32`, f32 in two parts, and
// `residues`, exact products of f32 by int8 tensor cores, modulo 7 to 13 numbers.
#include <algorithm>
#include <array>
#include <cstddef>

#include "backends/gpu/gemm_exact.hpp"
#include "backends/gpu/kernels/gemm/residue_tables.h"

namespace trine::gpu {
namespace {

constexpr Macro kMacros[] = {{"T", kFloat}};

/// Has so many matrices more elements than any device holds? To be asked before they are
/// multiplied.
bool are_too_large(int64_t rows, int64_t cols, int64_t count) {
  constexpr int64_t kMost = int64_t{1} << 31, kPadding = 256;
  return rows > kMost || cols > kMost || count > kMost ||
         (rows + kPadding) * (cols + kPadding) > kMost * 64 / std::max<int64_t>(count, 1);
}

// --- three_tf32: f32 in two parts ----------------------------------------------------------------

constexpr const char* kPartsEntries[] = {"three_tf32_split", "three_tf32"};
/// The same numbers as in three_tf32.cu: the tile of a pair of groups, a group's work-items, the
/// steps of k in a block, the stages, the warps that multiply, and the rows and steps that a group
/// splits.
constexpr Group kPartsTile{256, 192, 384};
constexpr int64_t kPartsDepth = 16, kPartsStages = 5, kPartsWarps = 8, kPartsPatch = 64,
                  kPartsSplitters = 256;
/// How many blocks take as long as passing sums from one pair to another; the share of the time
/// that is lost if pairs aren't at the same step of k; the fewest blocks that are worth a pair.
constexpr int64_t kPartsWay = 12, kPartsDrift = 50, kPartsFewest = 8;

/// The places in the workspace, in elements, of the operands' parts and of the sums for other
/// pairs.
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
    // Pairs compute whole tiles. If many would be idle at the end, the last tiles are shared: each
    // pair gets an equal part of them. Then pairs no longer read the same panels at the same time.
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
    const int64_t both = 2 * blocks * kPartsDepth;  // of a row or column
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
  const Problem p(op);
  if (const char* why = refuse_tiles(request, kPartsTile)) return why;
  if (are_too_large(p.m, p.k, p.matrices(p.a)) || are_too_large(p.n, p.k, p.matrices(p.b)) ||
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

// --- residues ------------------------------------------------------------------------------------

using namespace residues;

constexpr const char* kModuliNames[] = {"auto", "7", "8", "9", "10", "11", "12", "13"};
static_assert(std::size(kModuliNames) == CHOICES + 1);
constexpr trine_parameter kModuliParameters[] = {
    {sizeof(trine_parameter), std::size(kModuliNames), 0, "moduli", kModuliNames}};
enum Entry { kNorms, kChoose, kConvert, kProduct, kReconstruct };
constexpr const char* kEntries[] = {"residues_norms", "residues_choose", "residues_convert",
                                    "residues_product", "residues_reconstruct"};

/// The same numbers as in residues.cu and residue_multiply.h: the work-items of most kernels, of
/// the product's and of the last one, a group's lanes and its steps where it chooses, its parts of
/// a tile, and local memory.
constexpr int64_t kWorkers = 256, kMultipliers = 384, kReconstructors = 128, kPatch = 32,
                  kChooseSteps = 64, kParts = 16, kProductBytes = 4 * 3 * BLOCK + 1024;
/// A group converts 2^kConvertShift blocks of steps where all multiprocessors have enough groups.
constexpr int kConvertShift = 2;
constexpr int64_t kEnoughGroups = 24;

/// A call's places in the workspace: bounds and marks, then the residues' own.
struct ResiduesShape {
  ExactSpace space;
  const Problem& p;
  int64_t k, base;  // base: of the residues' own, in bytes of the memory
  int moduli;       // 0: the kernels choose
  Layout layout;
  int64_t patches;
  int each_shift;

  explicit ResiduesShape(const Request& request)
      : space(request),
        p(space.p),
        k(p.multiply ? p.k : 0),
        base(space.a_bounds * 8 + round_up((space.end - space.a_bounds) * 8, 256)),
        moduli(request.selection.values[0] == 0 ? 0 : request.selection.values[0] + FEWEST - 1),
        layout(layout_of(p.m, p.n, k, p.batch, p.matrices(p.a), p.matrices(p.b), moduli)),
        patches(layout.lanes / kPatch),
        each_shift(patches * layout.blocks >= kEnoughGroups * request.target.facts->compute_units
                       ? kConvertShift
                       : 0) {}

  /// May the kernels copy B with its columns' steps side by side? Where they are, that is B itself.
  bool may_copy() const { return moduli == 0 && k > 0 && p.b.row != 1; }
  /// The copy's place, in bytes of the memory.
  int64_t copy() const { return base + round_up(layout.bytes, 256); }
  int64_t end() const {
    return may_copy() ? copy() + p.n * k * p.matrices(p.b) * int64_t{sizeof(float)}
                      : base + layout.bytes;
  }

  int64_t norm_groups() const { return patches * layout.norm_cuts + layout.sample_cuts; }
  int64_t convert_groups() const {
    return patches * divide_up(layout.blocks, int64_t{1} << each_shift);
  }
  /// Pairs of tiles of C, of one modulus.
  int64_t tile_pairs() const {
    return layout.rows / TWO_BLOCKS * (layout.cols / TWO_BLOCKS) * p.batch;
  }
};

uint64_t residues_workspace(const Request& request) {
  const ResiduesShape shape(request);
  if (shape.p.empty()) return 0;
  return TRINE_CONTROL_BYTES + static_cast<uint64_t>(shape.end());
}

const char* residues_refuses(const Request& request) {
  const auto& op = request.as<trine_gemm>();
  if (op.dtype != TRINE_F32 || !trine_is_exact(&op)) return "residues is for f32 of numerics exact";
  if (const char* why = refuse_exact(request)) return why;
  const Problem p(op);
  if (are_too_large(p.m, p.k, p.matrices(p.a)) || are_too_large(p.n, p.k, p.matrices(p.b)) ||
      are_too_large(p.m, p.n, p.batch) ||
      residues_workspace(request) > request.target.facts->max_buffer_bytes)
    return "the residues of A, B and C exceed the device's largest buffer";
  const ResiduesShape shape(request);
  return std::max({shape.norm_groups(), shape.convert_groups(), shape.tile_pairs() * 2 * kParts,
                   shape.tile_pairs() * MOST}) > kMaxGroups
             ? kTooMany
             : nullptr;
}

Launch& add_kernel(const Request& request, const ResiduesShape& shape, Plan& plan, Entry entry,
                   int64_t groups, int64_t threads) {
  Launch& launch = plan.add(entry);
  launch.grid[0] = static_cast<uint32_t>(groups);
  launch.block[0] = static_cast<uint32_t>(threads);
  if (entry == kNorms || entry == kChoose || entry == kConvert) {
    push_operand(launch, shape.p.a);
    push_operand(launch, shape.p.b);
  } else {
    launch.i64(shape.p.a.batch).i64(shape.p.b.batch);
  }
  // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): only refuses and workspace_bytes have none
  launch.memory(request.workspace->memory).i64(shape.base);
  launch.i64(shape.p.m).i64(shape.p.n).i64(shape.k);
  return launch.i32(static_cast<int32_t>(shape.p.batch)).i32(shape.moduli);
}

/// A and B become residues, whose products are kept.
void add_products(const Request& request, const ResiduesShape& shape, Plan& plan) {
  const int64_t units = std::max<int64_t>(request.target.facts->compute_units, 2);
  const ExactSpace& space = shape.space;
  const int64_t own = shape.base / 8;
  add_kernel(request, shape, plan, kNorms, shape.norm_groups(), kWorkers)
      .i64((space.marks - own) * 8)
      .i64(space.words);
  if (shape.moduli == 0)
    add_kernel(request, shape, plan, kChoose, divide_up(shape.k, kChooseSteps), kWorkers)
        .i32(shape.may_copy() ? 1 : 0);
  add_kernel(request, shape, plan, kConvert, shape.convert_groups(), kWorkers)
      .i32(shape.each_shift)
      .i64(space.a_bounds - own)
      .i64(space.b_bounds - own)
      .i64(shape.copy() - shape.base);
  const int64_t pairs = std::min(units / 2, shape.tile_pairs() * MOST);
  add_kernel(request, shape, plan, kProduct, 2 * pairs, kMultipliers).dynamic_local_bytes =
      kProductBytes;
}

void residues_plan(const Request& request, Plan& plan) {
  const auto& op = request.as<trine_gemm>();
  const ResiduesShape shape(request);
  const Problem& p = shape.p;
  if (p.empty()) return;
  if (p.multiply) add_products(request, shape, plan);
  Launch& last = add_kernel(request, shape, plan, kReconstruct, shape.tile_pairs() * 2 * kParts,
                            kReconstructors);
  last.memory(p.c.memory).i64(p.c.offset).i64(p.c.batch).i64(p.c.row);
  push_scaling(last, op, p);
  last.i64(shape.space.marks * 8 - shape.base);
  if (!p.multiply) return;
  const auto copied = static_cast<int64_t>(offsetof(Decision, copied));
  if (shape.may_copy())
    shape.space.add_one_by_one(request, plan, shape.copy() / 4, (shape.base + copied) / 4);
  else
    shape.space.add_one_by_one(request, plan);
}

// --- The rows ------------------------------------------------------------------------------------

constexpr Variant kVariants[] = {
    {.name = "three_tf32",
     .operation = TRINE_GEMM,
     .numerics = TRINE_FAST,
     .summary = "f32 in two parts each, three products of TF32 on tensor cores",
     .requirement = "f32; an NVIDIA GPU of compute capability 9.0 alone; a workspace twice as "
                    "large as A and B",
     .default_for = "large fast f32 on 9.0",
     .file = "gemm/three_tf32",
     .backends = kCuda,
     .macros = kMacros,
     .entries = kPartsEntries,
     .refuses = parts_refuses,
     .workspace_bytes = parts_workspace,
     .plan = parts_plan,
     .begins_early = true,
     .architectures = "90a"},
    {.name = "residues",
     .operation = TRINE_GEMM,
     .summary = "exact f32 as integers: int8 products modulo 7 to 13 numbers on tensor cores",
     .requirement = "f32 of numerics exact; an NVIDIA GPU of compute capability 9.0 alone; a "
                    "workspace of 13 bytes for each element of A and C and 17 of B",
     .default_for = "large exact f32 on 9.0",
     .file = "gemm/residues",
     .backends = kCuda,
     .parameters = kModuliParameters,
     .macros = kMacros,
     .entries = kEntries,
     .refuses = residues_refuses,
     .takes = TRINE_TAKES_EXACT,
     .workspace_bytes = residues_workspace,
     .plan = residues_plan,
     .begins_early = true,
     .architectures = "90a"},
};

}  // namespace

std::span<const Variant, kCudaRungs> gemm_cuda_variants() { return kVariants; }

}  // namespace trine::gpu
