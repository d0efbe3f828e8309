#include "log.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <trine/version.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>

#include "backends/kit/words.hpp"

namespace trine::blas {
namespace {

constexpr std::size_t kBuffered = 1 << 16;

/// Never destroyed: calls may come from other libraries' destructors.
struct State {
  std::mutex mutex;
  std::string lines;
  int file = -1;
  bool at_once = false;  ///< in a forked child, or after the end
  std::unique_ptr<std::atomic<int64_t>[]> forwarded {
    new std::atomic<int64_t>[forwarded_count()] {}
  };
};
State& state() {
  static State* const kState = new State;
  return *kState;
}

void flush(State& s) {
  for (std::size_t at = 0; at < s.lines.size();) {
    const ssize_t done = write(s.file, s.lines.data() + at, s.lines.size() - at);
    if (done < 0 && errno != EINTR) break;  // a full disk must not stop the program
    at += done < 0 ? 0 : static_cast<std::size_t>(done);
  }
  s.lines.clear();
}

using kit::json_string;

std::string seconds(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9f", value);
  return text;
}

}  // namespace

void Log::write(const std::string& line) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.lines += line;
  if (s.at_once || s.lines.size() >= kBuffered) flush(s);
}

void Log::count_forwarded(unsigned index) { ++state().forwarded[index]; }

void Log::finish() {
  if (!on_) return;
  State& s = state();
  for (unsigned i = 0; i < forwarded_count(); ++i)
    if (const int64_t calls = s.forwarded[i].exchange(0))
      write(std::string("{\"forwarded\":\"") + forwarded_name(i) + "\",\"calls\":" +
            std::to_string(calls) + ",\"process\":" + std::to_string(getpid()) + "}\n");
  const std::lock_guard lock(s.mutex);
  flush(s);
  s.at_once = true;
}

bool Log::start() {
  const char* const path = secure_getenv("TRINE_BLAS_LOG");
  if (!path || !*path) return false;
  State& s = state();
  s.file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (s.file < 0) {
    std::fprintf(stderr, "libtrine_blas: TRINE_BLAS_LOG=%s: %s\n", path, std::strerror(errno));
    return false;
  }
  pthread_atfork([] { state().mutex.lock(); }, [] { state().mutex.unlock(); },
                 [] {  // the parent writes what was in memory
                   state().lines.clear();
                   state().at_once = true;
                   for (unsigned i = 0; i < forwarded_count(); ++i) state().forwarded[i] = 0;
                   state().mutex.unlock();
                 });
  const char* const device = secure_getenv("TRINE_BLAS_DEVICE");
  s.lines = "{\"trine_blas\":1,\"version\":\"" TRINE_VERSION_STRING "\",\"program\":" +
            json_string(program_invocation_name) +
            ",\"device\":" + json_string(device && *device ? device : "auto") +
            ",\"process\":" + std::to_string(getpid()) + "}\n";
  return true;
}

const bool Log::on_ = Log::start();

namespace {
[[gnu::destructor]] void finish_log() { Log::finish(); }
}  // namespace

struct LoggedCall::Record {
  std::string text;
  std::chrono::steady_clock::time_point start;
};

// A line that there is no memory for is left out: no exception may leave a BLAS.
LoggedCall::Record* LoggedCall::begin(const char* routine,
                                      std::initializer_list<Extent> shape) try {
  std::string text = std::string("{\"routine\":\"") + routine + '"';
  for (const Extent& extent : shape)
    text += std::string(",\"") + extent.name + "\":" + std::to_string(extent.value);
  // What a BLAS is given is in the host's memory: that of a device has no plain pointer.
  text += ",\"data\":\"host\"";
  return new Record{std::move(text), std::chrono::steady_clock::now()};
} catch (const std::bad_alloc&) { return nullptr; }

void LoggedCall::note(std::string_view device, std::string_view why) try {
  std::string text = record_->text + ",\"device\":" + json_string(device);
  if (!why.empty()) text += ",\"why\":" + json_string(why);
  record_->text = std::move(text);
} catch (const std::bad_alloc&) {
  delete record_;
  record_ = nullptr;
}

void LoggedCall::end() try {
  const std::unique_ptr<Record> record(record_);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - record->start;
  Log::write(record->text + ",\"seconds\":" + seconds(took.count()) +
             ",\"process\":" + std::to_string(getpid()) +
             ",\"thread\":" + std::to_string(syscall(SYS_gettid)) + "}\n");
} catch (const std::bad_alloc&) {}

}  // namespace trine::blas
