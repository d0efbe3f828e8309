#include "race.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/cases/operations.hpp"
#include "work.hpp"

namespace trine::bench::ranks {
namespace {

/// The whole data of a problem, and the bits that one device gives.
class Truth {
 public:
  Truth(const Problem& problem, uint64_t seed, const std::string& device, bool is_first)
      : problem_(problem), expectation_(problem, seed) {
    if (!is_first) return;
    std::vector<std::byte> output(expectation_.output_bytes(), std::byte{0xA5});
    std::vector<void*> data;
    for (const auto& input : expectation_.inputs())
      data.push_back(const_cast<std::byte*>(input.data()));
    data.push_back(output.data());
    call_on_host(problem, host_views(problem, data), {.device = device});
    digest_ = expectation_.digest(output.data());
    failure_ = expectation_.check(0, output.data(), Numerics::reproducible);
  }

  auto inputs() const { return expectation_.inputs(); }
  /// What is wrong with a result of Trine: other bits than one device's, or that one itself.
  std::string check(const std::byte* result, bool differ, uint64_t& digest) {
    if (!failure_.empty()) return "on one device: " + failure_;
    if (differ) return "the ranks have different results";
    digest = expectation_.digest(result);
    if (digest == digest_) return {};
    const std::string wrong = expectation_.check(0, result, Numerics::reproducible);
    return fmt::format("other bits than one device's ({:016x}, {:016x}). {}", digest, digest_,
                       wrong);
  }
  std::string check_peer(const std::byte* result, bool differ) {
    if (differ) return "the ranks have different results";
    return expectation_.check(0, result, Numerics::vendor);
  }

 private:
  Problem problem_;
  Expectation expectation_;
  uint64_t digest_ = 0;
  std::string failure_;
};

/// Trine and its peer on one group.
class Lane {
 public:
  Lane(const Options& o, const Job& job, const Group& group, const Problem& problem,
       std::shared_ptr<Truth> truth, const std::string& device)
      : group_(group), truth_(std::move(truth)), is_first_(job.is_first()) {
    row_.problem = problem;
    row_.ranks = group.ranks();
    if (!group.has_me()) return;
    work_ = work_on(group.comm(), problem, o.block, truth_->inputs(), device);
    const double budget = o.measuring.budget / o.rounds;
    row_.calls = calls_for(group.comm(), budget, [this] { work_->ours(); });
    if (!work_->has_peer()) return;
    row_.peer = work_->peer_name();
    peer_calls_ = calls_for(group.comm(), budget, [this] { work_->peer(); });
  }

  void round() {
    if (!group_.has_me()) return;
    time(row_.rounds, row_.calls, &Work::ours, [this](const std::byte* result, bool differ) {
      return truth_->check(result, differ, row_.digest);
    });
    if (work_->has_peer())
      time(row_.peer_rounds, peer_calls_, &Work::peer,
           [this](const std::byte* result, bool differ) {
             const std::string wrong = truth_->check_peer(result, differ);
             return wrong.empty() ? wrong : row_.peer + ": " + wrong;
           });
  }
  const Row& row() const { return row_; }

 private:
  template <class Check>
  void time(std::vector<double>& rounds, int calls, void (Work::*call)(), Check check) {
    work_->poison();
    rounds.push_back(seconds_of(group_.comm(), calls, [&] { (work_.get()->*call)(); }));
    bool differ = false;
    const std::byte* const result = work_->collect(differ);
    const std::string wrong = is_first_ ? check(result, differ) : std::string();
    if (row_.failure.empty()) row_.failure = wrong;
    MPI_Barrier(group_.comm());  // nobody goes on while the first checks
  }

  const Group& group_;
  std::shared_ptr<Truth> truth_;
  std::unique_ptr<Work> work_;
  int peer_calls_ = 1;
  bool is_first_;
  Row row_;
};

/// What one rank computes while each core has one that does the same, each the whole problem for itself.
class AtOnce {
 public:
  AtOnce(const Options& o, const Job& job, const Problem& problem, const Truth& truth,
         const std::string& device)
      : group_(std::min(job.ranks, job.cores)) {
    if (group_.ranks() == 1 || !group_.has_me()) return;
    work_ = work_on(MPI_COMM_SELF, problem, o.block, truth.inputs(), device);
    calls_ = calls_for(group_.comm(), o.measuring.budget / o.rounds, [this] { work_->ours(); });
  }
  void round() {
    if (work_) rounds_.push_back(seconds_of(group_.comm(), calls_, [this] { work_->ours(); }));
  }
  /// Of the time of one alone.
  double slower(double alone) const {
    return rounds_.empty() ? 1 : std::max(1.0, *std::ranges::min_element(rounds_) / alone);
  }

 private:
  Group group_;
  std::unique_ptr<Work> work_;
  int calls_ = 1;
  std::vector<double> rounds_;
};

/// Of as many vectors as there are ranks.
Problem for_ranks(const Problem& problem, int ranks) {
  Problem p = problem;
  if (p.operation == Operation::reduce && p.axis == Axis::each_column) p.size.rows = ranks;
  return p;
}

}  // namespace

double Row::best() const { return *std::ranges::min_element(rounds); }

std::optional<double> Row::peer_best() const {
  if (peer_rounds.empty()) return std::nullopt;
  return *std::ranges::min_element(peer_rounds);
}

Race race(const Options& o, const Job& job, const Groups& groups, const Problem& problem,
          const std::string& device, Control& control) {
  const std::string one_device = o.measuring.devices.empty() ? "cpu" : o.measuring.devices.front();
  std::vector<std::unique_ptr<Lane>> lanes;
  std::shared_ptr<Truth> truth;
  for (const auto& group : groups) {
    control.show(fmt::format("{} on {} ranks: preparing", to_string(problem), group->ranks()));
    const Problem p = for_ranks(problem, group->ranks());
    if (!truth || p.size != lanes.back()->row().problem.size)
      truth = std::make_shared<Truth>(p, o.measuring.seed, one_device, job.is_first());
    lanes.push_back(std::make_unique<Lane>(o, job, *group, p, truth, device));
    job.gather_asleep();
  }
  std::optional<AtOnce> at_once;
  if (o.model && problem.axis == Axis::all) at_once.emplace(o, job, problem, *truth, device);
  bool stop = false;
  for (int round = 1; round <= o.rounds && !stop; ++round) {
    for (const auto& lane : lanes) {
      stop = job.first_says(control.stop());
      if (stop) break;
      control.show(
          fmt::format("{} on {} ranks, round {}", to_string(problem), lane->row().ranks, round));
      lane->round();
      job.gather_asleep();
    }
    if (at_once && !stop) at_once->round();
    job.gather_asleep();
  }
  control.show("");
  Race done{.problem = problem};
  for (const auto& lane : lanes)
    if (!lane->row().rounds.empty()) done.rows.push_back(lane->row());
  if (at_once && !done.rows.empty())
    done.local = {.seconds = done.rows.front().best(),
                  .at_once = at_once->slower(done.rows.front().best()),
                  .cores = job.cores};
  return done;
}

}  // namespace trine::bench::ranks
