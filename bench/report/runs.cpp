#include "runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "bench/timing/json.hpp"
#include "bench/timing/roofline.hpp"
#include "bench/ui/error.hpp"
#include "model.hpp"

namespace trine::bench::report {
namespace {

Entry entry_of(const ordered_json& json) {
  Entry e;
  static_cast<Result&>(e) = result_of(json);
  e.rung_name = bare(e.rung);
  e.parameters = parameters_of(e.rung);
  return e;
}

/// Where strides or offsets of a problem vary on a device, they are parameters, its dense case included.
void mark_access(std::vector<Entry>& results) {
  const auto key = [](const Entry& e) {
    return std::tuple(e.problem.operation, e.device, e.problem.size.rows, e.problem.size.cols);
  };
  std::set<decltype(key(results[0]))> series;
  for (const Entry& e : results) {
    const Problem& p = e.problem;
    if (p.stride_in != 1 || p.stride_out != 1 || p.offset_in != 0 || p.offset_out != 0)
      series.insert(key(e));
  }
  for (Entry& e : results) {
    const Problem& p = e.problem;
    e.access = series.contains(key(e));
    if (!e.access) continue;
    e.parameters.emplace_back("stride", std::to_string(std::max(p.stride_in, p.stride_out)));
    e.parameters.emplace_back("offset", std::to_string(std::max(p.offset_in, p.offset_out)));
  }
}

/// The data sheet's rate for the result, as far as its device tells.
std::optional<double> peak_of(const Host& host, const Entry& e) {
  const double peak = rated_by_flops(e.problem) ? host.peak_flops(e.device, name(e.problem.dtype))
                                                : host.peak_bandwidth(e.device);
  return peak > 0 ? std::optional(peak) : std::nullopt;
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
                              json.is_object() ? stranger(json) : "it contains no object"));
  if (json.at("schema") != 1)
    throw Refusal(fmt::format("{}: schema {}, and this trine reads schema 1", path,
                              json.at("schema").dump()));
  return json;
}

Host host_of(const ordered_json& json) {
  Host host{json.at("host"), json.value("devices", ordered_json::array()),
            text_of(json, "version")};
  if (!host.host.is_object()) throw Refusal("'host' is no object");
  for (const ordered_json& backend : host.backends)
    for (const ordered_json& device : backend.value("devices", ordered_json::array()))
      host.devices.emplace(text_of(device, "id"), device);
  return host;
}

/// The same processor, memory, system and version; a device that both files have is the same one.
bool same_machine(const Host& a, const Host& b) {
  bool same = a.version == b.version;
  for (const char* key : {"cpu", "cores", "os"})
    same = same && text_of(a.host, key) == text_of(b.host, key);
  for (const auto& [id, mine] : a.devices) {
    const auto theirs = b.devices.find(id);
    if (theirs == b.devices.end()) continue;
    for (const char* key : {"name", "driver", "uuid"})
      same = same && text_of(mine, key) == text_of(theirs->second, key);
    const auto memory = [](const ordered_json& device) {
      return std::round(number_of(device, "memory_bytes").value_or(0) / 0x1p30);
    };
    // A driver on the host's own memory says how much of it is free.
    if (id == "cpu") same = same && memory(mine) == memory(theirs->second);
  }
  return same;
}

/// The host that the file is of; what it knows of the devices is added there.
size_t place_of(Runs& all, Host found, bool apart) {
  const auto same = std::ranges::find_if(
      all.hosts, [&](const Host& host) { return !apart && same_machine(host, found); });
  if (same == all.hosts.end()) {
    all.hosts.push_back(std::move(found));
    return all.hosts.size() - 1;
  }
  if (found.devices.size() > same->devices.size())
    std::tie(same->host, same->backends, same->devices) =
        std::tie(found.host, found.backends, found.devices);
  return size_t(same - all.hosts.begin());
}

