// `trine ranks`, as a program of its own that knows MPI: the operations on the first 1, 2, … ranks
// of a run, beside plain MPI_Allreduce, with the share of the link that was measured in the same
// run.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "bench/timing/json.hpp"
#include "bench/timing/side_by_side.hpp"
#include "bench/ui/error.hpp"
#include "bench/ui/screen.hpp"
#include "tables.hpp"

namespace {

using namespace trine::bench;
using namespace trine::bench::ranks;

/// All numbers of ranks up to 8, then powers of two, and all there are.
Groups groups_of(const Job& job) {
  Groups groups;
  for (int n = 1; n < job.ranks; n = n < 8 ? n + 1 : 2 * n) groups.emplace_back(n);
  groups.emplace_back(job.ranks);
  return groups;
}

/// This rank's device: of those named the next, else the cpu with this rank's threads.
std::string device_of(const Options& o, const Job& job) {
  const auto& named = o.measuring.devices;
  if (!named.empty()) return named[size_t(job.rank) % named.size()];
  try {
    return fmt::format("cpu:threads={}", trine::open("cpu").facts().compute_units);
  } catch (const trine::Error&) { return "cpu"; }
}

/// Why this rank can't begin: its device, or the memory for the problems; empty where it can.
std::string refusal(const std::vector<Problem>& problems, const Job& job,
                    const std::string& device) {
  try {
    trine::open(device);
    for (Problem p : problems) {
      if (p.axis == trine::Axis::each_column) p.size.rows = job.ranks;
      check_memory(p, true, job.here);
    }
    return {};
  } catch (const std::exception& error) { return error.what(); }
}

Outcome outcome_of(const std::vector<Race>& races) {
  bool any = false;
  for (const Race& race : races)
    for (const Row& row : race.rows) {
      if (!row.verified()) return Outcome::failed;
      any = true;
    }
  return any ? Outcome::good : Outcome::nothing;
}

int refuse(const Job& job, const std::string& why) {
  if (job.is_first()) std::fprintf(stderr, "trine ranks: %s\n", why.c_str());
  return kExitRefused;
}

/// On the first rank alone: it throws no Refusal, as the others wait for its code.
int conclude(const Options& o, const Job& job, const std::vector<Race>& races,
             const MeasuredLink& measured, const Control& control) try {
  Document document{.command = "ranks", .partial = control.partial()};
  nlohmann::ordered_json& rows = document.arrays["ranks"] = nlohmann::ordered_json::array();
  for (const Race& race : races)
    for (const Row& row : race.rows) rows.push_back(to_json(row, race, o, measured.link));
  document.arrays["link"] = to_json(measured);
  if (o.model) document.arrays["model"] = print_model(races, o, job, measured.link);
  if (!o.measuring.json.empty()) write_json(o.measuring.json, trine::bench::to_json(document));
  return ended(control, outcome_of(races));
} catch (const Refusal& refusal) { return refuse(job, refusal.what()); }

int run(const Options& o, const Job& job) {
  setenv("OMP_WAIT_POLICY", "passive", 0);  // waiting threads would take the cores of other ranks
  const std::vector<Problem> problems = problems_of(o);
  const std::string device = device_of(o, job);
  if (const std::string why = job.first_text(refusal(problems, job, device)); !why.empty())
    return refuse(job, why);
  if (job.is_first()) print_job(o, job, device);

  Control control(o.measuring.limit);
  const Groups groups = groups_of(job);
  const MeasuredLink measured = measure_link(job, groups, o.rounds);
  if (job.is_first()) print_link(measured);
  std::vector<Race> races;
  for (const Problem& problem : problems) {
    if (job.first_says(control.stop())) break;
    races.push_back(race(o, job, groups, problem, device, control));
    if (job.is_first()) print_race(races.back(), o, measured.link);
    std::fflush(stdout);
  }
  int code = job.is_first() ? conclude(o, job, races, measured, control) : 0;
  MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return code;
}

int parse_and_run(int count, char** arguments, const Job& job) try {
  CLI::App app{"the operations over the ranks of MPI", "trine ranks"};
  app.option_defaults()->always_capture_default();
  Options options;
  add_options(app, options);
  add_screen_options(app);
  CLI11_PARSE(app, count, arguments);
  return run(options, job);
} catch (const Refusal& refusal) {  // which all ranks see alike
  return refuse(job, refusal.what());
} catch (const std::exception& error) {  // the others may wait for this rank
  std::fprintf(stderr, "trine ranks: rank %d: %s\n", job.rank, error.what());
  return MPI_Abort(MPI_COMM_WORLD, kExitFailed);
}

}  // namespace

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  // Open MPI gives ranks a terminal also where its own output goes into a file.
  setenv("NO_COLOR", "1", 0);
  const int code = parse_and_run(count, arguments, Job());
  MPI_Finalize();
  return code;
}
