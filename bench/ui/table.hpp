// Tables and figures for people: aligned columns, times and rates with three digits and a unit.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace trine::bench {

/// "1.23 ms"; "-" where there is none.
std::string time_text(std::optional<double> seconds);
/// "12.3 GB/s", "4.56 TFLOP/s", "7.89 GOP/s" for units "B/s", "flop/s", "op/s".
std::string rate_text(double value, const std::string& unit);
/// "41×", "0.63×".
std::string ratio_text(std::optional<double> ratio);

/// "63%", "62.7%"; "-" where there is no whole.
std::string percent_text(double part, double whole, int decimals = 0);

/// How far an interval reaches to either side of a value: "4%", the farther one, where they are the
/// same to a point of percent, else "-24% +32%"; "-" where there is no value.
std::string arms_text(double low, double value, double high);

/// Prints the columns aligned, the first `names` and the last to the left, figures to the right.
/// The first row is the head; an empty row is an empty line. Columns that are empty or "-" in every
/// row are left out, and those of the heads in `hidden` but with --wide. A table that is wider than
/// the screen is made to fit: names, verdicts and heads of several words are broken; if that isn't
/// enough, further columns follow below, behind the names once more.
void print_table(const std::vector<std::vector<std::string>>& rows, size_t names = 3,
                 const std::vector<std::string>& hidden = {});

}  // namespace trine::bench
