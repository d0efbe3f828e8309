#include "table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace trine::bench {
namespace {

/// Three significant digits.
std::string three(double value) {
  if (value >= 99.95) return fmt::format("{:.0f}", value);
  if (value >= 9.995) return fmt::format("{:.1f}", value);
  return fmt::format("{:.2f}", value);
}

/// Columns on the screen: UTF-8 continuation bytes take none.
size_t width_of(const std::string& text) {
  return size_t(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

bool says_nothing(const std::vector<std::vector<std::string>>& rows, size_t column) {
  return std::all_of(rows.begin() + 1, rows.end(),
                     [&](const auto& row) { return row[column].empty() || row[column] == "-"; });
}

}  // namespace

std::string time_text(std::optional<double> seconds) {
  if (!seconds) return "-";
  if (*seconds < 1e-6) return three(*seconds * 1e9) + " ns";
  if (*seconds < 1e-3) return three(*seconds * 1e6) + " µs";
  if (*seconds < 1) return three(*seconds * 1e3) + " ms";
  return three(*seconds) + " s";
}

std::string rate_text(double value, const std::string& unit) {
  const std::string shown = unit == "flop/s" ? "FLOP/s" : unit;
  if (value >= 1e12) return three(value / 1e12) + " T" + shown;
  if (value >= 1e9) return three(value / 1e9) + " G" + shown;
  return three(value / 1e6) + " M" + shown;
}

std::string ratio_text(std::optional<double> ratio) { return ratio ? three(*ratio) + "×" : "-"; }

std::string percent_text(double part, double whole, int decimals) {
  return whole > 0 ? fmt::format("{:.{}f}%", 100 * part / whole, decimals) : "-";
}

std::string arms_text(double low, double value, double high) {
  if (!(value > 0)) return "-";
  const long below = std::lround(100 * (1 - low / value)),
             above = std::lround(100 * (high / value - 1));
  if (std::abs(above - below) <= 1) return fmt::format("{}%", std::max(above, below));
  return fmt::format("{:+}% {:+}%", -below, above);
}

void print_table(const std::vector<std::vector<std::string>>& rows, size_t names) {
  if (rows.size() < 2) return;
  std::vector<size_t> columns, widths;
  for (size_t c = 0; c < rows[0].size(); ++c)
    if (!says_nothing(rows, c)) {
      size_t width = 0;
      for (const auto& row : rows) width = std::max(width, width_of(row[c]));
      columns.push_back(c);
      widths.push_back(width);
    }
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < columns.size(); ++i) {
      const std::string& cell = row[columns[i]];
      const std::string padding(widths[i] - width_of(cell), ' ');
      // Names align left, figures right.
      const bool words = columns[i] < names || columns[i] + 1 == rows[0].size();
      line += (i == 0 ? "" : "  ") + (words ? cell + padding : padding + cell);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    std::printf("%s\n", line.c_str());
  }
}

}  // namespace trine::bench
