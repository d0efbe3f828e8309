#include "chunks.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace trine::bench {
namespace {

void take_rows(View& view, Strip strip) {
  view.offset += uint64_t(strip.begin * view.row_stride) * size_of(view.dtype);
  view.rows = strip.count;
}
void take_cols(View& view, Strip strip) {
  view.offset += uint64_t(strip.begin * view.col_stride) * size_of(view.dtype);
  view.cols = strip.count;
}

/// The host's view of the same elements: host and device memory are laid out alike.
HostView host_view(const View& view, void* base) {
  return {static_cast<char*>(base) + view.offset,
          view.dtype,
          view.rows,
          view.cols,
          view.batch,
          view.row_stride,
          view.col_stride,
          view.batch_stride};
}

std::vector<Place> allocate(const Device& device, const Problem& problem) {
  std::vector<Place> places;
  for (const uint64_t bytes : operand_bytes(problem)) places.push_back({Buffer(device, bytes)});
  return places;
}

void launch(Queue& queue, const DeviceOperation& operation) {
  std::visit([&](const auto& op) { run(queue, op); }, operation);
}

/// Row strips of a transpose, row panels of a gemm: their results lie apart, so nothing is combined.
class Rows final : public Chunks {
 public:
  Rows(const Device& device, const Problem& problem, const HostData& host,
       const std::vector<Strip>& strips)
      : host_(host) {
    const std::vector<Place> places = allocate(device, problem);
    for (const Strip& strip : strips) operations_.push_back(strip_of(problem, places, strip));
  }

  void bring(Queue& queue, int chunk) override {
    if (const auto* transpose = std::get_if<Transpose>(&operation(chunk))) {
      copy(queue, host_view(transpose->input, host_[0]), transpose->input);
      return;
    }
    const auto& gemm = std::get<Gemm>(operation(chunk));
    if (chunk == 0) copy(queue, host_view(gemm.b, host_[1]), gemm.b);
    copy(queue, host_view(gemm.a, host_[0]), gemm.a);
  }
  void compute(Queue& queue, int chunk) override { launch(queue, operation(chunk)); }
  void take(Queue& queue, int chunk) override {
    const auto* transpose = std::get_if<Transpose>(&operation(chunk));
    const View& from = transpose ? transpose->output : std::get<Gemm>(operation(chunk)).c;
    copy(queue, from, host_view(from, host_.back()));
  }
  bool takes(int) const override { return true; }
  bool finish(Queue&, const void*) override { return false; }

 private:
  const DeviceOperation& operation(int chunk) const { return operations_[size_t(chunk)]; }
  HostData host_;
  std::vector<DeviceOperation> operations_;
};

/// Reductions whose parts' results combine by the same reduction: min, max, sums of integers.
class Partials final : public Chunks {
 public:
  Partials(const Device& device, const Problem& problem, const HostData& host,
           const std::vector<Strip>& strips)
      : host_(host), last_(int(strips.size()) - 1) {
    const uint64_t size = size_of(problem.result);
    const Buffer partials(device, size * strips.size());
    std::vector<Place> places = allocate(device, problem);
    const Buffer result = places[1].buffer;
    for (size_t i = 0; i < strips.size(); ++i) {
      places[1] = {partials, size * i};
      operations_.push_back(std::get<Reduce>(strip_of(problem, places, strips[i])));
    }
    all_ = {.function = problem.function,
            .input = vector(partials, problem.result, int64_t(strips.size())),
            .output = vector(result, problem.result, 1)};
    if (strips.size() == 1) operations_[0].output = all_.output;
  }

  void bring(Queue& queue, int chunk) override {
    const View& input = operations_[size_t(chunk)].input;
    copy(queue, host_view(input, host_[0]), input);
  }
  void compute(Queue& queue, int chunk) override {
    run(queue, operations_[size_t(chunk)]);
    if (chunk == last_ && last_ > 0) run(queue, all_);
  }
  void take(Queue& queue, int) override {
    copy(queue, all_.output, host_view(all_.output, host_[1]));
  }
  bool takes(int chunk) const override { return chunk == last_; }
  bool finish(Queue&, const void* elsewhere) override {
    if (!elsewhere) return false;
    const size_t size = size_of(all_.output.dtype);
    std::vector<std::byte> both(2 * size);
    std::memcpy(both.data(), host_[1], size);
    std::memcpy(both.data() + size, elsewhere, size);
    reduce(all_.function, Map::identity, Axis::all, host_vector(both.data(), all_.output.dtype, 2),
           host_vector(host_[1], all_.output.dtype, 1), {.device = "cpu"});
    return false;
  }

