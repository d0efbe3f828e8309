// kokkos_team: Kokkos's hierarchy, a league of teams whose threads have lanes, laid over the shape.
//
//   one result     a team takes a chunk, and the league's values are reduced as the teams' were
//   rows           a team takes whole rows, one after the other; all threads share each of few rows
//   columns        a team takes a strip of them: its threads share the rows, lanes the columns, so
//                  that lines of memory are read whole; the threads' values wait in scratch memory
//
// Against `kokkos_range` no thread idles, no element costs a division, and columns come in vectors.
// The ends of chunks, and with them the bits of a float sum, depend on the number of threads: a
// study.
#include <algorithm>

#include "kokkos_folds.hpp"
#include "rungs.hpp"

namespace trine::cpu {
namespace {

using Policy = Kokkos::TeamPolicy<Space>;
using Member = Policy::member_type;
using Scratch = Space::scratch_memory_space;

constexpr int kTeamsAThread = 8;         // so that a late thread leaves little to wait for
constexpr std::int64_t kStretch = 4096;  // elements of a team at least
constexpr std::int64_t kColumns = 64;    // of a strip
constexpr int kMostMembers = 64;         // that Kokkos 3.4 allows a team

// Elements [begin, end) of row `o`, by all of the team.
template <class Fold>
typename Fold::Value fold_row(const Member& member, const Problem& p,
                              const typename Fold::Element* row, std::int64_t o, std::int64_t begin,
                              std::int64_t end) {
  typename Fold::Value value;
  Kokkos::parallel_reduce(
      Kokkos::TeamVectorRange(member, begin, end),
      [&](std::int64_t i, typename Fold::Value& part) {
        Fold::take(row[o * p.outer_step + i * p.inner_step], o * p.inner + i, part);
      },
      typename Fold::Reducer(value));
  return value;
}

template <class Fold>
void reduce_one(const Space& space, const Problem& p) {
  using Value = typename Fold::Value;
  const int stretches = static_cast<int>(std::clamp<std::int64_t>(
      p.length() / kStretch, 1, kTeamsAThread * std::int64_t{space.concurrency()}));
  const bool by_rows = p.outer >= stretches;
  Value value;
  Kokkos::parallel_reduce(
      "kokkos_team", Policy(space, stretches, 1),
      KOKKOS_LAMBDA(const Member& member, Value& total) {
        const std::int64_t s = member.league_rank(), extent = by_rows ? p.outer : p.inner;
        const std::int64_t begin = extent * s / stretches, end = extent * (s + 1) / stretches;
        const std::int64_t first = by_rows ? begin : 0, last = by_rows ? end : p.outer;
        for (std::int64_t o = first; o < last; ++o) {
          const Value part = fold_row<Fold>(member, p, p.begin<typename Fold::Element>(0), o,
                                            by_rows ? 0 : begin, by_rows ? p.inner : end);
          Kokkos::single(Kokkos::PerTeam(member),
                         [&]() { typename Fold::Reducer(total).join(total, part); });
        }
      },
      typename Fold::Reducer(value));
  Fold::store(p, 0, value);
}

template <class Fold>
void reduce_rows(const Space& space, const Problem& p) {
  const int threads = space.concurrency();
  const bool shares =
      p.outputs < kTeamsAThread * std::int64_t{threads} && p.inner >= kStretch * threads;
  const int team = shares ? std::min(threads, kMostMembers) : 1;
  const int teams =
      static_cast<int>(std::min<std::int64_t>(p.outputs, kTeamsAThread * std::int64_t{threads}));
  Kokkos::parallel_for(
      "kokkos_team", Policy(space, teams, team), KOKKOS_LAMBDA(const Member& member) {
        const std::int64_t t = member.league_rank(), end = p.outputs * (t + 1) / teams;
        for (std::int64_t r = p.outputs * t / teams; r < end; ++r) {
          const auto value =
              fold_row<Fold>(member, p, p.begin<typename Fold::Element>(r), 0, 0, p.inner);
          Kokkos::single(Kokkos::PerTeam(member), [&]() { Fold::store(p, r, value); });
        }
      });
}

template <class Fold>
void reduce_columns(const Space& space, const Problem& p) {
  using Value = typename Fold::Value;
  using Values = Kokkos::View<Value**, Kokkos::LayoutRight, Scratch, Kokkos::MemoryUnmanaged>;
  const int threads = space.concurrency();
  const int strips = static_cast<int>(divide_up(p.outputs, kColumns));
  const int team = strips < threads ? std::min(threads, kMostMembers) : 1;
  Policy policy(space, strips, team);
  policy.set_scratch_size(0, Kokkos::PerTeam(Values::shmem_size(team, kColumns)));
  Kokkos::parallel_for(
      "kokkos_team", policy, KOKKOS_LAMBDA(const Member& member) {
        const std::int64_t first = member.league_rank() * kColumns;
        const std::int64_t width = std::min(kColumns, p.outputs - first);
        const Values values(member.team_scratch(0), member.team_size(), kColumns);
        Value* const mine = &values(member.team_rank(), 0);
        for (std::int64_t j = 0; j < width; ++j) typename Fold::Reducer(mine[j]).init(mine[j]);
        const auto* const corner = p.begin<typename Fold::Element>(first);
        Kokkos::parallel_for(Kokkos::TeamThreadRange(member, p.inner), [&](std::int64_t i) {
          const auto* const row = corner + i * p.inner_step;
          Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, width), [&](std::int64_t j) {
            Fold::take(row[j * p.output_step], i, mine[j]);
          });
        });
        member.team_barrier();
        Kokkos::parallel_for(Kokkos::TeamVectorRange(member, width), [&](std::int64_t j) {
          Value& value = values(0, j);
          for (int t = 1; t < member.team_size(); ++t)
            typename Fold::Reducer(value).join(value, values(t, j));
          Fold::store(p, first + j, value);
        });
      });
}

}  // namespace

void reduce_kokkos_team(const trine_reduce& op, const std::int64_t*, void*, Parallel& parallel) {
  const Space space = kokkos_for(parallel);
  const Problem p = problem_of(op);
  with_fold(p, [&]<class Fold>() {
    if (p.outputs == 1) return reduce_one<Fold>(space, p);
    p.output_step < p.inner_step ? reduce_columns<Fold>(space, p) : reduce_rows<Fold>(space, p);
  });
}

}  // namespace trine::cpu
