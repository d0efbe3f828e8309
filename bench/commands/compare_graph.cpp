// `trine compare --graph`: kernels alone. Launches are replayed from a CUDA graph, so there are no
// pauses between them.
//
// Each launch of a graph reads data of its own, up to 1 GiB of it, so that no cache holds it. Each
// rung writes into outputs that were overwritten before. One output is held to the oracle, and all
// launches of rungs that promise the same bits to one another.
#include <fmt/format.h>

#include <algorithm>

#include "bench/roofs/cuda_driver.hpp"
#include "bench/ui/error.hpp"
#include "compare_graph.hpp"

namespace trine::bench {
namespace {

constexpr uint64_t kSpread = uint64_t{1} << 30;
constexpr int kReplays = 9, kMostLaunches = 200, kLeastLaunches = 3;

const CudaDriver& calls() {
  const char* reason = "";
  if (const CudaDriver* found = cuda_driver(&reason)) return *found;
  throw Refusal(fmt::format("--graph: {}", reason));
}

void must(int code, const char* what) {
  if (code != 0) throw Error(Status::backend_error, fmt::format("{}: CUDA's error {}", what, code));
}

/// A stream in the device's context, which is current while this lives.
class Stream {
 public:
  explicit Stream(const Device& device) : context_(calls(), device) {
    constexpr unsigned kNonBlocking = 1;  // it doesn't wait for the default stream
    must(calls().make_stream(&stream_, kNonBlocking), "cuStreamCreate");
  }
  ~Stream() { calls().destroy_stream(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  void* get() const { return stream_; }

 private:
  CurrentContext context_;
  void* stream_ = nullptr;
};

/// The work that `launches` enqueues on a stream, as a graph.
class Graph {
 public:
  template <class Launches>
  Graph(void* stream, Launches launches) {
    must(calls().begin_capture(stream, 2),
         "cuStreamBeginCapture");  // 2: other calls of this thread are allowed
    try {
      launches();
    } catch (...) {
      calls().end_capture(stream, &graph_);
      release();
      throw;
    }
    must(calls().end_capture(stream, &graph_), "cuStreamEndCapture");
    if (const int code = calls().instantiate(&exec_, graph_, 0)) {
      release();
      must(code, "cuGraphInstantiate");
    }
  }
  ~Graph() { release(); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  void launch(void* stream) { must(calls().launch_graph(exec_, stream), "cuGraphLaunch"); }

 private:
  void release() {
    if (exec_) calls().destroy_exec(exec_);
    if (graph_) calls().destroy_graph(graph_);
  }
  void *graph_ = nullptr, *exec_ = nullptr;
};

/// Launches of one problem, each on data of its own.
class Replayed {
 public:
  Replayed(const Device& device, const Problem& problem, Expectation& data)
      : stream_(device), queue_(Queue::adopt(device, stream_.get())), data_(data) {
    const std::vector<uint64_t> bytes = operand_bytes(problem);
    const uint64_t fits = kSpread / std::max<uint64_t>(footprint(problem), 1);
    const int launches = int(std::clamp<uint64_t>(fits, kLeastLaunches, kMostLaunches));
    for (int i = 0; i < launches; ++i) {
      std::vector<Place> places;
      for (size_t k = 0; k < bytes.size(); ++k) {
        const Buffer& buffer = memory_.emplace_back(device, std::max<uint64_t>(bytes[k], 1));
        if (k + 1 < bytes.size()) upload(data_.inputs()[k].first(bytes[k]), buffer);
        places.push_back({buffer, 0});
      }
      outputs_.push_back(memory_.back());
      operations_.push_back(device_operation(problem, places));
    }
    output_.resize(bytes.back());
    queue_.wait();
  }

  /// Seconds a launch by this rung, of each replay.
  Samples seconds(const std::string& rung) {
    const std::vector<std::byte> poison(output_.size(), std::byte{0xa5});
    launch(queue_, operations_[0], rung);
    for (const Buffer& output : outputs_) upload(poison, output);
    queue_.wait();
    Graph graph(stream_.get(), [&] {
      for (const DeviceOperation& each : operations_) launch(queue_, each, rung);
    });
    Samples all;
    for (int i = 0; i <= kReplays; ++i) {
      const Event begin = queue_.record();
      graph.launch(stream_.get());
      const Event end = queue_.record();
      queue_.wait();
      if (i > 0) all.seconds.push_back(elapsed(begin, end) / double(operations_.size()));
    }
    return all;
  }

  /// The error in the outputs of the rung that ran last; empty where there is none.
  std::string failure(Numerics numerics) {
    for (size_t i = 0; i < outputs_.size(); ++i) {
      copy(queue_, vector(outputs_[i], Dtype::b8, int64_t(output_.size())),
           host_vector(output_.data(), Dtype::b8, int64_t(output_.size())));
      queue_.wait();
      const std::string wrong = i == 0 ? data_.check(0, output_.data(), numerics) : "";
      if (!wrong.empty()) return wrong;
      if (numerics != Numerics::reproducible) return {};
      if (expected_.empty()) expected_ = output_;
      if (data_.digest(output_.data()) != data_.digest(expected_.data()))
        return fmt::format("launch {} has other bits", i);
    }
    return {};
  }

  uint64_t digest() const { return data_.digest(output_.data()); }

 private:
  void upload(std::span<const std::byte> from, const Buffer& to) {
    const auto bytes = int64_t(from.size());
    copy(queue_, host_vector(from.data(), Dtype::b8, bytes), vector(to, Dtype::b8, bytes));
  }

  Stream stream_;
  Queue queue_;
  Expectation& data_;
  std::vector<Buffer> memory_, outputs_;
  std::vector<DeviceOperation> operations_;
  std::vector<std::byte> output_, expected_;
};

void replay(Replayed& replayed, const Device& device, const std::string& rung, Result& result) {
  result.take(choice_of(device, result.problem, rung));
  const Samples samples = replayed.seconds(rung);
  set_figure(result, samples, samples.median());
  result.failure = replayed.failure(result.numerics);
  result.verified = result.failure.empty();
  result.digest = replayed.digest();
}

}  // namespace

std::vector<Result> measure_in_graphs(const Device& device, const Problem& problem,
                                      const std::vector<std::string>& rungs,
                                      Expectation& expectation) {
  Replayed replayed(device, problem, expectation);
  std::vector<Result> results;
  for (const std::string& rung : rungs) {
    Result& result = results.emplace_back();
    result.problem = problem;
    result.device = device.id();
    result.requested = rung;
    try {
      replay(replayed, device, rung, result);
    } catch (const Error& error) {
      if (error.status() == Status::device_lost) throw;
      result.skipped = true;
      result.failure = error.what();
    }
  }
  return results;
}

}  // namespace trine::bench
