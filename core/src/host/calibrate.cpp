// Measures a calibration: every class of calls at every size of its grid, up to sizes that take
// long or don't fit into memory. There are several rounds, and at each size the devices take turns,
// so that a short disturbance of the machine disturbs all devices alike, and not the median.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <functional>
#include <limits>
#include <optional>

#include "core/src/auto/calibration.hpp"
#include "core/src/call/run.hpp"
#include "host_call.hpp"

namespace trine {
namespace detail {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kEach = 1.5e-3;                ///< seconds for one figure of one round, on average
constexpr std::size_t kFewest = 3, kMost = 30;  ///< calls
constexpr double kLong = 10e-3;  ///< larger calls than one that takes so long are extrapolated
constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr uint64_t kOperandBytes = uint64_t{257} << 20;  ///< 2^26 floats, and one

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Whether no operand takes more than `most` bytes.
bool fits(AnyValue& sample, double most) {
  for (const View* view : views_of(sample))
    if (double(view->rows) * double(view->cols) * size_of(view->dtype) > most) return false;
  return true;
}

/// Values in (-1, 1), or small integers, as the dtype has them; bits stay as they are.
void fill_with(Dtype dtype, std::vector<char>& data) {
  uint32_t state = 1;
  visit_number(dtype, [&]<class T>(T) {
    for (std::size_t at = 0; at + sizeof(T) <= data.size(); at += sizeof(T)) {
      state = state * 1664525u + 1013904223u;
      const auto small = static_cast<int32_t>(state) >> 8;
      const T value =
          std::is_floating_point_v<T> ? static_cast<T>(small * 0x1p-23) : static_cast<T>(small);
      std::copy_n(reinterpret_cast<const char*>(&value), sizeof(T), data.data() + at);
    }
  });
}

/// A device with its memory and what has been measured on it.
class Subject {
 public:
  Subject(const Device& device, uint64_t most) : device_(device), queue_(device) {
    Access::state(queue_)->is_quiet = true;
    const Facts& facts = device.facts();
    most_ = most;
    if (facts.max_buffer_bytes != 0) most_ = std::min(most_, facts.max_buffer_bytes);
    in_place_ = Access::use(device).in_place;
    if (in_place_) return;
    if (facts.memory_bytes != 0) most_ = std::min(most_, facts.memory_bytes / 4);
    resident_[0] = Buffer(device, most_);
    resident_[1] = Buffer(device, most_);
    try {
      pinned_[0] = Buffer(device, most_, Memory::pinned);
      pinned_[1] = Buffer(device, most_, Memory::pinned);
    } catch (const Error&) { pinned_[0] = pinned_[1] = {}; }
  }

  const Device& device() const { return device_; }
  bool in_place() const { return in_place_; }
  uint64_t most() const { return most_; }  ///< bytes of an operand

  std::vector<Where> memories(Operation operation) const {
    if (in_place_) return {Where::host};
    if (!pinned_[0].host()) return {Where::device, Where::host};
    if (!description_of(operation).is_cut) return {Where::device, Where::host, Where::host_pinned};
    return {std::begin(kWheres), std::end(kWheres)};
  }

  void load(const std::vector<char>& data) {
    if (in_place_) return;
    const auto bytes = static_cast<int64_t>(most_);
    copy(queue_, host_vector(data.data(), Dtype::b8, bytes),
         vector(resident_[0], Dtype::b8, bytes));
    queue_.wait();
    if (pinned_[0].host()) std::copy_n(data.data(), most_, static_cast<char*>(pinned_[0].host()));
  }

  /// A call that can be repeated, on host data or on resident data, with the wait for its end;
  /// empty if an operand is too large.
  std::function<void()> call(AnyValue sample, Where where, char* input, char* output) {
    if (!fits(sample, double(most_))) return {};
    Views views = views_of(sample);
    if (where == Where::device) {
      for (View* view : views) view->buffer = resident_[0];
      views[views.count() - 1].buffer = resident_[1];
      return [this, sample] {
        run(queue_, sample);
        queue_.wait();
      };
    }
    HostOptions options{.device = device_.id()};
    if (where != Where::host) {
      options.pinned = true;
      options.overlap = where == Where::host_pipelined;
      input = static_cast<char*>(pinned_[0].host());
      output = static_cast<char*>(pinned_[1].host());
    }
    std::vector<ConstHostView> data;
    for (const View* view : views)
      data.push_back(host_row_major(input, view->dtype, view->rows, view->cols));
    data.back().data = output;
    return [=] { run_on_host(sample, data, options); };
  }

