// The foot of reduce's ladder on GPU backends: historic sums of one sequence, from M. Harris,
// "Optimizing parallel reduction in CUDA" (2007), and what came after it. They differ in how many
// elements a work-item takes and in how a group adds; opencl/reduce/sum.h is common to all.
#include "reduce_problem.hpp"

namespace trine::gpu {
namespace {

constexpr const char* kThreads[] = {"64", "128", "256", "512", "1024"};
constexpr const char* kFinishes[] = {"recursive", "atomic", "last_block"};
enum Finish : int32_t { kRecursive, kAtomic, kLastBlock };
constexpr trine_parameter kParameters[] = {{sizeof(trine_parameter), 5, 2, "threads", kThreads},
                                           {sizeof(trine_parameter), 3, 0, "finish", kFinishes}};
constexpr const char* kTypes[] = {"float", "int"};  // of the documents
constexpr Macro kMacros[] = {{"T", kTypes}};
constexpr Macro kUnrolledMacros[] = {{"T", kTypes}, {"THREADS", kThreads}};
constexpr const char* kEntries[] = {"sum"};

/// How a launch lies over its elements: one or two a work-item, or as many as it takes.
enum Share { kOne, kTwo, kMany };

int64_t threads_of(const Request& request) { return int64_t{64} << request.selection.values[0]; }

/// Groups of a launch over `count` elements. Where a work-item takes many: no more groups than the
/// device holds at once, and not so many that a work-item gets fewer than 8 elements.
template <Share kShare>
int64_t groups_of(const Request& request, int64_t count) {
  constexpr int64_t kResident = 2048, kFewest = 8;  // work-items of a multiprocessor
  const int64_t threads = threads_of(request);
  if (kShare == kOne) return divide_up(count, threads);
  if (kShare == kTwo) return divide_up(count, 2 * threads);
  const int64_t units = std::max(request.target.facts->compute_units, 1u);
  return std::min(divide_up(count, kFewest * threads), units * (kResident / threads));
}

template <Share kShare>
const char* refuses(const Request& request) {
  const auto& op = request.as<trine_reduce>();
  const int32_t finish = request.selection.values[1];
  if (op.function != TRINE_SUM || op.map != TRINE_IDENTITY) return "sum of the elements only";
  if (op.axis != TRINE_ALL) return "axis all only";
  if (shape_of(op, false).rows != 1) return "evenly spaced elements only";
  if (op.dtype != TRINE_F32 && op.dtype != TRINE_I32) return "historic sums are of f32 and i32";
  if (op.dtype == TRINE_F32 && op.result_dtype == TRINE_F64) return "f32 sums stay f32 here";
  if (threads_of(request) > int64_t(request.target.facts->max_group_threads))
    return "more threads than this device has in a group";
  if (finish == kAtomic && op.dtype != TRINE_F32 && request.target.backend == kOpencl &&
      !request.target.has(TRINE_CAN_ATOMIC_64))
    return "this device has no 64-bit atomics";
  if (finish == kLastBlock && !finishes_at_once(request.target))
    return "groups of one launch can't see each other's memory here";
  if (groups_of<kShare>(request, shape_of(op, false).cols) > kMaxGroups)
    return "more elements than one launch can have threads for";
  return nullptr;
}

const char* shuffle_refuses(const Request& request) {
  if (!request.target.has(TRINE_CAN_SUBGROUPS))
    return "this device's work-items can't read each other's registers (no sub-groups)";
  return refuses<kMany>(request);
}

/// The sizes of a group that documents 000 and 003 had.
bool unrolled_exists(const int* macro) { return macro[1] == 1 || macro[1] == 2; }

const char* unrolled_refuses(const Request& request) {
  if (const char* why = refuses<kTwo>(request)) return why;
  const int macro[] = {0, request.selection.values[0]};
  return unrolled_exists(macro) ? nullptr : "unroll_all is there for threads=128 and 256";
}

/// Sums of all levels, 8 bytes each at most.
template <Share kShare>
uint64_t workspace_bytes(const Request& request) {
  int64_t sums = 0, count = shape_of(request.as<trine_reduce>(), false).cols;
  while ((count = groups_of<kShare>(request, count)) > 1) sums += count;
  return sums == 0 ? 0 : TRINE_CONTROL_BYTES + uint64_t(sums * 8);
}

/// Sums `count` elements of a level by `groups` groups. `from`, `to`: the first sum of the level
/// below and of this one in the workspace.
struct Level {
  int64_t groups, count, from, to;
  int32_t number;
};

void add_level(const Request& request, const Level& level, bool with_workspace, Plan& plan) {
  const auto& op = request.as<trine_reduce>();
  Launch& l = plan.add(0);
  l.grid[0] = uint32_t(level.groups);
  l.block[0] = uint32_t(threads_of(request));
  l.memory(op.input.memory).i64(int64_t(op.input.offset) / trine_dtype_size(op.dtype));
  l.i64(shape_of(op, false).col_stride).i64(level.count);
  l.memory(with_workspace ? request.workspace->memory : nullptr);
  l.i64(with_workspace ? int64_t(request.workspace->offset) : 0).i64(level.from).i64(level.to);
  l.memory(op.output.memory).i64(int64_t(op.output.offset));
  l.i32(level.number).i32(request.selection.values[1]);
}

template <Share kShare>
void plan_sum(const Request& request, Plan& plan) {
  const auto& op = request.as<trine_reduce>();
  const int32_t finish = request.selection.values[1];
  plan.macro[0] = op.dtype == TRINE_F32 ? 0 : 1;
  plan.macro[1] = request.selection.values[0];  // of unroll_all alone
  Level level{0, shape_of(op, false).cols, 0, 0, 0};
  level.groups = groups_of<kShare>(request, level.count);
  const bool many = level.groups > 1;
  // One group's sum of nothing clears the result that atomics add to.
  if (finish == kAtomic && many) add_level(request, {1, 0, 0, 0, 0}, many, plan);
  for (;; ++level.number) {
    add_level(request, level, many, plan);
    if (level.groups == 1 || finish != kRecursive) return;
    level = {groups_of<kShare>(request, level.groups), level.groups, level.to,
             level.to + level.groups, level.number};
  }
}

constexpr const char* kRequirement =
    "sum of f32 or i32, identity, axis all, evenly spaced elements";
constexpr const char* kWarpRequirement =
    "sum of f32 or i32, identity, axis all, evenly spaced elements; its warps synchronize by "
    "__syncwarp in CUDA, "
    "bar.warp.sync in NVIDIA's OpenCL, a barrier of the group elsewhere";
constexpr const char* kShuffleRequirement =
    "sum of f32 or i32, identity, axis all, evenly spaced elements; registers are read by "
    "__shfl_down_sync in "
    "CUDA, shfl.sync in NVIDIA's OpenCL, functions of sub-groups elsewhere";

/// The row of a variant, with the members that all rows have in common.
template <Share kShare>
constexpr Variant variant(const char* name, const char* file, const char* summary,
                          const char* requirement = kRequirement,
                          std::span<const Macro> macros = kMacros,
                          const char* (*refusal)(const Request&) = refuses<kShare>,
                          bool (*exists)(const int*) = nullptr) {
  return {.name = name,
          .operation = TRINE_REDUCE,
          .numerics = TRINE_STUDY,
          .summary = summary,
          .requirement = requirement,
          .file = file,
          .parameters = kParameters,
          .macros = macros,
          .entries = kEntries,
          .exists = exists,
          .refuses = refusal,
          .workspace_bytes = workspace_bytes<kShare>,
          .plan = plan_sum<kShare>};
}

constexpr Variant kVariants[kSumRungs] = {
    variant<kOne>("interleaved_divergent", "reduce/interleaved_divergent",
                  "the naive tree: pairs of neighbours, every warp split"),
    variant<kOne>("interleaved_strided", "reduce/interleaved_strided",
                  "the same pairs by neighbouring work-items: whole warps, but bank conflicts"),
    variant<kOne>("sequential", "reduce/sequential",
                  "the tree folds halves: neighbours read neighbours"),
    variant<kTwo>("first_add", "reduce/first_add", "two elements a work-item, added while loading"),
    variant<kTwo>("unroll_last_warp", "reduce/unroll_last_warp",
                  "the last six steps unrolled, without barriers of the group", kWarpRequirement),
    variant<kTwo>("unroll_all", "reduce/unroll_all",
                  "every step unrolled: the group's size is known when compiling", kWarpRequirement,
                  kUnrolledMacros, unrolled_refuses, unrolled_exists),
    variant<kMany>(
        "cascade", "reduce/cascade",
        "as many groups as the device holds, each work-item adds many elements by itself",
        kWarpRequirement),
    variant<kMany>("shuffle", "reduce/shuffle",
                   "warps add in registers: one barrier a group, not one a step",
                   kShuffleRequirement, kMacros, shuffle_refuses),
    variant<kMany>("vector_loads", "reduce/vector_loads",
                   "16 bytes a load where the address allows it", kShuffleRequirement, kMacros,
                   shuffle_refuses),
};

}  // namespace

std::span<const Variant, kSumRungs> reduce_sum_variants() { return kVariants; }

}  // namespace trine::gpu
