#include "placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <map>
#include <optional>

#include "bench/cases/cases.hpp"
#include "bench/cases/operations.hpp"
#include "bench/stats/measure.hpp"
#include "bench/timing/host_run.hpp"
#include "bench/transfer/modes.hpp"
#include "bench/ui/screen.hpp"
#include "bench/ui/table.hpp"
#include "oracle/philox.hpp"
#include "oracle/values.hpp"

namespace trine::bench {
namespace {

constexpr double kClose = 0.05, kShare = 0.95;
constexpr double kTurnsSeconds =
    0.1;  ///< a device's, at least, within the bounds: longer than most disturbances
constexpr int kFewestTurns = 11, kMostTurns = 301;

/// Draws of one case.
class Draw {
 public:
  Draw(uint64_t seed, uint64_t index) : seed_(seed), counter_(index << 8) {}
  double uniform() { return double(oracle::philox_bits(seed_, counter_++) >> 11) * 0x1p-53; }
  int64_t log_uniform(double low, double high) {
    return std::llround(low * std::pow(high / low, uniform()));
  }
  template <class T>
  T one_of(const std::vector<T>& all) {
    return all[size_t(uniform() * double(all.size()))];
  }

 private:
  uint64_t seed_, counter_;
};

/// rows x cols of about `count` elements, every shape from a column to a row.
Size matrix(Draw& draw, int64_t count) {
  const int64_t rows = draw.log_uniform(1, double(count));
  return {rows, std::max<int64_t>(1, count / rows), 0};
}

/// A case on one device, timed as place() predicts it.
class Contestant {
 public:
  Contestant(const PlacementCase& which, const Device& device, const HostRun::Inputs& inputs)
      : which_(which), on_host_(device, which.problem, inputs, which.where != Where::host) {
    on_host_.options.overlap = which.where != Where::host_pinned;
    in_one_call_ = which.repeats == 1 || in_place(device);
    if (in_one_call_) return;
    queue_ = Queue(device);
    std::vector<Place> places;
    for (size_t i = 0; i < on_host_.operands(); ++i) {
      const int64_t bytes = on_host_.bytes(i).rows;
      places.push_back({Buffer(device, uint64_t(std::max<int64_t>(bytes, 1)))});
      on_device_.push_back(vector(places[i].buffer, Dtype::b8, bytes));
    }
    operation_ = device_operation(which.problem, places);
  }

  /// Of one run; the transfers are shared among them.
  double seconds() {
    const auto begin = Clock::now();
    if (in_one_call_) {
      on_host_.call();
      return seconds_since(begin);
    }
    const size_t output = on_device_.size() - 1;
    for (size_t i = 0; i < output; ++i) copy(queue_, on_host_.bytes(i), on_device_[i]);
    queue_.wait();
    const double in = seconds_since(begin);
    launch(queue_, operation_, "");
    queue_.wait();
    const double run = seconds_since(begin) - in;
    copy(queue_, on_device_[output], on_host_.bytes(output));
    queue_.wait();
    return (seconds_since(begin) - run) / which_.repeats + run;
  }
  bool same_output(const Contestant& other) const {
    const size_t bytes = size_t(on_host_.bytes(on_host_.operands() - 1).rows);
    return std::memcmp(on_host_.output(), other.on_host_.output(), bytes) == 0;
  }