/// The objects of an array, in place of those of the same host whose `names` say the same; devices that a break-even is
/// of say it in either order.
void add_extras(std::vector<Extra>& all, const ordered_json& array, size_t host,
                const std::vector<const char*>& names) {
  const auto key = [&names](const Extra& extra) {
    std::vector<std::string> texts{std::to_string(extra.host)};
    for (const char* name : names) texts.push_back(text_of(extra.value, name));
    std::sort(texts.end() - 2, texts.end());
    return texts;
  };
  std::set<std::vector<std::string>> found;
  std::vector<Extra> added;
  for (const ordered_json& value : array) {
    if (!value.is_object())
      throw Refusal("roofs, crossings, timelines, published, sweeps must contain objects");
    added.push_back({host, value});
    found.insert(key(added.back()));
  }
  std::erase_if(all, [&](const Extra& extra) { return found.contains(key(extra)); });
  all.insert(all.end(), added.begin(), added.end());
}

void add(Runs& all, const std::string& path, const ordered_json& json, size_t place) {
  std::vector<Entry> results;
  for (const ordered_json& result : json.at("results")) {
    try {
      results.push_back(entry_of(result));
    } catch (const std::exception& error) {
      throw Refusal(fmt::format("result {}: {}", results.size() + 1, error.what()));
    }
  }
  mark_access(results);
  Host& host = all.hosts[place];
  for (Entry& e : results) {
    e.host = place;
    e.peak = peak_of(host, e);
    all.results.push_back(std::move(e));
  }
  host.files.push_back(path.substr(path.rfind('/') + 1));
  host.commands.push_back(text_of(json, "command"));
  host.dates.push_back(text_of(json, "date").substr(0, 10));
  host.partial |= json.value("partial", false);
  const auto extras = [&](const char* key, std::vector<Extra>& target,
                          const std::vector<const char*>& names) {
    add_extras(target, json.value(key, ordered_json::array()), place, names);
  };
  extras("roofs", all.roofs, {"device", "what", "dtype", "memory"});
  extras("crossings", all.crossings, {"operation", "function", "dtype", "memory", "from", "to"});
  extras("timelines", all.timelines, {"operation", "dtype", "shape", "device", "memory"});
  extras("published", all.published, {"document", "name", "table", "device"});
  extras("sweeps", all.sweeps, {"device", "call"});
  for (Extra& timeline : all.timelines) {
    timeline_size(timeline.value);  // which it must have
    // Files of before tell a share of all rows where the cpu took some of them.
    if (text_of(timeline.value, "device").ends_with("+cpu")) timeline.value.erase("share");
  }
}

}  // namespace

std::string text_of(const ordered_json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return {};
  return found->is_string() ? found->get<std::string>() : found->dump();
}

std::optional<double> number_of(const ordered_json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::string Entry::parameter_text(const char* between, std::string_view but) const {
  std::string text;
  for (const auto& [key, value] : parameters)
    if (key != but) text += fmt::format("{}{}={}", text.empty() ? "" : between, key, value);
  return text;
}

std::string Entry::variant() const {
  const std::string& shown = rung_name.empty() ? requested : rung_name;
  return parameters.empty() ? shown : fmt::format("{}:{}", shown, parameter_text());
}

std::string Entry::parameter(const std::string& key) const {
  for (const auto& [name, value] : parameters)
    if (name == key) return value;
  return {};
}

std::string Entry::group() const {
  const Problem& p = problem;
  const bool reduce = p.operation == Operation::reduce;
  std::string text(name(p.operation));
  if (reduce) text += fmt::format(" {}", name(p.function));
  text += fmt::format(" {}", name(p.dtype));
  if (p.result != p.dtype) text += fmt::format(" to {}", name(p.result));
  if (p.numerics != Numerics::reproducible) text += fmt::format(", {}", name(p.numerics));
  if (p.map != Map::identity) text += fmt::format(", map {}", name(p.map));
  if (p.axis != trine::Axis::all) text += fmt::format(", {}", name(p.axis));
  if (p.layout.find('c') != std::string::npos) text += ", layout " + p.layout;
  if (p.values != "uniform") text += ", values " + p.values;
  if (access) text += ", access patterns";
  if (p.batch != 1) text += fmt::format(", batch {}", p.batch);
  return text;
}

std::string count_text(double count) {
  if (count < 1e5) return fmt::format("{:.0f}", count);
  if (count < 1e9) return fmt::format("{:.3g} million", count / 1e6);
  return fmt::format("{:.3g} billion", count / 1e9);
}

std::string typeset(const std::string& text) {
  constexpr const char* kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  const auto digit = [&](size_t i) {
    return i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])) != 0;
  };
  std::string shown;
  bool raised = false;
  for (size_t i = 0; i < text.size(); ++i) {
    raised = digit(i) && (raised || (i > 0 && text[i - 1] == '^'));
    if (raised)
      shown += kDigits[text[i] - '0'];
    else if (text[i] == 'x' && i > 0 && digit(i - 1) && digit(i + 1))
      shown += " × ";
    else if (text[i] != '^' || !digit(i + 1))
      shown += text[i];
  }
  return shown;
}

