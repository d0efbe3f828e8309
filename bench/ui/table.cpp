#include "table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "screen.hpp"

namespace trine::bench {
namespace {

/// Three significant digits.
std::string three(double value) {
  if (value >= 99.95) return fmt::format("{:.0f}", value);
  if (value >= 9.995) return fmt::format("{:.1f}", value);
  return fmt::format("{:.2f}", value);
}

using Rows = std::vector<std::vector<std::string>>;

constexpr size_t kGap = 2, kIndent = 2;
constexpr char kBreaks[] = " :,";

/// A column as it is printed: words align left and may be broken, figures align right.
struct Column {
  size_t at;  ///< in the rows
  bool words;
  size_t width = 0, least = 0;
};

/// A cell in lines; of figures the head alone is broken.
std::vector<std::string> lines_of(const Column& column, const std::string& cell, bool head,
                                  size_t width) {
  if (head) return wrapped(cell, width, 0);
  return column.words ? wrapped(cell, width, kIndent, kBreaks) : std::vector<std::string>{cell};
}

bool says_nothing(const Rows& rows, size_t column) {
  return std::all_of(rows.begin() + 1, rows.end(), [&](const auto& row) {
    return row.empty() || row[column].empty() || row[column] == "-";
  });
}

std::vector<Column> columns_of(const Rows& rows, size_t names,
                               const std::vector<std::string>& hidden) {
  std::vector<Column> columns;
  for (size_t c = 0; c < rows[0].size(); ++c) {
    const bool left_out =
        !is_wide() && std::find(hidden.begin(), hidden.end(), rows[0][c]) != hidden.end();
    if (left_out || says_nothing(rows, c)) continue;
    Column column{c, c < names || c + 1 == rows[0].size()};
    for (const auto& row : rows) {
      if (row.empty()) continue;
      column.width = std::max(column.width, width_of(row[c]));
      for (const std::string& line : lines_of(column, row[c], &row == &rows[0], 1))
        column.least = std::max(column.least, width_of(line));
    }
    columns.push_back(column);
  }
  return columns;
}

size_t total_width(const std::vector<Column>& columns) {
  size_t width = 0;
  for (const Column& column : columns) width += (width == 0 ? 0 : kGap) + column.width;
  return width;
}

/// Takes from the widest column that can be broken, until all fit the screen or none can give.
void narrow(std::vector<Column>& columns) {
  while (total_width(columns) > screen_width()) {
    Column* widest = nullptr;
    for (Column& column : columns)
      if (column.width > column.least && (!widest || column.width > widest->width))
        widest = &column;
    if (!widest) return;
    --widest->width;
  }
}

void print_row(const std::vector<std::string>& row, const std::vector<Column>& columns, bool head) {
  std::vector<std::vector<std::string>> cells;
  size_t height = 1;
  for (const Column& column : columns) {
    cells.push_back(row.empty() ? std::vector<std::string>{""}
                                : lines_of(column, row[column.at], head, column.width));
    height = std::max(height, cells.back().size());
  }
  for (size_t l = 0; l < height; ++l) {
    std::string line;
    for (size_t i = 0; i < columns.size(); ++i) {
      const size_t above = head ? height - cells[i].size() : 0;  // a head stands on its column
      const bool here = l >= above && l - above < cells[i].size();
      const std::string cell = here ? cells[i][l - above] : "";
      const std::string padding(columns[i].width - width_of(cell), ' ');
      if (i > 0) line.append(kGap, ' ');
      line += columns[i].words ? painted(cell) + padding : padding + cell;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    std::printf("%s\n", line.c_str());
  }
}

void print_block(const Rows& rows, const std::vector<Column>& columns) {
  for (const auto& row : rows) print_row(row, columns, &row == &rows[0]);
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
  const std::string hidden = unit == "flop/s" ? "FLOP/s" : unit == "op/s" ? "OP/s" : unit;
  if (value >= 1e12) return three(value / 1e12) + " T" + hidden;
  if (value >= 1e9) return three(value / 1e9) + " G" + hidden;
  return three(value / 1e6) + " M" + hidden;
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

void print_table(const std::vector<std::vector<std::string>>& rows, size_t names,
                 const std::vector<std::string>& hidden) {
  if (rows.size() < 2) return;
  std::vector<Column> columns = columns_of(rows, names, hidden);
  narrow(columns);
  std::vector<Column> block;
  for (const Column& column : columns) {
    if (column.at >= names && block.size() > names &&
        total_width(block) + kGap + column.width > screen_width()) {
      print_block(rows, block);
      std::printf("\n");
      std::erase_if(block, [&](const Column& c) { return c.at >= names; });
    }
    block.push_back(column);
  }
  print_block(rows, block);
}

}  // namespace trine::bench
