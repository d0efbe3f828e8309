#include "model.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/ui/table.hpp"

namespace trine::bench::report {
namespace {

ordered_json to_json(const Cell& cell) {
  if (!cell.value && !cell.wrong) return cell.text;
  ordered_json json = {{"text", cell.text}};
  if (cell.value) json["value"] = *cell.value;
  if (cell.wrong) json["wrong"] = true;
  return json;
}

ordered_json to_json(const Table& table) {
  ordered_json rows = ordered_json::array();
  for (const auto& row : table.rows) {
    ordered_json cells = ordered_json::array();
    for (const Cell& cell : row) cells.push_back(to_json(cell));
    rows.push_back(std::move(cells));
  }
  return {{"caption", table.caption}, {"head", table.head}, {"rows", rows}, {"note", table.note}};
}

ordered_json to_json(const Axis& axis) {
  constexpr const char* kScales[] = {"linear", "log", "log2", "names"};
  return {{"title", axis.title},
          {"unit", axis.unit},
          {"scale", kScales[int(axis.scale)]},
          {"names", axis.names}};
}

ordered_json to_json(const Series& series) {
  ordered_json json = {{"label", series.label},   {"slot", series.slot},
                       {"dashed", series.dashed}, {"line", series.line},
                       {"points", series.points}, {"data", ordered_json::array()}};
  if (series.ramp) json["ramp"] = *series.ramp;
  for (const Point& p : series.data) {
    json["data"].push_back({p.x, p.y});
    if (!p.label.empty()) json["data"].back().push_back(p.label);
    if (!p.detail.empty()) json["data"].back().push_back(p.detail);
  }
  return json;
}

ordered_json to_json(const Figure& figure) {
  constexpr const char* kKinds[] = {"lines", "bars", "stack", "spans"};
  ordered_json json = {{"kind", kKinds[int(figure.kind)]},
                       {"title", figure.title},
                       {"note", figure.note},
                       {"x", to_json(figure.x)},
                       {"y", to_json(figure.y)},
                       {"series", ordered_json::array()},
                       {"marks", ordered_json::array()},
                       {"spans", ordered_json::array()}};
  for (const Series& series : figure.series) json["series"].push_back(to_json(series));
  for (const Mark& mark : figure.marks) {
    json["marks"].push_back({{"at", mark.at}});
    if (mark.low && mark.high) json["marks"].back()["band"] = {*mark.low, *mark.high};
  }
  for (const Span& span : figure.spans)
    json["spans"].push_back({span.lane, span.index, span.begin, span.end});
  return json;
}

}  // namespace

Cell word(const std::string& text) { return {.text = text}; }

Cell time_cell(std::optional<double> seconds) {
  return {.text = time_text(seconds), .value = seconds};
}

Cell rate_cell(double value, const std::string& unit) {
  if (!(value > 0)) return word("-");
  return {.text = unit == "s" ? time_text(value) : rate_text(value, unit), .value = value};
}

Cell ratio_cell(std::optional<double> ratio) { return {.text = ratio_text(ratio), .value = ratio}; }

Cell percent_cell(std::optional<double> share) {
  if (!share) return word("-");
  if (*share > 0 && *share < 0.0005) return {.text = "< 0.1 %", .value = share};
  return {.text = fmt::format("{:.{}f} %", 100 * *share, *share < 0.0995 ? 1 : 0), .value = share};
}

Cell plain_cell(std::optional<double> value) {
  if (!value) return word("-");
  return {.text = fmt::format("{:.6g}", *value), .value = value};
}

Table dense(Table table) {
  std::vector<size_t> kept;
  for (size_t c = 0; c < table.head.size(); ++c)
    if (std::any_of(table.rows.begin(), table.rows.end(),
                    [&](const auto& row) { return !row[c].text.empty() && row[c].text != "-"; }))
      kept.push_back(c);
  const auto pick = [&](const auto& all) {
    std::remove_cvref_t<decltype(all)> some;
    for (size_t c : kept) some.push_back(all[c]);
    return some;
  };
  table.head = pick(table.head);
  for (auto& row : table.rows) row = pick(row);
  return table;
}

ordered_json to_json(const Model& model) {
  ordered_json sections = ordered_json::array();
  for (const Section& section : model.sections) {
    ordered_json figures = ordered_json::array(), tables = ordered_json::array();
    for (const Figure& figure : section.figures) figures.push_back(to_json(figure));
    for (const Table& table : section.tables) tables.push_back(to_json(table));
    sections.push_back({{"title", section.title},
                        {"level", section.level},
                        {"folded", section.folded},
                        {"text", section.text},
                        {"alarm", section.alarm},
                        {"figures", figures},
                        {"tables", tables}});
  }
  return {{"title", model.title},
          {"summary", model.summary},
          {"alarm", model.alarm},
          {"sections", sections}};
}

int Slots::of(const std::string& name) {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found != names_.end()) return int(found - names_.begin());
  names_.push_back(name);
  return int(names_.size()) - 1;
}

}  // namespace trine::bench::report
