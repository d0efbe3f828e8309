// `trine compare --graph`: kernels alone. Launches are replayed from a CUDA graph, so there are no
// pauses between them.
//
// Each launch of a graph reads data of its own, up to 1 GiB of it, so that no cache holds it. A row
// is a rung: the median of nine replays in µs a launch, and the time of the case's first rung over
// it. Each rung writes into outputs that were overwritten before. One output is held to the oracle,
// and all launches of rungs that promise the same bits to one another.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "backends/kit/driver_table.hpp"
#include "bench/cases/cases.hpp"
#include "bench/timing/expectation.hpp"
#include "bench/timing/side_by_side.hpp"
#include "bench/ui/error.hpp"
#include "bench/ui/table.hpp"
#include "compare_graph.hpp"

namespace trine::bench {
namespace {

constexpr uint64_t kSpread = uint64_t{1} << 30;
constexpr int kReplays = 9, kMostLaunches = 200, kLeastLaunches = 3;

/// The CUDA driver API's few calls, with its handles as plain pointers.
struct GraphCalls {
  int (*push)(void*);
  int (*pop)(void**);
  int (*stream)(void**, unsigned);
  int (*destroy_stream)(void*);
  int (*begin)(void*, int);
  int (*end)(void*, void**);
  int (*instantiate)(void**, void*, unsigned long long);
  int (*launch)(void*, void*);
  int (*destroy_exec)(void*);
  int (*destroy_graph)(void*);
};
constexpr const char* kSymbols[] = {"cuCtxPushCurrent_v2",
                                    "cuCtxPopCurrent_v2",
                                    "cuStreamCreate",
                                    "cuStreamDestroy_v2",
                                    "cuStreamBeginCapture_v2",
                                    "cuStreamEndCapture",
                                    "cuGraphInstantiateWithFlags",
                                    "cuGraphLaunch",
                                    "cuGraphExecDestroy",
                                    "cuGraphDestroy"};
constinit kit::DriverTable<GraphCalls, std::size(kSymbols)> graph_calls(
    {"libcuda.so.1", "there is no CUDA driver", "", "CUDA 11.4"}, kSymbols);

const GraphCalls& calls() {
  const char* reason = "";
  if (const GraphCalls* found = graph_calls.find(&reason)) return *found;
  throw Refusal(fmt::format("--graph: {}", reason));
}

void must(int code, const char* what) {
  if (code != 0) throw Error(Status::backend_error, fmt::format("{}: CUDA's error {}", what, code));
}

/// A stream in the device's context, which is current while this lives.
class Stream {
 public:
  explicit Stream(const Device& device) {
    must(calls().push(device.native().context), "cuCtxPushCurrent");
    must(calls().stream(&stream_, 1),
         "cuStreamCreate");  // 1: it doesn't wait for the default stream
  }
  ~Stream() {
    if (stream_) calls().destroy_stream(stream_);
    void* ours = nullptr;
    calls().pop(&ours);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  void* get() const { return stream_; }

 private:
  void* stream_ = nullptr;
};

/// What `launches` enqueues on a stream, as a graph.
class Graph {
 public:
  template <class Launches>
  Graph(void* stream, Launches launches) {
    must(calls().begin(stream, 2),
         "cuStreamBeginCapture");  // 2: other calls of this thread are allowed
    try {
      launches();
    } catch (...) {
      calls().end(stream, &graph_);
      release();
      throw;
    }
    must(calls().end(stream, &graph_), "cuStreamEndCapture");
    if (const int code = calls().instantiate(&exec_, graph_, 0)) {
      release();
      must(code, "cuGraphInstantiate");
    }
  }
  ~Graph() { release(); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  void launch(void* stream) { must(calls().launch(exec_, stream), "cuGraphLaunch"); }

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
  Replayed(const Device& device, const Stream& stream, const Problem& problem, uint64_t seed)
      : stream_(stream.get()), queue_(Queue::adopt(device, stream.get())), data_(problem, seed) {
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
      operations_.push_back(device_operation(problem, places));
    }
    output_.resize(bytes.back());
    queue_.wait();
    poisoned_.assign(bytes.back(), std::byte{0xa5});
  }

  /// Seconds a launch by this rung.
  double seconds(const std::string& rung) {
    launch(queue_, operations_[0], rung);
    queue_.wait();
    Graph graph(stream_, [&] {
      for (const DeviceOperation& each : operations_) launch(queue_, each, rung);
    });
    std::vector<double> all;
    poison();
    for (int i = 0; i <= kReplays; ++i) {
      const Event begin = queue_.record();
      graph.launch(stream_);
      const Event end = queue_.record();
      queue_.wait();
      if (i > 0) all.push_back(elapsed(begin, end) / double(operations_.size()));
    }
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

  void* stream_;
  Queue queue_;
  Expectation data_;
  std::vector<Buffer> memory_, outputs_;
  std::vector<DeviceOperation> operations_;
  std::vector<std::byte> output_, expected_, poisoned_;
};

/// A row of the table for each rung; false where an output is wrong or no rung takes the problem.
bool add_rows(const Device& device, const Stream& stream, const Problem& problem,
              const std::vector<std::string>& rungs, uint64_t seed,
              std::vector<std::vector<std::string>>& rows) {
  Replayed replayed(device, stream, problem, seed);
  double first = 0;
  bool right = true;
  for (const std::string& rung : rungs) {
    std::vector<std::string>& row =
        rows.emplace_back(std::vector{to_string(problem), rung, std::string("refused")});
    try {
      const Choice choice = choice_of(device, problem, rung);
      row[1] = choice.rung();
      const double seconds = replayed.seconds(rung);
      if (first == 0) first = seconds;
      const std::string wrong = replayed.failure(choice.numerics);
      right &= wrong.empty();
      row.pop_back();
      row.insert(row.end(),
                 {fmt::format("{:.2f}", seconds * 1e6), fmt::format("{:.3f}", first / seconds),
                  rate_text(work(problem) / seconds, rated_by_flops(problem) ? "flop/s" : "B/s"),
                  wrong.empty() ? "verified" : "WRONG: " + wrong});
    } catch (const Error& error) {
      if (error.status() == Status::device_lost) throw;
      row.insert(row.begin() + 2, {"-", "-", "-"});
    }
  }
  return right && first > 0;
}

}  // namespace

int compare_in_graphs(const Device& device, const std::vector<Problem>& problems,
                      const std::function<std::vector<std::string>(const Problem&)>& rungs_of,
                      uint64_t seed, Control& control) {
  const Stream stream(device);
  std::vector<std::vector<std::string>> rows{
      {"case", "rung", "µs a launch", "first/this", "rate", "verified"}};
  bool right = true;
  for (const Problem& problem : problems) {
    if (Control::stop()) break;
    Control::show(fmt::format("{} in graphs on {}", to_string(problem), device.id()));
    right &= add_rows(device, stream, problem, rungs_of(problem), seed, rows);
    rows.emplace_back();
  }
  Control::show("");
  print_table(rows, 2);
  return ended(control, rows.size() == 1 ? Outcome::nothing
                        : right          ? Outcome::good
                                         : Outcome::failed);
}

}  // namespace trine::bench
