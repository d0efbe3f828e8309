#include "runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>

#include "measure.hpp"

namespace trine::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kShort = 20e-6;  ///< below it, launch cost matters and two figures are printed
constexpr uint64_t kRingBytes = uint64_t{128} << 20;
constexpr int kMostSlots = 32;
constexpr uint32_t kPoison = 0xa5a5a5a5;

double since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

Choice launch(Queue& queue, const DeviceOperation& operation, const std::string& rung) {
  return std::visit([&](const auto& op) { return run(queue, op, rung); }, operation);
}

View bytes_view(const Buffer& buffer, uint64_t bytes) {
  return vector(buffer, Dtype::b8, int64_t(bytes));
}
HostView host_bytes(const void* data, uint64_t bytes) {
  return host_vector(data, Dtype::b8, int64_t(bytes));
}

/// The inputs on the device and a ring of outputs, with one operation a slot.
class Ring {
 public:
  Ring(Queue& queue, const Problem& problem, const Expectation& expectation)
      : queue_(queue), stride_((expectation.output_bytes() + 255) / 256 * 256) {
    const Device device = queue.device();
    const uint64_t limit =
        std::min(kRingBytes, std::max<uint64_t>(device.facts().max_buffer_bytes, 1));
    slots_ = int(std::clamp<uint64_t>(limit / std::max<uint64_t>(stride_, 1), 1, kMostSlots));
    for (size_t i = 0; i < expectation.input_count(); ++i) {
      const auto& data = expectation.input(i);
      inputs_.emplace_back(device, data.size());
      if (!data.empty())
        copy(queue, host_bytes(data.data(), data.size()), bytes_view(inputs_.back(), data.size()));
    }
    outputs_ = Buffer(device, stride_ * uint64_t(slots_));
    for (int slot = 0; slot < slots_; ++slot) {
      std::vector<Place> places;
      for (const Buffer& input : inputs_)
        places.push_back({input, uint64_t(slot % expectation.windows()) * Expectation::kShift});
      places.push_back({outputs_, uint64_t(slot) * stride_});
      operations_.push_back(device_operation(problem, places));
    }
    poison();
    queue.wait();
  }

  int slots() const { return slots_; }
  uint64_t bytes() const { return stride_ * uint64_t(slots_); }
  const DeviceOperation& operation(int slot) const { return operations_[size_t(slot)]; }
  void poison() {
    if (outputs_.bytes() != 0)
      fill(queue_, vector(outputs_, Dtype::b32, int64_t(outputs_.bytes() / 4)), &kPoison);
  }
  /// Empty, or what is wrong in one of the first `used` slots.
  std::string check(Expectation& expectation, int used, Numerics numerics, uint64_t* digest) {
    std::vector<std::byte> host(stride_ * uint64_t(slots_));
    if (!host.empty())
      copy(queue_, bytes_view(outputs_, host.size()), host_bytes(host.data(), host.size()));
    queue_.wait();
    for (int slot = 0; slot < used; ++slot) {
      const std::byte* output = host.data() + uint64_t(slot) * stride_;
      if (slot == 0) *digest = expectation.digest(output);
      std::string wrong = expectation.check(slot % expectation.windows(), output, numerics);
      if (!wrong.empty()) return fmt::format("slot {} of {}: {}", slot, used, wrong);
    }
    return {};
  }

 private:
  Queue& queue_;
  uint64_t stride_;
  int slots_ = 1;
  std::vector<Buffer> inputs_;
  Buffer outputs_;
  std::vector<DeviceOperation> operations_;
};

/// Which rings of launches are looked at: the first, second, fourth, eighth … and the last. Fetching
/// and comparing each of thousands would take minutes; a kernel that is right only sometimes is
/// still met early, midway and late.
class Checks {
 public:
  bool due() { return std::has_single_bit(++rings_); }
  void add(const std::string& wrong) {
    if (failure_.empty()) failure_ = wrong;
  }
  const std::string& failure() const { return failure_; }

 private:
  uint64_t rings_ = 0;
  std::string failure_;
};

void rate(Result& result, double seconds) {
  const Problem& p = result.problem;
  result.rate = seconds > 0 ? work(p) / seconds : 0;
}

