// `trine compare`: every device side by side on the same verified data, the kernel and the whole
// program apart, and one sentence on what the transfers cost.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "commands.hpp"
#include "error.hpp"
#include "expectation.hpp"
#include "json.hpp"
#include "npy.hpp"
#include "observation.hpp"
#include "peers.hpp"
#include "runner.hpp"
#include "table.hpp"

namespace trine::bench {
namespace {

struct Options {
  std::vector<std::string> operations, dtypes, sizes, functions, maps, axes, layouts, devices,
      rungs;
  std::vector<std::string> inputs, values;
  std::string result_dtype, json;
  bool peers = false;
  uint64_t seed = 1;
  double budget = 0.05;
};

template <class Parse>
auto parsed(const std::vector<std::string>& words, const std::vector<std::string>& defaults,
            Parse parse) {
  std::vector<decltype(parse(std::string_view()))> values;
  for (const std::string& word : words.empty() ? defaults : words) values.push_back(parse(word));
  return values;
}

std::vector<std::string> default_sizes(Operation operation) {
  switch (operation) {
    case Operation::reduce: return {"2^10", "2^16", "2^20", "2^24"};
    case Operation::transpose: return {"256", "1024", "4096"};
    default: return {"64", "256", "1024"};
  }
}

std::vector<std::string> default_dtypes(Operation operation) {
  if (operation == Operation::transpose) return {"f32"};
  return {"f32", "f64"};
}

/// The problem that arrays on disk pose.
Problem problem_of(Operation operation, const std::vector<Array>& arrays) {
  Problem p;
  p.operation = operation;
  p.dtype = arrays[0].dtype;
  const auto extent = [](const Array& array, size_t i) {
    return i < array.shape.size() ? array.shape[i] : 1;
  };
  for (const Array& array : arrays)
    if (array.shape.size() > 2)
      throw Refusal("compare takes arrays of up to two dimensions; `trine run` takes batches");
  p.size = {extent(arrays[0], 0), extent(arrays[0], 1), 0};
  const auto letter = [](const Array& array) { return array.fortran_order ? 'c' : 'r'; };
  p.layout = std::string(1, letter(arrays[0]));
  if (operation == Operation::gemm) {
    if (arrays[1].dtype != p.dtype) throw Refusal("the operands of gemm have one dtype");
    if (extent(arrays[1], 0) != p.size.cols)
      throw Refusal(fmt::format("a has {} columns, b {} rows", p.size.cols, extent(arrays[1], 0)));
    p.size = {p.size.rows, extent(arrays[1], 1), p.size.cols};
    p.layout += letter(arrays[1]);
  }
  if (operation != Operation::reduce) p.layout += 'r';
  return p;
}

std::vector<std::vector<std::byte>> data_of(std::vector<Array> arrays) {
  std::vector<std::vector<std::byte>> data;
  for (Array& array : arrays) data.push_back(std::move(array.data));
  return data;
}

std::vector<Operation> chosen_operations(const Options& options) {
  return parsed(options.operations, {"reduce", "transpose", "gemm"},
                [](std::string_view w) { return parse_operation(w); });
}

std::vector<std::pair<std::string, std::string>> product(const std::vector<std::string>& a,
                                                         const std::vector<std::string>& b) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string& first : a)
    for (const std::string& second : b) pairs.emplace_back(first, second);
  return pairs;
}

std::vector<Problem> problems_of_size(const Options& o, Operation operation, const Problem& base) {
  std::vector<Problem> problems;
  const bool reduce = operation == Operation::reduce;
  const std::vector<std::string> layouts = o.layouts.empty() ? std::vector{base.layout} : o.layouts;
  for (Function function :
       parsed(reduce ? o.functions : std::vector<std::string>{}, {"sum"}, parse_function))
    for (Map map : parsed(reduce ? o.maps : std::vector<std::string>{}, {"identity"}, parse_map))
      for (Axis axis : parsed(reduce ? o.axes : std::vector<std::string>{}, {"all"}, parse_axis))
        for (const auto& [layout, values] :
             product(layouts, o.values.empty() ? std::vector<std::string>{"uniform"} : o.values)) {
          Problem p = base;
          p.function = function;
          p.map = map;
          p.axis = axis;
          p.layout = layout;
          p.values = values;
          p.result = reduce ? result_dtype(function, map, p.dtype) : p.dtype;
          if (reduce && !o.result_dtype.empty()) p.result = parse_dtype(o.result_dtype);
          check(p);
          problems.push_back(p);
        }
  return problems;
}

