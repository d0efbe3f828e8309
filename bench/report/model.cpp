#include "model.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/ui/table.hpp"

namespace trine::bench::report {
static void to_json(ordered_json& json, const Cell& cell) {
  json = cell.text;
  if (!cell.value && !cell.wrong) return;
  json = {{"text", cell.text}};
  if (cell.value) json["value"] = *cell.value;
  if (cell.wrong) json["wrong"] = true;
}

static void to_json(ordered_json& json, const Table& table) {
  json = {
      {"caption", table.caption}, {"head", table.head}, {"rows", table.rows}, {"note", table.note}};
}

static void to_json(ordered_json& json, const Axis& axis) {
  constexpr const char* kScales[] = {"linear", "log", "log2", "names"};
  json = {{"title", axis.title},
          {"unit", axis.unit},
          {"scale", kScales[int(axis.scale)]},
          {"names", axis.names}};
}

static void to_json(ordered_json& json, const Point& p) {
  json = {p.x, p.y};
  if (!p.label.empty()) json.push_back(p.label);
  if (!p.detail.empty()) json.push_back(p.detail);
}

static void to_json(ordered_json& json, const Series& series) {
  json = {{"label", series.label}, {"slot", series.slot},     {"dashed", series.dashed},
          {"line", series.line},   {"points", series.points}, {"data", series.data}};
  if (series.ramp) json["ramp"] = *series.ramp;
}

static void to_json(ordered_json& json, const Mark& mark) {
  json = {{"at", mark.at}};
  if (mark.low && mark.high) json["band"] = {*mark.low, *mark.high};
}

static void to_json(ordered_json& json, const Span& span) {
  json = {span.lane, span.index, span.begin, span.end};
}

static void to_json(ordered_json& json, const Figure& figure) {
  constexpr const char* kKinds[] = {"lines", "bars", "stack", "spans"};
  json = {{"kind", kKinds[int(figure.kind)]},
          {"title", figure.title},
          {"note", figure.note},
          {"x", figure.x},
          {"y", figure.y},
          {"series", figure.series},
          {"marks", figure.marks},
          {"spans", figure.spans}};
}

static void to_json(ordered_json& json, const Section& section) {
  json = {{"title", section.title},  {"level", section.level}, {"folded", section.folded},
          {"text", section.text},    {"alarm", section.alarm}, {"figures", section.figures},
          {"tables", section.tables}};
}

void to_json(ordered_json& json, const Model& model) {
  json = {{"title", model.title},
          {"summary", model.summary},
          {"alarm", model.alarm},
          {"sections", model.sections}};
}

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
    if (std::ranges::any_of(table.rows, [&](const auto& row) {
          return !row[c].text.empty() && row[c].text != "-";
        }))
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

int place_of(std::vector<std::string>& names, const std::string& name) {
  const auto place = std::ranges::find(names, name) - names.begin();
  if (size_t(place) == names.size()) names.push_back(name);
  return int(place);
}

}  // namespace trine::bench::report
