// The plans of exact products share this: the bounds of rows and columns and the marks or chains in
// the workspace (kernels/gemm/certain.h), the launch that writes bounds and clears marks, and the
// last one, which computes what is marked or adds chains. Only gemm's rows include it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "backends/gpu/gemm_launch.hpp"
#include "backends/gpu/specialization.hpp"

namespace trine::gpu {

/// How many groups share the k steps of a tile where `tiles` of them leave places for groups idle.
inline int64_t exact_parts(const Problem& p, int64_t tiles, int64_t places) {
  constexpr int64_t kLeastSteps = 512, kMost = 64;
  if (p.batch != 1 || !p.multiply) return 1;
  return std::clamp<int64_t>(std::min(places / std::max<int64_t>(tiles, 1), p.k / kLeastSteps), 1,
                             kMost);
}

/// The groups that share k in the launch of an exact product that finds bounds: many enough to fill
/// the device, if k is so large that it is worth the time in which groups find out which of them is
/// the last.
inline int64_t norm_splits(const Request& request, const Problem& p, int64_t blocks) {
  constexpr int64_t kWorthwhile = 4096, kLeastSteps = 512, kMost = 32;
  constexpr int64_t kCounters = TRINE_CONTROL_BYTES / 4;
  if (p.k < kWorthwhile || blocks > kCounters || !request.target.has(TRINE_CAN_INLINE_PTX))
    return 1;
  return std::clamp<int64_t>(
      std::min(4 * int64_t{request.target.facts->compute_units} / blocks, p.k / kLeastSteps), 1,
      kMost);
}

/// Places in the workspace behind its control area, in doubles: the bounds of A's rows, those of
/// B's columns, the marks, the masks, the parts of sums of squares and the chains of groups that
/// share k.
struct ExactSpace {
  Problem p;
  int64_t steps, parts;            ///< of k, a group of the product; groups
  int64_t blocks;                  ///< of kRows rows or columns
  int64_t mask_shift;              ///< a mask's bit is for 32 steps times two to the power of it
  int64_t norm_steps, norm_parts;  ///< as `steps` and `parts`, for the first launch
  int64_t a_bounds, b_bounds, words, marks, masks, squares, chains, end;
  int64_t roundings;  ///< of an element's chains
  bool by_chains;     ///< chains go to the workspace, and the last launch adds and rounds them

  /// `most_parts`: of k, whose chains go to the workspace; 0: there is one part, and elements that
  /// aren't certain are marked. `chain`: the steps after which a chain is added to others, 0: none
  /// is. `warps` share a group's steps, and their sums are added up.
  explicit ExactSpace(const Request& request, int64_t most_parts = 0, int64_t chain = 0,
                      int64_t warps = 1)
      : p(request.as<trine_gemm>()),
        steps(most_parts <= 1 ? p.k : divide_up(divide_up(p.k, most_parts), 32) * 32),
        parts(most_parts <= 1 ? 1 : divide_up(p.k, steps)),
        blocks(a_blocks() * p.matrices(p.a) + b_blocks() * p.matrices(p.b)),
        mask_shift(0),
        by_chains(most_parts > 0) {
    while ((p.k - 1) / 32 >> mask_shift > 63) ++mask_shift;
    const int64_t splits = norm_splits(request, p, std::max<int64_t>(blocks, 1));
    const int64_t least = std::max<int64_t>(256, int64_t{32} << mask_shift);
    norm_steps = splits == 1 ? p.k : divide_up(divide_up(p.k, splits), least) * least;
    norm_parts = splits == 1 ? 1 : divide_up(p.k, norm_steps);
    const trine_workspace* workspace = request.workspace;
    memory = workspace ? workspace->memory : nullptr;
    a_bounds = workspace ? static_cast<int64_t>(workspace->offset + TRINE_CONTROL_BYTES) / 8 : 0;
    b_bounds = a_bounds + 2 * p.m * p.matrices(p.a);
    words = divide_up(p.m * p.n * p.batch, 32);
    marks = b_bounds + 2 * p.n * p.matrices(p.b);
    masks = marks + divide_up(words, 2);
    squares = masks + (marks - a_bounds) / 2;
    chains = squares + (norm_parts == 1 ? 0 : 3 * kRows * blocks * norm_parts);
    end = chains + (by_chains ? parts * p.m * p.n : 0);
    // A chain's first product isn't rounded, nor is the first of the sums that are added up. So one
    // rounding is left for the ends of the interval around the sum.
    roundings = chain == 0 ? steps : std::min(steps, chain) + divide_up(steps, chain * warps);
    roundings += parts + warps - 1;
  }

  /// Writes the bounds and clears the marks.
  void add_norms(Plan& plan) const {
    const int64_t a_groups = a_blocks() * p.matrices(p.a) * norm_parts;
    Launch& launch = plan.add(norms_variant(), type());
    launch.grid[0] = static_cast<uint32_t>(blocks * norm_parts);
    launch.block[0] = 256;
    push_operand(launch, p.a);
    push_operand(launch, p.b);
    launch.i64(p.m).i64(p.n).i64(p.k);
    launch.i32(static_cast<int32_t>(a_groups)).i32(static_cast<int32_t>(a_blocks()));
    launch.i32(static_cast<int32_t>(b_blocks()));
    // Chains that are added in the last launch leave no marks.
    launch.memory(memory).i64(a_bounds).i64(b_bounds).i64(marks).i64(by_chains ? 0 : words);
    launch.i64(masks).i32(static_cast<int32_t>(mask_shift));
    launch.i32(static_cast<int32_t>(norm_parts)).i64(norm_steps).i64(squares);
    launch.i64(a_bounds - TRINE_CONTROL_BYTES / 8).i32(by_chains ? 1 : 0);
  }

