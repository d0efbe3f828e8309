#include "log.hpp"

#include <pthread.h>
#include <sys/syscall.h>
#include <trine/version.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <unordered_map>

#include "backends/kit/appended_file.hpp"
#include "backends/kit/words.hpp"

namespace trine::blas {
namespace {

using Clock = std::chrono::steady_clock;

/// So much is kept in memory at most: bytes of lines, or shapes (some 100 bytes each).
constexpr std::size_t kMostBytes = 1 << 16, kMostShapes = 10'000;
/// So long a call waits in memory at most, if another one follows.
constexpr std::chrono::milliseconds kLongest{3000}, kLongestInChild{100};
/// So many calls of a forked child go to the file at once, as it may leave by _exit.
constexpr int kAtOnceInChild = 1000;

/// Calls of one routine and shape.
struct Shape {
  const char* routine;
  std::array<Extent, 4> extents;

  bool operator==(const Shape& other) const {
    bool is_same = routine == other.routine;
    for (std::size_t i = 0; i < extents.size(); ++i)
      is_same &= extents[i].value == other.extents[i].value;
    return is_same;
  }
  std::size_t hash() const {
    auto mixed = reinterpret_cast<std::size_t>(routine);
    for (const Extent& extent : extents) {
      mixed = (mixed ^ static_cast<std::size_t>(extent.value)) * 0x9e3779b97f4a7c15;
      mixed ^= mixed >> 32;
    }
    return mixed;
  }
  /// All that a line says of them but the times.
  std::string text(const std::string& place) const {
    std::string text = std::string("{\"routine\":\"") + routine + '"';
    for (const Extent& extent : extents)
      if (extent.name)
        text += std::string(",\"") + extent.name + "\":" + std::to_string(extent.value);
    return text + ",\"data\":\"host\"" +
           place;  // a BLAS is given plain pointers, which no device has
  }
};
struct HashOfShape {
  std::size_t operator()(const Shape& shape) const { return shape.hash(); }
};
struct Times {
  int64_t calls = 0;
  double total = 0, least = 0, greatest = 0;
  void add(double seconds) {
    least = calls == 0 ? seconds : std::min(least, seconds);
    greatest = std::max(greatest, seconds);
    total += seconds;
    ++calls;
  }
};

/// Never destroyed: calls may come from other libraries' destructors.
struct State {
  std::mutex mutex;
  kit::AppendedFile file{"libtrine_blas", "TRINE_BLAS_LOG"};
  std::string lines;
  /// By what a line says of the device and the reason. `shapes`: how many there are in all.
  std::unordered_map<std::string, std::unordered_map<Shape, Times, HashOfShape>> table;
  std::size_t shapes = 0;
  bool has_each_call = false;  ///< TRINE_BLAS_LOG_CALLS=1
  int at_once = 0;             ///< so many calls, from here on, don't wait in memory
  std::chrono::milliseconds longest = kLongest;
  Clock::time_point written = Clock::now();
  std::unique_ptr<std::atomic<int64_t>[]> forwarded {
    new std::atomic<int64_t>[forwarded_count()] {}
  };
};
State& state() {
  static State* const kState = new State;
  return *kState;
}

using kit::json_string;

std::string seconds(double value) { return kit::number_text(value, std::chars_format::fixed, 9); }
std::string end_of_line() { return ",\"process\":" + std::to_string(getpid()) + "}\n"; }

/// Where memory ends, nothing is written, and nothing is counted twice later.
void flush(State& s, Clock::time_point now) {
  std::string text;
  for (const auto& [place, shapes] : s.table)
    for (const auto& [shape, times] : shapes)
      text += shape.text(place) + ",\"calls\":" + std::to_string(times.calls) +
              ",\"seconds\":" + seconds(times.total) + ",\"least\":" + seconds(times.least) +
              ",\"greatest\":" + seconds(times.greatest) + end_of_line();
  s.lines += text;
  s.table.clear();
  s.shapes = 0;
  s.written = now;
  s.file.write(s.lines);
  s.lines.clear();
}

void add(const Shape& shape, const std::string& place, Clock::duration took,
         Clock::time_point now) {
  const double time = std::chrono::duration<double>(took).count();
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (s.has_each_call) {
    s.lines += shape.text(place) + ",\"seconds\":" + seconds(time) +
               ",\"thread\":" + std::to_string(syscall(SYS_gettid)) + end_of_line();
  } else {
    Times& times = s.table[place][shape];
    s.shapes += times.calls == 0;
    times.add(time);
  }
  const bool is_full = s.lines.size() >= kMostBytes || s.shapes >= kMostShapes;
  if (s.at_once > 0 || is_full || now - s.written >= s.longest) flush(s, now);
  s.at_once -= s.at_once > 0;
}

bool wants_each_call() {
  const char* const given = secure_getenv("TRINE_BLAS_LOG_CALLS");
  const std::string_view word = given ? given : "";
  if (!word.empty() && word != "0" && word != "1")
    kit::write_all(STDERR_FILENO, "libtrine_blas: TRINE_BLAS_LOG_CALLS=" + std::string(word) +
                                      ": neither 0 nor 1; the log has a line for each shape.\n");
  return word == "1";
}

/// All that is in memory.
void write_out(State& s) noexcept try {
  for (unsigned i = 0; i < forwarded_count(); ++i)
    if (const int64_t calls = s.forwarded[i]) {
      s.lines += std::string("{\"forwarded\":\"") + forwarded_name(i) +
                 "\",\"calls\":" + std::to_string(calls) + end_of_line();
      s.forwarded[i] -= calls;
    }
  flush(s, Clock::now());
} catch (const std::bad_alloc&) {}

/// The parent may leave by _exit, as a daemon's does, and so may the child.
void begin_fork() {
  State& s = state();
  s.mutex.lock();
  write_out(s);
}
void end_fork() { state().mutex.unlock(); }
void begin_child() {
  State& s = state();
  s.lines.clear();  // where there was no memory for them, they are the parent's
  s.table.clear();
  s.shapes = 0;
  for (unsigned i = 0; i < forwarded_count(); ++i) s.forwarded[i] = 0;
  s.at_once = s.has_each_call ? INT_MAX : kAtOnceInChild;
  s.longest = kLongestInChild;
  s.mutex.unlock();
}

}  // namespace

void Log::count_forwarded(unsigned index) { ++state().forwarded[index]; }

void Log::finish() noexcept {
  if (!on_) return;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  write_out(s);
  s.at_once = INT_MAX;  // calls may still come, from other libraries' destructors
}

bool Log::start() {
  const char* const path = secure_getenv("TRINE_BLAS_LOG");
  if (!path || !*path) return false;
  State& s = state();
  if (!s.file.open(path)) return false;
  s.has_each_call = wants_each_call();
  pthread_atfork(begin_fork, end_fork, begin_child);
  at_quick_exit(Log::finish);
  const char* const device = secure_getenv("TRINE_BLAS_DEVICE");
  s.file.write("{\"trine_blas\":1,\"version\":\"" TRINE_VERSION_STRING "\",\"program\":" +
               json_string(program_invocation_name) +
               ",\"device\":" + json_string(device && *device ? device : "auto") + end_of_line());
  return true;
}

const bool Log::on_ = Log::start();

namespace {
[[gnu::destructor]] void finish_log() { Log::finish(); }
}  // namespace

struct LoggedCall::Record {
  Shape shape;
  std::string place;
  Clock::time_point start;
};

// A line that there is no memory for is left out: no exception may leave a BLAS.
LoggedCall::Record* LoggedCall::begin(const char* routine,
                                      std::initializer_list<Extent> shape) try {
  auto* const record = new Record{{routine, {}}, {}, {}};
  std::copy(shape.begin(), shape.end(), record->shape.extents.begin());
  record->start = Clock::now();
  return record;
} catch (const std::bad_alloc&) { return nullptr; }

void LoggedCall::note(std::string_view device, std::string_view why) try {
  record_->place = ",\"device\":" + json_string(device);
  if (!why.empty()) record_->place += ",\"why\":" + json_string(why);
} catch (const std::bad_alloc&) {
  delete record_;
  record_ = nullptr;
}

void LoggedCall::end() try {
  const std::unique_ptr<Record> record(record_);
  const Clock::time_point now = Clock::now();
  add(record->shape, record->place, now - record->start, now);
} catch (const std::bad_alloc&) {}

}  // namespace trine::blas