 private:
  HostData host_;
  int last_;
  std::vector<Reduce> operations_;
  Reduce all_;
};

/// Who adds up a few numbers: the cpu where there is that backend, else the device that made them.
std::string adder_beside(const Device& device) {
  try {
    return open("cpu").id();
  } catch (const Error&) { return device.id(); }
}

/// Sums of floats: the exact sum of rounded partial sums isn't the exact sum, so a part's result is
/// kept with its error. A part of f32 leaves one f64. A part of f64 leaves two: hi, its sum rounded,
/// and lo, the sum of the same elements and -hi, which lies behind them in memory. Where what is left
/// unknown could change the rounding, the whole, which is on the device by then, is summed once more.
class FloatSum final : public Chunks {
 public:
  FloatSum(const Device& device, const Problem& problem, const HostData& host,
           const std::vector<Strip>& strips)
      : host_(host),
        dtype_(problem.dtype),
        total_(cuttable(problem)),
        kept_(device, strips.size() * kPerPart * 8, Memory::pinned),
        adder_(adder_beside(device)) {
    const int64_t gap = pairs() ? kGap : 0, size = size_of(dtype_);
    const auto count = int64_t(strips.size());
    const int64_t elements = strips.back().begin + strips.back().count;
    const Buffer data(device, uint64_t((elements + gap * count) * size));
    const Buffer results(device, kept_.bytes());
    for (int64_t i = 0; i < count; ++i) {
      const Strip strip = strips[size_t(i)];
      parts_.push_back(part(data, uint64_t((strip.begin + gap * i) * size), strip, results,
                            uint64_t(i) * kPerPart * 8));
      std::fill_n(kept() + uint64_t(i) * kPerPart, kPerPart, -1.0);
    }
    whole_ = {.input = vector(data, dtype_, int64_t(data.bytes()) / size),
              .output = vector(Buffer(device, uint64_t(size)), dtype_, 1)};
    results_ = vector(results, Dtype::f64, count * int64_t(kPerPart));
  }

  void bring(Queue& queue, int chunk) override {
    const Part& part = parts_[size_t(chunk)];
    if (chunk == 0 && pairs())
      copy(queue, host_vector(kept(), Dtype::f64, results_.rows), results_);
    const auto* const from = static_cast<const char*>(host_[0]);
    copy(queue,
         host_vector(from + part.strip.begin * int64_t(size_of(dtype_)), dtype_, part.strip.count),
         part.hi.input);
  }
  void compute(Queue& queue, int chunk) override {
    const Part& part = parts_[size_t(chunk)];
    run(queue, part.hi);
    if (!pairs()) return;
    run(queue, part.negate);
    run(queue, part.lo);
  }
  void take(Queue& queue, int) override {
    copy(queue, results_, host_vector(kept(), Dtype::f64, results_.rows));
  }
  bool takes(int chunk) const override { return size_t(chunk) + 1 == parts_.size(); }

  bool finish(Queue& queue, const void* elsewhere) override {
    std::vector<double> sums;
    double error = 0;
    // Half a unit in the last place is at most 2^-53 of the value; twice that covers this sum, too.
    const auto unknown = [&] { error += std::ldexp(std::abs(sums.back()), -52); };
    for (size_t i = 0; i < parts_.size(); ++i) {
      sums.push_back(kept()[i * kPerPart + kHi]);
      if (pairs()) sums.push_back(kept()[i * kPerPart + kLo]);
      unknown();
    }
    if (elsewhere) {
      sums.push_back(*static_cast<const double*>(elsewhere));
      unknown();
    }
    if (const std::optional<double> sum = certain_sum(sums, error, dtype_, adder_)) {
      store(*sum);
      return false;
    }
    sum_whole(queue, elsewhere != nullptr);
    return true;
  }

 private:
  static constexpr size_t kPerPart = 3, kMinusOne = 0, kHi = 1, kLo = 2;
  static constexpr int64_t kGap = 32;  ///< elements: the next part begins on a cache line again
  struct Part {
    Strip strip;
    Reduce hi, negate, lo;
  };

  bool pairs() const { return dtype_ == Dtype::f64; }
  double* kept() const { return static_cast<double*>(kept_.host()); }

