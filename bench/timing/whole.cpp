// The whole program: allocate, copy in, compute, copy out, each apart.
#include <fmt/format.h>

#include <chrono>
#include <cstring>

#include "bench/stats/measure.hpp"
#include "ring.hpp"
#include "runner.hpp"

namespace trine::bench {
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
      const bool is_input = i < expectation.input_count();
      const uint64_t bytes = is_input ? expectation.input(i).size() : bytes_[i];
      if (memory == Memory::pinned) {
        pinned_.emplace_back(queue.device(), bytes, Memory::pinned);
        host_.push_back(pinned_.back().host());
      } else {
        pageable_.emplace_back(bytes);
        host_.push_back(pageable_.back().data());
      }
      if (bytes == 0) continue;
      if (is_input)
        std::memcpy(host_[i], expectation.input(i).data(), bytes);
      else
        std::memset(host_[i], 0xa5, bytes);
    }
  }

  /// Seconds of a pass over the inputs' window `w`.
  double once(int w) {
    if (bytes_.back() != 0) std::memset(host_.back(), 0xa5, bytes_.back());
    std::vector<void*> host = host_;
    for (size_t i = 0; i + 1 < host.size(); ++i)
      host[i] = static_cast<std::byte*>(host[i]) + uint64_t(w) * Expectation::kShift;
    const auto t0 = Clock::now();
    std::vector<Place> places;
    for (size_t i = 0; i < host.size(); ++i)
      places.push_back({in_place_ ? Buffer::wrap(queue_.device(), host[i], bytes_[i])
                                  : Buffer(queue_.device(), bytes_[i])});
    const auto t1 = Clock::now();
    const size_t output = host.size() - 1;
    // Fresh device memory may still hold the last answer; poisoning it is not the program's time.
    if (!in_place_ && bytes_[output] != 0) {
      const uint8_t poison = 0xa5;
      fill(queue_, bytes_view(places[output].buffer, 0, bytes_[output]), &poison);
      queue_.wait();
    }
    const auto begin = Clock::now();
    for (size_t i = 0; !in_place_ && i < output; ++i)
      if (bytes_[i] != 0)
        copy(queue_, host_bytes(host[i], bytes_[i]), bytes_view(places[i].buffer, 0, bytes_[i]));
    if (!in_place_) queue_.wait();
    const auto t2 = Clock::now();
    launch(queue_, device_operation(problem_, places), rung_);
    queue_.wait();
    const auto t3 = Clock::now();
    if (!in_place_ && bytes_[output] != 0) {
      copy(queue_, bytes_view(places[output].buffer, 0, bytes_[output]),
           host_bytes(host[output], bytes_[output]));
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
    Checks checks;
    int passes = 0, w = 0;
    const auto check = [&] { checks.add(expectation.check(w, program.output(), kernel.numerics)); };
    const Samples total = measure(label, budget_, kLeastSamples, [&] {
      if (passes != 0 && checks.due()) check();
      w = passes++ % expectation.windows();
      return program.once(w);
    });
    Result result = kernel;
    result.memory = pinned ? "pinned" : "pageable";
    result.method = "single";
    const size_t count = total.seconds.size();
    set_figure(result, total, last_median(program.kernel, count));
    if (!program.in_place()) {
      result.alloc = last_median(program.alloc, count);
      result.h2d = last_median(program.h2d, count);
      result.d2h = last_median(program.d2h, count);
    }
    result.total = total.median();
    check();
    program.once(0);
    checks.add(expectation.check(0, program.output(), kernel.numerics));
    result.failure = checks.failure();
    result.digest = expectation.digest(program.output());
    result.verified = result.failure.empty();
    results.push_back(result);
  }
  return results;
}

}  // namespace trine::bench
