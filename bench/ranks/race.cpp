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
    if (expectation_.digest(result) == digest_) return {};
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
    time(row_.rounds, row_.calls, &Work::ours, right_, work_->resident,
         [this](const std::byte* whole, bool differ) {
           return truth_->check(whole, differ, row_.digest);
         });
    std::optional<Resident> none;
    if (work_->has_peer())
      time(row_.peer_rounds, peer_calls_, &Work::peer, peers_right_, none,
           [this](const std::byte* whole, bool differ) {
             const std::string wrong = truth_->check_peer(whole, differ);
             return wrong.empty() ? wrong : row_.peer + ": " + wrong;
           });
  }
  const Row& row() const { return row_; }

 private:
  using Bytes = std::vector<std::byte>;

  /// `right`: this rank's part of a result that was found right; the first is held against the truth, later ones have
  /// the same bits.
  template <class Check>
  void time(std::vector<double>& rounds, int calls, void (Work::*call)(), Bytes& right,
            std::optional<Resident>& resident, Check check) {
    const std::span<std::byte> mine = work_->mine();
    std::ranges::fill(mine, std::byte{0xA5});
    if (resident) resident->upload();
    rounds.push_back(seconds_of(group_.comm(), calls, [&] { (work_.get()->*call)(); }));
    if (resident) resident->download();
    if (group_.all(rounds.size() > 1 && std::ranges::equal(mine, right))) return;
    bool differ = false;
    const std::byte* const whole = work_->collect(differ);
    const std::string wrong = is_first_ ? check(whole, differ) : std::string();
    if (row_.failure.empty()) row_.failure = wrong;
    if (rounds.size() == 1) right.assign(mine.begin(), mine.end());
    MPI_Barrier(group_.comm());  // nobody goes on while the first checks
  }

  const Group& group_;
  std::shared_ptr<Truth> truth_;
  std::unique_ptr<Work> work_;
  Bytes right_, peers_right_;
  int peer_calls_ = 1;
  bool is_first_;
  Row row_;
};

/// A part of a problem as large as one of `ranks` ranks has.
Problem share_of(const Problem& problem, int ranks) {
  Problem p = problem;
  int64_t& extent = p.operation == Operation::gemm ? p.size.cols : p.size.rows;
  extent = std::max<int64_t>(1, extent / ranks);
  return p;
}

/// What one rank computes: alone; while each core has one that does the same, each the whole for itself; and in
/// groups of more ranks than cores, each its share, with a wait for the others behind it. Those that wait look for
/// messages, which takes time of those that compute.
class Computing {
 public:
  Computing(const Options& o, const Job& job, const Groups& groups, const Problem& problem,
            const Truth& truth, const std::string& device)
      : job_(job), group_(std::min(job.ranks, job.cores)) {
    const double budget = o.measuring.budget / o.rounds;
    for (const auto& group : groups) {
      if (group->ranks() > job.cores && group->has_me())
        turns_.push_back({*group, budget,
                          local_work(share_of(problem, group->ranks()), o.block, truth.inputs(),
                                     device, is_in_runs(problem, group->ranks()), group->comm())});
      job.gather_asleep();
    }
    if (!group_.has_me()) return;
    call_ = local_work(problem, o.block, truth.inputs(), device, true, MPI_COMM_SELF);
    calls_ = calls_for(group_.comm(), budget, call_);
  }
  void round(const Groups& groups) {
    if (job_.is_first()) alone_.push_back(seconds_of(MPI_COMM_SELF, calls_, call_));
    job_.gather_asleep();
    if (call_) at_once_.push_back(seconds_of(group_.comm(), calls_, call_));
    job_.gather_asleep();
    for (const auto& group : groups) {
      for (Turns& turns : turns_)
        if (turns.group.ranks() == group->ranks()) turns.round();
      job_.gather_asleep();
    }
  }
  /// `whole`: the problem's time on one rank.
  Local local(double whole) const {
    const double alone = best(alone_), at_once = std::max(1.0, best(at_once_) / alone);
    Local local{.seconds = whole, .in_runs = alone, .at_once = at_once, .cores = job_.cores};
    for (const Turns& turns : turns_) local.in_turns[turns.group.ranks()] = best(turns.rounds);
    return local;
  }

 private:
  struct Turns {
    const Group& group;
    std::function<void()> call;
    int calls;
    std::vector<double> rounds = {};

    Turns(const Group& of, double budget, std::function<void()> work)
        : group(of),
          call([work = std::move(work), comm = of.comm()] {
            work();
            MPI_Barrier(comm);
          }),
          calls(calls_for(of.comm(), budget, call) + 1) {}
    void round() { rounds.push_back(seconds_of(group.comm(), calls, call)); }
  };
  static double best(const std::vector<double>& rounds) {
    return *std::ranges::min_element(rounds);
  }

  const Job& job_;
  Group group_;
  std::function<void()> call_;
  int calls_ = 1;
  std::vector<double> alone_, at_once_;
  std::vector<Turns> turns_;
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
    lanes.push_back(
        std::make_unique<Lane>(o, job, *group, p, truth, (o.resident ? "@" : "") + device));
    job.gather_asleep();
  }
  std::optional<Computing> computing;
  if (o.model && problem.axis == Axis::all)
    computing.emplace(o, job, groups, problem, *truth, device);
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
    if (computing && !stop) computing->round(groups);
  }
  control.show("");
  Race done{.problem = problem};
  for (const auto& lane : lanes)
    if (!lane->row().rounds.empty()) done.rows.push_back(lane->row());
  if (computing && !done.rows.empty() && job.is_first() && !stop)
    done.local = computing->local(done.rows.front().best());
  return done;
}

}  // namespace trine::bench::ranks
