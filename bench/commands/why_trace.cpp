#include "why_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "bench/placement/trace.hpp"
#include "bench/timing/json.hpp"
#include "bench/timing/lines.hpp"
#include "bench/timing/side_by_side.hpp"
#include "bench/ui/error.hpp"
#include "bench/ui/output.hpp"
#include "bench/ui/screen.hpp"
#include "bench/ui/table.hpp"

namespace trine::bench {
namespace {

/// The whole program on one target. Calls without a prediction count as they ran.
struct Forecast {
  Target target;
  std::vector<std::optional<Answer>> answers;  ///< of Trace::all
  TimeRange moved, stayed;
  TimeRange
      best;  ///< each call where it is faster: as it ran, or on the target with its data moved
  int64_t unknown = 0;
  double unknown_seconds = 0;
};

std::vector<Target> targets(const TraceOptions& o) {
  std::vector<Target> all;
  for (const std::string& path : o.calibrations) {
    const SavedCalibration saved(path);
    all.push_back({fmt::format("{} ({})", saved.backend(), saved.device()), "", saved});
  }
  if (o.devices.empty() && !all.empty()) return all;
  for (const Device& device : chosen_devices(o.devices))
    all.push_back({fmt::format("{} ({})", device.id(), device.facts().name), "", device});
  return all;
}

Forecast forecast(const Target& target, const Trace& trace, Where where) {
  Forecast f{target, {}, {}, {}, {}};
  for (const TracedCalls& calls : trace.all) {
    f.answers.push_back(answer(f.target, calls, where));
    const TimeRange ran{calls.seconds, calls.seconds, calls.seconds};
    if (const auto& here = f.answers.back()) {
      const auto count = static_cast<double>(calls.calls);
      f.moved.add(here->moved, count);
      f.stayed.add(here->stayed, count);
      if (here->moved.seconds * count < calls.seconds)
        f.best.add(here->moved, count);
      else
        f.best.add(ran);
      continue;
    }
    for (TimeRange* span : {&f.moved, &f.stayed, &f.best}) span->add(ran);
    f.unknown += calls.calls;
    f.unknown_seconds += calls.seconds;
  }
  return f;
}

/// "1.2 s (1.1 s to 1.4 s), 3.1× as fast"
std::string in_words(const TimeRange& span, double ran) {
  return fmt::format("{} ({} to {}), {} as fast", time_text(span.seconds), time_text(span.low),
                     time_text(span.high), ratio_text(ran / span.seconds));
}

void print_sentence(const Forecast& f, const Trace& trace) {
  if (f.unknown == trace.calls) return say("{}: no prediction for any call.", f.target.name);
  std::string text = fmt::format(
      "On {}, {}, they would take {} if the data moved at each call, and {} if it stayed there.",
      f.target.name, f.target.source, in_words(f.moved, trace.seconds),
      in_words(f.stayed, trace.seconds));
  if (f.unknown > 0)
    text += fmt::format(" {} calls ({}) have no prediction and count as they ran.", f.unknown,
                        time_text(f.unknown_seconds));
  say("{}", text);
}

std::string count_text(int64_t count, const char* word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

void print_devices(const std::vector<Forecast>& all, const Trace& trace) {
  std::vector<std::vector<std::string>> rows = {
      {"device", "moved", "±", "times", "stayed", "±", "times", "best of each call", "prediction"}};
  for (const Forecast& f : all)
    rows.push_back({f.target.name, time_text(f.moved.seconds),
                    arms_text(f.moved.low, f.moved.seconds, f.moved.high),
                    ratio_text(trace.seconds / f.moved.seconds), time_text(f.stayed.seconds),
                    arms_text(f.stayed.low, f.stayed.seconds, f.stayed.high),
                    ratio_text(trace.seconds / f.stayed.seconds), time_text(f.best.seconds),
                    f.target.source});
  print_table(rows, 1);
}

/// The calls that took the longest, on the target that would be fastest.
void print_calls(const Forecast& f, const Trace& trace) {
  constexpr size_t kMost = 12;
  std::vector<std::vector<std::string>> rows = {
      {"calls of", "count", "as they ran", "moved", "stayed", ""}};
  for (size_t i = 0; i < std::min(kMost, trace.all.size()); ++i) {
    const TracedCalls& calls = trace.all[i];
    const auto& here = f.answers[i];
    const auto times = [&](double seconds) {
      return time_text(seconds * static_cast<double>(calls.calls));
    };
    rows.push_back({calls.text, fmt::format("{}", calls.calls), time_text(calls.seconds),
                    here ? times(here->moved.seconds) : "-",
                    here ? times(here->stayed.seconds) : "-", ""});
  }
  say("\n{}, the shapes that took longest, of {}:", f.target.name, trace.all.size());
  print_table(rows, 1);
}

nlohmann::ordered_json json_of(const TimeRange& span) {
  return {{"seconds", span.seconds}, {"low", span.low}, {"high", span.high}};
}

void write_answers(const std::string& path, const std::vector<Forecast>& all, const Trace& trace) {
  nlohmann::ordered_json devices = nlohmann::ordered_json::array();
  for (const Forecast& f : all) {
    nlohmann::ordered_json calls = nlohmann::ordered_json::array();
    for (size_t i = 0; i < trace.all.size(); ++i)
      if (const auto& here = f.answers[i])
        calls.push_back({{"calls", trace.all[i].text},
                         {"moved", json_of(here->moved)},
                         {"stayed", json_of(here->stayed)}});
    devices.push_back({{"name", f.target.name},
                       {"source", f.target.source},
                       {"moved", json_of(f.moved)},
                       {"stayed", json_of(f.stayed)},
                       {"best_of_each_call", json_of(f.best)},
                       {"unpredicted_calls", f.unknown},
                       {"unpredicted_seconds", f.unknown_seconds},
                       {"one_call", calls}});
  }
  nlohmann::ordered_json calls = nlohmann::ordered_json::array();
  for (const TracedCalls& one : trace.all)
    calls.push_back({{"calls", one.text}, {"count", one.calls}, {"seconds", one.seconds}});
  write_json(path, {{"schema", 1},
                    {"program", trace.program},
                    {"calls", trace.calls},
                    {"forwarded", trace.forwarded},
                    {"seconds", trace.seconds},
                    {"by_shape", calls},
                    {"devices", devices}});
}

}  // namespace

int why_trace(const TraceOptions& o) {
  if (!o.json.empty()) check_writable(o.json);
  const Trace trace = read_trace(o.trace);
  if (trace.is_torn) say_torn(o.trace);
  std::vector<Forecast> all;
  for (const Target& target : targets(o)) all.push_back(forecast(target, trace, o.where));
  std::ranges::stable_sort(all, {}, [](const Forecast& f) { return f.moved.seconds; });
  say("{}: {} of {} took {}{}.", trace.program, count_text(trace.calls, "call"),
      count_text(std::ssize(trace.all), "shape"), time_text(trace.seconds),
      trace.forwarded > 0 ? fmt::format("; {} went to the next BLAS and aren't timed",
                                        count_text(trace.forwarded, "further call"))
                          : "");
  for (const Forecast& f : all) print_sentence(f, trace);
  say("");
  print_devices(all, trace);
  print_calls(
      *std::ranges::min_element(all, {}, [](const Forecast& f) { return f.stayed.seconds; }),
      trace);
  if (!o.json.empty()) write_answers(o.json, all, trace);
  return kExitGood;
}

}  // namespace trine::bench