/// All problems of the run, or a Refusal before anything is measured.
std::vector<Problem> problems(const Options& o, const std::vector<Array>& arrays) {
  std::vector<Problem> all;
  for (Operation operation : chosen_operations(o)) {
    std::vector<Problem> bases;
    if (!arrays.empty()) {
      bases.push_back(problem_of(operation, arrays));
    } else {
      for (Dtype dtype : parsed(o.dtypes, default_dtypes(operation), parse_dtype))
        for (const std::string& size : o.sizes.empty() ? default_sizes(operation) : o.sizes) {
          Problem p;
          p.operation = operation;
          p.dtype = dtype;
          p.size = parse_size(operation, size);
          p.layout = default_layout(operation);
          bases.push_back(p);
        }
    }
    for (const Problem& base : bases)
      for (Problem& p : problems_of_size(o, operation, base)) all.push_back(std::move(p));
  }
  return all;
}

std::vector<Device> chosen_devices(const Options& o) {
  std::vector<Device> devices;
  if (!o.devices.empty()) {
    for (const std::string& device : o.devices) devices.push_back(open(device));
    return devices;
  }
  for (const BackendInfo& backend : backends())
    for (const Facts& facts : backend.devices) {
      try {
        devices.push_back(open(facts.id));
      } catch (const Error& error) {
        std::printf("%s is left out: %s\n", facts.id.c_str(), error.what());
      }
    }
  if (devices.empty()) throw Refusal("there is no device; `trine info` says why");
  // The cpu first: it is what the others are compared with.
  std::stable_partition(devices.begin(), devices.end(),
                        [](const Device& d) { return d.backend() == "cpu"; });
  return devices;
}

/// The rungs to run on a device: those named, else the default; with --peers the vendor's too.
std::vector<std::string> rungs_for(const Options& o, const Device& device, Operation operation) {
  std::vector<std::string> rungs = o.rungs.empty() ? std::vector<std::string>{""} : o.rungs;
  if (o.peers)
    for (const RungInfo& rung : device.rungs(operation))
      if (rung.numerics == Numerics::vendor) rungs.push_back(rung.name);
  return rungs;
}

void check_rungs(const Options& o, const std::vector<Device>& devices,
                 const std::vector<Operation>& operations) {
  for (const std::string& rung : o.rungs) {
    const std::string name_only = rung.substr(0, rung.find(':'));
    std::set<std::string> known;
    for (const Device& device : devices)
      for (Operation operation : operations)
        for (const RungInfo& info : device.rungs(operation)) known.insert(info.name);
    if (!known.contains(name_only))
      throw Refusal(fmt::format("no rung '{}' on these devices; there are: {}", name_only,
                                fmt::join(known, ", ")));
  }
}

class Progress {
 public:
  void show(const std::string& text) const {
    if (on_) std::fprintf(stderr, "\r\033[K%s", text.c_str());
  }
  ~Progress() {
    if (on_) std::fprintf(stderr, "\r\033[K");
  }

 private:
  bool on_ = isatty(STDERR_FILENO) != 0;
};

Result skipped(const Problem& problem, const Device& device, const std::string& rung,
               const char* reason) {
  Result result;
  result.problem = problem;
  result.device = device.id();
  result.requested = result.rung = rung;
  result.numerics = Numerics::reproducible;
  result.skipped = true;
  result.failure = reason;
  return result;
}

bool is_named(const Options& o, const std::string& rung) {
  return std::find(o.rungs.begin(), o.rungs.end(), rung) != o.rungs.end();
}

std::vector<Result> measure_one(const Options& o, Runner& runner, const Problem& problem,
                                Expectation& expectation, const std::string& rung) {
  try {
    std::vector<Result> results = runner.resident(problem, expectation, rung);
    // Peers are there for their kernel; the transfers are the same.
    if (results.back().verified && !results.back().vendor())
      for (Result& result : runner.whole(problem, expectation, results.front()))
        results.push_back(std::move(result));
    return results;
  } catch (const Error& error) {
    if (error.status() != Status::unsupported && error.status() != Status::out_of_memory &&
        !(error.status() == Status::not_found && !o.rungs.empty()))
      throw;
    // A peer that hasn't the operation is no news.
    if (o.peers && !is_named(o, rung) && !rung.empty()) return {};
    return {skipped(problem, runner.device(), rung, error.what())};
  }
}

/// Peers and roofs are compared by method, and only where both were verified.
void set_peer_ratios(std::vector<Result>& results, const std::map<std::string, DeviceKind>& kinds) {
  for (Result& result : results) {
    if (result.vendor() || !result.verified || result.memory != "resident") continue;
    for (const Result& peer : results)
      if (peer.vendor() && peer.verified && peer.method == result.method &&
          kinds.at(peer.device) == kinds.at(result.device)) {
        const double ratio = *peer.kernel / *result.kernel;
        result.peer_ratio = std::min(result.peer_ratio.value_or(ratio), ratio);
      }
  }
}

