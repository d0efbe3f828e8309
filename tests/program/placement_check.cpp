// Whether place() decides well: random cases of host data, each measured on every device in turns,
// beside what place() says. It needs the calibration of two devices, and a machine that does
// nothing else for its share to mean anything.
//
//   placement_check CASES SEED SHARE DEVICE DEVICE…
//
// Exit code 1 where fewer than SHARE (0.95 is wanted) of the cases ran within 5 % of the fastest
// device's time, or where two devices gave other bits.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>

#include "bench/cases/cases.hpp"
#include "bench/cases/operations.hpp"
#include "bench/stats/measure.hpp"
#include "bench/timing/host_run.hpp"
#include "bench/ui/table.hpp"
#include "oracle/philox.hpp"
#include "oracle/values.hpp"

namespace trine::bench {
namespace {

constexpr double kClose = 0.05;
constexpr double kTurnsSeconds =
    0.1;  ///< a device's, at least, within the bounds: longer than most disturbances
constexpr int kFewestTurns = 11, kMostTurns = 301;

struct Case {
  Problem problem;
  Where where = Where::host;
};
struct Outcome {
  Case which;
  std::string chosen, fastest;
  std::vector<std::pair<std::string, double>> seconds, predicted;  ///< by device
  double loss = 0;  ///< the chosen device's time over the fastest one's, less 1
  bool same_bits = true;
};

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

/// A case on one device: the one-line call.
class Contestant {
 public:
  Contestant(const Case& which, const Device& device, const HostRun::Inputs& inputs)
      : call_(device, which.problem, inputs, which.where != Where::host) {
    call_.options.overlap = which.where != Where::host_pinned;
  }
  double seconds() {
    const auto begin = Clock::now();
    call_.call();
    return seconds_since(begin);
  }
  bool same_output(const Contestant& other) const {
    const size_t bytes = size_t(call_.bytes(call_.operands() - 1).rows);
    return std::memcmp(call_.output(), other.call_.output(), bytes) == 0;
  }

 private:
  HostRun call_;
};

Placement placement_of(const Case& which, const std::vector<Device>& devices) {
  return std::visit(
      [&](const auto& operation) { return place(operation, which.where, 1, devices); },
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

Outcome check_one(const Case& which, const std::vector<Device>& devices, uint64_t seed) {
  Outcome outcome;
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

/// Reductions and transposes of 2^4 to 2^24 elements in any shape, products with m, n and k from 1
/// to 1500, drawn log-uniformly.
Case random_case(uint64_t seed, uint64_t index) {
  Draw draw(seed, index);
  Case made;
  Problem& p = made.problem;
  made.where = draw.one_of(std::vector{Where::host, Where::host_pinned, Where::host_pipelined});
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

std::string text_of(const Case& which) {
  const Problem& p = which.problem;
  return fmt::format("{}, {}", to_string(p),
                     which.where == Where::host          ? "pageable"
                     : which.where == Where::host_pinned ? "pinned"
                                                         : "pipelined");
}

/// Prints the outcome; whether it is good.
bool report(std::vector<Outcome> outcomes, double share) {
  const auto within = std::ranges::count_if(outcomes, [](auto& o) { return o.loss <= kClose; });
  const auto other = std::ranges::count(outcomes, false, &Outcome::same_bits);
  std::ranges::sort(outcomes, std::greater(), &Outcome::loss);
  for (size_t i = 0; i < outcomes.size() && i < 10 && outcomes[i].loss > kClose; ++i)
    fmt::print("{}: {} loses {:.0f} %; took {}; predicted {}\n", text_of(outcomes[i].which),
               outcomes[i].chosen, outcomes[i].loss * 100, times_text(outcomes[i].seconds),
               times_text(outcomes[i].predicted));
  fmt::print("{} of {} cases ran within {:.0f} % of the fastest device's time; {} had other bits\n",
             within, outcomes.size(), kClose * 100, other);
  return other == 0 && double(within) >= share * double(outcomes.size());
}

/// Throws where a device would be predicted from its roofs: that isn't what is checked.
void check_calibrated(const std::vector<Device>& devices) {
  for (const Candidate& candidate : placement_of(random_case(1, 0), devices).candidates)
    if (!candidate.calibrated)
      throw std::runtime_error(fmt::format("{} is not calibrated ({}): run `trine calibrate` first",
                                           candidate.device.id(), candidate.source));
}

}  // namespace
}  // namespace trine::bench

int main(int count, char** words) try {
  using namespace trine::bench;
  if (count < 6) throw std::runtime_error("CASES SEED SHARE DEVICE DEVICE…");
  std::vector<trine::Device> devices;
  for (int i = 4; i < count; ++i) devices.push_back(trine::open(words[i]));
  check_calibrated(devices);
  std::vector<Outcome> outcomes;
  const uint64_t seed = std::strtoull(words[2], nullptr, 10);
  for (uint64_t i = 0; i < std::strtoull(words[1], nullptr, 10); ++i)
    outcomes.push_back(check_one(random_case(seed, i), devices, seed));
  return report(outcomes, std::strtod(words[3], nullptr)) ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "placement_check: %s\n", error.what());
  return 2;
}
