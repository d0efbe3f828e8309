// `trine verify`: the conformance cases on every device and rung, against the embedded digests that
// the oracle wrote.
#include "tests/conformance/engine/verify.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>

#include "commands.hpp"
#include "error.hpp"
#include "json.hpp"

namespace trine::bench {
namespace {

nlohmann::ordered_json report_json(const conformance::Report& report) {
  nlohmann::ordered_json failures = nlohmann::ordered_json::array();
  for (const conformance::Failure& failure : report.failures)
    failures.push_back({{"device", failure.device},
                        {"rung", failure.rung},
                        {"case", failure.name},
                        {"what", failure.what}});
  return {{"schema", 1},
          {"version", TRINE_VERSION_STRING},
          {"host", host_json()},
          {"devices", devices_json()},
          {"verify",
           {{"cases", report.cases},
            {"failed", report.failed},
            {"skipped", report.skipped},
            {"seconds", report.seconds},
            {"skip_reasons", report.skip_details},
            {"classes", report.classes},
            {"failures", failures}}}};
}

int verify_all(conformance::Options& options, const std::string& json) {
  if (!json.empty()) check_writable(json);
  options.require = conformance::required_by_environment();
  const bool terminal = isatty(STDERR_FILENO) != 0;
  if (terminal)
    options.progress = [](const conformance::Progress& p) {
      std::fprintf(stderr, "\r\033[K%ld of %ld, %ld failed, %s %s", long(p.done), long(p.total),
                   long(p.failed), p.device, p.name);
    };
  const conformance::Report report = conformance::verify(options);
  if (terminal) std::fprintf(stderr, "\r\033[K");
  if (!json.empty()) write_json(json, report_json(report));
  conformance::print(report, std::cout);
  return report.passed() ? kExitGood : kExitFailed;
}

}  // namespace

Command add_verify(CLI::App& app) {
  auto options = std::make_shared<conformance::Options>();
  auto json = std::make_shared<std::string>();
  app.add_flag("--quick", options->quick, "a subset that takes half a minute");
  app.add_option("--device", options->devices, "cpu, opencl:0, cuda:0 (default: all there are)")
      ->delimiter(',');
  app.add_option("--rung", options->rung, "only this rung");
  app.add_option("--filter", options->filter, "only cases whose name contains this");
  app.add_option("--json", *json, "write the report as JSON too")->type_name("FILE");
  return [options, json] { return verify_all(*options, *json); };
}

}  // namespace trine::bench
