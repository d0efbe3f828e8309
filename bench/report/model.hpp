// What a report consists of, whatever it is written as: sections with tables and figures. Markdown
// takes the tables; the page takes all of it as JSON, and its script only draws.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace trine::bench::report {

using nlohmann::ordered_json;

struct Cell {
  std::string text;
  std::optional<double> value = {};  ///< the figure that the text rounds
  bool wrong = false;                ///< it names a result that failed its verification
};
Cell word(const std::string& text);
Cell time_cell(std::optional<double> seconds);
Cell rate_cell(double value, const std::string& unit);
Cell ratio_cell(std::optional<double> ratio);
Cell percent_cell(std::optional<double> share);
Cell plain_cell(std::optional<double> value);  ///< as many digits as it needs

struct Table {
  std::string caption;
  std::vector<std::string> head;
  std::vector<std::vector<Cell>> rows;
  std::string note = {};
};
/// Without the columns that say nothing in any row.
Table dense(Table table);

enum class Scale { linear, log, log2, names };
struct Axis {
  std::string title, unit;
  Scale scale = Scale::log;
  std::vector<std::string> names = {};
};

struct Point {
  double x = 0, y = 0;
  std::string label = {};   ///< what it is, where the series doesn't say: the rung
  std::string detail = {};  ///< and of which problem
};

/// Colour and shape are slots that the page gives colours to, the same one for the same device or rung
/// throughout; `ramp`, from 0 to 1, takes the place of the slot where curves have an order.
struct Series {
  std::string label;
  int slot = 0;
  std::optional<double> ramp = {};
  bool dashed = false, line = true, points = true;
  std::vector<Point> data = {};  ///< bars: x is the index of the name
};

/// A place on the x axis, with an interval where it has one; the figure's note says what it is.
struct Mark {
  double at = 0;
  std::optional<double> low = {}, high = {};
};

struct Span {
  int lane = 0;  ///< index into y.names
  int index = 0;
  double begin = 0, end = 0;
};

struct Figure {
  enum class Kind { lines, bars, stack, spans } kind = Kind::lines;
  std::string title, note;
  Axis x, y;
  std::vector<Series> series = {};
  std::vector<Mark> marks = {};
  std::vector<Span> spans = {};
};

struct Section {
  std::string title, text = {};
  int level = 2;        ///< a section is part of the last one before it with a smaller level
  bool folded = false;  ///< a detail, to be opened; its figures are drawn then
  std::vector<Figure> figures = {};
  std::vector<Table> tables = {};
  bool alarm = false;
};

struct Model {
  std::string title, summary;
  bool alarm = false;
  std::vector<Section> sections = {};
};

void to_json(ordered_json& json, const Model& model);

/// The place of a name among `names`, which has each once: where it isn't there yet, it is added.
int place_of(std::vector<std::string>& names, const std::string& name);

}  // namespace trine::bench::report
