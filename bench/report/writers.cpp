#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "bench/timing/json.hpp"
#include "bench/ui/error.hpp"
#include "report_page.h"

namespace trine::bench::report {
namespace {

/// RFC 4180: quoted where it must be.
std::string csv_text(std::string text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  for (size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2)
    text.insert(at, 1, '"');
  return '"' + text + '"';
}

/// Numbers with all their digits, arrays joined, nothing for null.
std::string csv_value(const ordered_json& value) {
  if (value.is_null()) return {};
  if (value.is_string()) return csv_text(value.get<std::string>());
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const ordered_json& each : value) text += (text.empty() ? "" : " ") + csv_value(each);
  return text;
}

constexpr const char* kColumns[] = {
    "host",    "cpu",          "version",   "operation", "function",   "map",      "axis",
    "dtype",   "result_dtype", "shape",     "batch",     "layout",     "values",   "strides",
    "offsets", "device",       "requested", "rung",      "parameters", "numerics", "memory",
    "method",  "samples",      "alloc",     "h2d",       "kernel",     "d2h",      "total",
    "first",   "spread",       "interval",  "rate",      "rate_unit",  "roof",     "roof_what",
    "peak",    "peer_ratio",   "status",    "failure",   "digest",     "asked"};
/// Empty where the result isn't verified.
constexpr const char* kFigures[] = {"samples", "alloc", "h2d",       "kernel",   "d2h",
                                    "total",   "first", "spread",    "interval", "rate",
                                    "roof",    "peak",  "peer_ratio"};

/// The result as its JSON has it, without levels.
ordered_json record_of(const Runs& runs, const Entry& e) {
  ordered_json record = to_json(e);
  record.update(ordered_json(record["seconds"]));
  for (const std::string name : {"rate", "roof"}) {
    const ordered_json of = record[name];
    record[name] = of["value"];
    record[name + "_unit"] = of["unit"];
    record[name + "_what"] = of.value("what", "");
  }
  const Host& host = runs.hosts[e.host];
  record.update(
      {{"host", host.label},
       {"cpu", text_of(host.host, "cpu")},
       {"version", host.version},
       {"parameters", e.parameter_text()},
       {"shape", fmt::format("{}", fmt::join(record["shape"].get<std::vector<int64_t>>(), "x"))},
       {"peak", e.peak ? ordered_json(*e.peak) : ordered_json()},
       {"status", e.skipped    ? "refused"
                  : e.verified ? "verified"
                               : "wrong"}});
  if (e.interval.high <= 0) record["interval"] = nullptr;
  for (const char* figure : kFigures)
    if (!e.verified) record[figure] = nullptr;
  return record;
}

/// A cell of a Markdown table: one line, and nothing in it is markup.
std::string markdown_text(const std::string& text) {
  std::string safe;
  for (char c : text) {
    if (std::string_view("\\|<>*_`[]#&!~").find(c) != std::string_view::npos) safe += '\\';
    safe += c == '\n' || c == '\r' ? ' ' : c;
  }
  return safe;
}

void write_table(std::ostream& out, const Table& table) {
  const auto line = [&](const auto& cells, auto text) {
    out << '|';
    for (const auto& cell : cells) out << ' ' << text(cell) << " |";
    out << '\n';
  };
  out << "\n**" << markdown_text(table.caption) << "**\n\n";
  line(table.head, markdown_text);
  std::vector<std::string> rule;
  for (size_t c = 0; c < table.head.size(); ++c)
    rule.emplace_back(
        std::ranges::any_of(table.rows, [c](const auto& row) { return row[c].value.has_value(); })
            ? "--:"
            : "---");
  line(rule, [](const std::string& text) { return text; });
  for (const auto& row : table.rows)
    line(row, [](const Cell& cell) {
      const std::string text = markdown_text(cell.text);
      return cell.wrong && !text.empty() ? "**" + text + "**" : text;
    });
  if (!table.note.empty()) out << '\n' << markdown_text(table.note) << '\n';
}

std::string_view embedded(std::string_view name) {
  for (size_t i = 0; i < report_page_count; ++i)
    if (report_page[i].name == name)
      return {reinterpret_cast<const char*>(report_page[i].data), report_page[i].size};
  return {};
}

/// JSON that may stand in a script element: no tag can begin in it.
std::string script_json(const ordered_json& json) {
  std::string text = json.dump(-1, ' ', false, ordered_json::error_handler_t::replace), safe;
  for (char c : text) safe += c == '<' ? "\\u003c" : std::string(1, c);
  return safe;
}

}  // namespace

void write_csv(std::ostream& out, const Runs& runs) {
  out << fmt::format("{}\n", fmt::join(kColumns, ","));
  for (const Entry& e : runs.results) {
    const ordered_json record = record_of(runs, e);
    const char* before = "";
    for (const char* column : kColumns)
      out << std::exchange(before, ",") << csv_value(record.at(column));
    out << '\n';
  }
}

void write_markdown(std::ostream& out, const Model& model) {
  out << "# " << markdown_text(model.title) << "\n\n" << markdown_text(model.summary) << '\n';
  for (const Section& section : model.sections) {
    out << '\n'
        << std::string(size_t(section.level), '#') << ' ' << markdown_text(section.title) << '\n';
    if (!section.text.empty()) out << '\n' << markdown_text(section.text) << '\n';
    for (const Table& table : section.tables) write_table(out, table);
  }
}

std::string page(const Model& model) {
  const std::string_view chart = embedded(TRINE_CHART_JS);
  if (chart.empty())
    throw Refusal(
        "this trine was built without Chart.js, which --html needs: install it (Debian: "
        "libjs-chart.js) and build again; --csv and --markdown work without it");
  const std::string data = script_json(model);
  // In the order of the page.
  const std::pair<std::string_view, std::string_view> parts[] = {
      {"@report.css@", embedded("report.css")},
      {"@data@", data},
      {"@chart.js@", chart},
      {"@axes.js@", embedded("axes.js")},
      {"@svg.js@", embedded("svg.js")},
      {"@report.js@", embedded("report.js")}};
  std::string page;
  std::string_view rest = embedded("report.html");
  for (const auto& [token, text] : parts) {
    const size_t at = rest.find(token);
    page.append(rest.substr(0, at)).append(text);
    rest.remove_prefix(at + token.size());
  }
  return page.append(rest);
}

}  // namespace trine::bench::report
