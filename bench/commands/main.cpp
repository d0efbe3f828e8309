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
      "reduce, transpose and gemm with CUDA, OpenCL and the CPU: measured, verified, compared."};
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
  add("info", "list all backends and devices, and the reasons for absent ones", add_info);
  add("compare", "measure and verify operations on all devices, copying included", add_compare);
  add("ladder", "measure all rungs from the naive one up; repeat documents' tables", add_ladder);
  add("gate", "compare two runs of compare: exit code 1 if something is slower", add_gate);
  add("sweep", "measure every rung with every parameter; --best saves the fastest", add_sweep);
  add("bench", "measure launches as cases of Google Benchmark, with its JSON", add_bench);
  add("run", "run one operation on .npy files", add_run);
  add("transfers", "measure the cost of copies, and the gain of overlapping them", add_transfers);
  add("roof", "measure the best rates of each device, and every rung's share of them", add_roof);
  add("report", "make an HTML page, Markdown or CSV from the JSON of one or several runs",
      add_report);
  add("verify", "check every rung on every device against the definitions", add_verify);
  add("calibrate", "measure and save the basis of `auto`; print the break-even sizes",
      add_calibrate);
  add("why", "say on which device an operation would run, and why", add_why);
  try {
    app.parse(argc, argv);
    return run_command(app, commands);
  } catch (const CLI::Success& done) {
    return app.exit(done);
  } catch (const CLI::ParseError& error) {
    return refuse(error.what());
  } catch (const std::exception& error) { return refuse(error.what()); }
}
