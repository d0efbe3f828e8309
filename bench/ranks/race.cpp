#include "race.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/cases/operations.hpp"
#include "bench/timing/expectation.hpp"
#include "work.hpp"

namespace trine::bench::ranks {
namespace {

using Bytes = std::vector<std::byte>;

/// Trine and its peer on one group.
class Entry {
 public:
  Entry(const Options& o, const Group& group, const Problem& problem,
        std::shared_ptr<Expectation> truth, const std::string& device)
      : group_(group), truth_(std::move(truth)) {
    row.problem = problem;
    row.ranks = group.ranks;
    if (!group.has_me()) return;
    work_ = work_on(group.comm, problem, o.block, truth_->inputs(), device);
    const double budget = o.measuring.budget / o.rounds;
    row.calls = calls_for(group.comm, budget, work_->ours);
    if (work_->peer) peer_calls_ = calls_for(group.comm, budget, work_->peer);
  }

  void round() {
    if (!group_.has_me()) return;
    time(row.rounds, row.calls, work_->ours, right_, Numerics::reproducible);
    if (work_->peer)
      time(row.peer_rounds, peer_calls_, work_->peer, peers_right_, Numerics::vendor);
  }

  Row row;

 private:
  /// `right`: this rank's part of the first result, which is held against the truth; later ones
  /// have the same bits.
  void time(std::vector<double>& rounds, int calls, const std::function<void()>& call, Bytes& right,
            Numerics numerics) {
    std::ranges::fill(work_->result, std::byte{0xA5});
    rounds.push_back(seconds_of(group_.comm, calls, call));
    if (all_of(group_.comm, rounds.size() > 1 && work_->result == right)) return;
    const Bytes whole = work_->whole();
    const uint64_t mine = truth_->digest(whole.data());
    uint64_t digest = mine;
    MPI_Bcast(&digest, 1, MPI_UINT64_T, 0, group_.comm);
    const bool alike = all_of(group_.comm, digest == mine);
    if (numerics == Numerics::reproducible) row.digest = digest;
    if (row.failure.empty() && rank_in(group_.comm) == 0) {
      row.failure =
          alike ? truth_->check(0, whole.data(), numerics) : "the ranks have different results";
      if (!row.failure.empty() && numerics == Numerics::vendor)
        row.failure = "MPI_Allreduce: " + row.failure;
    }
    if (rounds.size() == 1) right = work_->result;
    MPI_Barrier(group_.comm);  // nobody goes on while the first checks
  }

  const Group& group_;
  std::shared_ptr<Expectation> truth_;
  std::unique_ptr<Work> work_;
  Bytes right_, peers_right_;
  int peer_calls_ = 1;
};

/// The problem with as many vectors as there are ranks; its matrices are column-major.
Problem for_ranks(Problem p, int ranks) {
  if (!describe(p.operation).is_vector) std::ranges::fill(p.layout, 'c');
  if (p.axis == Axis::each_column) p.size.rows = ranks;
  return p;
}

}  // namespace

Race race(const Options& o, const Job& job, const Groups& groups, const Problem& problem,
          const std::string& device, Control& control) {
  std::vector<std::unique_ptr<Entry>> entries;
  std::shared_ptr<Expectation> truth;
  for (const Group& group : groups) {
    control.show(fmt::format("{} on {} ranks: preparing", to_string(problem), group.ranks));
    const Problem p = for_ranks(problem, group.ranks);
    if (!truth || p.size != entries.back()->row.problem.size)
      truth = std::make_shared<Expectation>(p, o.measuring.seed);
    entries.push_back(std::make_unique<Entry>(o, group, p, truth, device));
    job.gather_asleep();
  }
  bool stop = false;
  for (int round = 1; round <= o.rounds && !stop; ++round)
    for (const auto& entry : entries) {
      stop = job.first_says(control.stop());
      if (stop) break;
      control.show(
          fmt::format("{} on {} ranks, round {}", to_string(problem), entry->row.ranks, round));
      entry->round();
      job.gather_asleep();
    }
  control.show("");
  Race done{.problem = problem};
  for (const auto& entry : entries)
    if (!entry->row.rounds.empty()) done.rows.push_back(entry->row);
  return done;
}

}  // namespace trine::bench::ranks
