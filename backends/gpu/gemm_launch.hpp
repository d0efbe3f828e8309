// How rungs of gemm that give a group to each tile of C refuse a call and launch it. Only gemm's
// rows include it.
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

#include "backends/gpu/gemm_problem.hpp"
#include "backends/gpu/variant.hpp"
#include "backends/kit/error.hpp"

namespace trine::gpu {

constexpr const char* kTooMany =
    "the result needs more than 2^31 - 1 work-groups: split it or its batch";

constexpr const char* kTypes[] = {"float", "double", "int"};
constexpr const char* kFloat[] = {"float"};
constexpr const char* kFloats[] = {"float", "double"};
[[noreturn]] inline void fail_without_kernel(uint32_t dtype) {
  kit::fail(TRINE_UNSUPPORTED, "gemm has no kernel for dtype %u", dtype);
}
/// The index in kTypes.
inline int type_index(uint32_t dtype) {
  switch (dtype) {
    case TRINE_F32: return 0;
    case TRINE_F64: return 1;
    case TRINE_I32: return 2;
    default: fail_without_kernel(dtype);
  }
}

/// A group of a kernel: its tile of C, its work-items, its elements of local memory, its width in
/// work-items (0: all of them), and whether the kernel wants the transposed problem, in which C's
/// rows have unit stride.
struct Group {
  int64_t tile_m, tile_n, threads, local_elements = 0, across = 0;
  bool transposed = false;

  Problem problem(const trine_gemm& op) const {
    Problem p(op);
    if (transposed) p.transpose();
    return p;
  }
};

inline const char* refuse_tiles(const Request& request, const Group& group) {
  const Problem p = group.problem(request.as<trine_gemm>());
  const uint32_t dtype = request.as<trine_gemm>().dtype;
  const trine_device_facts& facts = *request.target.facts;
  if (dtype != TRINE_F32 && dtype != TRINE_F64 && dtype != TRINE_I32)
    return "gemm takes f32, f64 and i32";
  if (group.threads > facts.max_group_threads) return "the device's groups are too small";
  if (static_cast<uint64_t>(group.local_elements * p.element) > facts.local_memory_bytes)
    return "the device has too little local memory";
  return too_many_groups(divide_up(p.m, group.tile_m), divide_up(p.n, group.tile_n), p.batch)
             ? kTooMany
             : nullptr;
}

inline void push_scalar(Launch& launch, uint32_t dtype, const trine_scalar& x) {
  switch (dtype) {
    case TRINE_F32: launch.f32(x.f32); break;
    case TRINE_F64: launch.f64(x.f64); break;
    case TRINE_I32: launch.i32(x.i32); break;
    default: fail_without_kernel(dtype);
  }
}

inline void push_scaling(Launch& launch, const trine_gemm& op, const Problem& p) {
  push_scalar(launch, op.dtype, op.alpha);
  push_scalar(launch, op.dtype, op.beta);
  launch.i32((p.multiply || p.continues ? 1 : 0) | (p.add_c ? 2 : 0) | (p.continues ? 4 : 0));
}

inline void push_operand(Launch& launch, const Operand& x) {
  launch.memory(x.memory).i64(x.offset).i64(x.batch).i64(x.row).i64(x.col);
}

inline int64_t tiles_of(const Problem& p, const Group& group) {
  return divide_up(p.m, group.tile_m) * divide_up(p.n, group.tile_n) * p.batch;
}

/// GEMM_ARGUMENTS.
inline void push_product(Launch& launch, const trine_gemm& op, const Problem& p, int64_t tiles_m,
                         int64_t tiles_n) {
  push_operand(launch, p.a);
  push_operand(launch, p.b);
  push_operand(launch, p.c);
  launch.i64(p.m).i64(p.n).i64(p.k);
  push_scaling(launch, op, p);
  launch.i32(static_cast<int32_t>(tiles_m)).i32(static_cast<int32_t>(tiles_n));
}

/// The launch of a kernel with GEMM_ARGUMENTS, a group for each tile of C.
inline Launch& add_tiles(Plan& plan, const trine_gemm& op, const Problem& p, const Group& group) {
  Launch& launch = plan.add(0);
  launch.grid[0] = static_cast<uint32_t>(tiles_of(p, group));
  const bool flat = group.across == 0;
  launch.block[0] = static_cast<uint32_t>(flat ? group.threads : group.across);
  launch.block[1] = static_cast<uint32_t>(flat ? 1 : group.threads / group.across);
  push_product(launch, op, p, divide_up(p.m, group.tile_m), divide_up(p.n, group.tile_n));
  return launch;
}

/// The plan of a row whose macros are T and its first parameter, if any: such a launch, unless C is
/// empty.
inline void plan_tiles(const Request& request, Plan& plan, const Group& group) {
  const auto& op = request.as<trine_gemm>();
  const Problem p = group.problem(op);
  plan.macro[0] = type_index(op.dtype);
  plan.macro[1] = request.selection.values[0];
  if (!p.empty()) add_tiles(plan, op, p, group);
}

/// A macro's values: may the chains begin at C?
constexpr const char* kNoYes[] = {"0", "1"};

/// A parameter that several rows have: the side of a square tile.
constexpr const char* kSizes[] = {"64", "128"};
constexpr trine_parameter kSizeParameters[] = {{sizeof(trine_parameter), 2, 0, "size", kSizes}};
inline int64_t size_of(const Request& request) {
  return int64_t{64} << request.selection.values[0];
}

/// A macro's values: do A's and B's columns have unit stride?
constexpr const char* kLayouts[] = {"nn", "nt", "tn", "tt"};
inline int layout_of(const Problem& p) { return (p.a.row == 1 ? 2 : 0) + (p.b.row == 1 ? 1 : 0); }

/// Rungs with a tile's operands whole in local memory: the sides of C's tiles that they are
/// compiled for, which hold all of k as well.
constexpr const char* kSides[] = {"24", "32", "40", "48", "56", "64"};
constexpr int64_t kSideValues[] = {24, 32, 40, 48, 56, 64};
/// The index in kSides of the smallest that holds A, B and C; std::size(kSides): none.
inline size_t side_index(const Problem& p) {
  return static_cast<size_t>(std::ranges::lower_bound(kSideValues, std::max({p.m, p.n, p.k})) -
                             kSideValues);
}
/// The same where C may have several tiles: of the sides that hold k, the one whose tiles cover C
/// with the fewest elements. A tile of f32 costs as much as 16 rows more.
inline size_t tile_side_index(const Problem& p) {
  size_t best = side_index(p);
  if (best < std::size(kSides)) return best;
  double least = 0;
  for (size_t i = 0; i < std::size(kSides); ++i) {
    const int64_t side = kSideValues[i], more = p.element == 4 ? 16 : 0;
    if (side < p.k) continue;
    const double cost = static_cast<double>(divide_up(p.m, side) * (side + more)) *
                        static_cast<double>(divide_up(p.n, side) * side);
    if (best == std::size(kSides) || cost <= least) best = i, least = cost;
  }
  return best;
}
/// A matrix without gaps whose rows (or columns) of unit stride have an odd number of elements.
inline bool is_odd_run(const Operand& x, int64_t rows, int64_t cols) {
  return (x.col == 1 && x.row == cols && cols % 2 == 1) ||
         (x.row == 1 && x.col == rows && rows % 2 == 1);
}
/// Are A, B and C such matrices? tensor_small copies and stores them by 16 bytes nevertheless.
inline bool in_odd_runs(const Problem& p) {
  return is_odd_run(p.a, p.m, p.k) && is_odd_run(p.b, p.k, p.n) && is_odd_run(p.c, p.m, p.n);
}
/// Such a rung: its work-items, and whether its local memory is dynamic. Only CUDA's driver counts
/// dynamic memory: NVIDIA's OpenCL says 48 KB and takes more, so a self-check tries it.
struct SmallRung {
  int64_t (*threads)(int64_t side);
  bool dynamic;