 private:
  const PlacementCase& which_;
  HostRun on_host_;
  bool in_one_call_;
  Queue queue_;  ///< what follows is of several runs alone
  std::vector<View> on_device_;
  DeviceOperation operation_;
};

Placement placement_of(const PlacementCase& which, const std::vector<Device>& devices) {
  return std::visit(
      [&](const auto& operation) { return place(operation, which.where, which.repeats, devices); },
      planned(which.problem));
}

/// Inputs as the calibration's: floats in (-1, 1), integers of any value.
std::vector<std::vector<std::byte>> inputs_of(const Problem& problem, uint64_t seed) {
  std::vector<std::vector<std::byte>> all;
  const std::vector<uint64_t> bytes = operand_bytes(problem);
  for (size_t i = 0; i + 1 < bytes.size(); ++i) {
    all.emplace_back(bytes[i]);
    oracle::fill_line({.seed = seed + i}, uint32_t(problem.dtype),
                      int64_t(bytes[i] / size_of(problem.dtype)), all.back().data());
  }
  return all;
}

PlacementOutcome check_one(const PlacementCase& which, const std::vector<Device>& devices,
                           uint64_t seed) {
  PlacementOutcome outcome;
  outcome.which = which;
  const Placement placement = placement_of(which, devices);
  outcome.chosen = placement.device.id();
  for (const Candidate& candidate : placement.candidates)
    outcome.predicted.emplace_back(candidate.device.id(), candidate.seconds);

  const std::vector<std::vector<std::byte>> inputs = inputs_of(which.problem, seed);
  std::deque<Contestant> contestants;
  std::vector<Samples> samples(devices.size());
  double slowest = 0;
  for (const Device& device : devices) {
    Contestant& own =
        contestants.emplace_back(which, device, HostRun::Inputs(inputs.begin(), inputs.end()));
    own.seconds();  // builds kernels, touches memory
    slowest = std::max(slowest, own.seconds());
    outcome.same_bits &= own.same_output(contestants[0]);
  }
  const int turns =
      int(std::clamp(kTurnsSeconds / slowest, double(kFewestTurns), double(kMostTurns)));
  for (int turn = 0; turn < turns; ++turn)
    for (size_t i = 0; i < devices.size(); ++i)
      samples[i].seconds.push_back(contestants[i].seconds());

  double best = 0, chosen = 0;
  for (size_t i = 0; i < devices.size(); ++i) {
    const double median = samples[i].median();
    outcome.seconds.emplace_back(devices[i].id(), median);
    if (devices[i] == placement.device) chosen = median;
    if (best == 0 || median < best) {
      best = median;
      outcome.fastest = devices[i].id();
    }
  }
  outcome.loss = chosen / best - 1;
  return outcome;
}

std::string times_text(const std::vector<std::pair<std::string, double>>& times) {
  std::string text;
  for (const auto& [device, seconds] : times)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", device, time_text(seconds));
  return text;
}

}  // namespace

std::string random_range(int repeats) {
  return std::string(
             "reduce (sum, prod, min, max, argmin, argmax; f32, f64, i32, i64; all, each_row, "
             "each_column) and transpose (b8 to b128) of 2^4 to 2^24 elements in any shape, gemm "
             "(f32, f64, i32) with m, n and k from 1 to 1500; all drawn log-uniformly; ") +
         (repeats == 1 ? "pageable, pinned or pipelined"
                       : "pageable or pinned (what is copied once for several runs isn't pipelined "
                         "with them)");
}

PlacementCase random_case(const PlacementCases& of, uint64_t index) {
  Draw draw(of.seed, index);
  PlacementCase made;
  Problem& p = made.problem;
  made.repeats = of.repeats;
  std::vector<Where> memories{Where::host, Where::host_pinned};
  if (of.repeats == 1) memories.push_back(Where::host_pipelined);
  made.where = draw.one_of(memories);
  p.operation = draw.one_of(operations_of(Cases()));
  const Description& description = describe(p.operation);
  const bool is_cube = description.factors == 3;
  const int64_t count = is_cube ? 0 : draw.log_uniform(0x1p4, 0x1p24);
  p.layout = description.layout;
  p.dtype = draw.one_of(description.calibrated_dtypes);
  if (description.has_function) {
    p.function = draw.one_of(std::vector{Function::sum, Function::prod, Function::min,
                                         Function::max, Function::argmin, Function::argmax});
    p.axis = draw.one_of(std::vector{Axis::all, Axis::each_row, Axis::each_column});
  }
  if (is_cube)
    for (int64_t* extent : {&p.size.rows, &p.size.cols, &p.size.depth})
      *extent = draw.log_uniform(1, 1500);
  else
    p.size = description.is_vector && p.axis == Axis::all ? Size{count, 1, 0} : matrix(draw, count);
  p.result = default_result(p);
  return made;
}

std::string to_string(const PlacementCase& which) {
  const Problem& p = which.problem;
  return fmt::format("{}, {}", to_string(p),
                     which.where == Where::host          ? "pageable"
                     : which.where == Where::host_pinned ? "pinned"
                                                         : "pipelined");
}

std::vector<PlacementOutcome> check_placement(const std::vector<Device>& devices,
                                              const PlacementCases& cases, Control& control) {
  std::vector<PlacementOutcome> outcomes;
  for (int i = 0; i < cases.count && !control.stop(); ++i) {
    const PlacementCase which = random_case(cases, uint64_t(i));
    control.show(fmt::format("{} of {}: {}", i + 1, cases.count, to_string(which)));
    std::optional<PlacementOutcome> outcome = Control::step(
        [which, devices, seed = cases.seed] { return check_one(which, devices, seed); });
    if (outcome) outcomes.push_back(*std::move(outcome));
  }
  control.show("");
  return outcomes;
}

std::string always_text(const std::vector<PlacementOutcome>& outcomes) {
  std::string text;
  bool as_well = false;
  const auto placed =
      std::ranges::count_if(outcomes, [](const auto& outcome) { return outcome.loss <= kClose; });
  for (size_t device = 0; !outcomes.empty() && device < outcomes[0].seconds.size(); ++device) {
    const auto right = std::ranges::count_if(outcomes, [&](const auto& outcome) {
      double best = outcome.seconds[0].second;
      for (const auto& [id, seconds] : outcome.seconds) best = std::min(best, seconds);
      return outcome.seconds[device].second <= (1 + kClose) * best;
    });
    as_well |= right >= placed;
    text += fmt::format("{}lways {}: {} of {}", text.empty() ? "A" : ", a",
                        outcomes[0].seconds[device].first, right, outcomes.size());
  }
  if (!text.empty()) text += ".";
  if (as_well) text += " A single device for all cases does as well: they don't test place().";
  return text;
}

bool report_placement(const std::vector<PlacementOutcome>& outcomes, const PlacementCases& cases) {
  std::vector<const PlacementOutcome*> worst;
  size_t within = 0, same_bits = 0;
  double error = 0;
  size_t predictions = 0;
  std::map<std::string, int> fastest;
  for (const PlacementOutcome& outcome : outcomes) {
    within += outcome.loss <= kClose ? 1 : 0;
    same_bits += outcome.same_bits ? 1 : 0;
    ++fastest[outcome.fastest];
    if (outcome.loss > kClose) worst.push_back(&outcome);
    for (const auto& [device, predicted] : outcome.predicted)
      for (const auto& [other, measured] : outcome.seconds)
        if (device == other) error += std::abs(std::log(predicted / measured)), ++predictions;
  }
  say("Range: {}.", random_range(cases.repeats));
  if (cases.repeats != 1)
    say("Each case is one of {} runs that share the transfers.", cases.repeats);
  std::string counts;
  for (const auto& [device, times] : fastest) counts += fmt::format(" {} {}", device, times);
  say("{} of {} random cases (seed {}) ran within {:.0f} % of the fastest device's time where "
      "place() put them; at least {:.0f} % are wanted. Fastest:{}.",
      within, outcomes.size(), cases.seed, kClose * 100, kShare * 100, counts);
  if (predictions != 0)
    say("The geometric mean of the prediction errors is a factor of {:.2f}.",
        std::exp(error / double(predictions)));
  std::ranges::sort(worst, [](auto* a, auto* b) { return a->loss > b->loss; });
  std::vector<std::vector<std::string>> table{
      {"worst cases", "chosen", "loss", "took", "predicted"}};
  for (size_t i = 0; i < std::min<size_t>(worst.size(), 10); ++i)
    table.push_back({to_string(worst[i]->which), worst[i]->chosen,
                     fmt::format("{:.0f} %", worst[i]->loss * 100), times_text(worst[i]->seconds),
                     times_text(worst[i]->predicted)});
  print_table(table);
  if (same_bits != outcomes.size())
    say("{} cases had other bits on another device.", outcomes.size() - same_bits);
  if (!outcomes.empty()) say("{}", always_text(outcomes));
  return same_bits == outcomes.size() && double(within) >= kShare * double(outcomes.size()) &&
         !outcomes.empty();
}

}  // namespace trine::bench
