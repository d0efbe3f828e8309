#include "trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/ui/error.hpp"

namespace trine::bench {
namespace {

using Json = nlohmann::json;
using AnyCall = std::variant<Reduce, Transpose, Gemm>;

/// Runs that share a transfer until none of it is left.
constexpr int kForever = 1000000000;

void take_call(std::map<std::string, TracedCalls>& all, const Json& line) {
  TracedCalls call;
  call.routine = line.at("routine");
  std::vector<std::string> words;
  for (const char* name : {"m", "rows", "n", "cols", "k"})
    if (line.contains(name)) {
      call.shape[words.size()] = line.at(name);
      words.push_back(line.at(name).dump());
    }
  call.text = fmt::format("{} {}{}", call.routine, fmt::join(words, "x"),
                          line.value("transposed", 0) != 0 ? " turned" : "");
  TracedCalls& same = all.try_emplace(call.text, call).first->second;
  same.calls += 1;
  same.seconds += line.at("seconds").get<double>();
}

View dense(Dtype dtype, int64_t rows, int64_t cols) { return col_major({}, dtype, rows, cols); }

/// What Trine calls it, or nothing.
std::optional<AnyCall> operation_of(const TracedCalls& calls) {
  const bool amax = calls.routine.starts_with('i');
  const Dtype dtype = calls.routine[amax] == 's' ? Dtype::f32 : Dtype::f64;
  const std::string name = calls.routine.substr(amax ? 2 : 1);
  const auto [m, n, k] = calls.shape;
  if (name == "gemm" || name == "gemv")
    return Gemm{.a = dense(dtype, m, k), .b = dense(dtype, k, n), .c = dense(dtype, m, n)};
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
  std::ifstream file(path);
  if (!file) throw Refusal(fmt::format("{}: can't be read", path));
  Trace trace;
  std::map<std::string, TracedCalls> all;
  int64_t number = 0;
  for (std::string text; std::getline(file, text);) {
    ++number;
    try {
      const Json line = Json::parse(text);
      if (line.contains("trine_blas"))
        trace.program = line.at("program");
      else if (line.contains("forwarded"))
        trace.forwarded += line.at("calls").get<int64_t>();
      else
        take_call(all, line);
    } catch (const Json::exception&) {
      throw Refusal(fmt::format("{}:{}: not a line of TRINE_BLAS_LOG", path, number));
    }
  }
  for (auto& [text, calls] : all) {
    trace.calls += calls.calls;
    trace.seconds += calls.seconds;
    trace.all.push_back(std::move(calls));
  }
  if (trace.all.empty()) throw Refusal(fmt::format("{}: has no calls", path));
  std::ranges::stable_sort(trace.all, std::greater(), &TracedCalls::seconds);
  return trace;
}

std::optional<Answer> answer(Target& target, const TracedCalls& calls, Where where) {
  const std::optional<AnyCall> call = operation_of(calls);
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
