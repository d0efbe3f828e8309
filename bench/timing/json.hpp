// The JSON file of a run, described in docs/json.md and checked by a schema test.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/ui/output.hpp"
#include "result.hpp"

namespace trine::bench {

nlohmann::ordered_json host_json();
nlohmann::ordered_json devices_json();
nlohmann::ordered_json shape_json(const Problem& problem);
nlohmann::ordered_json to_json(const Result& result);
/// Throws where the object is no result: a field is missing, or of another kind.
void check_result(const nlohmann::ordered_json& json);
/// The document of a command: its results and, under their names, the entries that only some
/// commands have (roofs, crossings, timelines, published, verify).
struct Document {
  std::string command;
  std::vector<Result> results = {};
  nlohmann::ordered_json arrays = nlohmann::ordered_json::object();
  bool partial = false;
};
/// {"schema": 1, "version": …, "command": …, "date": …, "host": …, "devices": …, "results": …, …}
nlohmann::ordered_json to_json(const Document& document);

/// The JSON of a file; throws Refusal where there is none, or its arrays and objects are nested so
/// deep that what walks through them could overflow the stack.
nlohmann::ordered_json read_json(const std::string& path);

/// As write_whole() does.
void write_json(const std::string& path, const nlohmann::ordered_json& document);

/// The host in words: "Intel(R) Xeon(R) …, 2 cores, Debian GNU/Linux 12".
std::string host_sentence();

}  // namespace trine::bench
