#include "tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/cases/operations.hpp"
#include "bench/timing/json.hpp"
#include "bench/timing/side_by_side.hpp"
#include "bench/ui/screen.hpp"
#include "bench/ui/table.hpp"

namespace trine::bench::ranks {
namespace {

using nlohmann::ordered_json;

std::string grid_text(const Row& row) {
  const Grid grid = grid_of(row.ranks);
  return describe(row.problem.operation).is_vector ? "-"
                                                   : fmt::format("{} x {}", grid.rows, grid.cols);
}

double rate(const Row& row) { return work(row.problem) / row.best(); }
const char* unit(const Row& row) { return rated_by_flops(row.problem) ? "flop/s" : "B/s"; }

/// The time that the link alone takes for what has to move, over that of the call.
double link_share(const Row& row, const Options& o, const Link& link) {
  return link.seconds(traffic_of(row.problem, row.ranks, o.block), row.ranks) / row.best();
}

std::optional<double> rank_ratio(const Race& race, const Row& row) {
  if (race.rows.front().ranks != 1) return std::nullopt;
  return rate(row) / rate(race.rows.front());
}

std::optional<double> peer_ratio(const Row& row) {
  const std::optional<double> peer = row.peer_best();
  return peer ? std::optional(*peer / row.best()) : std::nullopt;
}

/// The start of an entry of the JSON.
ordered_json json_of(const Problem& p, int ranks) {
  return {{"operation", name(p.operation)},
          {"dtype", name(p.dtype)},
          {"shape", shape_json(p)},
          {"ranks", ranks}};
}

/// Beside each time of several ranks, the model's.
ordered_json check_model(const Race& race, const Local& local, const Options& o, const Link& link,
                         std::vector<std::vector<std::string>>& table) {
  ordered_json checks = ordered_json::array();
  for (const Row& row : race.rows) {
    if (row.ranks == 1) continue;  // the model is given its time
    const double seconds = predicted(race.problem, row.ranks, o.block, local, link);
    ordered_json& json = checks.emplace_back(json_of(race.problem, row.ranks));
    json["measured"] = row.best();
    json["predicted"] = seconds;
    table.push_back({to_string(race.problem), std::to_string(row.ranks), time_text(row.best()),
                     time_text(seconds),
                     percent_text(link_share(row, o, link) * row.best(), seconds),
                     fmt::format("{:.2f}", seconds / row.best())});
  }
  return checks;
}

ordered_json predict(const Problem& p, double seconds, const Options& o,
                     std::vector<std::vector<std::string>>& table) {
  ordered_json predictions = ordered_json::array();
  for (const int ranks : {16, 64, 256, 1024, 4096, 10000}) {
    const Prediction at = on_fat_tree(p, ranks, o.block, seconds);
    const Problem whole = grown(p, ranks);
    ordered_json& json = predictions.emplace_back(json_of(whole, ranks));
    json["computing"] = at.computing;
    json["link"] = at.link;
    json["efficiency"] = at.efficiency;
    table.push_back({to_string(whole), std::to_string(ranks),
                     std::to_string(FatTree::levels(ranks)), time_text(at.seconds()),
                     percent_text(at.link, at.seconds(), 1), percent_text(at.efficiency, 1, 1)});
  }
  return predictions;
}

}  // namespace

void print_job(const Options& o, const Job& job, const std::string& device) {
  print_heading({});
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(version, &length);
  const std::string mpi(version, size_t(length));
  say("Ranks: {} of {}, {} of them on this host, cores: {}", job.ranks,
      mpi.substr(0, mpi.find_first_of(",\n")), job.here, job.cores);
  if (job.here > job.cores)
    say("Oversubscribed: {} ranks share {} cores. Beyond {} ranks a call can't become faster, and "
        "what it costs there says little of ranks with cores of their own.",
        job.here, job.cores, job.cores);
  if (o.measuring.devices.empty())
    say("Each rank computes on {}.", device);
  else
    say("The ranks compute on {}, and again from the first.", fmt::join(o.measuring.devices, ", "));
}

void print_link(const MeasuredLink& m) {
  if (m.received_each.empty()) return say("One rank has no link; `mpirun -n 4 trine ranks` has.");
  std::vector<std::string> at_once;
  for (const auto& [ranks, rate] : m.received_each)
    at_once.push_back(fmt::format("{} by {}", rate_text(rate, "B/s"), ranks));
  say("The link: {} one way and {} between two ranks; received by each rank where all send to all "
      "at once: {}.",
      time_text(m.link.latency), rate_text(m.link.bandwidth, "B/s"), fmt::join(at_once, ", "));
}

void print_race(const Race& race, const Options& o, const Link& link) {
  const Problem& p = race.problem;
  say("\n{}{}", to_string(p),
      !describe(p.operation).is_vector ? ""
      : p.axis == Axis::all            ? ", an array over the ranks"
                                       : ", a vector a rank, element for element");
  std::vector<std::vector<std::string>> rows{{"ranks", "grid", "time", "median", "rate", "of link",
                                              "of one rank's rate", "MPI_Allreduce", "vs peer",
                                              "verified"}};
  for (const Row& row : race.rows)
    rows.push_back({std::to_string(row.ranks), grid_text(row), time_text(row.best()),
                    time_text(row.median()), rate_text(rate(row), unit(row)),
                    row.ranks == 1 ? "-" : percent_text(link_share(row, o, link), 1),
                    ratio_text(rank_ratio(race, row)), time_text(row.peer_best()),
                    ratio_text(peer_ratio(row)), row.verified() ? "same bits" : "WRONG"});
  print_table(rows, 2);
  for (const Row& row : race.rows)
    if (!row.failure.empty()) say("WRONG on {} ranks: {}", row.ranks, row.failure);
}

ordered_json print_model(const std::vector<Race>& races, const Options& o, const Job& job,
                         const Link& link) {
  std::vector<std::vector<std::string>> checked{
      {"problem", "ranks", "measured", "predicted", "of it the link", "predicted / measured"}};
  std::vector<std::vector<std::string>> tree{
      {"problem", "ranks", "switches", "time", "of it the link", "efficiency"}};
  ordered_json checks = ordered_json::array(), predictions = checks;
  for (const Race& race : races) {
    // Each rank has a vector of its own: no one rank's time is that of the whole.
    if (race.problem.axis != Axis::all || race.rows.empty() || race.rows[0].ranks != 1) continue;
    const double seconds = race.rows[0].best();
    for (const auto& each : check_model(race, {seconds, job.cores}, o, link, checked))
      checks.push_back(each);
    for (const auto& each : predict(race.problem, seconds, o, tree)) predictions.push_back(each);
  }
  say("\nThe model beside what was measured (docs/mpi.md has its formulas and assumptions)");
  print_table(checked, 1);
  say("\nPredicted for a fat tree; efficiency: a rank's rate over that of one rank alone");
  print_table(tree, 1);
  return {{"fat_tree",
           {{"ports", FatTree::ports},
            {"latency", FatTree::latency},
            {"switch_latency", FatTree::switch_latency},
            {"bandwidth", FatTree::bandwidth},
            {"effective", FatTree::effective}}},
          {"checks", checks},
          {"predictions", predictions}};
}

ordered_json to_json(const Row& row, const Race& race, const Options& o, const Link& link) {
  const Problem& p = row.problem;
  const bool sums = describe(p.operation).has_function;
  const Grid grid = grid_of(row.ranks);
  const auto or_null = [](const std::optional<double>& value) {
    return value ? ordered_json(*value) : ordered_json();
  };
  ordered_json json = json_of(p, row.ranks);
  json.update({{"function", sums ? ordered_json(name(p.function)) : ordered_json()},
               {"axis", sums ? ordered_json(name(p.axis)) : ordered_json()},
               {"asked", name(p.numerics)},
               {"grid", sums ? ordered_json() : ordered_json{grid.rows, grid.cols}},
               {"seconds", {{"best", row.best()}, {"median", row.median()}}},
               {"rounds", row.rounds},
               {"calls", row.calls},
               {"rate", {{"value", rate(row)}, {"unit", unit(row)}}},
               {"link_share", link_share(row, o, link)},
               {"rank_ratio", or_null(rank_ratio(race, row))},
               {"peer", nullptr},
               {"peer_ratio", or_null(peer_ratio(row))},
               {"verified", row.verified()},
               {"failure", row.failure.empty() ? ordered_json() : ordered_json(row.failure)},
               {"digest", fmt::format("{:016x}", row.digest)}});
  if (const std::optional<double> peer = row.peer_best())
    json["peer"] = {{"name", "MPI_Allreduce"}, {"seconds", *peer}, {"rounds", row.peer_rounds}};
  return json;
}

ordered_json to_json(const MeasuredLink& m) {
  ordered_json at_once = ordered_json::array();
  for (const auto& [ranks, rate] : m.received_each)
    at_once.push_back({{"ranks", ranks}, {"received_each", rate}});
  return {{"latency", m.link.latency}, {"bandwidth", m.link.bandwidth}, {"at_once", at_once}};
}

}  // namespace trine::bench::ranks
