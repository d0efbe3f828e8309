// Kernels alone: launches replayed from a CUDA graph, without the pauses between single launches, of the
// default or the rungs named, beside the peers that take the call. docs/performance.md shows its figures.
//
//   trine-graphs [OPERATIONS] [OPTIONS of `trine compare` that name cases] [--rung …] [--peers] [--parts N]
//
// Each launch of a graph reads data of its own, up to 1 GiB of it, so that no cache holds it. A line is a
// case; a column is a rung: the median of nine replays in µs a launch, and the first column's time over it.
// Each rung writes into outputs that were overwritten before; one is held to the oracle, and all launches of rungs that
// promise the same bits to one another. --parts: k of a gemm in so many calls, each continuing the chains of the one
// before; a launch is then all of them.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>

#include "bench/cases/cases.hpp"
#include "bench/timing/best.hpp"
#include "bench/timing/expectation.hpp"
#include "bench/timing/side_by_side.hpp"
#include "bench/ui/error.hpp"

namespace trine::bench {
namespace {

constexpr uint64_t kSpread = uint64_t{1} << 30;
constexpr int kReplays = 9, kMostLaunches = 200, kLeastLaunches = 3;

void must(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

/// The calls that compute `whole`: itself, or a gemm in parts of k.
std::vector<DeviceOperation> in_parts(const DeviceOperation& whole, int64_t parts) {
  if (parts == 1) return {whole};
  if (!std::holds_alternative<Gemm>(whole)) throw Refusal("--parts is for gemm");
  std::vector<DeviceOperation> calls;
  auto op = std::get<Gemm>(whole);
  const View a = op.a, b = op.b;
  for (int64_t i = 0; i < parts; ++i) {
    const int64_t begin = a.cols * i / parts;
    op.a.cols = op.b.rows = a.cols * (i + 1) / parts - begin;
    op.a.offset = a.offset + uint64_t(begin * a.col_stride) * size_of(a.dtype);
    op.b.offset = b.offset + uint64_t(begin * b.row_stride) * size_of(b.dtype);
    op.continues = i > 0;
    calls.push_back(op);
  }
  return calls;
}

/// Launches of one problem, each on data of its own.
class Replayed {
 public:
  Replayed(const Device& device, cudaStream_t stream, const Problem& problem, int64_t parts)
      : stream_(stream), queue_(Queue::adopt(device, stream)), data_(problem, 1) {
    const std::vector<uint64_t> bytes = operand_bytes(problem);
    const uint64_t fits = kSpread / std::max<uint64_t>(footprint(problem), 1);
    const int launches = int(std::clamp<uint64_t>(fits, kLeastLaunches, kMostLaunches));
    for (int i = 0; i < launches; ++i) {
      std::vector<Place> places;
      for (size_t k = 0; k < bytes.size(); ++k) {
        const Buffer& buffer = memory_.emplace_back(device, std::max<uint64_t>(bytes[k], 1));
        if (k + 1 < bytes.size())
          copy(queue_, host_vector(data_.inputs()[k].data(), Dtype::b8, int64_t(bytes[k])),
               vector(buffer, Dtype::b8, int64_t(bytes[k])));
        places.push_back({buffer, 0});
      }
      outputs_.push_back(memory_.back());
      for (const DeviceOperation& call : in_parts(device_operation(problem, places), parts))
        operations_.push_back(call);
    }
    output_.resize(bytes.back());
    queue_.wait();
    poisoned_.assign(bytes.back(), std::byte{0xa5});
  }

  /// Seconds a launch by this rung.
  double seconds(const std::string& rung) {
    for (size_t i = 0; i < operations_.size() / outputs_.size(); ++i)
      launch(queue_, operations_[i], rung);
    queue_.wait();
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t replay = nullptr;
    must(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed));
    for (const DeviceOperation& each : operations_) launch(queue_, each, rung);
    must(cudaStreamEndCapture(stream_, &graph));
    must(cudaGraphInstantiate(&replay, graph, 0));
    cudaEvent_t begin = nullptr, end = nullptr;
    must(cudaEventCreate(&begin));
    must(cudaEventCreate(&end));
    std::vector<double> all;
    poison();
    for (int i = 0; i <= kReplays; ++i) {
      float milliseconds = 0;
      must(cudaEventRecord(begin, stream_));
      must(cudaGraphLaunch(replay, stream_));
      must(cudaEventRecord(end, stream_));
      must(cudaEventSynchronize(end));
      must(cudaEventElapsedTime(&milliseconds, begin, end));
      if (i > 0) all.push_back(double(milliseconds) * 1e-3 / double(outputs_.size()));
    }
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    cudaGraphExecDestroy(replay);
    cudaGraphDestroy(graph);
    std::ranges::sort(all);
    return all[all.size() / 2];
  }

  /// What is wrong with the outputs of the rung that ran last; empty: nothing.
  std::string failure(Numerics numerics) {
    for (size_t i = 0; i < outputs_.size(); ++i) {
      copy(queue_, vector(outputs_[i], Dtype::b8, int64_t(output_.size())),
           host_vector(output_.data(), Dtype::b8, int64_t(output_.size())));
      queue_.wait();
      if (i == 0)
        if (std::string wrong = data_.check(0, output_.data(), numerics); !wrong.empty())
          return wrong;
      if (numerics != Numerics::reproducible) return {};
      if (expected_.empty()) expected_ = output_;
      if (data_.digest(output_.data()) != data_.digest(expected_.data()))
        return fmt::format("launch {} has other bits", i);
    }
    return {};
  }

 private:
  void poison() {
    for (const Buffer& output : outputs_)
      copy(queue_, host_vector(poisoned_.data(), Dtype::b8, int64_t(poisoned_.size())),
           vector(output, Dtype::b8, int64_t(poisoned_.size())));
    queue_.wait();
  }

  cudaStream_t stream_;
  Queue queue_;
  Expectation data_;
  std::vector<Buffer> memory_, outputs_;
  std::vector<DeviceOperation> operations_;
  std::vector<std::byte> output_, expected_, poisoned_;
};

/// A case's line; false where an output is wrong.
bool show(const Device& device, cudaStream_t stream, const Problem& problem,
          std::vector<std::string> rungs, bool peers, int64_t parts) {
  if (peers)
    for (const RungInfo& rung : device.rungs(problem.operation))
      if (rung.numerics == Numerics::vendor) rungs.push_back(rung.name);
  Replayed replayed(device, stream, problem, parts);
  double first = 0;
  bool right = true;
  std::string line =
      fmt::format("{:44}", to_string(problem) + (parts > 1 ? fmt::format(" in {}", parts) : ""));
  for (const std::string& rung : rungs) try {
      const Choice choice = choice_of(device, problem, rung);
      const double seconds = replayed.seconds(rung);
      if (first == 0) first = seconds;
      line +=
          fmt::format(" | {:24} {:9.2f} {:6.3f}", choice.rung(), seconds * 1e6, first / seconds);
      const std::string wrong = replayed.failure(choice.numerics);
      if (wrong.empty()) continue;
      line += " WRONG: " + wrong;
      right = false;
    } catch (const Error& error) { line += fmt::format(" | {:24} {:>16}", rung, "refuses"); }
  if (first == 0)
    fmt::print("{}\n", line);
  else
    fmt::print("{} | {:.3g} {}\n", line,
               work(problem) / first * (rated_by_flops(problem) ? 1e-12 : 1e-9),
               rated_by_flops(problem) ? "TFLOP/s" : "GB/s");
  std::fflush(stdout);
  return right;
}

int run(int argc, char** argv) {
  Cases cases;
  std::vector<std::string> rungs;
  bool peers = false;
  int64_t parts = 1;
  CLI::App app("kernels alone, in CUDA graphs");
  add_case_options(app, cases);
  add_list(app, "--rung", rungs,
           "rungs (default: the device's own choice); `default` is that choice");
  app.add_flag("--peers", peers, "the vendors' kernels beside them");
  app.add_option("--parts", parts, "gemm: calls that k is cut into")->check(CLI::PositiveNumber);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) { return app.exit(error); }
  const std::vector<Problem> problems = problems_of(cases);
  if (rungs.empty()) rungs = {"default"};
  for (std::string& rung : rungs)
    if (rung == "default") rung.clear();
  if (peers) load_peers();
  const Device device = open("cuda:0");
  cudaStream_t stream = nullptr;
  must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  bool same = true;
  for (const Problem& problem : problems)
    same &= show(device, stream, problem, rungs, peers, parts);
  return same ? 0 : 1;
}

}  // namespace
}  // namespace trine::bench

int main(int argc, char** argv) try {
  return trine::bench::run(argc, argv);
} catch (const std::exception& error) {
  fmt::print(stderr, "trine-graphs: {}\n", error.what());
  return 2;
}
