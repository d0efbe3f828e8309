// `trine report`: checked results of one or several runs, as a page whose script draws them, or
// CSV.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>

#include "bench/timing/json.hpp"
#include "bench/ui/commands.hpp"
#include "bench/ui/error.hpp"
#include "bench/ui/output.hpp"
#include "report_page.h"

namespace trine::bench {
namespace {

using nlohmann::ordered_json;

struct ReportOptions {
  std::vector<std::string> files;
  std::string html, csv;
  bool apart = false;
};

/// A field in words, "" where there is none.
std::string text_of(const ordered_json& object, const char* key) {
  const ordered_json value = object.value(key, ordered_json(""));
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// The document of a file; throws where it isn't one that the page and the CSV can show.
ordered_json document_of(const std::string& path) {
  const ordered_json json = read_json(path);
  if (!json.is_object() || !json.contains("results") || text_of(json, "schema") != "1")
    throw Refusal(path + ": no results of `trine compare --json` or its like, of schema 1");
  if (!json.value("host", ordered_json()).is_object()) throw Refusal(path + ": no 'host'");
  for (const char* key : {"devices", "roofs", "crossings", "timelines", "published", "sweeps"})
    for (const ordered_json& each : json.value(key, ordered_json::array()))
      if (!each.is_object()) throw Refusal(fmt::format("{}: '{}' must hold objects", path, key));
  size_t number = 0;
  try {
    for (const ordered_json& result : json.at("results")) ++number, check_result(result);
  } catch (const std::exception& error) {
    throw Refusal(fmt::format("{}: result {}: {}", path, number, error.what()));
  }
  return json;
}

/// The words that two files of one machine and one version have in common.
std::string machine_of(const ordered_json& document) {
  std::string words = text_of(document, "version");
  for (const char* key : {"cpu", "cores", "os"}) words += "|" + text_of(document.at("host"), key);
  for (const ordered_json& backend : document.value("devices", ordered_json::array()))
    for (const ordered_json& d : backend.value("devices", ordered_json::array()))
      for (const char* key : {"id", "name", "driver", "uuid"}) words += "|" + text_of(d, key);
  return words;
}

/// [{"host": 0, "file": …, "document": …}, …] by their dates; `host`: the number of the machine.
std::vector<ordered_json> read_runs(const ReportOptions& o) {
  std::vector<ordered_json> runs;
  for (const std::string& path : o.files)
    runs.push_back({{"host", 0}, {"file", path}, {"document", document_of(path)}});
  std::ranges::stable_sort(runs, {}, [](const auto& r) { return text_of(r["document"], "date"); });
  std::vector<std::string> machines;
  for (ordered_json& run : runs) {
    const std::string own = o.apart ? std::to_string(machines.size()) : machine_of(run["document"]);
    run["host"] = std::ranges::find(machines, own) - machines.begin();
    if (run["host"] == machines.size()) machines.push_back(own);
  }
  return runs;
}

/// RFC 4180; numbers with all their digits, nothing for null.
std::string csv_value(const ordered_json& value) {
  if (value.is_null()) return {};
  std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  for (size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2)
    text.insert(at, 1, '"');
  return '"' + text + '"';
}

/// A row a result, a column each field: "seconds.kernel". A result that isn't verified has no
/// figures.
std::string csv_of(const std::vector<ordered_json>& runs) {
  std::vector<std::string> columns{"host", "file"};
  std::vector<ordered_json> rows;
  for (const ordered_json& run : runs)
    for (ordered_json result : run.at("document").at("results")) {
      for (const char* key : {"seconds", "rate", "rounds", "interval", "waited", "peer_ratio"})
        if (result["verified"] != true) result.erase(key);
      ordered_json row{{"host", run["host"]}, {"file", run["file"]}};
      const ordered_json flat = result.flatten();
      for (const auto& [path, value] : flat.items()) {
        std::string column = path.substr(1);
        std::ranges::replace(column, '/', '.');
        if (std::ranges::find(columns, column) == columns.end()) columns.push_back(column);
        row[column] = value;
      }
      rows.push_back(row);
    }
  std::string text = fmt::format("{}", fmt::join(columns, ","));
  for (const ordered_json& row : rows)
    for (const std::string& column : columns)
      text += (&column == &columns[0] ? "\n" : ",") + csv_value(row.value(column, ordered_json()));
  return text + "\n";
}

std::string embedded(std::string_view name) {
  for (size_t i = 0; i < report_page_count; ++i)
    if (report_page[i].name == name)
      return {reinterpret_cast<const char*>(report_page[i].data), report_page[i].size};
  throw Refusal("this trine was built without Chart.js (Debian: libjs-chart.js): --csv works");
}

std::string page_of(const ordered_json& runs) {
  std::string data;  // no tag can begin in it
  for (char c : runs.dump(-1, ' ', false, ordered_json::error_handler_t::replace))
    data += c == '<' ? "\\u003c" : std::string(1, c);
  return fmt::format(
      "{}<script type=\"application/json\" id=\"data\">{}</script>\n<script>{}</script>\n"
      "<script>{}</script>\n</body>\n</html>\n",
      embedded("report.html"), data, embedded(TRINE_CHART_JS), embedded("report.js"));
}

int write_report(const ReportOptions& o) {
  if (o.html.empty() && o.csv.empty())
    throw Refusal("name an output: --html FILE or --csv FILE (- prints it)");
  const std::vector<ordered_json> runs = read_runs(o);
  const std::string html = o.html.empty() ? "" : page_of(runs), csv = csv_of(runs);
  for (const auto& [path, text] : {std::pair(&o.html, &html), std::pair(&o.csv, &csv)})
    if (*path == "-")
      std::fputs(text->c_str(), stdout);
    else if (!path->empty())
      write_whole(*path, [&, &whole = *text](std::ostream& file) { file << whole; });
  return kExitGood;
}

}  // namespace

Command add_report(CLI::App& app) {
  auto o = std::make_shared<ReportOptions>();
  app.add_option("FILE", o->files, "what other commands wrote with --json")->required();
  app.add_option("--html", o->html, "one page that needs no network")->type_name("FILE");
  app.add_option("--csv", o->csv, "one row per result; - prints it")->type_name("FILE");
  app.add_flag("--apart", o->apart, "take each file as a host's own: before and after a change");
  return [o] { return write_report(*o); };
}

}  // namespace trine::bench
