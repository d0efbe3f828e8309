// A problem's operands in host memory, and the one-line call on them as a program makes it, with
// what the library's trace tells of its steps.
#pragma once

#include "expectation.hpp"
#include "result.hpp"

namespace trine::bench {

/// The kinds of a HostStep, and what the cpu does meanwhile.
enum class Lane { copy_in, kernel, copy_out, cpu };
constexpr Lane kLanes[] = {Lane::copy_in, Lane::kernel, Lane::copy_out, Lane::cpu};

/// Seconds from the first step's begin.
struct Span {
  Lane lane = Lane::copy_in;
  int index = 0;  ///< the chunk
  double begin = 0, end = 0;
};

/// Seconds that a lane was busy.
double busy(const std::vector<Span>& spans, Lane lane);
bool uses(const std::vector<Span>& spans, Lane lane);

/// One call, by the host's clock; its spans by the device's, the cpu's by the host's.
struct Pass {
  double alloc = 0, seconds = 0;  ///< seconds: from the first step to the end of the call
  std::vector<Span> spans;
  double total() const { return alloc + seconds; }
};

class HostRun {
 public:
  using Inputs = std::vector<std::span<const std::byte>>;
  HostRun(const Device& device, Problem problem, const Inputs& inputs, bool pinned);
  HostRun(HostRun&&) = delete;

  HostOptions options;   ///< of the calls; device, numerics and pinned are set
  int64_t cpu_rows = 0;  ///< the last ones of a transpose or gemm, which the cpu computes meanwhile

  void call() const { call_on_host(problem_, views_, options); }
  /// A call on inputs that begin `shift` bytes further on, its steps timed.
  Pass once(uint64_t shift = 0) const;
  void poison();  ///< the output
  size_t operands() const { return bytes_.size(); }
  HostView bytes(size_t operand) const {
    return host_vector(data_[operand], Dtype::b8, int64_t(bytes_[operand]));
  }
  const void* output() const { return data_.back(); }

 private:
  std::string id_;  ///< options.device is a view of it
  Problem problem_;
  std::vector<uint64_t> bytes_;
  std::vector<Buffer> pinned_;
  std::vector<std::vector<std::byte>> pageable_;
  std::vector<void*> data_;
  std::vector<HostView> views_;
};

/// As many passes as `budget` seconds hold, the output poisoned before each and verified after it.
/// The median one is returned and stands in `result` with what the verification found.
Pass measure_passes(HostRun& run, Expectation& expectation, double budget, Result& result);

}  // namespace trine::bench
