// Trine's calls in turn with what the machine can do at best in the same milliseconds. docs/performance.md shows figures of CPUs
// that it measured, docs/measuring.md says how to read it.
//
//   trine-turns [OPERATIONS] [OPTIONS of `trine compare` that name cases] [--device …] [--rung …] [--turns N]
//               [--threads T] [--footprint MIB] [--calls N] [--shared] [--against LIBTRINE | --ladder]
//
// In a turn each way of doing a case has its go, in every other turn in the reverse order: a pause in which the threads of the one
// before go to sleep, calls that aren't timed, calls that are, by the host's clock. Bare threads live as long as their go: none of
// them is there while Trine runs. Each call takes the next operands of as many as fill the footprint; each way has its own, or a
// large cache would keep most of what two of them use.
#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <functional>
#include <numeric>
#include <thread>
#include <tuple>

#include "bench/cases/cases.hpp"
#include "bench/roofs/probes.hpp"
#include "bench/roofs/roof.hpp"
#include "bench/timing/expectation.hpp"
#include "bench/timing/side_by_side.hpp"
#include "bench/ui/error.hpp"

namespace trine::bench {
namespace {

struct Options {
  Cases cases;
  std::vector<std::string> devices{"cpu"}, rungs{""};
  std::string against;
  int turns = 25, threads = 0, calls = 1;
  uint64_t footprint = 256;
  bool answers = false;  ///< the other build's process
  bool ladder = false;   ///< the default beside the other rungs, without bare loops
  bool shared = false;   ///< Trine's ways on a device have the same operands
};

/// As many operands of one problem, all alike, as fill a footprint of a device's memory.
class Operands {
 public:
  Operands(const Device& device, const Problem& problem, Expectation& data, uint64_t footprint)
      : queue_(device), data_(data), bytes_(operand_bytes(problem)) {
    sets_ = std::clamp<uint64_t>(footprint / (bench::footprint(problem) + 1), 1, 4096);
    for (size_t k = 0; k < bytes_.size(); ++k) memory_.emplace_back(device, step(k) * sets_);
    for (size_t set = 0; set < sets_; ++set) {
      std::vector<Place> places;
      for (size_t k = 0; k < bytes_.size(); ++k) {
        places.push_back({memory_[k], set * step(k)});
        const View view = vector(memory_[k], Dtype::b8, int64_t(bytes_[k]), places[k].offset);
        if (k + 1 == bytes_.size())
          fill(queue_, view, "");
        else
          copy(queue_, host_vector(data.inputs()[k].data(), Dtype::b8, view.rows), view);
      }
      operations_.push_back(device_operation(problem, places));
    }
    queue_.wait();
  }

  size_t sets() const { return sets_; }
  size_t output() const { return bytes_.size() - 1; }  ///< inputs come before it
  uint64_t bytes(size_t operand) const { return bytes_[operand]; }
  /// Where one of them lies, on the cpu.
  char* at(size_t operand, size_t set) const {
    return static_cast<char*>(memory_[operand].host()) + set % sets_ * step(operand);
  }
  /// `calls` calls, each with the next operands, and a wait.
  void call(const std::string& rung, int calls) {
    for (int i = 0; i < calls; ++i) launch(queue_, operations_[next_++ % sets_], rung);
    queue_.wait();
  }
  /// What is wrong with the output of one more call; empty: nothing.
  std::string failure(const std::string& rung, Numerics numerics) {
    std::vector<std::byte> result(bytes_.back(), std::byte{0xa5});
    const HostView host = host_vector(result.data(), Dtype::b8, int64_t(result.size()));
    const View view = vector(memory_.back(), Dtype::b8, host.rows, next_ % sets_ * step(output()));
    copy(queue_, host, view);
    call(rung, 1);
    copy(queue_, view, host);
    queue_.wait();
    return data_.check(0, result.data(), numerics);
  }