  /// The product of which a group's share is a matrix of the batch.
  Problem product() const {
    Problem one = p;
    if (parts == 1) return one;
    one.k = steps;
    one.batch = parts;
    one.a.batch = steps * p.a.col;
    one.b.batch = steps * p.b.row;
    return one;
  }

  /// BOUNDS_ARGUMENTS, of a kernel that marks or, in the same place, stores chains.
  void push(Launch& launch, bool stores_chains = false) const {
    launch.memory(memory).i64(a_bounds).i64(b_bounds);
    launch.i64(p.a.batch == 0 ? 0 : 2 * p.m).i64(p.b.batch == 0 ? 0 : 2 * p.n);
    launch.i64(stores_chains ? chains : marks).i64(masks);
    launch.f64(static_cast<double>(roundings) * 0x1.00001p-53);
  }

  /// Adds the chains of groups that share k, and computes what then isn't certain.
  void add_chains(const Request& request, Plan& plan) const {
    constexpr int64_t kHigh = 16, kBroad = 64;  // of a block
    const int64_t most = 4 * int64_t{std::max(request.target.facts->compute_units, 1u)};
    Launch& launch = plan.add(add_chains_variant(), 0);
    launch.grid[0] =
        static_cast<uint32_t>(std::min(divide_up(p.m, kHigh) * divide_up(p.n, kBroad), most));
    launch.block[0] = 256;
    push_product(launch, request.as<trine_gemm>(), p, parts, 0);
    push(launch);
    launch.i64(chains);
  }

  /// Computes what is marked. `copy` is the place, in elements from the workspace's beginning, of a
  /// copy of B with k along rows for each matrix's columns; it is there if the word at `copied`, in
  /// words from there, isn't 0. -1: there is none.
  void add_one_by_one(const Request& request, Plan& plan, int64_t copy = -1,
                      int64_t copied = -1) const {
    const bool warps = request.target.has(TRINE_CAN_INLINE_PTX);
    // They are as many as are at work at once, but an odd number: marks of a row or column, powers
    // of two apart, are then those of many groups.
    const int64_t most =
        (warps ? 4 : 32) * int64_t{std::max(request.target.facts->compute_units, 1u)};
    Launch& launch = plan.add(one_by_one_variant(), type());
    const auto& op = request.as<trine_gemm>();
    push_product(launch, op, p, 0, 0);
    launch.grid[0] = static_cast<uint32_t>(std::min(words, most - 1));
    launch.block[0] = warps ? 128 : 1;
    push(launch);
    launch.i64(words).i64(copy).i64(copied);
  }

  static constexpr int64_t kRows = 8;  // of a group of norms.kernel.h

 private:
  int64_t a_blocks() const { return divide_up(p.m, kRows); }
  int64_t b_blocks() const { return divide_up(p.n, kRows); }
  int type() const { return p.element == sizeof(float) ? 0 : 1; }
  void* memory;
};

inline uint64_t exact_workspace(const Request& request, int64_t parts) {
  const auto& op = request.as<trine_gemm>();
  if (!trine_is_exact(&op) || Problem(op).empty()) return 0;
  const ExactSpace space(request, parts);
  return TRINE_CONTROL_BYTES + static_cast<uint64_t>(space.end - space.a_bounds) * sizeof(double);
}

/// Why its elements have more terms than the words of one_element.h hold: a word of 64 bits takes a
/// digit of 32 bits of each.
inline const char* refuse_terms(const trine_gemm& op) {
  return Problem(op).k > int64_t{1} << 31 ? "an exact sum has at most 2^31 terms" : nullptr;
}

/// Why a call's terms, bounds or marks don't fit.
inline const char* refuse_exact(const Request& request, int64_t parts = 0) {
  const auto& op = request.as<trine_gemm>();
  const Problem p(op);
  constexpr int64_t kMost = int64_t{1} << 31;
  if (const char* why = refuse_terms(op)) return why;
  if (too_many_groups(divide_up(p.m, ExactSpace::kRows), 2, p.matrices(p.a)) ||
      too_many_groups(divide_up(p.n, ExactSpace::kRows), 2, p.matrices(p.b)) ||
      (p.n > 0 && p.m > (kMost << 8) / p.n / std::max<int64_t>(p.batch, 1)) ||
      exact_workspace(request, parts) > request.target.facts->max_buffer_bytes)
    return "the bounds of its rows and columns exceed what the device takes";
  return nullptr;
}

/// The launches of an exact product: its own and those beside it. `parts` and `chain` are
/// ExactSpace's. Chains don't need bounds before they are added, so that the bounds may be computed
/// while the product is.
template <class AddProduct>
void plan_exact(const Request& request, Plan& plan, AddProduct&& add_product, int64_t parts = 0,
                int64_t chain = 0) {
  const ExactSpace space(request, parts, chain);
  if (space.p.empty()) return;
  if (space.by_chains) {
    add_product(space);
    space.add_norms(plan);
    space.add_chains(request, plan);
    return;
  }
  if (space.p.multiply) space.add_norms(plan);
  add_product(space);
  if (space.p.multiply) space.add_one_by_one(request, plan);
}

}  // namespace trine::gpu
