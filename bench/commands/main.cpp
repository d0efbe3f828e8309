// `trine`: shows what there is (info), compares the devices side by side (compare), climbs
// the ladders (ladder), puts them under the roofs (roof), overlaps copies and kernels (transfers), runs
// one operation on real data (run), proves the bits (verify), and shows what was measured (report).
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string_view>
#include <trine/trine.hpp>
#include <utility>
#include <vector>

#include "bench/ui/commands.hpp"
#include "bench/ui/error.hpp"
#include "bench/ui/screen.hpp"

namespace {

using namespace trine::bench;

/// One clear line on stderr, whatever went wrong.
int refuse(const char* what) {
  std::fprintf(stderr, "trine: %s\n", what);
  return kExitRefused;
}

int run_command(CLI::App& app, const std::vector<std::pair<CLI::App*, Command>>& commands) {
  for (const auto& [subcommand, command] : commands)
    if (app.got_subcommand(subcommand)) {
      const int code = command();
      if (std::fflush(stdout) != 0 || std::ferror(stdout))
        return refuse("the standard output can't be written");
      return code;
    }
  std::printf("%s", app.help().c_str());
  return kExitRefused;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "One API, three backends, the same bits, and where to run: reduce, transpose, gemm."};
  app.set_version_flag("--version", trine::version());
  app.require_subcommand(0, 1);
  app.option_defaults()->always_capture_default();
  std::vector<std::pair<CLI::App*, Command>> commands;
  const auto add = [&](const char* name, const char* help, Command (*make)(CLI::App&)) {
    CLI::App* subcommand = app.add_subcommand(name, help);
    commands.emplace_back(subcommand, make(*subcommand));
    if (std::string_view(name) != "report") add_screen_options(*subcommand);
    for (CLI::Option* option : subcommand->get_options())
      if (option->get_default_str() == "[]") option->default_str("");  // an empty list says nothing
  };
  add("info", "every backend and device, and why an absent one is absent", add_info);
  add("compare", "measure and verify operations on every device, with what the transfers cost",
      add_compare);
  add("ladder", "every rung from the naive one up, and the source documents' tables again",
      add_ladder);
  add("gate", "two runs of compare held against each other: exit 1 where something is slower",
      add_gate);
  add("sweep",
      "every rung with every parameter at every size; --best saves what selection then uses",
      add_sweep);
  add("bench", "the same launches as Google Benchmark's cases, with its flags and its JSON",
      add_bench);
  add("run", "one operation on .npy data", add_run);
  add("transfers", "what moving the data costs, and what overlapping it saves", add_transfers);
  add("roof", "what each device can do at best, and where every rung stands under it", add_roof);
  add("report", "one page, Markdown or CSV from the JSON of one or several runs", add_report);
  add("verify", "the conformance cases on every device and rung", add_verify);
  add("calibrate", "measure and save what placement decides from; print the break-evens",
      add_calibrate);
  add("why", "where an operation would run, and why", add_why);
  try {
    app.parse(argc, argv);
    return run_command(app, commands);
  } catch (const CLI::Success& done) {
    return app.exit(done);
  } catch (const CLI::ParseError& error) {
    return refuse(error.what());
  } catch (const std::exception& error) { return refuse(error.what()); }
}
