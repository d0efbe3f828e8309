// The subcommands of `trine`: each adds its options to the command line and, when it is the one
// that was called, runs and returns the exit code.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace trine::bench {

using Command = std::function<int()>;

Command add_info(CLI::App& app);
Command add_compare(CLI::App& app);
Command add_ladder(CLI::App& app);
Command add_roof(CLI::App& app);
Command add_bench(CLI::App& app);
Command add_run(CLI::App& app);
Command add_transfers(CLI::App& app);
Command add_sweep(CLI::App& app);
Command add_verify(CLI::App& app);
Command add_report(CLI::App& app);
Command add_calibrate(CLI::App& app);
Command add_why(CLI::App& app);
Command add_replay(CLI::App& app);
Command add_ranks(CLI::App& app);
Command add_help(CLI::App& app);

/// The long options of a command, as they are typed.
std::vector<std::string> options_of(const CLI::App& app);
/// The help text, each line fit to the screen.
void print_help(const CLI::App& app);

}  // namespace trine::bench
