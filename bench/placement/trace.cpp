#include "trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "bench/cases/case.hpp"
#include "bench/timing/lines.hpp"
#include "bench/ui/error.hpp"

namespace trine::bench {
namespace {

using Json = nlohmann::json;

/// Runs that share a transfer until none of it is left.
constexpr int kForever = 1000000000;

constexpr LineKind kLog{"TRINE_BLAS_LOG", "trine_blas", uint64_t{1} << 36};

/// The routines of the log, without their dtype, and the numbers of their shapes.
struct Routine {
  std::string_view name;
  std::array<const char*, 3> extents;
};
constexpr Routine kRoutines[] = {{"gemm", {"m", "n", "k"}},
                                 {"gemv", {"m", "n", "k"}},
                                 {"omatcopy", {"rows", "cols"}},
                                 {"dot", {"n"}},
                                 {"asum", {"n"}},
                                 {"nrm2", {"n"}},
                                 {"axpy", {"n"}},
                                 {"amax", {"n"}}};

/// Without "s" or "d", and the "i" before it.
std::string_view bare(std::string_view routine) {
  if (routine.starts_with("is") || routine.starts_with("id"))
    return routine.substr(2) == "amax" ? routine.substr(2) : "";
  const bool has_dtype = routine.starts_with('s') || routine.starts_with('d');
  return has_dtype && routine.substr(1) != "amax" ? routine.substr(1) : "";
}

/// How the text of exact products ends.
constexpr const char* kExact = " exact";

// All that throws here is a line that isn't one of such a log; each_line() says which.
[[noreturn]] void fail(const char* what) { throw std::invalid_argument(what); }

void add(int64_t& sum, int64_t more) {
  if (__builtin_add_overflow(sum, more, &sum)) fail("calls");
}

void take_call(std::map<std::string, TracedCalls>& all, const Json& line) {
  TracedCalls call;
  call.routine = line.at("routine");
  const auto routine = std::ranges::find(kRoutines, bare(call.routine), &Routine::name);
  if (routine == std::end(kRoutines)) fail("routine");
  std::vector<int64_t> extents;
  for (const char* name : routine->extents)
    if (name) extents.push_back(count_of(line, name));
  for (const char* name : {"m", "n", "k", "rows", "cols"})
    if (line.contains(name) &&
        std::ranges::find(routine->extents, std::string_view(name)) == routine->extents.end())
      fail(name);
  // A BLAS counts in 32 bits, and its matrices lie in memory.
  for (const int64_t one : extents)
    for (const int64_t other : extents)
      if (one > INT32_MAX || one * other > int64_t{1} << 56) fail("extents");
  std::ranges::copy(extents, call.shape.begin());
  call.text = fmt::format("{} {}{}{}", call.routine, fmt::join(extents, "x"),
                          line.value("transposed", 0) != 0 ? " turned" : "",
                          line.value("exact", 0) != 0 ? kExact : "");
  const auto seconds = line.at("seconds").get<double>();
  if (!(seconds >= 0 && seconds < 1e12)) fail("seconds");
  TracedCalls& same = all.try_emplace(call.text, call).first->second;
  add(same.calls, line.contains("calls") ? count_of(line, "calls") : 1);
  same.seconds += seconds;
}

View dense(Dtype dtype, int64_t rows, int64_t cols) { return col_major({}, dtype, rows, cols); }

/// The operation that Trine has for them, or nothing.
std::optional<DeviceOperation> operation_of(const TracedCalls& calls) {
  const std::string_view name = bare(calls.routine);
  const bool is_single = calls.routine[calls.routine.size() - name.size() - 1] == 's';
  const Dtype dtype = is_single ? Dtype::f32 : Dtype::f64;
  const auto [m, n, k] = calls.shape;
  if (name == "gemm" || name == "gemv")
    return Gemm{
        .a = dense(dtype, m, k),
        .b = dense(dtype, k, n),
        .c = dense(dtype, m, n),
        .numerics = calls.text.ends_with(kExact) ? Numerics::exact : Numerics::reproducible};
  if (name == "omatcopy" && calls.text.ends_with(" turned"))
    return Transpose{.input = dense(dtype, m, n), .output = dense(dtype, n, m)};
  const View x = vector({}, dtype, m);
  if (name == "dot")
    return Reduce{.map = Map::product, .input = x, .output = vector({}, dtype, 1), .second = x};
  if (name == "asum" || name == "nrm2")
    return Reduce{
        .map = name == "asum" ? Map::abs : Map::square, .input = x, .output = vector({}, dtype, 1)};
  if (name == "amax")
    return Reduce{.function = Function::argmax,
                  .map = Map::abs,
                  .input = x,
                  .output = vector({}, Dtype::i64, 1)};
  return {};
}

TimeRange range_of(const Candidate& candidate) {
  return {candidate.seconds, candidate.low, candidate.high};
}

}  // namespace

void TimeRange::add(const TimeRange& other, double times) {
  seconds += times * other.seconds;
  low += times * other.low;
  high += times * other.high;
}

Trace read_trace(const std::string& path) {
  Trace trace;
  std::map<std::string, TracedCalls> all;
  trace.is_torn = each_line(path, kLog, [&](const Json& line, bool is_head, int64_t) {
    if (is_head)
      trace.program = line.at("program");
    else if (line.contains("forwarded"))
      add(trace.forwarded, count_of(line, "calls"));
    else
      take_call(all, line);
  });
  for (auto& [text, calls] : all) {
    if (__builtin_add_overflow(trace.calls, calls.calls, &trace.calls))
      throw Refusal(fmt::format("{}: counts more than 2^63 calls", path));
    trace.seconds += calls.seconds;
    trace.all.push_back(std::move(calls));
  }
  if (trace.all.empty()) throw Refusal(fmt::format("{}: has no calls", path));
  std::ranges::stable_sort(trace.all, std::greater(), &TracedCalls::seconds);
  return trace;
}

std::optional<Answer> answer(Target& target, const TracedCalls& calls, Where where) {
  const std::optional<DeviceOperation> call = operation_of(calls);
  if (!call) return {};
  const auto ask = [&](Where place_of_data, int repeats) {
    return std::visit(
        [&](const auto& operation) {
          if (const auto* saved = std::get_if<SavedCalibration>(&target.is))
            return saved->predict(operation, place_of_data, repeats);
          const Device& device = std::get<Device>(target.is);
          return place(operation, place_of_data, repeats, {&device, 1}).candidates.at(0);
        },
        *call);
  };
  try {
    const Candidate moved = ask(where, 1);
    target.source = moved.source;
    return Answer{range_of(moved), range_of(ask(where, kForever))};
  } catch (const Error& error) {
    if (error.status() != Status::unsupported) throw;
    return {};
  }
}

}  // namespace trine::bench