  /// The samples of one table, by point.
  struct Samples {
    std::vector<std::vector<double>> medians;  ///< by round
    std::vector<double> least;                 ///< of all rounds
  };
  Samples& samples(std::size_t kind, Where where) {
    return samples_[kind * kMemories + index_of(where)];
  }

  Calibration finish(const std::string& date) const;

 private:
  Device device_;
  Queue queue_;
  uint64_t most_;
  bool in_place_;
  Buffer resident_[2], pinned_[2];
  std::vector<Samples> samples_ = std::vector<Samples>(call_classes().size() * kMemories);
};

Calibration Subject::finish(const std::string& date) const {
  Calibration calibration;
  calibration.date = date;
  for (std::size_t c = 0; c < call_classes().size(); ++c)
    for (const Where where : memories(call_classes()[c].operation)) {
      const std::vector<std::vector<double>>& all =
          samples_[c * kMemories + index_of(where)].medians;
      if (all.empty() || all[0].empty()) continue;
      Grid& grid = calibration.tables[c][index_of(where)].emplace(call_classes()[c].extents);
      for (std::size_t point = 0; point < all.size(); ++point) {
        const std::vector<double>& medians = all[point];
        if (medians.empty()) continue;
        const auto [low, high] = std::minmax_element(medians.begin(), medians.end());
        grid.set(point, {median(medians), *low, *high});
      }
    }
  return calibration;
}

class Session {
 public:
  Session(std::span<const Device> devices, const CalibrateOptions& options) : options_(options) {
    uint64_t most = 0;
    for (const Device& device : devices)
      most = std::max(most, subjects_.emplace_back(device, kOperandBytes).most());
    for (std::vector<char>& operand : host_) operand.resize(most);
    steps_ = call_classes().size() * static_cast<std::size_t>(options.rounds);
  }

  /// The number of complete rounds.
  int run() {
    for (int round = 0; round < options_.rounds; ++round) {
      // The operands by dtype, because each has values of its own.
      for (const Dtype dtype : {Dtype::f32, Dtype::f64, Dtype::i32, Dtype::i64, Dtype::b8})
        for (std::size_t c = 0; c < call_classes().size(); ++c)
          if (values_of(call_classes()[c]) == dtype && !run_class(round, c)) return round;
    }
    return options_.rounds;
  }

  std::vector<Subject>& subjects() { return subjects_; }

 private:
  static Dtype values_of(const CallClass& kind) {
    return kind.dtype >= Dtype::b8 ? Dtype::b8 : kind.dtype;
  }

  /// Filled only after the program was asked whether to go on, because it takes seconds.
  void bring(Dtype dtype) {
    if (brought_ == dtype) return;
    fill_with(dtype, host_[0]);
    for (Subject& subject : subjects_) subject.load(host_[0]);
    brought_ = dtype;
  }

  bool run_class(int round, std::size_t kind) {
    const Grid grid(call_classes()[kind].extents);
    for (std::size_t point = 0; point < grid.size(); ++point)
      if (!run_point(round, kind, grid, point)) return false;
    ++done_;
    return true;
  }

  /// The calls of a device among those of the others.
  struct Turn {
    std::function<void()> call;
    Subject::Samples* samples;  ///< null: the device only disturbs the others, as in a program
    std::vector<double> seconds = {};
  };

  /// Times all devices with the data in that memory, one call each in turns, as in a program that
  /// uses them all: each finds caches, clocks and threads as the others leave them. A device that
  /// works in the host's memory takes part for each kind of memory.
  std::vector<Turn> turns_of(std::size_t kind, Where where, const Grid& grid, std::size_t point) {
    const CallClass& which = call_classes()[kind];
    const AnyValue sample = description_of(which.operation).sample(which, grid.extents(point));
    std::vector<Turn> turns;
    bool any = false;
    for (Subject& subject : subjects_) {
      const std::vector<Where> own = subject.memories(which.operation);
      const bool has = std::find(own.begin(), own.end(), where) != own.end();
      if (!has && !subject.in_place()) continue;
      const Where memory = has ? where : Where::host;
      Subject::Samples& samples = subject.samples(kind, memory);
      samples.medians.resize(grid.size());
      samples.least.resize(grid.size(), kNever);
      if (!worth(grid, samples, point)) continue;
      auto call = subject.call(sample, memory, host_[0].data(), host_[1].data());
      if (!call) continue;
      turns.push_back({std::move(call), has ? &samples : nullptr});
      any |= has;
    }
    if (!any) turns.clear();
    return turns;
  }