/// A rate that the device can't have is a defect of the measurement. Small data may live in caches
/// that the roof's loop doesn't know, so of memory rates only those of large data are judged.
void judge_against_roof(const Device& device, uint64_t written, Result& result) {
  constexpr double kNoise = 1.15;
  constexpr uint64_t kBeyondCaches = uint64_t{512} << 20;
  const Problem& problem = result.problem;
  if (!result.verified || result.roof.value == 0 || result.rate <= kNoise * result.roof.value)
    return;
  if (!rated_by_flops(problem) && footprint(problem) < kBeyondCaches) return;
  result.roof = roof_of(device, problem, written, true);
  if (result.rate <= kNoise * result.roof.value) return;
  result.verified = false;
  result.failure = fmt::format(
      "{:.4g} G{} is above the measured roof of {:.4g} G{}: the measurement "
      "is wrong",
      result.rate / 1e9, result.roof.unit, result.roof.value / 1e9, result.roof.unit);
}

void settle(Result& result, const Samples& samples, double seconds) {
  result.kernel = seconds;
  result.samples = int(samples.seconds.size());
  result.spread = samples.spread();
  rate(result, seconds);
}

}  // namespace

std::vector<Result> Runner::resident(const Problem& problem, Expectation& expectation,
                                     const std::string& rung) {
  Ring ring(queue_, problem, expectation);
  Result result;
  result.problem = problem;
  result.device = device_.id();
  result.requested = rung;
  const auto begin = Clock::now();
  const Choice choice = launch(queue_, ring.operation(0), rung);
  queue_.wait();
  result.first = since(begin);
  result.rung = choice.rung();
  result.why = std::string(choice.why);
  result.numerics = choice.numerics;
  result.roof = roof_of(device_, problem, ring.bytes());

  ring.poison();  // the first launch's answer must not serve for a timed one
  queue_.wait();
  int slot = 0;
  Checks checks;
  const auto next = [&] {
    if (slot == ring.slots()) {
      if (checks.due()) checks.add(ring.check(expectation, slot, result.numerics, &result.digest));
      slot = 0;
      ring.poison();
      queue_.wait();
    }
    return slot++;
  };
  const std::string label = fmt::format("{} {}", device_.id(), to_string(problem));
  const Samples single = measure(label, budget_, 3, [&] {
    const DeviceOperation& operation = ring.operation(next());
    const Event start = queue_.record();
    launch(queue_, operation, rung);
    const Event stop = queue_.record();
    queue_.wait();
    return elapsed(start, stop);
  });
  settle(result, single, single.median());
  checks.add(ring.check(expectation, slot, result.numerics, &result.digest));
  result.failure = checks.failure();
  result.verified = result.failure.empty();
  judge_against_roof(device_, ring.bytes(), result);
  std::vector<Result> results{result};
  if (single.median() >= kShort || !result.verified) return results;

  Checks of_batches;
  bool ran = false;
  const Samples sustained = measure(label, budget_, 3, [&] {
    if (ran && of_batches.due())
      of_batches.add(ring.check(expectation, ring.slots(), result.numerics, &result.digest));
    ran = true;
    ring.poison();
    const Event start = queue_.record();
    for (int i = 0; i < ring.slots(); ++i) launch(queue_, ring.operation(i), rung);
    const Event stop = queue_.record();
    queue_.wait();
    return elapsed(start, stop) / ring.slots();
  });
  result.method = "sustained";
  settle(result, sustained, sustained.median());
  of_batches.add(ring.check(expectation, ring.slots(), result.numerics, &result.digest));
  result.failure = of_batches.failure();
  result.verified = result.failure.empty();
  judge_against_roof(device_, ring.bytes(), result);
  results.push_back(result);
  return results;
}

namespace {

/// The whole program in one kind of host memory: allocate, copy in, compute, copy out.
class WholeProgram {
 public:
  WholeProgram(Queue& queue, const Problem& problem, const Expectation& expectation, Memory memory,
               std::string rung)
      : queue_(queue),
        problem_(problem),
        rung_(std::move(rung)),
        in_place_(queue.device().backend() == "cpu") {
    bytes_ = operand_bytes(problem);
    for (size_t i = 0; i < bytes_.size(); ++i) {
      const uint64_t bytes = bytes_[i];
      if (memory == Memory::pinned) {
        pinned_.emplace_back(queue.device(), bytes, Memory::pinned);
        host_.push_back(pinned_.back().host());
      } else {
        pageable_.emplace_back(bytes);
        host_.push_back(pageable_.back().data());
      }
      if (bytes == 0) continue;
      if (i < expectation.input_count())
        std::memcpy(host_[i], expectation.input(i).data(), bytes);
      else
        std::memset(host_[i], 0xa5, bytes);
    }
  }

