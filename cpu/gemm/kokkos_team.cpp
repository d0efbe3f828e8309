// kokkos_team: the product as one writes it with Kokkos's hierarchy and its scratch memory.
//
//   TeamPolicy          a member of the league takes tiles of C
//   team_scratch        the tile's chains, and for kDepth steps of k its parts of A and of B
//   TeamThreadRange     the rows
//   ThreadVectorRange   the columns: each lane continues the chain of its own result
//
// Against blocked, A and B are copied before they are used, so that every layout is read alike:
// elements lie side by side, in as few pages as there can be. Chains continue from one part of k to
// the next, so the bits are the definition's; lanes over k with a reducer at the end would need
// another order of the sum.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "gemm/kokkos_team.cpp"
#include <algorithm>

#include "backends/kit/float_environment.hpp"
#include "gemm/rungs.hpp"
#include "kokkos.hpp"
#include "simd.hpp"

#include "gemm/chain-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {
namespace {

using Policy = Kokkos::TeamPolicy<Space>;
using Member = Policy::member_type;

constexpr int64_t kRows = 32, kColumns = 64, kDepth = 32;
constexpr int64_t kSteps = 8;  // of a chain, from register to register

template <class T, int64_t kHeight, int64_t kWidth>
using Scratch = Kokkos::View<T[kHeight][kWidth], Kokkos::LayoutRight, Space::scratch_memory_space,
                             Kokkos::MemoryUnmanaged>;

// A tile of C, in the scratch memory of a team.
template <class T>
struct Tile {
  Scratch<T, kRows, kDepth> a;
  Scratch<T, kDepth, kColumns> b;
  Scratch<T, kRows, kColumns> chains;

  explicit Tile(const Member& member)
      : a(member.team_scratch(0)), b(member.team_scratch(0)), chains(member.team_scratch(0)) {}
  static size_t bytes() {
    return decltype(a)::shmem_size() + decltype(b)::shmem_size() + decltype(chains)::shmem_size();
  }
};

// body(i, j) for each element of rows x columns, shared by the team.
template <class Body>
void each_element(const Member& member, int64_t rows, int64_t columns, const Body& body) {
  Kokkos::parallel_for(Kokkos::TeamThreadRange(member, rows), [&](int64_t i) HWY_ATTR {
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, columns),
                         [&](int64_t j) HWY_ATTR { body(i, j); });
  });
}

// Continues the chains of a tile by `depth` steps of k.
template <class T>
void multiply(const Member& member, const Tile<T>& tile, int64_t rows, int64_t columns,
              int64_t depth) {
  Kokkos::parallel_for(Kokkos::TeamThreadRange(member, rows), [&](int64_t i) HWY_ATTR {
    T* const HWY_RESTRICT chains = &tile.chains(i, 0);
    for (int64_t k = 0; k < depth; k += kSteps) {
      const T* const HWY_RESTRICT a = &tile.a(i, k);
      const T* const HWY_RESTRICT b = &tile.b(k, 0);
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, columns), [=](int64_t j) HWY_ATTR {
        T chain = chains[j];
        for (int64_t s = 0; s < kSteps; ++s) chain = step(a[s], b[s * kColumns + j], chain);
        chains[j] = chain;
      });
    }
  });
}

// The tile from result (i0, j0) on.
template <class T>
void compute_tile(const Member& member, const gemm::Problem<T>& p, int64_t i0, int64_t j0) {
  const Tile<T> tile(member);
  const int64_t rows = std::min(kRows, p.m - i0), columns = std::min(kColumns, p.n - j0);
  each_element(member, rows, columns,
               [&](int64_t i, int64_t j) HWY_ATTR { tile.chains(i, j) = p.begin(i0 + i, j0 + j); });
  for (int64_t k0 = 0; k0 < p.depth(); k0 += kDepth) {
    const int64_t depth = std::min(kDepth, p.depth() - k0);
    member.team_barrier();
    // Filled up with zeros, which don't show in a result.
    const int64_t steps = round_up(depth, kSteps);
    each_element(member, rows, steps, [&](int64_t i, int64_t k) HWY_ATTR {
      tile.a(i, k) = k < depth ? *p.a.at(i0 + i, k0 + k) : T(0);
    });
    each_element(member, steps, columns, [&](int64_t k, int64_t j) HWY_ATTR {
      tile.b(k, j) = k < depth ? *p.b.at(k0 + k, j0 + j) : T(0);
    });
    member.team_barrier();
    multiply(member, tile, rows, columns, steps);
  }
  member.team_barrier();
  each_element(member, rows, columns, [&](int64_t i, int64_t j) HWY_ATTR {
    finish(p, tile.chains(i, j), p.c.at(i0 + i, j0 + j));
  });
  member.team_barrier();
}

void kokkos_league(const trine_gemm& op, Parallel& parallel) {
  const Space space = kokkos_for(parallel);
  const gemm::Extents c = gemm::extents_along_rows(op.c);
  const int64_t down = divide_up(c.m, kRows), across = divide_up(c.n, kColumns);
  const int64_t tiles = op.c.batch * down * across;
  const int teams = static_cast<int>(std::min<int64_t>(tiles, 1 << 20));
  if (teams == 0) return;
  gemm::visit_dtype(op.dtype, [&]<class T>() {
    Policy policy(space, teams, Kokkos::AUTO);
    policy.set_scratch_size(0, Kokkos::PerTeam(Tile<T>::bytes()));
    Kokkos::parallel_for("kokkos_team", policy, [=](const Member& member) HWY_ATTR {
      const kit::FloatEnvironment environment;
      for (int64_t t = member.league_rank(); t < tiles; t += teams) {
        const gemm::Problem<T> p = gemm::problem_along_rows<T>(op, t / (down * across));
        compute_tile(member, p, t / across % down * kRows, t % across * kColumns);
      }
    });
  });
}

}  // namespace
}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trine::cpu {

HWY_EXPORT(kokkos_league);

void gemm::run_kokkos_team(const trine_gemm& op, const std::int64_t*, void*, Parallel& parallel) {
  HWY_DYNAMIC_DISPATCH(kokkos_league)(op, parallel);
}

}  // namespace trine::cpu
#endif
