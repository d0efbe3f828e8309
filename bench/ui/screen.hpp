// The text that people see on the standard output: lines that fit, and colours where it is a
// terminal.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trine::bench {

/// --wide and --color, which every command that prints takes.
void add_screen_options(CLI::App& app);
/// --wide was given: tables have all their columns, and lines are as long as they get.
bool is_wide();
/// Whether to print colours: --color, else the environment's NO_COLOR, else where there is a
/// terminal.
bool has_color();

/// The columns of the terminal, or of COLUMNS; nothing where there is neither.
std::optional<size_t> terminal_width();
/// The columns that a line may have: the terminal's, but 100 at most; with --wide as many as it
/// takes.
size_t screen_width();

/// The columns that `text` takes: bytes that continue a character, and colours, take none.
size_t width_of(std::string_view text);

/// `text` in lines of `width` columns, broken behind one of `breaks` where there is one. A space at
/// which a line is broken goes; lines from the second on are `indent` spaces in.
std::vector<std::string> wrapped(std::string_view text, size_t width, size_t indent,
                                 std::string_view breaks = " ");

/// "same bits…" in green, "WRONG…" and "FAILED…" in red, where has_color(); other text as it is.
std::string painted(const std::string& text);

/// Prints each line of `text` so that it fits the screen.
void print_lines(std::string_view text, size_t indent = 2, std::FILE* out = stdout);

/// The same for a format with its arguments, and a newline.
template <class... Args>
void say(fmt::format_string<Args...> format, Args&&... args) {
  print_lines(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace trine::bench
