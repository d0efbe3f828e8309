#include "screen.hpp"

#include <fmt/color.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <cstring>

namespace trine::bench {
namespace {

constexpr size_t kMost = 100, kFewest = 40;

/// The command line's options: one for the program, as is its standard output.
struct {
  bool wide = false;
  std::string color = "auto";
} options;

/// Where the first of two lines ends that `text` is broken into: the farthest place that `width`
/// columns reach, else the first there is, else the end.
size_t end_of_line(std::string_view text, size_t width, std::string_view breaks) {
  size_t end = text.size();
  const size_t begin = std::min(text.find_first_not_of(' '), text.size());
  for (size_t at = begin; (at = text.find_first_of(breaks, at)) != std::string_view::npos; ++at) {
    const bool space = text[at] == ' ';
    if (space && std::isdigit(static_cast<unsigned char>(text[at - 1]))) continue;  // "5 ms" is one
    const size_t here = space ? at : at + 1;
    const bool fits = width_of(text.substr(0, here)) <= width;
    if (fits || end == text.size()) end = here;
    if (!fits) break;
  }
  return end;
}

}  // namespace

void add_screen_options(CLI::App& app) {
  app.add_flag("--wide", options.wide,
               "every column, and lines as long as they get (default: what fits 100 columns)");
  app.add_option("--color", options.color,
                 "auto (on a terminal, unless NO_COLOR is set), always or never")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"auto", "always", "never"}));
}

bool is_wide() { return options.wide; }

bool has_color() {
  if (options.color != "auto") return options.color == "always";
  const char* none = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) != 0 && (none == nullptr || *none == '\0');
}

std::optional<size_t> terminal_width() {
  size_t width = 0;
  winsize size{};
  if (const char* columns = std::getenv("COLUMNS"))
    std::from_chars(columns, columns + std::strlen(columns), width);
  else if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
    width = size.ws_col;
  return width > 0 ? std::optional(width) : std::nullopt;
}

size_t screen_width() {
  if (options.wide) return SIZE_MAX;
  return std::clamp(terminal_width().value_or(kMost), kFewest, kMost);
}

size_t width_of(std::string_view text) {
  size_t width = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\033')
      at = std::min(text.find('m', at), text.size());
    else if ((text[at] & 0xc0) != 0x80)
      ++width;
  }
  return width;
}

std::vector<std::string> wrapped(std::string_view text, size_t width, size_t indent,
                                 std::string_view breaks) {
  if (text.find_first_not_of(text.substr(0, 1)) ==
      std::string_view::npos)  // empty, or a drawn line
    return {std::string(text.substr(0, width))};
  std::vector<std::string> lines;
  std::string lead;
  while (width_of(text) + lead.size() > width) {
    const size_t end = end_of_line(text, width - std::min(width, lead.size()), breaks);
    if (end == text.size()) break;
    std::string line(text.substr(0, end));
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(lead + line);
    text.remove_prefix(std::min(text.find_first_not_of(' ', end), text.size()));
    lead.assign(indent, ' ');
  }
  if (!text.empty()) lines.push_back(lead + std::string(text));
  return lines;
}

std::string painted(const std::string& text) {
  constexpr std::pair<std::string_view, fmt::terminal_color> kColors[] = {
      {"same bits", fmt::terminal_color::green},
      {"WRONG", fmt::terminal_color::red},
      {"FAILED", fmt::terminal_color::red}};
  for (const auto& [word, color] : kColors)
    if (has_color() && text.starts_with(word))
      return fmt::format(fmt::fg(color), "{}", word) + text.substr(word.size());
  return text;
}

void print_lines(std::string_view text, size_t indent, std::FILE* out) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    for (const std::string& line : wrapped(text.substr(begin, end - begin), screen_width(), indent))
      std::fprintf(out, "%s\n", painted(line).c_str());
    begin = end + 1;
  }
}

}  // namespace trine::bench
