// `trine help`: what `--help` says, and the same as a man page and as bash's completion.
#include <fmt/format.h>

#include <trine/lists.h>
#include <trine/trine.hpp>

#include "bench/ui/commands.hpp"
#include "bench/ui/error.hpp"
#include "bench/ui/screen.hpp"

namespace trine::bench {
namespace {

struct Options {
  std::string command;
  bool man = false, bash = false;
};

std::vector<const CLI::App*> commands_of(const CLI::App& root) {
  return root.get_subcommands([](const CLI::App*) { return true; });
}

/// As troff takes it: a dash to type, and no line that begins with one of its commands.
std::string roff(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (safe.empty() || safe.back() == '\n')) safe += "\\&";
    safe += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
  }
  return safe;
}

void print_man(const CLI::App& root) {
  fmt::print(".TH TRINE 1 \"\" \"trine {}\"\n.SH NAME\ntrine \\- {}\n", version(),
             roff(root.get_description()));
  fmt::print(".SH SYNOPSIS\n.B trine\n.I COMMAND\n[\\fIOPTION\\fR...]\n.SH COMMANDS\n");
  for (const CLI::App* command : commands_of(root)) {
    fmt::print(".SS {}\n{}\n", command->get_name(), roff(command->get_description()));
    for (const CLI::Option* option : command->get_options())
      fmt::print(".TP\n\\fB{}\\fR \\fI{}\\fR\n{}\n", roff(option->get_name(true, true)),
                 roff(option->get_type_name()), roff(option->get_description()));
    fmt::print(".PP\n.nf\n{}\n.fi\n", roff(command->get_footer()));
  }
}

void print_completion(const CLI::App& root) {
  std::string names, cases;
  for (const CLI::App* command : commands_of(root)) {
    names += command->get_name() + " ";
    std::vector<std::string> words = options_of(*command);
    for (const char* positional : {"operation", "operations"})
      if (command->get_option_no_throw(positional))
        words.insert(words.end(), {TRINE_OPERATIONS(TRINE_WORD)});
    cases += fmt::format("    {}) words='{}' ;;\n", command->get_name(), fmt::join(words, " "));
  }
  // Files stand where no word fits (-o default).
  fmt::print(
      "# bash completion of trine\n"
      "_trine() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} words='{}'\n"
      "  if [ \"$COMP_CWORD\" -gt 1 ]; then case ${{COMP_WORDS[1]}} in\n{}"
      "  esac; fi\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
      "}}\n"
      "complete -o default -F _trine trine\n",
      names, cases);
}

int help(const Options& o, CLI::App& root) {
  if (o.man) {
    print_man(root);
  } else if (o.bash) {
    print_completion(root);
  } else if (o.command.empty()) {
    print_help(root);
  } else {
    std::vector<std::string> names;
    for (const CLI::App* command : commands_of(root)) {
      if (command->get_name() == o.command) return print_help(*command), kExitGood;
      names.push_back(command->get_name());
    }
    throw Refusal(fmt::format("there is no command '{}'; `trine --help` lists them.{}", o.command,
                              did_you_mean(o.command, names)));
  }
  return kExitGood;
}

}  // namespace

std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
  return words;
}

void print_help(const CLI::App& app) {
  constexpr size_t kDescriptions = 30;  // the column in which CLI11 begins them
  const CLI::App* root = app.get_parent();
  const std::string name = root ? root->get_name() + " " + app.get_name() : app.get_name();
  print_lines(app.get_formatter()->make_help(&app, name, CLI::AppFormatMode::Normal),
              kDescriptions);
}

Command add_help(CLI::App& app) {
  auto o = std::make_shared<Options>();
  CLI::Option* command =
      app.add_option("command", o->command, "whose help (default: all commands)");
  app.add_flag("--man", o->man, "all of it as a man page")->excludes(command);
  app.add_flag("--bash", o->bash, "the words of all commands, as bash completes them")
      ->excludes(command, "--man");
  return [o, &app] { return help(*o, *app.get_parent()); };
}

}  // namespace trine::bench
