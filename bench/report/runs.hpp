// What `trine report` reads: the JSON files of one or several runs, checked, with the machines they come
// from told apart (docs/json.md).
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/timing/result.hpp"

namespace trine::bench::report {

using nlohmann::ordered_json;

/// A machine with one version of Trine, however many files are of it.
struct Host {
  ordered_json host, backends;
  std::string version;
  std::string label = {};  ///< "A", "B", …; empty where there is one host
  std::vector<std::string> files = {}, commands = {}, dates = {};
  bool partial = false;
  std::map<std::string, ordered_json> devices = {};  ///< the backends', by their id

  /// What its file says of a device, 0 where it doesn't; the data sheet's bytes/s of its memory and flop/s of a dtype.
  double fact(const std::string& device, const char* key) const;
  double peak_bandwidth(const std::string& device) const { return fact(device, "peak_bandwidth"); }
  double peak_flops(const std::string& device, std::string_view dtype) const;
};

/// An object of one of the other arrays (roofs, crossings, timelines, published, sweeps).
struct Extra {
  size_t host = 0;
  ordered_json value;
  std::string device = {};  ///< as Entry::device_name
};

/// A field in words, "" where there is none; as a number, where it is one.
std::string text_of(const ordered_json& object, const char* key);
std::optional<double> number_of(const ordered_json& object, const char* key);

struct Entry : Result {
  size_t host = 0;
  std::string device_name;             ///< "cuda:0", with several hosts "B cuda:0"
  int device_slot = 0, rung_slot = 0;  ///< one for each name: its colour and shape in all figures
  std::string rung_name;               ///< without its parameters
  Parameters parameters;
  bool access = false;  ///< one of a series over strides and offsets, which are parameters then
  std::optional<double> peak;  ///< the data sheet's rate

  /// "threads=128,finish=atomic", or ""; all but the one named.
  std::string parameter_text(const char* between = ",", std::string_view but = {}) const;
  /// "shared:tile=32".
  std::string variant() const;
  /// The value of a parameter, or "".
  std::string parameter(const std::string& key) const;
  /// Everything that a table of one kind of problem has in common: "reduce sum f32".
  std::string group() const;
  std::string size() const;
  /// Whether its phases add up to the total: they were measured, and don't overlap.
  bool in_phases() const { return memory != "pipelined" && (h2d || kernel || d2h); }
  bool on_cpu() const { return device.starts_with("cpu"); }
  double elements() const;  ///< of the input; of a gemm m n k
  double bytes() const;     ///< the least that has to be moved
  double flops() const;     ///< 0 for a transpose
  const char* unit() const { return rated_by_flops(problem) ? "flop/s" : "B/s"; }
};

/// "7350", "2.43 million": a size that was estimated.
std::string count_text(double count);
/// "2²⁴", "1000 × 7", "512" for 512x512x512: a size or a text with sizes of the other commands, as a page has it.
std::string typeset(const std::string& text);
std::string size_text(Operation operation, const Size& size);
std::string timeline_size(const ordered_json& timeline);

struct Runs {
  std::vector<Host> hosts;
  std::vector<Entry> results;
  std::vector<Extra> roofs, crossings, timelines, published, sweeps;

  /// "cuda:0", with several hosts "B cuda:0".
  std::string device(size_t host, const std::string& id) const;
};

/// In the order of their dates. Files of one machine are one host, and of a case in several of them the latest counts;
/// unless `apart`: then each file is a host, as a before and an after.
/// Throws Refusal, with the file and what is wrong with it.
Runs read(const std::vector<std::string>& paths, bool apart);

}  // namespace trine::bench::report
