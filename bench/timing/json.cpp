#include "json.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <thread>
#include <tuple>

#include "bench/ui/error.hpp"

namespace trine::bench {
namespace {

using nlohmann::ordered_json;

/// What a result holds and its JSON too, for the one who writes and the one who reads.
template <class R, class Do>
void each_field(R& r, Do field) {
  field("/batch", r.problem.batch);
  field("/layout", r.problem.layout);
  field("/values", r.problem.values);
  field("/device", r.device);
  field("/requested", r.requested);
  field("/why", r.why);
  field("/peer_ratio", r.peer_ratio);
  field("/verified", r.verified);
  field("/failure", r.failure);
  field("/skipped", r.skipped);
  field("/method", r.method);
  field("/memory", r.memory);
  field("/samples", r.samples);
  field("/seconds/alloc", r.alloc);
  field("/seconds/h2d", r.h2d);
  field("/seconds/kernel", r.kernel);
  field("/seconds/d2h", r.d2h);
  field("/seconds/total", r.total);
  field("/seconds/first", r.first);
  field("/spread", r.spread);
  field("/rounds", r.rounds);
  field("/rate/value", r.rate);
  field("/roof/value", r.roof.value);
  field("/roof/unit", r.roof.unit);
  field("/roof/what", r.roof.what);
  field("/roof/rounds", r.roofs);
}

/// Leaves `value` as it is where there is none, or null.
template <class T>
void read(const ordered_json& json, const char* path, T& value) {
  const ordered_json::json_pointer place(path);
  if (!json.contains(place) || json.at(place).is_null()) return;
  if constexpr (std::is_same_v<T, std::optional<double>>)
    value = json.at(place).get<double>();
  else
    json.at(place).get_to(value);
}

/// Absent where it wasn't measured.
void write(ordered_json& json, const char* key, const Timed& timed) {
  if (timed.seconds)
    json[key] = {{"seconds", *timed.seconds},
                 {"rounds", timed.rounds},
                 {"interval", {timed.interval.low, timed.interval.high}}};
}
void read(const ordered_json& json, const char* key, Timed& timed) {
  const auto at = json.find(key);
  if (at == json.end()) return;
  read(*at, "/seconds", timed.seconds);
  read(*at, "/rounds", timed.rounds);
  read(*at, "/interval/0", timed.interval.low);
  read(*at, "/interval/1", timed.interval.high);
}

Numerics parse_numerics(const std::string& text) {
  for (const Numerics numerics :
       {Numerics::reproducible, Numerics::fast, Numerics::study, Numerics::vendor})
    if (text == name(numerics)) return numerics;
  throw Refusal(fmt::format("no numerics '{}'", text));
}

Problem problem_of(const ordered_json& json) {
  const auto word = [&](const char* key) { return json.at(key).get<std::string>(); };
  Problem p;
  p.operation = parse_operation(word("operation"));
  p.dtype = p.result = parse_dtype(word("dtype"));
  if (p.operation == Operation::reduce) {
    p.function = parse_function(word("function"));
    p.map = parse_map(word("map"));
    p.axis = parse_axis(word("axis"));
    p.result = parse_dtype(word("result_dtype"));
  }
  std::pair<int64_t, int64_t> strides{1, 1}, offsets{0, 0};
  read(json, "/strides", strides);
  read(json, "/offsets", offsets);
  std::tie(p.stride_in, p.stride_out) = strides;
  std::tie(p.offset_in, p.offset_out) = offsets;
  p.size = size_of_shape(p.operation, json.at("shape"));
  return p;
}

/// The value of `key` in a file of "key<separator>value" lines.
std::string line_value(const char* path, const std::string& key, char separator) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const size_t at = line.find(separator);
    if (at == std::string::npos) continue;
    std::string value = line.substr(at + 1);
    value.erase(0, value.find_first_not_of(" \t\""));
    value.erase(value.find_last_not_of(" \t\"") + 1);
    return value;
  }
  return "unknown";
}

ordered_json facts_json(const Facts& facts) {
  std::string uuid;
  for (uint8_t byte : facts.uuid) uuid += fmt::format("{:02x}", byte);
  return {{"id", facts.id},
          {"kind", facts.kind == DeviceKind::cpu   ? "cpu"
                   : facts.kind == DeviceKind::gpu ? "gpu"
                                                   : "other"},
          {"name", facts.name},
          {"vendor", facts.vendor},
          {"driver", facts.driver},
          {"probe", facts.probe},
          {"uuid", uuid},
          {"pci", facts.pci},
          {"memory_bytes", facts.memory_bytes},
          {"max_buffer_bytes", facts.max_buffer_bytes},
          {"local_memory_bytes", facts.local_memory_bytes},
          {"compute_units", facts.compute_units},
          {"version", fmt::format("{}.{}", facts.version_major, facts.version_minor)},
          {"peak_bandwidth", facts.peak_bandwidth},
          {"peak_f32", facts.peak_f32},
          {"peak_f64", facts.peak_f64}};
}

}  // namespace

ordered_json host_json() {
  ordered_json drivers = ordered_json::array();
  for (const Facts& facts : devices())
    if (facts.kind == DeviceKind::gpu)
      drivers.push_back({{"gpu", facts.name}, {"driver", facts.driver}});
  return {{"cpu", line_value("/proc/cpuinfo", "model name", ':')},
          {"cores", std::thread::hardware_concurrency()},
          {"os", line_value("/etc/os-release", "PRETTY_NAME", '=')},
          {"gpus", drivers}};
}

std::string host_sentence() {
  const ordered_json host = host_json();
  std::string text = fmt::format("{}, {} cores, {}", host["cpu"].get<std::string>(),
                                 host["cores"].get<int>(), host["os"].get<std::string>());
  return text;
}

