// The program `trine`: reads the command line and runs one of the commands that are listed below.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <locale>
#include <string>
#include <trine/trine.hpp>
#include <utility>
#include <vector>

#include "bench/ui/commands.hpp"
#include "bench/ui/control.hpp"
#include "bench/ui/error.hpp"
#include "bench/ui/screen.hpp"

namespace {

using namespace trine::bench;

/// One clear line on stderr, whatever went wrong; on a terminal in lines that fit.
int refuse(const char* what) {
  if (isatty(STDERR_FILENO) != 0)
    print_lines(fmt::format("trine: {}", what), 2, stderr);
  else
    std::fprintf(stderr, "trine: %s\n", what);
  return kExitRefused;
}

/// The message for an option or a command that doesn't exist, with the one that was meant.
std::string stray_text(const CLI::App& app) {
  const std::vector<CLI::App*> parsed = app.get_subcommands();
  const std::string word = app.remaining(true).at(0);
  if (!parsed.empty())
    return fmt::format("{} takes no '{}'; `trine {} --help` lists its options.{}",
                       parsed[0]->get_name(), word, parsed[0]->get_name(),
                       did_you_mean(word, options_of(*parsed[0])));
  std::vector<std::string> known = options_of(app);
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    known.push_back(command->get_name());
  return fmt::format("there is no command '{}'; `trine --help` lists them.{}", word,
                     did_you_mean(word, known));
}

/// The meaning of a command's exit code, in its help.
constexpr const char* kSimple = "0 done, 2 refused.";
constexpr const char* kMeasures =
    "0 all is right, 1 something is wrong or there is no result, 2 refused, 130 interrupted.";

struct Entry {
  const char *name, *help;
  Command (*make)(CLI::App&);
  const char *first, *second;  ///< examples
  const char* exits;
};

constexpr Entry kCommands[] = {
    {"info", "list all backends and devices, and the reasons for absent ones", add_info,
     "trine info", "trine info --json info.json", kSimple},
    {"compare", "measure and verify operations on all devices, copying included", add_compare,
     "trine compare reduce --size 2^20,2^24 --dtype f32",
     "trine compare gemm --device cpu,cuda:0 --peers --wide", kMeasures},
    {"ladder", "measure all rungs from the naive one up; repeat documents' tables", add_ladder,
     "trine ladder transpose --size 4096", "trine ladder --source sequential", kMeasures},
    {"sweep", "measure every rung with every parameter; --best saves the fastest", add_sweep,
     "trine sweep gemm --size 512,1024 --best", "trine sweep --forget", kMeasures},
    {"bench", "measure launches as cases of Google Benchmark, with its JSON", add_bench,
     "trine bench reduce --size 2^20 --benchmark_repetitions=9",
     "trine bench --benchmark_format=json", kMeasures},
    {"run", "run one operation on .npy files", add_run,
     "trine run reduce --input a.npy --output sum.npy",
     "trine run gemm --input a.npy b.npy --output c.npy --device cpu", kSimple},
    {"transfers", "measure the cost of copies, and the gain of overlapping them", add_transfers,
     "trine transfers gemm --size 4096", "trine transfers transpose --chunks 8 --overlap-cpu",
     kMeasures},
    {"roof", "measure the best rates of each device, and every rung's share of them", add_roof,
     "trine roof --no-points", "trine roof reduce --dtype f64 --size 2^26", kMeasures},
    {"report", "make an HTML page or CSV from the JSON of one or more runs", add_report,
     "trine report compare.json --html report.html",
     "trine report before.json after.json --apart --csv -", kSimple},
    {"verify", "check every rung on every device against the definitions", add_verify,
     "trine verify --quick", "trine verify --random 60 --device cpu", kMeasures},
    {"calibrate", "measure and save the basis of `auto`; print the break-even sizes", add_calibrate,
     "trine calibrate", "trine calibrate --device cpu,cuda:0 --json break_even.json", kMeasures},
    {"why", "say on which device an operation would run, and why", add_why,
     "trine why gemm --size 512", "trine why reduce --size 2^24 --where device --device cpu,cuda:0",
     kSimple},
    {"replay", "name the first call whose result differs, between two programs or devices",
     add_replay, "trine replay cpu.receipts gpu.receipts",
     "trine replay cpu.receipts --device cuda:0",
     "0 all is equal, 1 something differs, 2 refused, or calls couldn't be run."},
    {"ranks", "measure the operations over the ranks of MPI, and predict them for more", add_ranks,
     "mpirun -n 4 trine ranks", "mpirun -n 8 trine ranks gemm --model", kMeasures},
    {"help", "this text, as a man page, or as bash's completion", add_help, "trine help compare",
     "trine help --man > trine.1", kSimple},
};

/// CLI11 takes whatever follows an option as its value, another option, too.
void refuse_options_as_values(CLI::Option& option) {
  const auto is_number = [](const std::string& word) {
    char* end = nullptr;
    std::strtod(word.c_str(), &end);
    return *end == '\0';
  };
  if (option.nonpositional() && option.get_items_expected_min() > 0)
    option.transform(CLI::Validator(
        [=](std::string& word) {
          if (!word.starts_with('-') || word == "-" || is_number(word)) return std::string();
          return fmt::format("its value is missing, as '{0}' follows; a file of that name is ./{0}",
                             word);
        },
        ""));
}

using Commands = std::vector<std::pair<CLI::App*, Command>>;

Commands add_commands(CLI::App& app) {
  Commands commands;
  for (const Entry& entry : kCommands) {
    CLI::App* command = app.add_subcommand(entry.name, entry.help);
    commands.emplace_back(command, entry.make(*command));
    // A report and a help text go where they are sent, as they are.
    if (entry.make != add_report && entry.make != add_help) add_screen_options(*command);
    const std::string own = command->get_footer();
    command->footer(fmt::format("{}{}Examples:\n  {}\n  {}\nExit code: {}", own,
                                own.empty() ? "" : "\n\n", entry.first, entry.second, entry.exits));
    for (CLI::Option* option : command->get_options())
      if (option->get_default_str() == "[]") option->default_str("");  // an empty list says nothing
    for (CLI::Option* option : command->get_options()) refuse_options_as_values(*option);
  }
  return commands;
}

int run_command(const CLI::App& app, const Commands& commands) {
  for (const auto& [subcommand, command] : commands)
    if (app.got_subcommand(subcommand)) {
      const int code = command();
      if (std::fflush(stdout) != 0 || std::ferror(stdout))
        return refuse("the standard output can't be written");
      return code;
    }
  print_help(app);
  return kExitRefused;
}

int parse_and_run(int argc, char** argv) {
  CLI::App app{
      "reduce, transpose and gemm with CUDA, OpenCL and the CPU: measured, verified, compared.",
      "trine"};
  app.set_version_flag("--version", trine::version());
  app.require_subcommand(0, 1);
  app.option_defaults()->always_capture_default();
  std::setlocale(LC_ALL, "C");  // whatever a library that is preloaded chose: numbers have a point
  std::locale::global(std::locale::classic());
  const Commands commands = add_commands(app);
  try {
    app.parse(argc, argv);
    return run_command(app, commands);
  } catch (const CLI::CallForHelp&) {
    const std::vector<CLI::App*> parsed = app.get_subcommands();
    print_help(parsed.empty() ? app : *parsed[0]);
    return kExitGood;
  } catch (const CLI::Success& done) { return app.exit(done); } catch (const CLI::ExtrasError&) {
    return refuse(stray_text(app).c_str());
  } catch (const std::exception& error) { return refuse(error.what()); }
}

}  // namespace

int main(int argc, char** argv) {
  const int code = parse_and_run(argc, argv);
  if (!Control::was_left_behind()) return code;
  std::fflush(stdout);
  std::_Exit(code);  // what is still at work needs what would be taken down
}