  /// The group for the side kSides[index], with both operands laid out as in small.h.
  Group group(size_t index) const {
    const int64_t side = kSideValues[index];
    return {side, side, threads(side), 2 * side * ((side + 3) / 8 * 8 + 4)};
  }
  const char* refuses(const Request& request) const {
    const size_t index = tile_side_index(Problem(request.as<trine_gemm>()));
    if (index == std::size(kSides)) return "it is for k of at most 64";
    Group one = group(index);
    if (dynamic && request.target.backend != kCuda) one.local_elements = 0;
    return refuse_tiles(request, one);
  }
  /// The rung's macros are T and SIDE.
  void plan(const trine_gemm& op, size_t index, Plan& plan) const {
    const Problem p(op);
    plan.macro[1] = static_cast<int>(index);
    if (p.empty()) return;
    const Group one = group(index);
    Launch& launch = add_tiles(plan, op, p, one);
    if (dynamic) launch.dynamic_local_bytes = static_cast<uint32_t>(one.local_elements * p.element);
  }
};

/// Parts of the ladder, which gemm_variants() puts together: its lower end
/// (gemm_study_variants.cpp) and the rungs for compute capability 9.0 (gemm_hopper_variants.cpp,
/// gemm_cuda_variants.cpp).
constexpr size_t kStudyRungs = 6, kHopperRungs = 4, kCudaRungs = 2;
std::span<const Variant, kStudyRungs> gemm_study_variants();
std::span<const Variant, kHopperRungs> gemm_hopper_variants();
std::span<const Variant, kCudaRungs> gemm_cuda_variants();

}  // namespace trine::gpu
