// Today's figures for the lines of a source document's table, and the results that the document
// reads off a whole table: peaks and break-even, speed-up over a column, roofline.
#pragma once

#include <string>
#include <vector>

#include "bench/stats/overtaking.hpp"
#include "bench/timing/result.hpp"
#include "bench/timing/roofline.hpp"
#include "tables.hpp"

namespace trine::bench {

/// A line's results, and today's figures from them, NaN where there is none.
struct Measured {
  const Line* line = nullptr;
  std::vector<Result> results = {};
  std::vector<double> today = {};
};

/// Published figures are of single launches, so these are too; null where none is right.
const Result* kernel_of(const Measured& measured);

/// "same bits", "within bound", "WRONG", "refused"; "not here" where the device hasn't the rung.
std::string verdict_of(const Measured& measured);

/// Today's figures of all lines: a step is over the line above that is published or has a figure,
/// the cumulative over the first line; none where that one has no right kernel.
void read_today(const Table& table, std::vector<Measured>& measured);

/// The number of elements of its matrix, or of its vector.
double elements_of(const Problem& problem);

/// As the line has it; NaN: not stated.
double published_of(const Line& line, size_t figure = 0);

/// The columns of a table, and its labels, each once and in order.
std::vector<std::string> columns_of(const Table& table);
std::vector<std::string> labels_of(const Table& table);

/// From which size on, in elements, a column is faster than the first one.
struct BreakEven {
  std::string column, text;  ///< "between 2^13 and 2^14, near 11234 elements"
  Overtaking found;
};
std::vector<BreakEven> break_evens(const Table& table, const std::vector<Measured>& measured);

/// A table, or what a document reads off a whole one: as published and today.
struct PublishedResult {
  std::string label, column, rung, verdict;
  std::vector<double> published, today;
};
struct PublishedResults {
  std::string title;
  std::vector<std::string> figures;
  std::vector<PublishedResult> rows;
  std::string ours = {};  ///< as the table's
};

/// The table itself, line by line.
PublishedResults lines_of(const Table& table, const std::vector<Measured>& measured);

/// The largest figure of the first column, and of all others, with the least of the sizes at which
/// their curves cross the first's: none where that isn't within the sizes.
PublishedResults peaks(const Table& table, const std::vector<Measured>& measured);

/// At each label the best of the other columns over the first.
PublishedResults speed_ups(const Table& table, const std::vector<Measured>& measured);

/// At each label the best of all columns, as published and today.
PublishedResults bests(const Table& table, const std::vector<Measured>& measured);

/// The line of that label with the largest figure; where none is right, the first that the device
/// has, for its verdict; null where it has none.
const Measured* best_of(const std::vector<Measured>& measured, const std::string& label);

/// The table's roofline: the best kernel of its label under the nominal and the measured roofs.
PublishedResults read_roofline(const Table& table, const Measured* best, const Ceilings& nominal,
                               const Ceilings& measured);

}  // namespace trine::bench