  Part part(const Buffer& data, uint64_t at, Strip strip, const Buffer& results,
            uint64_t slots) const {
    const auto slot = [&](size_t i) { return vector(results, Dtype::f64, 1, slots + i * 8); };
    Part part{strip, {.input = vector(data, dtype_, strip.count, at), .output = slot(kHi)}, {}, {}};
    if (!pairs()) return part;
    // -1 x hi, to the place behind the part's elements.
    part.negate = {.function = Function::prod,
                   .input = vector(results, Dtype::f64, 2, slots + kMinusOne * 8),
                   .output = vector(data, dtype_, 1, at + uint64_t(strip.count) * 8)};
    part.lo = part.hi;
    part.lo.input.rows += 1;
    part.lo.output = slot(kLo);
    return part;
  }

  /// The device has only its strips; the rest is the host's.
  void sum_whole(Queue& queue, bool rest) {
    if (rest)
      return reduce(Function::sum, Map::identity, Axis::all, host_vector(host_[0], dtype_, total_),
                    host_vector(host_[1], dtype_, 1), {.device = "cpu"});
    const double nothing = -0.0;  // the one value that changes no sum, not even that of -0
    for (const Part& part : parts_) {
      View gap = part.negate.output;
      gap.rows = kGap;
      if (pairs()) fill(queue, gap, &nothing);
    }
    run(queue, whole_);
    copy(queue, whole_.output, host_vector(host_[1], dtype_, 1));
    queue.wait();
  }

  void store(double sum) const {
    const auto narrow = float(sum);
    if (pairs())
      std::memcpy(host_[1], &sum, sizeof sum);
    else
      std::memcpy(host_[1], &narrow, sizeof narrow);
  }

  HostData host_;
  Dtype dtype_;
  int64_t total_;
  Buffer kept_;  ///< by part: -1, hi, lo, as on the device
  std::string adder_;
  std::vector<Part> parts_;
  View results_;
  Reduce whole_;
};

}  // namespace

int64_t cuttable(const Problem& problem) {
  return problem.operation == Operation::reduce ? problem.size.rows * problem.size.cols
                                                : problem.size.rows;
}

Dtype partial_dtype(const Problem& problem) {
  return problem.function == Function::sum && problem.dtype == Dtype::f32 ? Dtype::f64
                                                                          : problem.result;
}

int64_t granule(const Problem& problem) {
  switch (problem.operation) {
    case Operation::reduce: return 1024;
    case Operation::transpose: return 32;
    default: return 64;
  }
}

DeviceOperation strip_of(const Problem& problem, const std::vector<Place>& places, Strip strip) {
  DeviceOperation operation = device_operation(problem, places);
  if (auto* reduce = std::get_if<Reduce>(&operation)) {
    take_rows(reduce->input, strip);
  } else if (auto* transpose = std::get_if<Transpose>(&operation)) {
    take_rows(transpose->input, strip);
    take_cols(transpose->output, strip);
  } else {
    take_rows(std::get<Gemm>(operation).a, strip);
    take_rows(std::get<Gemm>(operation).c, strip);
  }
  return operation;
}

std::unique_ptr<Chunks> Chunks::make(const Device& device, const Problem& problem,
                                     const HostData& host, const std::vector<Strip>& strips) {
  if (problem.operation != Operation::reduce)
    return std::make_unique<Rows>(device, problem, host, strips);
  const bool rounds = problem.dtype == Dtype::f32 || problem.dtype == Dtype::f64;
  if (problem.function == Function::sum && rounds && strips.size() > 1)
    return std::make_unique<FloatSum>(device, problem, host, strips);
  return std::make_unique<Partials>(device, problem, host, strips);
}

std::optional<double> certain_sum(std::span<const double> parts, double error, Dtype dtype,
                                  const std::string& device) {
  std::vector<double> all(parts.begin(), parts.end());
  const double sum = trine::sum(all, {.device = device});
  if (!std::isfinite(sum) || sum == 0 || !std::isfinite(error)) return std::nullopt;
  all.push_back(-sum);
  const double rest = trine::sum(all, {.device = device});  // of the exact sum, beyond `sum`
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (dtype == Dtype::f32) {
    const double most = error + std::abs(rest);
    const auto low = float(std::nextafter(sum - most, -kInfinity));
    const auto high = float(std::nextafter(sum + most, kInfinity));
    return low == high ? std::optional<double>(low) : std::nullopt;
  }
  // `sum` is right where the true one is nearer to it than to either neighbour.
  const double above = std::nextafter(sum, kInfinity) - sum,
               below = sum - std::nextafter(sum, -kInfinity);
  const double most = error + std::ldexp(std::abs(rest), -52);
  const bool certain = rest + most < above / 2 && rest - most > -below / 2;
  return certain ? std::optional(sum) : std::nullopt;
}

}  // namespace trine::bench
