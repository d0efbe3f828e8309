#include "document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "bench/timing/json.hpp"
#include "bench/ui/error.hpp"

namespace trine::bench::report {
namespace {

std::string text_of(const ordered_json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? std::string() : found->get<std::string>();
}

std::optional<double> number_of(const ordered_json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return std::nullopt;
  return found->get<double>();
}

Rate rate_of(const ordered_json& object) {
  return {object.at("value").get<double>(), text_of(object, "unit"), text_of(object, "what")};
}

Entry entry_of(const ordered_json& r, size_t host) {
  Entry e;
  e.host = host;
  const std::pair<const char*, std::string*> words[] = {
      {"operation", &e.operation}, {"function", &e.function}, {"map", &e.map},
      {"axis", &e.axis},           {"dtype", &e.dtype},       {"result_dtype", &e.result_dtype},
      {"layout", &e.layout},       {"values", &e.values},     {"device", &e.device},
      {"requested", &e.requested}, {"rung", &e.rung},         {"numerics", &e.numerics},
      {"memory", &e.memory},       {"method", &e.method},     {"failure", &e.failure},
      {"digest", &e.digest}};
  for (const auto& [key, word] : words) *word = text_of(r, key);
  for (const char* key : {"operation", "dtype", "device", "memory"}) r.at(key).get<std::string>();
  e.shape = shape_of(r);
  e.batch = r.value("batch", int64_t(1));
  e.strides = r.value("strides", e.strides);
  e.offsets = r.value("offsets", e.offsets);
  const ordered_json parameters = r.value("parameters", ordered_json::object());
  for (const auto& [key, value] : parameters.items())
    e.parameters.emplace_back(key, value.is_string() ? value.get<std::string>() : value.dump());
  const ordered_json& seconds = r.at("seconds");
  const std::pair<const char*, std::optional<double>*> phases[] = {
      {"alloc", &e.alloc}, {"h2d", &e.h2d},     {"kernel", &e.kernel},
      {"d2h", &e.d2h},     {"total", &e.total}, {"first", &e.first}};
  for (const auto& [key, phase] : phases) *phase = number_of(seconds, key);
  e.peer_ratio = number_of(r, "peer_ratio");
  if (r.contains("rounds") && !r.at("rounds").is_null())
    e.rounds = r.at("rounds").get<std::vector<double>>();
  e.interval = r.value("interval", e.interval);
  e.samples = r.value("samples", int64_t(0));
  e.rung_index = r.value("rung_index", int64_t(0));
  e.spread = r.value("spread", 0.0);
  e.rate = rate_of(r.at("rate"));
  e.roof = rate_of(r.at("roof"));
  e.vendor = r.value("vendor", false);
  e.verified = r.at("verified").get<bool>();
  e.skipped = r.at("skipped").get<bool>();
  return e;
}

/// Where strides or offsets of a problem vary on a device, they are parameters, its dense case included.
void mark_access(std::vector<Entry>& results) {
  const Entry dense;
  const auto varies = [&](const Entry& e) {
    return e.strides != dense.strides || e.offsets != dense.offsets;
  };
  std::set<std::tuple<std::string, std::string, std::vector<int64_t>>> series;
  for (const Entry& e : results)
    if (varies(e)) series.emplace(e.operation, e.device, e.shape);
  for (Entry& e : results) {
    e.access = series.contains({e.operation, e.device, e.shape});
    if (!e.access) continue;
    const auto largest = [](const std::vector<int64_t>& of) {
      return std::to_string(of.empty() ? 0 : *std::max_element(of.begin(), of.end()));
    };
    e.parameters.emplace_back("stride", largest(e.strides));
    e.parameters.emplace_back("offset", largest(e.offsets));
  }
}

double fact_of(const ordered_json& devices, const std::string& id, const char* key) {
  for (const ordered_json& backend : devices)
    for (const ordered_json& device : backend.value("devices", ordered_json::array()))
      if (text_of(device, "id") == id) return number_of(device, key).value_or(0);
  return 0;
}

/// The data sheet's rate for the result, as far as its device tells.
std::optional<double> peak_of(const ordered_json& devices, const Entry& e) {
  const double peak = e.operation == "gemm" ? nominal_flops(devices, e.device, e.dtype)
                                            : nominal_bandwidth(devices, e.device);
  return peak > 0 ? std::optional(peak) : std::nullopt;
}

/// The case and all that the figure depends on, its host apart.
std::string key_of(const Entry& e) {
  return fmt::format("{} {} {} {} {} {} {}", e.group(), fmt::join(e.shape, "x"), e.device,
                     e.requested, e.variant(), e.memory, e.method);
}

/// What the file is instead, where that can be told.
std::string stranger(const ordered_json& json) {
  if (json.contains("verify")) return "it is what `trine verify` wrote";
  if (json.contains("context") && json.contains("benchmarks"))
    return "it is Google Benchmark's format";
  if (json.contains("schema")) return "it is what `trine info` wrote, or another tool";
  return "it isn't one of Trine's files";
}

ordered_json parse(const std::string& path) {
  ordered_json json = read_json(path);
  if (!json.is_object() || !json.contains("results") || !json.contains("schema"))
    throw Refusal(fmt::format("{}: no results of `trine compare --json` or its like: {}", path,
                              json.is_object() ? stranger(json) : "it holds no object"));
  if (json.at("schema") != 1)
    throw Refusal(fmt::format("{}: schema {}, and this trine reads schema 1", path,
                              json.at("schema").dump()));
  return json;
}

/// A host for the file, or the one that it continues.
size_t host_of(Document& all, const ordered_json& json, const std::vector<Entry>& results) {
  std::set<std::string> keys;
  for (const Entry& e : results) keys.insert(key_of(e));
  const ordered_json& host = json.at("host");
  const std::string version = text_of(json, "version");
  if (!host.is_object()) throw Refusal("'host' is no object");
  for (size_t i = 0; i < all.hosts.size(); ++i) {
    const auto measured = [&](const Entry& e) { return e.host == i && keys.contains(key_of(e)); };
    if (all.hosts[i].host == host && all.hosts[i].version == version &&
        std::none_of(all.results.begin(), all.results.end(), measured))
      return i;
  }
  all.hosts.push_back({.label = {},
                       .host = host,
                       .devices = json.value("devices", ordered_json::array()),
                       .version = version,
                       .files = {},
                       .commands = {},
                       .dates = {}});
  return all.hosts.size() - 1;
}

void add(Document& all, const std::string& path, const ordered_json& json) {
  std::vector<Entry> results;
  for (const ordered_json& r : json.at("results")) {
    try {
      results.push_back(entry_of(r, 0));
    } catch (const std::exception& error) {
      throw Refusal(fmt::format("result {}: {}", results.size() + 1, error.what()));
    }
  }
  mark_access(results);
  const size_t host = host_of(all, json, results);
  for (Entry& e : results) {
    e.host = host;
    e.peak = peak_of(all.hosts[host].devices, e);
    all.results.push_back(std::move(e));
  }
  Host& of = all.hosts[host];
  of.files.push_back(path.substr(path.rfind('/') + 1));
  if (const std::string command = text_of(json, "command"); !command.empty())
    of.commands.push_back(command);
  if (const std::string date = text_of(json, "date"); !date.empty()) of.dates.push_back(date);
  of.partial |= json.value("partial", false);
  const std::pair<const char*, std::vector<Extra>*> arrays[] = {{"roofs", &all.roofs},
                                                                {"crossings", &all.crossings},
                                                                {"timelines", &all.timelines},
                                                                {"published", &all.published},
                                                                {"sweeps", &all.sweeps}};
  for (const auto& [name, target] : arrays)
    for (ordered_json value : json.value(name, ordered_json::array())) {
      if (!value.is_object()) throw Refusal(fmt::format("'{}' holds what is no object", name));
      if (target == &all.timelines) {
        shape_of(value);
        // Files of before tell a share of all rows where the cpu took some of them.
        if (text_of(value, "device").ends_with("+cpu")) value.erase("share");
      }
      target->push_back({host, std::move(value)});
    }
}

std::string superscript(int n) {
  constexpr const char* kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text;
  for (char digit : std::to_string(n)) text += kDigits[digit - '0'];
  return text;
}

std::string extent_text(int64_t n) {
  for (int k = 10; k < 63; ++k)
    if (n == int64_t(1) << k) return fmt::format("2{}", superscript(k));
  return std::to_string(n);
}

double size_of(const std::string& dtype) {
  if (dtype.size() < 2) return 0;
  return std::atof(dtype.c_str() + (dtype.starts_with("bf") ? 2 : 1)) / 8;
}

}  // namespace

std::vector<int64_t> shape_of(const ordered_json& object) {
  auto shape = object.at("shape").get<std::vector<int64_t>>();
  if (shape.size() != (text_of(object, "operation") == "gemm" ? 3U : 2U))
    throw Refusal("'shape' isn't that of the operation");
  return shape;
}

std::string Entry::parameter_text() const {
  std::string text;
  for (const auto& [key, value] : parameters)
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", key, value);
  return text;
}

std::string Entry::variant() const {
  const std::string name = rung.empty() ? requested : rung;
  return parameters.empty() ? name : fmt::format("{}:{}", name, parameter_text());
}

std::string Entry::parameter(const std::string& key) const {
  for (const auto& [name, value] : parameters)
    if (name == key) return value;
  return {};
}

std::string Entry::group() const {
  std::string text = operation;
  if (!function.empty()) text += " " + function;
  text += " " + dtype;
  if (!result_dtype.empty() && result_dtype != dtype && operation == "reduce")
    text += " to " + result_dtype;
  if (!map.empty() && map != "identity") text += ", map " + map;
  if (!axis.empty() && axis != "all") text += ", " + axis;
  if (layout.find('c') != std::string::npos) text += ", layout " + layout;
  if (!values.empty() && values != "uniform") text += ", values " + values;
  if (access) text += ", access patterns";
  if (batch != 1) text += fmt::format(", batch {}", batch);
  return text;
}

std::string size_text(const std::string& operation, const std::vector<int64_t>& shape) {
  if (operation == "gemm") {
    if (shape[0] == shape[1] && shape[1] == shape[2]) return std::to_string(shape[0]);
    return fmt::format("{} × {} × {}", shape[0], shape[1], shape[2]);
  }
  if (operation == "reduce" && shape[1] == 1) return extent_text(shape[0]);
  if (shape[0] == shape[1]) return fmt::format("{0} × {0}", shape[0]);
  return fmt::format("{} × {}", shape[0], shape[1]);
}

double Entry::elements() const {
  double product = double(batch);
  for (int64_t extent : shape) product *= double(extent);
  return product;
}

double Entry::bytes() const {
  const double size = size_of(dtype), n = double(batch);
  if (operation == "gemm") {
    const double m = double(shape[0]), k = double(shape[2]), cols = double(shape[1]);
    return n * size * (m * k + k * cols + m * cols);
  }
  return (operation == "transpose" ? 2 : 1) * size * elements();
}

double Entry::flops() const {
  if (operation == "gemm") return 2 * elements();
  return operation == "reduce" ? elements() : 0;
}

std::string Document::device(size_t host, const std::string& id) const {
  const std::string& label = hosts[host].label;
  return label.empty() ? id : label + " " + id;
}

double nominal_bandwidth(const ordered_json& devices, const std::string& device) {
  return fact_of(devices, device, "peak_bandwidth");
}

double nominal_flops(const ordered_json& devices, const std::string& device,
                     const std::string& dtype) {
  if (dtype != "f32" && dtype != "f64") return 0;
  return fact_of(devices, device, dtype == "f64" ? "peak_f64" : "peak_f32");
}

Document read(const std::vector<std::string>& paths) {
  Document all;
  for (const std::string& path : paths) {
    const ordered_json json = parse(path);
    try {
      add(all, path, json);
    } catch (const std::exception& error) {
      throw Refusal(fmt::format("{}: {}", path, error.what()));
    }
  }
  if (all.hosts.size() > 1)
    for (size_t i = 0; i < all.hosts.size(); ++i)
      all.hosts[i].label = i < 26 ? std::string(1, char('A' + i)) : std::to_string(i + 1);
  return all;
}

}  // namespace trine::bench::report
