// What `trine report` reads: the JSON files of one or several runs, checked, with the hosts they come
// from told apart (docs/json.md).
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace trine::bench::report {

using nlohmann::ordered_json;

/// A machine with one version of Trine. Files of the same one are one host, unless both measured the
/// same case: then they are a before and an after.
struct Host {
  std::string label;  ///< "A", "B", …; empty where there is one host
  ordered_json host, devices;
  std::string version;
  std::vector<std::string> files, commands, dates;
  bool partial = false;
};

/// An object of one of the other arrays (roofs, crossings, timelines, published, sweeps).
struct Extra {
  size_t host = 0;
  ordered_json value;
};

struct Rate {
  double value = 0;
  std::string unit, what;
};

/// "2²⁴", "1000 × 7", "512 × 512 × 256".
std::string size_text(const std::string& operation, const std::vector<int64_t>& shape);
/// Of a result or a timeline. Throws Refusal where it isn't its operation's.
std::vector<int64_t> shape_of(const ordered_json& object);

struct Entry {
  size_t host = 0;
  std::string operation, function, map, axis, dtype, result_dtype, layout, values;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides = {1, 1}, offsets = {0, 0};  ///< of a vector's input and output
  bool access = false;  ///< one of a series over strides and offsets, which are parameters then
  int64_t batch = 1;
  std::string device, requested, rung, numerics, memory, method, failure, digest;
  std::vector<std::pair<std::string, std::string>> parameters;
  std::optional<double> alloc, h2d, kernel, d2h, total, first, peer_ratio, peak;
  std::vector<double> rounds, interval;
  int64_t samples = 0, rung_index = 0;
  double spread = 0;
  Rate rate, roof;
  bool vendor = false, verified = false, skipped = false;

  /// "threads=128,finish=atomic", or "".
  std::string parameter_text() const;
  /// "shared:tile=32".
  std::string variant() const;
  /// The value of a parameter, or "".
  std::string parameter(const std::string& key) const;
  /// Everything that a table of one kind of problem has in common: "reduce sum f32".
  std::string group() const;
  std::string size() const { return size_text(operation, shape); }
  /// Whether its phases add up to the whole: they were measured, and don't overlap.
  bool in_phases() const { return memory != "pipelined" && (h2d || kernel || d2h); }
  double elements() const;  ///< of the input; of a gemm m n k
  double bytes() const;     ///< the least that has to be moved
  double flops() const;     ///< 0 for a transpose
};

struct Document {
  std::vector<Host> hosts;
  std::vector<Entry> results;
  std::vector<Extra> roofs, crossings, timelines, published, sweeps;

  /// "cuda:0", with several hosts "B cuda:0".
  std::string device(size_t host, const std::string& id) const;
};

/// The data sheet's bytes a second of a device's memory, and its flop/s in a dtype; 0 where it doesn't tell.
double nominal_bandwidth(const ordered_json& devices, const std::string& device);
double nominal_flops(const ordered_json& devices, const std::string& device,
                     const std::string& dtype);

/// Throws Refusal, with the file and what is wrong with it.
Document read(const std::vector<std::string>& paths);

}  // namespace trine::bench::report
