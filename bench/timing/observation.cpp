#include "observation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "bench/cases/operations.hpp"
#include "bench/stats/overtaking.hpp"
#include "bench/ui/screen.hpp"
#include "bench/ui/table.hpp"

namespace trine::bench {
namespace {

std::string heading(const Problem& p) {
  std::string text(name(p.operation));
  if (describe(p.operation).has_function)
    text += fmt::format(" {} ({}, {})", name(p.function), name(p.map), name(p.axis));
  text += fmt::format(" {}", name(p.dtype));
  if (p.result != p.dtype) text += fmt::format(" to {}", name(p.result));
  if (p.numerics != Numerics::reproducible) text += fmt::format(", {}", name(p.numerics));
  if (p.batch != 1) text += fmt::format(", batch of {}", p.batch);
  if (p.layout != describe(p.operation).layout) text += fmt::format(", layout {}", p.layout);
  if (p.values != "uniform") text += fmt::format(", values {}", p.values);
  return text;
}

bool same_case(const Result& a, const Result& b) {
  return a.problem.size == b.problem.size && a.device == b.device && a.requested == b.requested &&
         a.rung == b.rung;
}

const Result* find(const std::vector<Result>& all, const Result& like, const char* memory,
                   const char* method) {
  for (const Result& r : all)
    if (same_case(r, like) && r.memory == memory && r.method == method && r.kernel) return &r;
  return nullptr;
}

/// The cpu's own default result at a size.
const Result* cpu_at(const std::vector<Result>& all, const Size& size, const char* memory) {
  for (const Result& r : all)
    if (r.device.starts_with("cpu") && !r.vendor() && r.problem.size == size &&
        r.memory == memory && r.verified && r.method == "single")
      return &r;
  return nullptr;
}

std::string interval_text(const Result& r) {
  if (!r.kernel || r.interval.high <= 0) return "-";
  return arms_text(r.interval.low, *r.kernel, r.interval.high);
}

constexpr const char* kHead[] = {"size",     "device",    "rung",    "time",          "single",
                                 "±",        "sustained", "rate",    "of roof",       "alloc",
                                 "host→dev", "dev→host",  "pinned",  "kernel vs cpu", "call",
                                 "vs cpu",   "vs peer",   "verified"};
const std::vector<std::string> kHidden{"single",   "±",        "sustained", "alloc",
                                       "host→dev", "dev→host", "pinned",    "kernel vs cpu"};

/// The rung in few words: its parameters where they were asked for, or with --wide.
std::string rung_text(const Result& r) {
  std::string text = r.rung.empty() || (!r.requested.empty() && !is_wide()) ? r.requested : r.rung;
  if (r.requested.empty() && !is_wide()) text = bare(text);
  return r.vendor() ? text + " (peer)" : text;
}

std::vector<std::string> row_of(const std::vector<Result>& all, const Result& r) {
  std::vector<std::string> row{to_string(r.problem.operation, r.problem.size), r.device,
                               rung_text(r)};
  if (r.skipped) {
    row.resize(std::size(kHead), "-");
    row.back() = "refused";
    return row;
  }
  const Result* sustained = find(all, r, "resident", "sustained");
  // With --wide both figures are shown; else the one that the sentence under the table speaks of.
  const Result& figure = sustained && is_wide() ? *sustained : r;
  const Result* pageable = find(all, r, "pageable", "single");
  const Result* pinned = find(all, r, "pinned", "single");
  const Result* cpu = cpu_at(all, r.problem.size, "resident");
  const Result* cpu_whole = cpu_at(all, r.problem.size, "pageable");
  const auto ratio = [](std::optional<double> a, std::optional<double> b) {
    return ratio_text(a && b && *b > 0 ? std::optional(*a / *b) : std::nullopt);
  };
  const auto of = [](const Result* result, auto member) {
    return result ? result->*member : std::optional<double>();
  };
  row.insert(row.end(),
             {time_text(figure.kernel), time_text(r.kernel), interval_text(r),
              time_text(of(sustained, &Result::kernel)), rate_text(figure), share_text(figure),
              time_text(of(pageable, &Result::alloc)), time_text(of(pageable, &Result::h2d)),
              time_text(of(pageable, &Result::d2h)), time_text(of(pinned, &Result::total)),
              ratio(of(cpu, &Result::kernel), r.kernel), time_text(of(pageable, &Result::total)),
              ratio(of(cpu_whole, &Result::total), of(pageable, &Result::total)),
              ratio_text(sustained && sustained->peer_ratio ? sustained->peer_ratio : r.peer_ratio),
              verdict_text(r)});
  for (const Result* other : {sustained, pageable, pinned})
    if (other != nullptr && !other->verified) row.back() = "WRONG";
  return row;
}

/// A median with its interval, or without.
Timed timed(double median, const Interval& interval) {
  Timed figure(std::vector{median});
  if (interval.high > 0) figure.interval = interval;
  return figure;
}

/// The times that the caller sees: the cpu's and the device's.
struct Race {
  Timed cpu, device;
  bool lost() const { return cpu.interval.high < device.interval.low; }
};

/// The cpu's and the device's default results at a size, and the device's call on host data.
struct Pair {
  const Result *cpu, *device, *call;
  Race resident, on_host_data;
};

/// Smallest size first.
std::vector<Pair> pairs(const std::vector<Result>& all, const std::string& device) {
  std::vector<Pair> found;
  for (const Result& r : all) {
    if (r.device != device || r.vendor() || !r.verified || r.memory != "resident" ||
        r.method != "single")
      continue;
    const Result *cpu = cpu_at(all, r.problem.size, "resident"),
                 *cpu_call = cpu_at(all, r.problem.size, "pageable"),
                 *call = find(all, r, "pageable", "single");
    if (!cpu || !cpu_call || !call || !call->total) continue;
    Race resident{cpu->waited, r.waited};
    if (!cpu->waited.seconds || !r.waited.seconds)  // written before this was measured
      resident = {timed(*cpu->kernel, cpu->interval), timed(*r.kernel, r.interval)};
    found.push_back(
        {cpu,
         &r,
         call,
         resident,
         {timed(*cpu_call->total, cpu_call->interval), timed(*call->total, call->interval)}});
  }
  std::ranges::stable_sort(found, {},
                           [](const Pair& pair) { return footprint(pair.device->problem); });
  return found;
}

/// "from 2^20": the smallest size from which on the device's result is surely faster at all larger
/// ones.
std::string pays_text(const std::vector<Pair>& found, Race Pair::*race, const char* when) {
  const auto size = [](const Pair& pair) {
    return to_string(pair.device->problem.operation, pair.device->problem.size);
  };
  std::vector<Compared> surely;  // by place: the least that the device is faster by
  surely.reserve(found.size());
  for (const Pair& pair : found)
    surely.push_back(
        {double(surely.size()), (pair.*race).cpu.interval.low / (pair.*race).device.interval.high});
  if (const std::optional<Compared> from = overtaking(surely).ahead)
    return fmt::format("it pays {} from {}", when, size(found[size_t(from->size)]));
  const Pair& last = found.back();
  if ((last.*race).lost())
    return found.size() == 1 ? fmt::format("at {} it doesn't pay {}", size(last), when)
                             : fmt::format("up to {} it never pays {}", size(last), when);
  return fmt::format("at {} this run can't tell whether it pays {}", size(last), when);
}

/// How much of the call's time is copying and allocating.
std::string phases_text(const Result& call) {
  const double copying = (call.h2d.value_or(0) + call.d2h.value_or(0)) / *call.total;
  return fmt::format(" {:.0f} % of the call is copying, {:.0f} % allocating.", 100 * copying,
                     100 * call.alloc.value_or(0) / *call.total);
}

}  // namespace

std::string pays(const std::vector<Result>& all, const std::string& device) {
  const std::vector<Pair> found = pairs(all, device);
  if (found.empty()) return {};
  return fmt::format("{}, and {}",
                     pays_text(found, &Pair::resident, "for data that stays on the device"),
                     pays_text(found, &Pair::on_host_data, "for one call on host data"));
}

std::string observation(const std::vector<Result>& all, const std::string& device) {
  const std::vector<Pair> found = pairs(all, device);
  if (found.empty()) return {};
  const Pair& last = found.back();
  const Race& call = last.on_host_data;
  return fmt::format(
      "At {} on {} the kernel is {} as fast as on cpu, the call {}: {:.0f} % of its {} is the "
      "kernel; {}.{}",
      to_string(last.device->problem.operation, last.device->problem.size), device,
      ratio_text(*last.cpu->kernel / *last.device->kernel),
      ratio_text(*call.cpu.seconds / *call.device.seconds),
      100 * std::min(1.0, *last.device->kernel / *call.device.seconds),
      time_text(call.device.seconds), pays(all, device), is_wide() ? phases_text(*last.call) : "");
}

void Report::add(const std::vector<Result>& results, bool sampled) {
  if (results.empty()) return;
  const std::string group = kind_text(results.front().problem);
  if (group != group_) finish();
  group_ = group;
  sampled_ = sampled_ || sampled;
  results_.insert(results_.end(), results.begin(), results.end());
}

void Report::finish() {
  if (results_.empty()) return;
  say("\n{}", heading(results_.front().problem));
  std::vector<std::vector<std::string>> rows{{std::begin(kHead), std::end(kHead)}};
  const Size* size = nullptr;
  for (const Result& r : results_) {
    if (r.memory != "resident" || r.method != "single") continue;
    if (size && !(*size == r.problem.size)) rows.emplace_back();
    size = &r.problem.size;
    rows.push_back(row_of(results_, r));
  }
  print_table(rows, 3, kHidden);
  if (is_above_roof(results_)) say("{}", kAboveRoofNote);
  print_reasons(results_);
  if (sampled_) say("{}", kSampledNote);
  std::vector<std::string> devices;
  for (const Result& r : results_)
    if (!r.device.starts_with("cpu") &&
        std::find(devices.begin(), devices.end(), r.device) == devices.end())
      devices.push_back(r.device);
  for (const std::string& device : devices) {
    const std::string sentence = observation(results_, device);
    if (!sentence.empty()) say("{}", sentence);
  }
  std::fflush(stdout);
  results_.clear();
  sampled_ = false;
}

}  // namespace trine::bench
