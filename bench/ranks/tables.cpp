#include "tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "bench/cases/operations.hpp"
#include "bench/timing/json.hpp"
#include "bench/timing/side_by_side.hpp"
#include "bench/ui/screen.hpp"
#include "bench/ui/table.hpp"

namespace trine::bench::ranks {
namespace {

using nlohmann::ordered_json;

constexpr double kNear = 0.25;  ///< what a prediction may be off by
constexpr int kFatTree[] = {16, 64, 256, 1024, 4096, 10000};

bool is_vector_a_rank(const Problem& p) {
  return p.operation == Operation::reduce && p.axis == Axis::each_column;
}

std::string heading(const Problem& p) {
  if (is_vector_a_rank(p))
    return fmt::format("reduce sum {}, a vector of {} a rank, element for element", name(p.dtype),
                       to_string(Operation::reduce, {p.size.cols, 1, 0}));
  return to_string(p) + (p.operation == Operation::reduce ? ", an array over the ranks" : "");
}

std::string grid_text(const Row& row) {
  if (row.problem.operation == Operation::reduce) return "-";
  const Grid grid = grid_of(row.ranks);
  return fmt::format("{} x {}", grid.rows, grid.cols);
}

double rate(const Row& row) { return work(row.problem) / row.best(); }

/// The time that the link alone takes for what has to move, of the time of the call.
double link_share(const Row& row, const Options& o, const Link& link) {
  Traffic traffic = traffic_of(row.problem, row.ranks, o.block);
  traffic.merges = 0;
  return link.seconds(traffic, row.ranks) / row.best();
}

std::optional<double> rank_ratio(const Race& race, const Row& row) {
  if (race.rows.front().ranks != 1) return std::nullopt;
  return rate(row) / rate(race.rows.front());
}

std::optional<double> peer_ratio(const Row& row) {
  const std::optional<double> peer = row.peer_best();
  return peer ? std::optional(*peer / row.best()) : std::nullopt;
}

/// Those that the model speaks of: that were measured to the end, but no vector a rank.
std::vector<const Race*> modelled(const std::vector<Race>& races) {
  std::vector<const Race*> all;
  for (const Race& race : races)
    if (race.local.seconds > 0) all.push_back(&race);
  return all;
}

double predicted_seconds(const Race& race, const Row& row, const Options& o, const Link& link) {
  return predicted(race.problem, row.ranks, o.block, race.local, link);
}

bool is_near(double ratio) { return ratio > 1 - kNear && ratio < 1 + kNear; }

/// The rows that the model can be wrong about: what one rank takes is given to it.
std::span<const Row> checked(const Race& race) {
  return std::span(race.rows).subspan(race.rows.empty() || race.rows.front().ranks > 1 ? 0 : 1);
}

void print_checks(const std::vector<Race>& races, const Options& o, const Link& link) {
  int near = 0, all = 0;
  std::vector<std::vector<std::string>> rows{
      {"problem", "ranks", "measured", "predicted", "of it the link", "predicted / measured", ""}};
  for (const Race* race : modelled(races))
    for (const Row& row : checked(*race)) {
      const double seconds = predicted_seconds(*race, row, o, link);
      const double of_link =
          link.seconds(traffic_of(row.problem, row.ranks, o.block), row.ranks) / seconds;
      const double ratio = seconds / row.best();
      ++all, near += is_near(ratio) ? 1 : 0;
      rows.push_back({to_string(race->problem), std::to_string(row.ranks), time_text(row.best()),
                      time_text(seconds), percent_text(of_link, 1), fmt::format("{:.2f}", ratio),
                      is_near(ratio) ? "within 25%" : "off by more"});
    }
  say("\nThe model beside what was measured");
  print_table(rows, 1);
  say("{} of {} predictions are within 25 % of what was measured.", near, all);
}

void print_assumptions(const std::vector<Race>& races, const Options& o, const Link& link,
                       const FatTree& tree) {
  say("\nWhat it assumes (docs/mpi.md has the formulas and the sources)");
  say("- A message takes latency + bytes / bandwidth; a call's first message, which all ranks "
      "merge, "
      "as many of these as an exchange in pairs has steps, and {} for a merge.",
      time_text(link.merge));
  say("- Computing and messages don't overlap. The rank with the most work and traffic decides.");
  for (const Race* race : modelled(races)) {
    const Local& local = race->local;
    std::string turns;
    for (const auto& [ranks, seconds] : local.in_turns)
      turns += fmt::format("{}{} by {}", turns.empty() ? "" : ", ", time_text(seconds), ranks);
    say("- {}: one rank takes {}{}, and {} as long where each of {} cores has one{}.",
        to_string(race->problem), time_text(local.seconds),
        race->problem.operation != Operation::transpose
            ? ""
            : fmt::format(" ({} in runs of {} rows, as grids do that aren't square)",
                          time_text(local.in_runs), o.block),
        ratio_text(local.at_once), local.cores,
        turns.empty()
            ? ""
            : fmt::format(
                  "; ranks that share cores compute it in turns, those that wait taking time "
                  "too, in {}",
                  turns));
  }
  say("- Here all ranks together receive at most {}. More ranks than cores take turns.",
      rate_text(link.total, "B/s"));
  say("- On the fat tree: a rank a node, which computes as fast as one rank here alone; switches "
      "of "
      "{} ports, full bisection; {} and {} a rank on one switch, {} for each further switch; "
      "beyond "
      "one switch static routes leave {:g} % of the bandwidth. Each rank keeps as much data as one "
      "rank here: arrays grow with the ranks, matrices' extents with their square root.",
      tree.ports, time_text(tree.latency), rate_text(tree.bandwidth, "B/s"),
      time_text(tree.switch_latency), 100 * tree.effective);
}

void print_fat_tree(const std::vector<Race>& races, const Options& o, const Link& link,
                    const FatTree& tree) {
  std::vector<std::vector<std::string>> rows{
      {"problem", "ranks", "switches", "time", "of it the link", "efficiency"}};
  for (const Race* race : modelled(races))
    for (const int ranks : kFatTree) {
      const Prediction at =
          on_fat_tree(race->problem, ranks, o.block, race->local, tree, link.merge);
      rows.push_back({to_string(grown(race->problem, ranks)), std::to_string(ranks),
                      std::to_string(tree.levels(ranks)), time_text(at.seconds()),
                      percent_text(at.link, at.seconds(), at.link < 0.1 * at.seconds() ? 2 : 0),
                      percent_text(at.efficiency, 1, 1)});
    }
  say("\nPredicted for a fat tree; efficiency: a rank's rate, of that of one rank alone");
  print_table(rows, 1);
}

}  // namespace

void print_job(const Options& o, const Job& job, const std::string& device,
               const std::string& scalapack) {
  print_heading({});
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(version, &length);
  const std::string mpi(version, size_t(length));
  say("{} rank{} of {}, {} of them on this host with {} core{}", job.ranks,
      job.ranks == 1 ? "" : "s", mpi.substr(0, mpi.find_first_of(",\n")), job.here, job.cores,
      job.cores == 1 ? "" : "s");
  if (job.here > job.cores)
    say("Oversubscribed: {} ranks share {} cores. Beyond {} ranks a call can't become faster, and "
        "what it costs there says little of ranks with cores of their own.",
        job.here, job.cores, job.cores);
  if (o.measuring.devices.empty())
    say("Each rank computes on {}.", device);
  else
    say("The ranks compute on {}, and again from the first.", fmt::join(o.measuring.devices, ", "));
  say("ScaLAPACK: {}", scalapack);
}

void print_link(const MeasuredLink& m, const Job& job) {
  if (job.ranks == 1) {
    say("One rank has no link; `mpirun -n 4 trine ranks` has.");
    return;
  }
  std::string at_once;
  for (const auto& [ranks, rate] : m.received_each)
    at_once +=
        fmt::format("{}{} by {}", at_once.empty() ? "" : ", ", rate_text(rate, "B/s"), ranks);
  say("The link: {} one way and {} between two ranks; received by each rank where all send to all "
      "at "
      "once: {}.",
      time_text(m.link.latency), rate_text(m.link.bandwidth, "B/s"), at_once);
}

void print_race(const Race& race, const Options& o, const Link& link) {
  say("\n{}", heading(race.problem));
  std::vector<std::vector<std::string>> rows{{"ranks", "grid", "time", "median", "rate", "of link",
                                              "of one rank's rate", "peer", "vs peer", "verified"}};
  for (const Row& row : race.rows) {
    const std::optional<double> peer = row.peer_best();
    rows.push_back({std::to_string(row.ranks), grid_text(row), time_text(row.best()),
                    time_text(row.median()),
                    rate_text(rate(row), rated_by_flops(row.problem) ? "flop/s" : "B/s"),
                    row.ranks == 1 ? "-" : percent_text(link_share(row, o, link), 1),
                    ratio_text(rank_ratio(race, row)),
                    peer ? fmt::format("{} {}", row.peer, time_text(peer)) : "-",
                    ratio_text(peer_ratio(row)), row.verified() ? "same bits" : "WRONG"});
  }
  print_table(rows, 2);
  for (const Row& row : race.rows)
    if (!row.failure.empty()) say("WRONG on {} ranks: {}", row.ranks, row.failure);
}

void print_model(const std::vector<Race>& races, const Options& o, const Link& link) {
  const FatTree tree;
  print_checks(races, o, link);
  print_assumptions(races, o, link, tree);
  print_fat_tree(races, o, link, tree);
  say("The sums' bits don't depend on the order of merges; tests/unit/exact_sum_test.cpp merges "
      "10,000 "
      "states in random trees to equal bytes.");
}

ordered_json to_json(const Race& race, const Options& o, const Link& link) {
  ordered_json all = ordered_json::array();
  for (const Row& row : race.rows) {
    const Problem& p = row.problem;
    const bool sums = p.operation == Operation::reduce;
    const Grid grid = grid_of(row.ranks);
    const std::optional<double> peer = row.peer_best(), ratio = peer_ratio(row),
                                of_one = rank_ratio(race, row);
    ordered_json json = {
        {"operation", name(p.operation)},
        {"function", sums ? ordered_json(name(p.function)) : ordered_json()},
        {"axis", sums ? ordered_json(name(p.axis)) : ordered_json()},
        {"dtype", name(p.dtype)},
        {"shape", shape_json(p)},
        {"ranks", row.ranks},
        {"grid", sums ? ordered_json() : ordered_json{grid.rows, grid.cols}},
        {"seconds", {{"best", row.best()}, {"median", row.median()}}},
        {"rounds", row.rounds},
        {"calls", row.calls},
        {"rate", {{"value", rate(row)}, {"unit", rated_by_flops(p) ? "flop/s" : "B/s"}}},
        {"link_share", link_share(row, o, link)},
        {"rank_ratio", of_one ? ordered_json(*of_one) : ordered_json()},
        {"peer",
         peer ? ordered_json{{"name", row.peer}, {"seconds", *peer}, {"rounds", row.peer_rounds}}
              : ordered_json()},
        {"peer_ratio", ratio ? ordered_json(*ratio) : ordered_json()},
        {"verified", row.verified()},
        {"failure", row.failure.empty() ? ordered_json() : ordered_json(row.failure)},
        {"digest", fmt::format("{:016x}", row.digest)}};
    all.push_back(std::move(json));
  }
  return all;
}

ordered_json to_json(const MeasuredLink& m) {
  ordered_json one_way = ordered_json::array(), at_once = one_way;
  for (const auto& [bytes, seconds] : m.one_way)
    one_way.push_back({{"bytes", bytes}, {"seconds", seconds}});
  for (const auto& [ranks, rate] : m.received_each)
    at_once.push_back({{"ranks", ranks}, {"received_each", rate}});
  return {{"latency", m.link.latency},
          {"bandwidth", m.link.bandwidth},
          {"merge", m.link.merge},
          {"one_way", one_way},
          {"at_once", at_once}};
}

ordered_json model_json(const std::vector<Race>& races, const Options& o, const Link& link) {
  const FatTree tree;
  ordered_json checks = ordered_json::array(), predictions = checks;
  for (const Race* race : modelled(races)) {
    for (const Row& row : checked(*race))
      checks.push_back({{"operation", name(race->problem.operation)},
                        {"dtype", name(race->problem.dtype)},
                        {"shape", shape_json(race->problem)},
                        {"ranks", row.ranks},
                        {"measured", row.best()},
                        {"predicted", predicted_seconds(*race, row, o, link)}});
    for (const int ranks : kFatTree) {
      const Prediction at =
          on_fat_tree(race->problem, ranks, o.block, race->local, tree, link.merge);
      predictions.push_back({{"operation", name(race->problem.operation)},
                             {"dtype", name(race->problem.dtype)},
                             {"shape", shape_json(grown(race->problem, ranks))},
                             {"ranks", ranks},
                             {"computing", at.computing},
                             {"link", at.link},
                             {"efficiency", at.efficiency}});
    }
  }
  return {{"fat_tree",
           {{"ports", tree.ports},
            {"latency", tree.latency},
            {"switch_latency", tree.switch_latency},
            {"bandwidth", tree.bandwidth},
            {"effective", tree.effective}}},
          {"checks", checks},
          {"predictions", predictions}};
}

}  // namespace trine::bench::ranks
