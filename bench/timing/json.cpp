#include "json.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <thread>

#include "bench/ui/error.hpp"

namespace trine::bench {
namespace {

using nlohmann::ordered_json;

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

ordered_json seconds_json(std::optional<double> seconds) {
  return seconds ? ordered_json(*seconds) : ordered_json();
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

ordered_json parameters_json(const std::string& rung) {
  ordered_json parameters = ordered_json::object();
  size_t begin = rung.find(':');
  while (begin != std::string::npos) {
    const size_t end = rung.find(',', begin + 1), equal = rung.find('=', begin);
    if (equal == std::string::npos) break;
    parameters[rung.substr(begin + 1, equal - begin - 1)] =
        rung.substr(equal + 1, end == std::string::npos ? end : end - equal - 1);
    begin = end;
  }
  return parameters;
}

}  // namespace

ordered_json host_json() {
  ordered_json drivers = ordered_json::array();
  for (const BackendInfo& backend : backends())
    for (const Facts& facts : backend.devices)
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
  json["batch"] = p.batch;
  json["layout"] = p.layout;
  json["strides"] = {p.stride_in, p.stride_out};
  json["offsets"] = {p.offset_in, p.offset_out};
  json["values"] = p.values;
  json["parameters"] = parameters_json(r.rung);
  json["device"] = r.device;
  json["requested"] = r.requested.empty() ? ordered_json() : ordered_json(r.requested);
  json["rung"] = r.rung.substr(0, r.rung.find(':'));
  if (r.rung_index >= 0) json["rung_index"] = r.rung_index;
  json["why"] = r.why;
  if (r.built_in) json["built_in"] = true;
  json["numerics"] = name(r.numerics);
  json["vendor"] = r.vendor();
  json["peer_ratio"] = r.peer_ratio ? ordered_json(*r.peer_ratio) : ordered_json();
  json["verified"] = r.verified;
  json["failure"] = r.failure.empty() ? ordered_json() : ordered_json(r.failure);
  json["skipped"] = r.skipped;
  json["digest"] = fmt::format("{:016x}", r.digest);
  json["method"] = r.method;
  json["samples"] = r.samples;
  json["seconds"] = {{"alloc", seconds_json(r.alloc)},   {"h2d", seconds_json(r.h2d)},
                     {"kernel", seconds_json(r.kernel)}, {"d2h", seconds_json(r.d2h)},
                     {"total", seconds_json(r.total)},   {"first", seconds_json(r.first)}};
  json["spread"] = r.spread;
  json["rounds"] = r.rounds;
  json["interval"] = {r.interval.low, r.interval.high};
  json["rate"] = {{"value", r.rate}, {"unit", rated_by_flops(p) ? "flop/s" : "B/s"}};
  json["roof"] = {
      {"value", r.roof.value}, {"unit", r.roof.unit}, {"what", r.roof.what}, {"rounds", r.roofs}};
  json["memory"] = r.memory;
  return json;
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