std::string size_text(Operation operation, const Size& size) {
  const bool cube =
      operation == Operation::gemm && size.rows == size.cols && size.cols == size.depth;
  return cube ? std::to_string(size.rows) : typeset(to_string(operation, size));
}

std::string timeline_size(const ordered_json& timeline) {
  const Operation operation = parse_operation(text_of(timeline, "operation"));
  return size_text(operation, size_of_shape(operation, timeline.at("shape")));
}

std::string Entry::size() const { return size_text(problem.operation, problem.size); }

double Entry::elements() const {
  const Size& s = problem.size;
  const double depth = problem.operation == Operation::gemm ? double(s.depth) : 1;
  return double(problem.batch) * double(s.rows) * double(s.cols) * depth;
}

double Entry::bytes() const { return oracle::bytes_moved(plan(problem)); }

double Entry::flops() const { return bench::flops(problem); }

std::string Runs::device(size_t host, const std::string& id) const {
  const std::string& label = hosts[host].label;
  return label.empty() ? id : label + " " + id;
}

double Host::fact(const std::string& device, const char* key) const {
  const auto found = devices.find(device);
  return found == devices.end() ? 0 : number_of(found->second, key).value_or(0);
}

double Host::peak_flops(const std::string& device, std::string_view dtype) const {
  return dtype == "f64" ? fact(device, "peak_f64") : dtype == "f32" ? fact(device, "peak_f32") : 0;
}

Runs read(const std::vector<std::string>& paths, bool apart) {
  std::vector<std::pair<std::string, ordered_json>> files;
  files.reserve(paths.size());
  for (const std::string& path : paths) files.emplace_back(path, parse(path));
  std::ranges::stable_sort(files, [](const auto& a, const auto& b) {
    return text_of(a.second, "date") < text_of(b.second, "date");
  });
  Runs all;
  for (const auto& [path, json] : files) {
    try {
      add(all, path, json, place_of(all, host_of(json), apart));
    } catch (const std::exception& error) {
      throw Refusal(fmt::format("{}: {}", path, error.what()));
    }
  }
  if (all.hosts.size() > 1)
    for (size_t i = 0; i < all.hosts.size(); ++i)
      all.hosts[i].label = i < 26 ? std::string(1, char('A' + i)) : std::to_string(i + 1);
  std::vector<std::string> devices, rungs;
  for (Entry& e : all.results) {
    e.device_name = all.device(e.host, e.device);
    e.device_slot = place_of(devices, e.device_name);
    e.rung_slot = place_of(rungs, e.rung_name);
  }
  for (std::vector<Extra>* extras : {&all.roofs, &all.timelines, &all.published, &all.sweeps})
    for (Extra& extra : *extras)
      extra.device = all.device(extra.host, text_of(extra.value, "device"));
  return all;
}

}  // namespace trine::bench::report
