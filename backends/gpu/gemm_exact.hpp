// The plans of exact products share this: the bounds of rows and columns and the marks in the
// workspace (kernels/gemm/certain.h), the first launch that writes and clears them, the one that
// adds chains if groups share k, and the last one, which computes what is marked. Only gemm's rows
// include it.
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

/// Places in the workspace behind its control area, in doubles: the bounds of A's rows, those of
/// B's columns, the marks, the masks, and the chains of groups that share k.
struct ExactSpace {
  Problem p;
  int64_t steps, parts;  ///< of k, a group; groups
  int64_t a_bounds, b_bounds, words, marks, masks, chains, end;

  explicit ExactSpace(const trine_gemm& op, const trine_workspace* workspace = nullptr,
                      int64_t most_parts = 1)
      : p(op),
        steps(most_parts == 1 ? p.k : divide_up(divide_up(p.k, most_parts), 32) * 32),
        parts(most_parts == 1 ? 1 : divide_up(p.k, steps)),
        a_bounds(workspace ? static_cast<int64_t>(workspace->offset + TRINE_CONTROL_BYTES) / 8 : 0),
        b_bounds(a_bounds + 2 * p.m * p.matrices(p.a)),
        words(divide_up(p.m * p.n * p.batch, 32)),
        marks(b_bounds + 2 * p.n * p.matrices(p.b)),
        masks(marks + divide_up(words + 1, 2)),
        chains(masks + (marks - a_bounds) / 2),
        end(chains + (parts == 1 ? 0 : parts * p.m * p.n)),
        memory(workspace ? workspace->memory : nullptr) {}

  /// Writes the bounds and clears the marks.
  void add_norms(Plan& plan) const {
    const int64_t a_parts = divide_up(p.m, kRows), b_parts = divide_up(p.n, kRows);
    const int64_t a_groups = a_parts * p.matrices(p.a), b_groups = b_parts * p.matrices(p.b);
    Launch& launch = plan.add(norms_variant(), type());
    launch.grid[0] = static_cast<uint32_t>(a_groups + b_groups);
    launch.block[0] = 256;
    push_operand(launch, p.a);
    push_operand(launch, p.b);
    launch.i64(p.m).i64(p.n).i64(p.k);
    launch.i32(static_cast<int32_t>(a_groups)).i32(static_cast<int32_t>(a_parts));
    launch.i32(static_cast<int32_t>(b_parts));
    launch.memory(memory).i64(a_bounds).i64(b_bounds).i64(marks).i64(words + 1);
    int32_t shift = 0;  // of k, so that it is below 64
    while ((p.k - 1) >> shift > 63) ++shift;
    launch.i64(masks).i32(shift);
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
    launch.f64(static_cast<double>(steps + parts) * 0x1.00001p-53);
  }

  /// Adds the chains of groups that share k.
  void add_chains(const trine_gemm& op, Plan& plan) const {
    Launch& launch = plan.add(add_chains_variant(), 0);
    launch.grid[0] = static_cast<uint32_t>(std::min<int64_t>(divide_up(p.m * p.n, 256), 4096));
    launch.block[0] = 256;
    push_product(launch, op, p, parts, 0);
    push(launch);
    launch.i64(chains);
  }

  /// Computes what is marked. `copy` is the place, in elements from the workspace's beginning, of a
  /// copy of B with k along rows for each matrix's columns; it is there if the word at `copied`, in
  /// words from there, isn't 0. -1: there is none.
  void add_one_by_one(const Request& request, Plan& plan, int64_t copy = -1,
                      int64_t copied = -1) const {
    const bool warps = request.target.has(TRINE_CAN_INLINE_PTX);
    const int64_t most = 8 * int64_t{std::max(request.target.facts->compute_units, 1u)};
    Launch& launch = plan.add(one_by_one_variant(), type());
    const auto& op = request.as<trine_gemm>();
    push_product(launch, op, p, 0, 0);
    launch.grid[0] = static_cast<uint32_t>(std::min(words, warps ? most : 4 * most));
    launch.block[0] = warps ? 128 : 1;
    push(launch);
    launch.i64(words).i64(copy).i64(copied);
  }

  static constexpr int64_t kRows = 8;  // of a group of norms.kernel.h

 private:
  int type() const { return p.element == sizeof(float) ? 0 : 1; }
  void* memory;
};

inline uint64_t exact_workspace(const Request& request, int64_t parts) {
  const auto& op = request.as<trine_gemm>();
  if (!trine_is_exact(&op) || Problem(op).empty()) return 0;
  return TRINE_CONTROL_BYTES +
         static_cast<uint64_t>(ExactSpace(op, nullptr, parts).end) * sizeof(double);
}

/// Why its elements have more terms than the words of one_element.h hold: a word of 64 bits takes a
/// digit of 32 bits of each.
inline const char* refuse_terms(const trine_gemm& op) {
  return Problem(op).k > int64_t{1} << 31 ? "an exact sum has at most 2^31 terms" : nullptr;
}

/// Why a call's terms, bounds or marks don't fit.
inline const char* refuse_exact(const Request& request, int64_t parts = 1) {
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

/// The launches of an exact product: those before and after the product's own.
template <class AddProduct>
void plan_exact(const Request& request, Plan& plan, AddProduct&& add_product, int64_t parts = 1) {
  const ExactSpace space(request.as<trine_gemm>(), request.workspace, parts);
  if (space.p.empty()) return;
  if (space.p.multiply) space.add_norms(plan);
  add_product(space);
  if (space.p.multiply) space.add_one_by_one(request, plan);
}

}  // namespace trine::gpu
