// `trine verify`: the conformance cases on every device and rung, against the embedded digests that
// the oracle wrote.
#include "conformance/verify.hpp"

#include <fmt/format.h>

#include <sstream>

#include "bench/cases/cases.hpp"
#include "bench/timing/json.hpp"
#include "bench/timing/side_by_side.hpp"
#include "bench/ui/commands.hpp"
#include "bench/ui/control.hpp"
#include "bench/ui/error.hpp"
#include "bench/ui/screen.hpp"

namespace trine::bench {
namespace {

Document document_of(const conformance::Report& report) {
  nlohmann::ordered_json failures = nlohmann::ordered_json::array();
  for (const conformance::Failure& failure : report.failures)
    failures.push_back({{"device", failure.device},
                        {"rung", failure.rung},
                        {"case", failure.name},
                        {"what", failure.what}});
  return {.command = "verify",
          .arrays = {{"verify",
                      {{"cases", report.cases},
                       {"failed", report.failed},
                       {"skipped", report.skipped},
                       {"seconds", report.seconds},
                       {"skip_reasons", report.skip_details},
                       {"classes", report.classes},
                       {"failures", failures}}}},
          .partial = report.partial};
}

int verify_all(conformance::Options& options, double limit, const std::string& json) {
  options.require = conformance::required_by_environment();
  Control control(limit);
  options.progress = [](const conformance::Progress& p) {
    Control::show(
        fmt::format("{} of {}, {} failed, {} {}", p.done, p.total, p.failed, p.device, p.name));
  };
  options.stop = Control::stop;
  options.await = [](const auto& is_done) { return Control::await(is_done); };
  const conformance::Report report = conformance::verify(options);
  control.show("");
  if (!json.empty()) write_json(json, to_json(document_of(report)));
  std::ostringstream text;
  conformance::print(report, text);
  print_lines(text.str());
  return ended(control, report.passed()     ? Outcome::good
                        : report.failed > 0 ? Outcome::failed
                                            : Outcome::nothing);
}

}  // namespace

Command add_verify(CLI::App& app) {
  auto options = std::make_shared<conformance::Options>();
  auto limit = std::make_shared<double>(0);
  auto json = std::make_shared<std::string>();
  CLI::Option* const quick =
      app.add_flag("--quick", options->quick, "a subset that takes half a minute");
  add_list(app, "--device", options->devices, "cpu, opencl:0, cuda:0 (default: all devices)");
  CLI::Option* const rung = app.add_option("--rung", options->rung, "check only this rung");
  app.add_option(
      "--filter", options->filter,
      "only cases with this in their name; random calls: operation, fill, copy, elementwise "
      "or chain");
  CLI::Option* const random =
      app.add_option(
             "--random", options->random_seconds,
             "instead of the cases, random calls, copies and fills for this long (0: one on "
             "each device)")
          ->type_name("SECONDS")
          ->check(CLI::NonNegativeNumber)
          ->excludes(quick, rung);
  app.add_option("--seed", options->seed,
                 "seed of the first random call; each further one has the next number")
      ->needs(random);
  add_time_limit(app, *limit);
  add_json(app, *json, "also write the result as JSON");
  return [options, limit, json] { return verify_all(*options, *limit, *json); };
}

}  // namespace trine::bench