  double once() {
    if (bytes_.back() != 0) std::memset(host_.back(), 0xa5, bytes_.back());
    const auto t0 = Clock::now();
    std::vector<Place> places;
    for (size_t i = 0; i < host_.size(); ++i)
      places.push_back({in_place_ ? Buffer::wrap(queue_.device(), host_[i], bytes_[i])
                                  : Buffer(queue_.device(), bytes_[i])});
    const auto t1 = Clock::now();
    const size_t output = host_.size() - 1;
    // Fresh device memory may still hold the last answer; poisoning it is not the program's time.
    if (!in_place_ && bytes_[output] != 0) {
      const uint8_t poison = 0xa5;
      fill(queue_, bytes_view(places[output].buffer, bytes_[output]), &poison);
      queue_.wait();
    }
    const auto begin = Clock::now();
    for (size_t i = 0; !in_place_ && i < output; ++i)
      if (bytes_[i] != 0)
        copy(queue_, host_bytes(host_[i], bytes_[i]), bytes_view(places[i].buffer, bytes_[i]));
    if (!in_place_) queue_.wait();
    const auto t2 = Clock::now();
    launch(queue_, device_operation(problem_, places), rung_);
    queue_.wait();
    const auto t3 = Clock::now();
    if (!in_place_ && bytes_[output] != 0) {
      copy(queue_, bytes_view(places[output].buffer, bytes_[output]),
           host_bytes(host_[output], bytes_[output]));
      queue_.wait();
    }
    const auto t4 = Clock::now();
    const auto seconds = [](auto a, auto b) {
      return std::chrono::duration<double>(b - a).count();
    };
    alloc.seconds.push_back(seconds(t0, t1));
    h2d.seconds.push_back(seconds(begin, t2));
    kernel.seconds.push_back(seconds(t2, t3));
    d2h.seconds.push_back(seconds(t3, t4));
    return in_place_ ? seconds(t2, t3) : seconds(t0, t1) + seconds(begin, t4);
  }

  bool in_place() const { return in_place_; }
  const void* output() const { return host_.back(); }
  Samples alloc, h2d, kernel, d2h;

 private:
  Queue& queue_;
  const Problem& problem_;
  std::string rung_;
  bool in_place_;
  std::vector<Buffer> pinned_;
  std::vector<std::vector<std::byte>> pageable_;
  std::vector<void*> host_;
  std::vector<uint64_t> bytes_;
};

double last_median(const Samples& samples, size_t count) {
  Samples last;
  last.seconds.assign(
      samples.seconds.end() - std::ptrdiff_t(std::min(count, samples.seconds.size())),
      samples.seconds.end());
  return last.median();
}

}  // namespace

std::vector<Result> Runner::whole(const Problem& problem, Expectation& expectation,
                                  const Result& kernel) {
  std::vector<Result> results;
  for (const Memory memory : {Memory::device, Memory::pinned}) {
    const bool pinned = memory == Memory::pinned;
    WholeProgram program(queue_, problem, expectation, memory, kernel.rung);
    const std::string label =
        fmt::format("{} {} {}", device_.id(), to_string(problem), pinned ? "pinned" : "pageable");
    const Samples total = measure(label, budget_, 3, [&] { return program.once(); });
    Result result = kernel;
    result.memory = pinned ? "pinned" : "pageable";
    result.method = "single";
    const size_t count = total.seconds.size();
    settle(result, total, last_median(program.kernel, count));
    if (!program.in_place()) {
      result.alloc = last_median(program.alloc, count);
      result.h2d = last_median(program.h2d, count);
      result.d2h = last_median(program.d2h, count);
    }
    result.total = total.median();
    result.failure = expectation.check(0, program.output(), result.numerics);
    result.digest = expectation.digest(program.output());
    result.verified = result.failure.empty();
    results.push_back(result);
  }
  return results;
}

}  // namespace trine::bench