/// All devices have the same bits: those that promise them, and on the same data.
void compare_digests(std::vector<Result>& results) {
  const Result* first = nullptr;
  for (Result& result : results) {
    if (!result.verified || result.numerics != Numerics::reproducible) continue;
    if (first == nullptr) first = &result;
    if (result.digest == first->digest) continue;
    result.verified = false;
    result.failure = fmt::format("other bits than {} ({:016x}, {:016x})", first->device,
                                 result.digest, first->digest);
  }
}

int compare(const Options& o) {
  if (!o.json.empty()) check_writable(o.json);
  std::vector<Array> arrays;
  for (const std::string& path : o.inputs) arrays.push_back(read_npy(path));
  const std::vector<Operation> operations = chosen_operations(o);
  if (!arrays.empty() &&
      (operations.size() != 1 || arrays.size() != (operations[0] == Operation::gemm ? 2U : 1U)))
    throw Refusal("--input takes one operation and its inputs: one array, or two for gemm");
  const std::vector<Problem> all = problems(o, arrays);
  const std::string peer_text = o.peers ? load_peers() : std::string();
  const std::vector<Device> devices = chosen_devices(o);
  check_rungs(o, devices, operations);

  std::printf("trine %s, %s\n%s", version(), host_sentence().c_str(), peer_text.c_str());
  std::map<std::string, DeviceKind> kinds;
  std::vector<Runner> runners;
  for (const Device& device : devices) {
    std::printf("%s: %s, %s\n", device.id().c_str(), device.facts().name.c_str(),
                device.facts().driver.c_str());
    kinds[device.id()] = device.facts().kind;
    runners.emplace_back(device, o.budget);
  }

  std::vector<Result> results;
  bool verified_all = true;  // each problem somewhere
  Report report;
  Progress progress;
  const std::vector<std::vector<std::byte>> data = data_of(std::move(arrays));
  for (const Problem& problem : all) {
    Expectation expectation(problem, o.seed, data);
    std::vector<Result> of_problem;
    for (Runner& runner : runners)
      for (const std::string& rung : rungs_for(o, runner.device(), problem.operation)) {
        progress.show(fmt::format("{} on {} {}", to_string(problem), runner.device().id(), rung));
        for (Result& result : measure_one(o, runner, problem, expectation, rung))
          of_problem.push_back(std::move(result));
      }
    set_peer_ratios(of_problem, kinds);
    compare_digests(of_problem);
    progress.show("");
    // A default that refuses must not pass for a good run.
    verified_all &= std::any_of(of_problem.begin(), of_problem.end(),
                                [](const Result& r) { return r.verified; });
    report.add(of_problem, expectation.sampled());
    results.insert(results.end(), of_problem.begin(), of_problem.end());
  }
  report.finish();
  if (!o.json.empty()) write_json(o.json, document(results));
  const bool wrong = std::any_of(results.begin(), results.end(),
                                 [](const Result& r) { return !r.verified && !r.skipped; });
  return wrong || !verified_all ? kExitFailed : kExitGood;
}

void add_lists(CLI::App& app, Options& o) {
  const auto list = [&](const char* option, std::vector<std::string>& target, const char* help) {
    app.add_option(option, target, help)->delimiter(',')->expected(1, -1);
  };
  app.add_option("operations", o.operations, "reduce, transpose, gemm (default: all)");
  list("--dtype", o.dtypes, "f32 f64 i32 i64 u32 u64, for transpose b8 … b128 too");
  list("--size", o.sizes, "N, RxC or MxNxK; suffixes k, M, G and 2^k");
  list("--function", o.functions, "reduce: sum prod min max argmin argmax");
  list("--map", o.maps, "reduce: identity abs square");
  list("--axis", o.axes, "reduce: all each_row each_column");
  list("--layout", o.layouts, "r or c for each operand, as rr, rcr (default: all row-major)");
  list("--device", o.devices, "cpu, cpu:threads=8, opencl:0, cuda:0 (default: all there are)");
  list("--rung", o.rungs, "name or name:parameter=value (default: each device's own choice)");
  list("--values", o.values, "value class of the random data: uniform, wide, cancel, mixed, …");
  list("--input", o.inputs, "real data (.npy): one array, or two for gemm");
}

}  // namespace

Command add_compare(CLI::App& app) {
  auto o = std::make_shared<Options>();
  add_lists(app, *o);
  app.add_option("--result-dtype", o->result_dtype, "reduce: f64 for the sum of f32");
  app.add_option("--seed", o->seed, "seed of the random data");
  app.add_option("--min-time", o->budget, "least measuring time of a figure in seconds")
      ->check(CLI::Range(0.001, 60.0));
  app.add_flag("--peers", o->peers, "measure OpenBLAS and cuBLAS beside them");
  app.add_option("--json", o->json, "write the results as JSON too")->type_name("FILE");
  return [o] { return compare(*o); };
}

}  // namespace trine::bench
