#include "tables.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "source_documents.h"

namespace trine::bench {
namespace {

using nlohmann::json;

/// NaN: not stated.
double number(const json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

/// With the row's words in place of their names in braces.
std::string filled(std::string text, const json& row) {
  for (size_t open = 0; (open = text.find('{')) != std::string::npos;) {
    const size_t close = text.find('}', open);
    const std::string name = text.substr(open + 1, close - open - 1);
    text.replace(open, close - open + 1, row.at(name).get<std::string>());
  }
  return text;
}

Problem problem_of(const json& table, const json& row) {
  const Operation operation = parse_operation(table.at("operation").get<std::string>());
  return problem_of(
      operation, parse_dtype(table.at("dtype").get<std::string>()),
      parse_size(operation, (row.contains("size") ? row : table).at("size").get<std::string>()));
}

Line line_of(const json& table, const json& row, json cell, const json& published) {
  cell.insert(row.begin(), row.end());  // what the column doesn't say, the row does
  Line line{.label = row.at("label"),
            .column = cell.value("column", ""),
            .rung = filled(cell.at("rung"), row),
            .problem = problem_of(table, row),
            .on = cell.value("on", "")};
  for (const json& figure : published.is_array() ? published : json::array({published}))
    line.published.push_back(number(figure));
  return line;
}

Table table_of(const json& from) {
  Table table{.title = from.at("title"),
              .ours = from.at("ours"),
              .figures = from.at("figures"),
              .lines = {},
              .over_first = from.value("over_first", false),
              .bests = from.value("bests", false)};
  const auto columns = from.value("columns", json::array({json::object()}));
  for (const auto& row : from.at("rows")) {
    const auto published = row.value("published", json(columns.size(), nullptr));
    for (size_t i = 0; i < published.size(); ++i)
      table.lines.push_back(line_of(from, row, columns.at(i), published[i]));
  }
  if (const auto curves = from.find("curves"); curves != from.end())
    table.curves = {number((*curves)[0]), number((*curves)[1]), number((*curves)[2]),
                    number((*curves)[3])};
  if (const auto found = from.find("roofline"); found != from.end()) {
    table.roofline = Roofline{found->at("label"), {}};
    for (const auto& roof : found->at("roofs"))
      table.roofline->roofs.push_back(
          {roof[0], number(roof[1]), number(roof[2]), number(roof[3]), number(roof[4])});
  }
  return table;
}

std::vector<Publication> documents() {
  const trine_embedded_file& file = source_documents[0];
  std::vector<Publication> all;
  for (const json& document : json::parse(file.data, file.data + file.size)) {
    all.push_back({document.at("number"), document.at("name"), {}, document.at("remark")});
    for (const json& table : document.at("tables")) all.back().tables.push_back(table_of(table));
  }
  return all;
}

}  // namespace

const Publication* find_document(std::string_view number) {
  static const std::vector<Publication> all = documents();
  for (const Publication& document : all)
    if (document.number == number) return &document;
  return nullptr;
}

bool is_one_of(const Table& table, const std::vector<Operation>& operations) {
  return std::ranges::find(operations, table.lines[0].problem.operation) != operations.end();
}

}  // namespace trine::bench