ordered_json shape_json(const Problem& p) {
  if (p.operation == Operation::gemm) return {p.size.rows, p.size.cols, p.size.depth};
  return {p.size.rows, p.size.cols};
}

Size size_of_shape(Operation operation, const ordered_json& shape) {
  const auto extents = shape.get<std::vector<int64_t>>();
  if (extents.size() != (operation == Operation::gemm ? 3U : 2U))
    throw Refusal("'shape' isn't that of the operation");
  return {extents[0], extents[1], extents.size() > 2 ? extents[2] : 0};
}

ordered_json devices_json() {
  ordered_json all = ordered_json::array();
  for (const BackendInfo& backend : backends()) {
    ordered_json entry = {{"backend", backend.name},    {"build", backend.build},
                          {"path", backend.path},       {"reason", backend.reason},
                          {"extends", backend.extends}, {"devices", ordered_json::array()}};
    for (const Facts& facts : backend.devices) entry["devices"].push_back(facts_json(facts));
    all.push_back(entry);
  }
  return all;
}

ordered_json to_json(const Result& r) {
  const Problem& p = r.problem;
  const bool reduce = p.operation == Operation::reduce;
  ordered_json json;
  json["operation"] = name(p.operation);
  json["function"] = reduce ? ordered_json(name(p.function)) : ordered_json();
  json["map"] = reduce ? ordered_json(name(p.map)) : ordered_json();
  json["axis"] = reduce ? ordered_json(name(p.axis)) : ordered_json();
  json["dtype"] = name(p.dtype);
  json["result_dtype"] = name(p.result);
  json["shape"] = shape_json(p);
  json["strides"] = {p.stride_in, p.stride_out};
  json["offsets"] = {p.offset_in, p.offset_out};
  json["parameters"] = ordered_json::object();
  for (const auto& [key, value] : parameters_of(r.rung)) json["parameters"][key] = value;
  json["rung"] = bare(r.rung);
  if (r.rung_index >= 0) json["rung_index"] = r.rung_index;
  if (r.built_in) json["built_in"] = true;
  json["numerics"] = name(r.numerics);
  json["vendor"] = r.vendor();
  json["digest"] = fmt::format("{:016x}", r.digest);
  json["interval"] = {r.interval.low, r.interval.high};
  write(json, "waited", r.waited);
  each_field(r, [&json](const char* path, const auto& value) {
    ordered_json& field = json[ordered_json::json_pointer(path)];
    if constexpr (std::is_same_v<decltype(value), const std::optional<double>&>)
      field = value ? ordered_json(*value) : ordered_json();
    else
      field = value;
  });
  json["rate"]["unit"] = rated_by_flops(p) ? "flop/s" : "B/s";
  for (const char* word : {"requested", "failure"})
    if (json[word] == "") json[word] = nullptr;
  return json;
}

Result result_of(const ordered_json& json) {
  for (const char* key : {"device", "memory", "verified", "skipped", "rate", "roof", "seconds"})
    json.at(key);
  Result r;
  r.problem = problem_of(json);
  each_field(r, [&json](const char* path, auto& value) { read(json, path, value); });
  read(json, "/rung", r.rung);
  const ordered_json parameters = json.value("parameters", ordered_json::object());
  char before = ':';
  for (const auto& [key, value] : parameters.items()) {
    r.rung += fmt::format("{}{}={}", before, key,
                          value.is_string() ? value.get<std::string>() : value.dump());
    before = ',';
  }
  read(json, "/rung_index", r.rung_index);
  read(json, "/built_in", r.built_in);
  std::string numerics(name(r.numerics)), digest = "0";
  read(json, "/numerics", numerics);
  r.numerics = parse_numerics(numerics);
  read(json, "/digest", digest);
  std::from_chars(digest.data(), digest.data() + digest.size(), r.digest, 16);
  std::pair<double, double> interval;
  read(json, "/interval", interval);
  r.interval = {interval.first, interval.second};
  read(json, "waited", r.waited);
  return r;
}

ordered_json to_json(const Document& document) {
  const std::time_t now = std::time(nullptr);
  ordered_json json = {{"schema", 1},
                       {"version", TRINE_VERSION_STRING},
                       {"command", document.command},
                       {"date", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now))},
                       {"partial", document.partial},
                       {"host", host_json()},
                       {"devices", devices_json()},
                       {"results", ordered_json::array()}};
  for (const Result& result : document.results) json["results"].push_back(to_json(result));
  json.update(document.arrays);
  return json;
}

ordered_json read_json(const std::string& path) {
  constexpr int kDeepest = 64;
  std::ifstream file(path);
  if (!file) throw Refusal(fmt::format("{}: can't be read", path));
  try {
    // `depth` counts the arrays and objects around the one that begins.
    return ordered_json::parse(
        file, [&](int depth, ordered_json::parse_event_t event, const auto&) {
          using Event = ordered_json::parse_event_t;
          const bool begins = event == Event::array_start || event == Event::object_start;
          if (begins && depth >= kDeepest)
            throw Refusal(fmt::format("{}: nested deeper than {}, which no file of Trine is", path,
                                      kDeepest));
          return true;
        });
  } catch (const ordered_json::exception&) {
    throw Refusal(fmt::format("{}: no JSON, or cut off", path));
  }
}

void write_json(const std::string& path, const ordered_json& document) {
  // Names come from drivers, paths and error messages, in whatever bytes they have.
  constexpr auto kReplace = ordered_json::error_handler_t::replace;
  write_whole(path,
              [&](std::ostream& file) { file << document.dump(1, ' ', false, kReplace) << '\n'; });
}

}  // namespace trine::bench
