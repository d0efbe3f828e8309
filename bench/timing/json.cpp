#include "json.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <thread>
#include <type_traits>

#include "backends/kit/words.hpp"
#include "bench/cases/operations.hpp"
#include "bench/ui/error.hpp"
#include "lines.hpp"

namespace trine::bench {
namespace {

using nlohmann::ordered_json;

/// The fields that a result and its JSON have alike, for those who write and those who check it.
template <class R, class Do>
void each_field(R& r, Do field) {
  auto& p = r.problem;
  field("/operation", p.operation);
  field("/function", p.function);
  field("/map", p.map);
  field("/axis", p.axis);
  field("/dtype", p.dtype);
  field("/result_dtype", p.result);
  field("/strides/0", p.stride_in);
  field("/strides/1", p.stride_out);
  field("/offsets/0", p.offset_in);
  field("/offsets/1", p.offset_out);
  field("/batch", p.batch);
  field("/layout", p.layout);
  field("/values", p.values);
  field("/asked", p.numerics);
  field("/numerics", r.numerics);
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
  field("/interval/0", r.interval.low);
  field("/interval/1", r.interval.high);
  field("/rate/value", r.rate);
  field("/roof/value", r.roof.value);
  field("/roof/unit", r.roof.unit);
  field("/roof/what", r.roof.what);
  field("/roof/rounds", r.roofs);
  if (std::is_const_v<R> && !r.waited.seconds) return;  // absent where it wasn't measured
  field("/waited/seconds", r.waited.seconds);
  field("/waited/rounds", r.waited.rounds);
  field("/waited/interval/0", r.waited.interval.low);
  field("/waited/interval/1", r.waited.interval.high);
}

template <class T>
ordered_json written(const T& value) {
  if constexpr (std::is_same_v<T, std::optional<double>>)
    return value ? ordered_json(*value) : ordered_json();
  else if constexpr (std::is_enum_v<T>)
    return name(value);
  else
    return value;
}

std::string line_value(const char* path, const char* key, char separator) {
  char value[128];
  kit::line_value(path, key, separator, "unknown", value, sizeof value);
  return value;
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
  return fmt::format("{}, {} cores, {}", host["cpu"].get<std::string>(), host["cores"].get<int>(),
                     host["os"].get<std::string>());
}

ordered_json shape_json(const Problem& p) {
  if (describe(p.operation).factors == 3) return {p.size.rows, p.size.cols, p.size.depth};
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
  ordered_json json;
  each_field(r, [&json](const char* path, const auto& value) {
    json[ordered_json::json_pointer(path)] = written(value);
  });
  if (!describe(p.operation).has_function)
    for (const char* word : {"function", "map", "axis"}) json[word] = nullptr;
  json["shape"] = shape_json(p);
  json["parameters"] = ordered_json::object();
  for (const auto& [key, value] : parameters_of(r.rung)) json["parameters"][key] = value;
  json["rung"] = bare(r.rung);
  if (r.rung_index >= 0) json["rung_index"] = r.rung_index;
  if (r.built_in) json["built_in"] = true;
  json["vendor"] = r.vendor();
  json["digest"] = fmt::format("{:016x}", r.digest);
  json["rate"]["unit"] = rated_by_flops(p) ? "flop/s" : "B/s";  // of integers, too
  for (const char* word : {"requested", "failure"})
    if (json[word] == "") json[word] = nullptr;
  return json;
}

void check_result(const ordered_json& json) {
  for (const char* key : {"operation", "function", "map", "axis", "dtype", "result_dtype", "device",
                          "memory", "verified", "skipped", "rate", "roof", "seconds"})
    json.at(key);
  json.at("shape").get<std::vector<int64_t>>().at(1);
  Result kinds;
  each_field(kinds, [&json]<class T>(const char* path, T&) {
    const ordered_json::json_pointer place(path);
    if (!json.contains(place) || json.at(place).is_null()) return;
    using Number = std::conditional_t<std::is_same_v<T, std::optional<double>>, double, T>;
    json.at(place).get<std::conditional_t<std::is_enum_v<T>, std::string, Number>>();
  });
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
  const std::string text = read_text(path, uint64_t{1} << 30);
  try {
    // `depth` counts the arrays and objects around the one that begins.
    return ordered_json::parse(
        text, [&](int depth, ordered_json::parse_event_t event, const auto&) {
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