 private:
  uint64_t step(size_t operand) const { return (bytes_[operand] + 63) / 64 * 64; }
  Queue queue_;
  Expectation& data_;
  std::vector<uint64_t> bytes_;
  std::vector<Buffer> memory_;
  std::vector<DeviceOperation> operations_;
  size_t sets_, next_ = 0;
};

/// One way of doing a case.
struct Way {
  std::string name;
  double amount;  ///< bytes or flops of a call; 0: its time alone says something
  std::function<double(int calls)> seconds;  ///< of a call, the mean of so many
  std::function<std::string()> failure = [] { return std::string(); };
  std::chrono::milliseconds rest{1};  ///< until its threads sleep
  int calls = 1;                      ///< in a turn
  std::vector<double> times = {};
};

/// Calls that aren't timed before so many that are: threads wake up, and caches hold the code.
int calls_before(int calls) { return 1 + calls / 4; }
/// By the calling thread.
Way called(std::string name, double amount, std::function<void()> once) {
  return {std::move(name), amount, [once = std::move(once)](int calls) {
            for (int i = 0; i < calls_before(calls); ++i) once();
            const auto begin = Clock::now();
            for (int i = 0; i < calls; ++i) once();
            return seconds_since(begin) / calls;
          }};
}

/// By a device's rung; empty: its own choice.
Way rung_way(const Problem& p, const Options& o, const Device& device, const std::string& rung,
             Operands& operands) {
  const Choice choice = choice_of(device, p, rung);
  Way way = called(fmt::format("{} {}", device.id(), choice.rung()), work(p) * o.calls,
                   [&operands, &o, rung] { operands.call(rung, o.calls); });
  way.failure = [&operands, rung, numerics = choice.numerics] {
    return operands.failure(rung, numerics);
  };
  return way;
}

/// By bare threads, which take the parts of a call as they come: `part(set, i)`.
Way bare(std::string name, double amount, int threads, int64_t parts,
         std::function<void(size_t set, int64_t i)> part) {
  return {std::move(name), amount, [=, part = std::move(part), set = size_t(0)](int calls) mutable {
            const int before = calls_before(calls), all = before + calls;
            std::vector<std::atomic<int64_t>> next(static_cast<size_t>(all));
            const auto work = [&](int, int pass) {
              for (int64_t i; (i = next[size_t(pass)]++) < parts;) part(set + size_t(pass), i);
            };
            const std::vector<double> passes = pass_seconds(threads, all, all, 0, work);
            set += passes.size();
            return std::accumulate(passes.begin() + before, passes.end(), 0.0) / calls;
          }};
}

/// The same from the beginning of a call to that of the next one, so that it counts how long the threads take to meet: so often
/// in a call, each time after as large a share of its parts.
Way meeting(std::string name, double amount, int threads, int64_t parts, int meetings,
            std::function<void(size_t set, int64_t i)> part) {
  return {std::move(name), amount, [=, part = std::move(part), set = size_t(0)](int calls) mutable {
            const int before = calls_before(calls) * meetings, all = before + calls * meetings;
            std::vector<std::atomic<int64_t>> next(size_t(all) + 1);
            std::vector<Clock::time_point> begins(next.size());
            const auto work = [&](int thread, int pass) {
              if (thread == 0) begins[size_t(pass)] = Clock::now();
              const int share =
                  pass < all ? pass % meetings : meetings;  // after the last call: none
              const int64_t begin = parts * share / meetings,
                            end = std::min(parts, parts * (share + 1) / meetings);
              for (int64_t i; (i = begin + next[size_t(pass)]++) < end;)
                part(set + size_t(pass / meetings), i);
            };
            pass_seconds(threads, all + 1, all + 1, 0, work);
            set += size_t(all / meetings);
            const auto taken = begins.back() - begins[size_t(before)];
            return std::chrono::duration<double>(taken).count() / calls;
          }};
}

using Ways = std::vector<Way>;
using Memory = std::function<Operands&()>;  ///< new operands
/// Part `i` of so many of an operand: where it lies, and its bytes. Parts begin at whole lines.
std::pair<char*, uint64_t> part_of(const Operands& on, size_t operand, size_t set, int64_t i,
                                   int64_t parts) {
  const uint64_t whole = on.bytes(operand), step = whole / uint64_t(parts) / 64 * 64,
                 begin = step * uint64_t(i);
  return {on.at(operand, set) + begin, i + 1 == parts ? whole - begin : step};
}

void read_inputs(const Operands& on, size_t set, int64_t i, int64_t parts) {
  for (size_t k = 0; k < on.output(); ++k) std::apply(read_words, part_of(on, k, set, i, parts));
}

/// The bytes of a reduction in the order of columns that are wider than a strip; others are read line by line.
void add_strips(Ways& ways, const Problem& p, const Memory& memory, int threads, int64_t parts) {
  constexpr int64_t kStrip = 4096;  // bytes
  const bool by_rows = p.layout[0] == 'r';
  const int64_t lines = by_rows ? p.size.rows : p.size.cols,
                line = (by_rows ? p.size.cols : p.size.rows) * size_of(p.dtype);
  if (p.axis != (by_rows ? Axis::each_column : Axis::each_row) || line <= kStrip) return;
  const int64_t strips = (line + kStrip - 1) / kStrip;
  parts = std::min((parts + strips - 1) / strips, lines);
  const Operands& on = memory();
  ways.push_back(bare("reads by strips of 4 KiB", work(p) - double(operand_bytes(p).back()),
                      threads, strips * parts, [=, &on](size_t set, int64_t i) {
                        const int64_t at = i % strips * kStrip, part = i / strips;
                        const int64_t bytes = std::min(kStrip, line - at);
                        for (int64_t r = lines * part / parts; r < lines * (part + 1) / parts; ++r)
                          for (size_t k = 0; k < on.output(); ++k)
                            read_words(on.at(k, set) + r * line + at, uint64_t(bytes));
                      }));
}

/// By cblas_sgemm or cblas_dgemm.
template <class T>
Way openblas(void* gemm, const Problem& p, const Operands& on) {
  using Gemm = void (*)(int order, int trans_a, int trans_b, int m, int n, int k, T alpha, void* a,
                        int lda, void* b, int ldb, T beta, void* c, int ldc);
  const auto trans = [&](size_t x) { return p.layout[x] == p.layout[2] ? 111 : 112; };
  const auto leading = [&](size_t x, auto rows, auto cols) {
    return int(p.layout[x] == 'r' ? cols : rows);
  };
  const int64_t m = p.size.rows, n = p.size.cols, k = p.size.depth;
  return called("OpenBLAS", work(p), [=, &on, set = size_t(0)]() mutable {
    for (int64_t i = 0; i < p.batch; ++i) {
      const auto of = [&](size_t x) { return on.at(x, set) + int64_t(on.bytes(x)) / p.batch * i; };
      (*reinterpret_cast<Gemm>(gemm))(p.layout[2] == 'r' ? 101 : 102, trans(0), trans(1), int(m),
                                      int(n), int(k), 1, of(0), leading(0, m, k), of(1),
                                      leading(1, k, n), 0, of(2), leading(2, m, n));
    }
    ++set;
  });
}

void add_openblas(Ways& ways, const Problem& p, const Memory& memory, int threads) {
  choose_openblas_core();
  static void* const library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr || p.dtype == Dtype::i32) return;
  reinterpret_cast<void (*)(int)>(dlsym(library, "openblas_set_num_threads"))(threads);
  ways.push_back(p.dtype == Dtype::f64
                     ? openblas<double>(dlsym(library, "cblas_dgemm"), p, memory())
                     : openblas<float>(dlsym(library, "cblas_sgemm"), p, memory()));
  ways.back().rest = std::chrono::milliseconds(50);  // its threads spin for 2^26 clocks
}

void add_peers(Ways& ways, const Problem& p, const Memory& memory, int threads) {
  const auto parts = int64_t(std::clamp<uint64_t>(footprint(p) >> 16, uint64_t(threads), 64));
  const auto add = [&](const char* name, auto part, uint64_t unmoved = 0) {
    ways.push_back(bare(name, work(p) - double(unmoved), threads, parts,
                        [part, &on = memory()](size_t set, int64_t i) { part(on, set, i); }));
  };
  if (p.operation == Operation::reduce) {
    add(
        "reads", [=](const Operands& on, size_t set, int64_t i) { read_inputs(on, set, i, parts); },
        operand_bytes(p).back());
    for (const int meetings : {1, 2})
      ways.push_back(
          meeting(meetings == 1 ? "reads, threads meet" : "reads, threads meet twice",
                  ways.back().amount, threads, parts, meetings,
                  [=, &on = memory()](size_t set, int64_t i) { read_inputs(on, set, i, parts); }));
    if (p.function == Function::sum && p.map == Map::identity && p.dtype == Dtype::f64)
      ways.push_back(meeting("adds halves, threads meet", ways.back().amount, threads, parts, 1,
                             [=, &on = memory()](size_t set, int64_t i) {
                               std::apply(add_halves, part_of(on, 0, set, i, parts));
                             }));
    if (p.function == Function::prod && p.map == Map::identity && p.dtype == Dtype::f64)
      for (const bool ahead : {false, true})
        ways.push_back(meeting(
            ahead ? "the same, calling memory ahead" : "multiplies neighbours, threads meet",
            ways.back().amount, threads, parts, 1, [=, &on = memory()](size_t set, int64_t i) {
              const auto [data, bytes] = part_of(on, 0, set, i, parts);
              multiply_neighbours(data, bytes, ahead);
            }));
    add_strips(ways, p, memory, threads, parts);
  }
  if (p.operation == Operation::transpose)
    for (const bool past_cache : {true, false})
      add(past_cache ? "copy past the caches" : "copy",
          [=](const Operands& on, size_t set, int64_t i) {
            const auto [source, bytes] = part_of(on, 0, set, i, parts);
            copy_words(part_of(on, 1, set, i, parts).first, source, bytes, past_cache);
          });
  if (p.operation != Operation::gemm) return;
  constexpr int64_t kSteps = 6000;  // some 30 µs
  const int64_t all = int64_t{threads} * 8;
  // In as long a time, other programs have their share of the cores, and the clock is that of a core which does so long.
  const auto add_chains = [&](const std::string& name, double (*chains)(Dtype, int64_t)) {
    const double flops = chains(p.dtype, kSteps);  // of a part
    const auto part = [=](size_t, int64_t) { chains(p.dtype, kSteps); };
    ways.push_back(bare(name, double(all) * flops, threads, all, part));
    if (const auto as_many = int64_t(work(p) / flops); as_many > 100 * all)
      ways.push_back(bare(name + ", as many as the product's", double(as_many) * flops, threads,
                          as_many, part));
  };
  add_chains("multiply-adds", multiply_adds);
  if (p.dtype != Dtype::i32) add_chains("a tile's, from L1", tile_multiply_adds);
  if (work(p) < 64 * double(footprint(p)))
    add("reads of A and B, writes of C", [=](const Operands& on, size_t set, int64_t i) {
      read_inputs(on, set, i, parts);
      const auto [data, bytes] = part_of(on, 2, set, i, parts);
      std::memset(data, 0, bytes);
    });
  add_openblas(ways, p, memory, threads);
}

void add_bare_kernels(Ways& ways, const Problem& p, const Device& device, size_t sets) {
  std::vector<std::string_view> kernels{"empty"};
  if (p.operation == Operation::reduce) kernels = {"read", "empty"};
  if (p.operation == Operation::transpose) kernels = {"copy past the caches", "copy", "empty"};
  for (const std::string_view what : kernels)
    ways.push_back(called(fmt::format("{} kernel: {}", device.id(), what),
                          what == "empty" ? 0 : work(p),
                          shared_out_kernel(device, what, footprint(p), int(sets))));
}

/// Starts this program with that libtrine; its socket. This process asks for so many calls, the other one answers with the
/// seconds of one. A request for none ends a case; the answer is whether its output was wrong.
int start_other(const std::string& library, std::vector<char*> arguments) {
  int ends[2];
  if (access(library.c_str(), R_OK) != 0 ||
      socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw Refusal(fmt::format("--against {}: {}", library, std::strerror(errno)));
  if (fork() == 0) {
    char answer[] = "--answer";
    arguments.insert(arguments.end(), {answer, nullptr});
    setenv("LD_PRELOAD", library.c_str(), 1);
    dup2(ends[1], STDIN_FILENO);
    execv("/proc/self/exe", arguments.data());
    _exit(127);
  }
  close(ends[1]);
  return ends[0];
}

Way other_build(const Way& first, int socket) {
  const auto ask = [socket](int calls) {
    double seconds = 0;
    if (send(socket, &calls, sizeof calls, MSG_NOSIGNAL) != sizeof calls ||
        read(socket, &seconds, sizeof seconds) != sizeof seconds)
      throw Refusal("the process of the other build has ended");
    return seconds;
  };
  return {"the other build", first.amount, ask,
          [=] { return ask(0) == 0 ? std::string() : "the other build's output is wrong"; }};
}

/// In the other build's process: answers until a case is over.
bool answer(const Way& way) {
  for (int calls = 1; calls > 0;) {
    if (read(STDIN_FILENO, &calls, sizeof calls) != sizeof calls) std::exit(0);
    const double seconds = calls > 0 ? way.seconds(calls) : double(!way.failure().empty());
    if (write(STDIN_FILENO, &seconds, sizeof seconds) != sizeof seconds) std::exit(0);
  }
  return true;
}

void take_turns(Ways& ways, int turns) {
  for (Way& way : ways) way.calls = int(std::clamp(2e-3 / way.seconds(1), 1.0, 1e4));  // 2 ms
  for (int turn = 0; turn < turns; ++turn) {
    for (Way& way : ways) {
      way.times.push_back(way.seconds(way.calls));
      std::this_thread::sleep_for(way.rest);
    }
    std::ranges::reverse(ways);
  }
  if (turns % 2 != 0) std::ranges::reverse(ways);
}

double quantile(std::vector<double> values, double part) {
  const auto at = values.begin() + std::ptrdiff_t(part * double(values.size() - 1));
  std::ranges::nth_element(values, at);
  return *at;
}

void print(const Problem& p, const Ways& ways, size_t sets, bool shared = false) {
  const Way& first = ways.front();
  const auto rate = [](const Way& of, double part) { return of.amount / quantile(of.times, part); };
  fmt::print("\n{}: {} turns, {} {}sets of operands\n{:41}{:>7}{:>8}{:>7} {:7}{:>10} us  {}\n",
             to_string(p), first.times.size(), sets, shared ? "shared " : "", "", "best", "quarter",
             "median", rated_by_flops(p) ? "GFLOP/s" : "GB/s", "median",
             "first/this: best quarter in turn");
  for (const Way& way : ways) {
    std::string rates, ratios;
    std::vector<double> in_turn = way.times;
    for (size_t i = 0; i < in_turn.size(); ++i)
      in_turn[i] *= first.amount / first.times[i] / way.amount;
    for (const double part : {0.0, 0.25, 0.5}) {
      rates += fmt::format("{:7.1f} ", 1e-9 * rate(way, part));
      const double ratio = rate(first, part) / rate(way, part);
      ratios += fmt::format("{:8.2f}", part < 0.5 ? ratio : quantile(in_turn, part));
    }
    if (way.amount == 0) rates.clear();
    fmt::print("{:41}{:24}{:15.1f}{}\n", way.name, rates, 1e6 * quantile(way.times, 0.5),
               way.amount == 0 || &way == &first ? "" : "           " + ratios);
  }
  std::fflush(stdout);
}

bool is_wrong(const Way& way) {
  const std::string failure = way.failure();
  if (!failure.empty()) fmt::print("WRONG: {}: {}\n", way.name, failure);
  return !failure.empty();
}

/// A way for each rung, the device's own choice first; those that a few calls show to be much slower have no turns. False where
/// an output is wrong.
bool run_ladder(const Problem& p, const Options& o, const Device& device) {
  constexpr double kMuchSlower = 4;
  Expectation data(p, 1);
  std::deque<Operands> memory;
  Ways ways;
  std::string slower;
  bool right = true;
  double first = 0;
  std::vector<std::string> rungs = ladder_of(device, p, false);
  std::ranges::reverse(rungs);
  for (const std::string& rung : rungs) {
    Operands& operands = memory.emplace_back(device, p, data, o.footprint << 20);
    try {
      Way way = rung_way(p, o, device, rung, operands);
      double seconds = way.seconds(1);
      for (int i = 0; i < 3 && seconds < 10e-3; ++i) seconds = std::min(seconds, way.seconds(1));
      if (first == 0) first = seconds;
      if (seconds < kMuchSlower * first) {
        ways.push_back(std::move(way));
        continue;
      }
      slower += fmt::format(", {} {:.0f}", way.name, seconds / first);
      right &= !is_wrong(way);
    } catch (const Error& error) {  // not for this call
      if (error.status() != Status::unsupported) throw;
    }
    memory.pop_back();
  }
  if (ways.empty()) {
    fmt::print("{}: no rung takes this case\n", device.id());
    return right;
  }
  take_turns(ways, o.turns);
  print(p, ways, memory[0].sets());
  if (!slower.empty()) fmt::print("times as slow in a few calls: {}\n", slower.substr(2));
  return right && std::ranges::count_if(ways, is_wrong) == 0;
}

/// False where an output is wrong.
bool run_case(const Problem& p, const Options& o, int socket) {
  const std::vector<Device> devices = chosen_devices(o.devices);
  if (o.ladder)
    return std::ranges::count_if(
               devices, [&](const Device& device) { return !run_ladder(p, o, device); }) == 0;
  Expectation data(p, 1);
  std::deque<Operands> memory;
  const auto on = [&](const Device& device) -> Operands& {
    return memory.emplace_back(device, p, data, o.footprint << 20);
  };
  Ways ways;
  for (const Device& device : devices)
    for (Operands* own = nullptr; const std::string& rung : o.rungs) {
      if (own == nullptr || !o.shared) own = &on(device);
      ways.push_back(rung_way(p, o, device, rung, *own));
    }
  if (o.answers) return answer(ways[0]);
  if (socket >= 0) ways.push_back(other_build(ways[0], socket));
  const auto host = std::ranges::find(devices, "cpu", &Device::backend);
  const Device cpu = host != devices.end() ? *host : open("cpu");
  const int threads = o.threads > 0 ? o.threads : int(cpu.facts().compute_units);
  add_peers(ways, p, std::bind_front(on, cpu), threads);
  for (const Device& device : devices)
    if (device.backend() == "opencl" && on_host(device))
      add_bare_kernels(ways, p, device, memory[0].sets());
  take_turns(ways, o.turns);
  print(p, ways, memory[0].sets(), o.shared);
  return std::ranges::count_if(ways, is_wrong) == 0;
}

int run(int argc, char** argv) {
  Options o;
  CLI::App app("Trine's calls in turn with bare loops");
  add_case_options(app, o.cases);
  add_list(app, "--device", o.devices, "default: cpu");
  add_list(app, "--rung", o.rungs, "rungs; `default` is the device's own choice");
  app.add_option("--turns", o.turns)->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--threads", o.threads, "of the cpu and the bare loops (default: all cores)");
  app.add_option("--footprint", o.footprint, "MiB of operands, in turn")->capture_default_str();
  app.add_option("--calls", o.calls, "of Trine before it waits")->check(CLI::PositiveNumber);
  app.add_flag("--ladder", o.ladder, "the device's own choice beside its other rungs, no loops");
  app.add_flag("--shared", o.shared, "the rungs have the same operands (without --ladder)");
  app.add_option("--against", o.against, "libtrine.so of another build, its backends beside it");
  app.add_flag("--answer", o.answers)->group("");
  CLI11_PARSE(app, argc, argv);
  for (std::string& rung : o.rungs)
    if (rung == "default") rung.clear();
  for (std::string& device : o.devices)
    if (device == "cpu" && o.threads > 0) device = fmt::format("cpu:threads={}", o.threads);
  const std::vector<Problem> problems = problems_of(o.cases);
  const int socket =
      o.against.empty() || o.answers ? -1 : start_other(o.against, {argv, argv + argc});
  bool right = true;
  for (const Problem& problem : problems) right &= run_case(problem, o, socket);
  return right ? kExitGood : kExitFailed;
}

}  // namespace
}  // namespace trine::bench

int main(int argc, char** argv) try {
  return trine::bench::run(argc, argv);
} catch (const std::exception& error) {
  fmt::print(stderr, "trine-turns: {}\n", error.what());
  return trine::bench::kExitRefused;
}
