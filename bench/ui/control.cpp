#include "control.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <mutex>

namespace trine::bench {
namespace {

volatile std::sig_atomic_t asked = 0;
std::atomic<bool> left_behind = false;

/// The state of the Control that lives, or lived last.
struct State {
  std::mutex mutex;
  std::chrono::steady_clock::time_point begin;
  double limit = 0;
  std::string why;
  bool interrupted = false;
};
State& state() {
  static State* const only = new State;  // for work that was left behind, to the very end
  return *only;
}

void ask(int) { asked = 1; }

/// SA_RESETHAND: the second signal of a kind does what it always did.
void on_signals(void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = handler == SIG_DFL ? 0 : int(SA_RESETHAND);
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

}  // namespace

Control::Control(double limit) {
  State& now = state();
  const std::lock_guard lock(now.mutex);
  now.begin = std::chrono::steady_clock::now();
  now.limit = limit;
  now.why.clear();
  now.interrupted = false;
  asked = 0;
  on_signals(ask);
}

Control::~Control() {
  show("");
  on_signals(SIG_DFL);
}

bool Control::stop() {
  State& now = state();
  const std::lock_guard lock(now.mutex);
  if (!now.why.empty()) return true;
  const double passed =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - now.begin).count();
  now.interrupted = asked != 0;
  if (now.interrupted)
    now.why = "interrupted";
  else if (now.limit > 0 && passed > now.limit)
    now.why = fmt::format("the time limit of {:g} s is up", now.limit);
  return !now.why.empty();
}

void Control::end(const std::string& why) {
  State& now = state();
  const std::lock_guard lock(now.mutex);
  if (now.why.empty()) now.why = why;
}

std::string Control::why() {
  State& now = state();
  const std::lock_guard lock(now.mutex);
  return now.why;
}

bool Control::interrupted() {
  State& now = state();
  const std::lock_guard lock(now.mutex);
  return now.interrupted;
}

bool Control::await(const std::function<bool(std::chrono::milliseconds)>& is_done,
                    std::chrono::milliseconds patience) {
  constexpr std::chrono::milliseconds kGlance{50};
  while (!is_done(kGlance)) {
    if (!stop()) continue;
    if (is_done(patience)) return true;
    show("");
    left_behind = true;
    return false;
  }
  return true;
}

bool Control::was_left_behind() { return left_behind; }

void Control::show(const std::string& text) {
  if (!left_behind && isatty(STDERR_FILENO) != 0) std::fprintf(stderr, "\r\033[K%s", text.c_str());
}

}  // namespace trine::bench