  /// Each device first makes a call that may have to build a kernel. A call that a device refuses
  /// or fails is left out: `trine verify` reports failures.
  static void take(std::vector<Turn>& turns) {
    const auto fails = [](Turn& turn) {
      try {
        turn.call();
        return false;
      } catch (const Error& error) {
        if (error.status() == Status::device_lost) throw;
        return true;
      }
    };
    std::erase_if(turns, fails);
    double spent = 0;
    for (std::size_t i = 0; i < kMost && (i < kFewest || spent < kEach * double(turns.size())); ++i)
      std::erase_if(turns, [&](Turn& turn) {
        const Clock::time_point start = Clock::now();
        if (fails(turn)) return true;
        turn.seconds.push_back(since(start));
        spent += turn.seconds.back();
        return false;
      });
  }

  bool run_point(int round, std::size_t kind, const Grid& grid, std::size_t point) {
    const CallClass& which = call_classes()[kind];
    for (const Where where : kWheres) {
      std::vector<Turn> turns = turns_of(kind, where, grid, point);
      if (turns.empty()) continue;
      const std::string what = cat(which.words, ", round ", round + 1, " of ", options_.rounds);
      if (options_.proceed && !options_.proceed(what, double(done_) / double(steps_))) return false;
      bring(values_of(which));
      take(turns);
      for (const Turn& turn : turns) {
        if (!turn.samples) continue;
        const double least = *std::min_element(turn.seconds.begin(), turn.seconds.end());
        turn.samples->medians[point].push_back(median(turn.seconds));
        turn.samples->least[point] = std::min(turn.samples->least[point], least);
      }
    }
    return true;
  }

  /// Whether the calls of the next smaller sizes were measured and are short. It is asked in each
  /// round, because a short call may have taken long on a busy machine.
  static bool worth(const Grid& grid, const Subject::Samples& samples, std::size_t point) {
    for (std::size_t d = 0; d < grid.dimensions(); ++d) {
      const std::size_t below = grid.below(point, d);
      if (below != grid.size() && (samples.medians[below].empty() || samples.least[below] > kLong))
        return false;
    }
    return true;
  }

  const CalibrateOptions& options_;
  std::vector<char> host_[2];
  std::vector<Subject> subjects_;
  std::optional<Dtype> brought_;
  std::size_t steps_ = 0, done_ = 0;
};

std::string now() {
  const std::time_t seconds = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

Calibrated calibrate_all(std::span<const Device> devices, const CalibrateOptions& options) {
  if (options.rounds < 1) refuse("calibrate(): rounds is ", options.rounds, "; it is at least 1.");
  // Checked before minutes of work: whether the file can be written, and the tuning tables under
  // which it is measured.
  if (options.save) check_writable();
  std::vector<PersistentKey> keys;
  for (const Device& device : devices) keys.push_back(calibration_key(Access::use(device)));
  Session session(devices, options);
  Calibrated result;
  result.rounds = session.run();
  if (result.rounds == 0) return result;
  std::vector<std::vector<std::string>> rows;
  for (Subject& subject : session.subjects()) {
    rows.push_back(rows_of(subject.finish(now())));
    // This process uses the same figures as later processes that read the file.
    learn(subject.device(),
          std::make_shared<const Calibration>(calibration_of({.rows = rows.back()})));
  }
  for (std::size_t i = 0; options.save && i < rows.size(); ++i)
    result.files.push_back(
        write_persistent(kCalibrationKind, kCalibrationVersion, keys[i], rows[i]));
  return result;
}

}  // namespace
}  // namespace detail

Calibrated calibrate(std::span<const Device> devices, const CalibrateOptions& options) {
  return detail::entry([&] { return detail::calibrate_all(devices, options); });
}

}  // namespace trine
