// The figures that the five source documents published, each with the case and the rung that
// measures it again: tables.json. `trine ladder --like 003` reads it.
//
// A table there has rows and, where it is printed with them, columns. Each pair is a line: the
// column's words, else the row's, with a row's "size" in place of "{size}"; `published` has an
// entry for each column that the row has, of several figures a list, null where the document
// doesn't state it. Without it no figure is stated.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/cases/problem.hpp"

namespace trine::bench {

/// One measurement of a table. Lines of a plain table have no `column`; else the table is printed
/// with a row for each `label` and a column for each `column`.
struct Line {
  std::string label, column;
  std::string rung;
  Problem problem;
  std::vector<double> published = {};  ///< one for each of the table's figures; NaN: not stated
  std::string on = {};                 ///< "cpu", "cpu:threads=1"; empty: the device asked for
};

/// The results that a document reads off a table of curves: the first column against the others.
struct Curves {
  double first_peak;  ///< of the first column
  double peak, elements,
      break_even;  ///< of the others: the best, at how many elements; NaN: not stated
};

/// A document's roofline. The ridge is where its roofs meet; the point is the rate over the
/// bandwidth. Both in operations an element.
struct Roofline {
  struct Roofs {
    std::string label;
    double gigabytes, gigaflops, ridge, point;
  };
  std::string label;  ///< of the lines whose best is the point
  std::vector<Roofs> roofs;
};

struct Table {
  std::string title;
  std::string ours;  ///< what the document doesn't state and we chose; empty if nothing
  /// "ms" of the kernel; "whole ms" from and to pageable host memory; "GB/s", "Gelem/s", "GF/s":
  /// 10^9 a second; "step", "cumulative": the time of the line above, and of the first, over this
  /// one's.
  std::vector<std::string> figures;
  std::vector<Line> lines;
  std::optional<Curves> curves = {};
  std::optional<Roofline> roofline = {};
  // The results that follow the table, the document's and today's:
  bool over_first = false;  ///< at each label the best of the other columns over the first
  bool bests = false;       ///< the best of each label
};

/// A document: its tables, and what it says beside them.
struct Publication {
  std::string number, name;
  std::vector<Table> tables;
  std::string remark;
};

/// "000" … "004"; nullptr for any other.
const Publication* find_document(std::string_view number);

/// Whether the table is of one of these operations.
bool is_one_of(const Table& table, const std::vector<Operation>& operations);

}  // namespace trine::bench
