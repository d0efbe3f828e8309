#include "writers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>

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

std::string csv_number(std::optional<double> value) {
  return value ? fmt::format("{}", *value) : "";
}

struct Column {
  const char* name;
  std::function<std::string(const Document&, const Entry&)> text;
  bool figure = false;  ///< empty where the result isn't verified
};

Column phase(const char* name, std::optional<double> Entry::*member) {
  return {name, [member](const Document&, const Entry& e) { return csv_number(e.*member); }, true};
}

Column text(const char* name, std::string Entry::*member) {
  return {name, [member](const Document&, const Entry& e) { return e.*member; }};
}

const std::vector<Column>& columns() {
  static const std::vector<Column> all = {
      {"host", [](const Document& d, const Entry& e) { return d.hosts[e.host].label; }},
      {"cpu", [](const Document& d,
                 const Entry& e) { return d.hosts[e.host].host.value("cpu", std::string()); }},
      {"version", [](const Document& d, const Entry& e) { return d.hosts[e.host].version; }},
      text("operation", &Entry::operation),
      text("function", &Entry::function),
      text("map", &Entry::map),
      text("axis", &Entry::axis),
      text("dtype", &Entry::dtype),
      text("result_dtype", &Entry::result_dtype),
      {"shape",
       [](const Document&, const Entry& e) { return fmt::format("{}", fmt::join(e.shape, "x")); }},
      {"batch", [](const Document&, const Entry& e) { return std::to_string(e.batch); }},
      text("layout", &Entry::layout),
      text("values", &Entry::values),
      {"strides", [](const Document&,
                     const Entry& e) { return fmt::format("{}", fmt::join(e.strides, " ")); }},
      {"offsets", [](const Document&,
                     const Entry& e) { return fmt::format("{}", fmt::join(e.offsets, " ")); }},
      text("device", &Entry::device),
      text("requested", &Entry::requested),
      text("rung", &Entry::rung),
      {"parameters", [](const Document&, const Entry& e) { return e.parameter_text(); }},
      text("numerics", &Entry::numerics),
      text("memory", &Entry::memory),
      text("method", &Entry::method),
      {"samples", [](const Document&, const Entry& e) { return std::to_string(e.samples); }, true},
      phase("alloc", &Entry::alloc),
      phase("h2d", &Entry::h2d),
      phase("kernel", &Entry::kernel),
      phase("d2h", &Entry::d2h),
      phase("total", &Entry::total),
      phase("first", &Entry::first),
      {"spread", [](const Document&, const Entry& e) { return csv_number(e.spread); }, true},
      {"interval",
       [](const Document&, const Entry& e) {
         return fmt::format("{}", fmt::join(e.interval, " "));
       },
       true},
      {"rate", [](const Document&, const Entry& e) { return csv_number(e.rate.value); }, true},
      {"rate_unit", [](const Document&, const Entry& e) { return e.rate.unit; }},
      {"roof", [](const Document&, const Entry& e) { return csv_number(e.roof.value); }, true},
      {"roof_what", [](const Document&, const Entry& e) { return e.roof.what; }},
      phase("peak", &Entry::peak),
      phase("peer_ratio", &Entry::peer_ratio),
      {"status",
       [](const Document&, const Entry& e) {
         return std::string(e.skipped ? "refused" : e.verified ? "verified" : "wrong");
       }},
      text("failure", &Entry::failure),
      text("digest", &Entry::digest)};
  return all;
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
    rule.emplace_back(std::any_of(table.rows.begin(), table.rows.end(),
                                  [c](const auto& row) { return row[c].value.has_value(); })
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
  for (char c : text) {
    if (c == '<')
      safe += "\\u003c";
    else
      safe += c;
  }
  return safe;
}

}  // namespace

void write_csv(std::ostream& out, const Document& document) {
  std::string line;
  for (const Column& column : columns()) line.append(column.name).push_back(',');
  line.back() = '\n';
  out << line;
  for (const Entry& e : document.results) {
    line.clear();
    for (const Column& column : columns())
      line += csv_text(column.figure && !e.verified ? "" : column.text(document, e)) + ',';
    line.back() = '\n';
    out << line;
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
  const std::string data = script_json(to_json(model));
  // In the order of the page.
  const std::pair<std::string_view, std::string_view> parts[] = {
      {"@report.css@", embedded("report.css")},
      {"@data@", data},
      {"@chart.js@", chart},
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
