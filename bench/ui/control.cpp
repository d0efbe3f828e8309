#include "control.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

namespace trine::bench {
namespace {

volatile std::sig_atomic_t asked = 0;

void ask(int) { asked = 1; }

/// SA_RESETHAND: the second signal of a kind does what it always did.
void on_signals(void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = handler == SIG_DFL ? 0 : int(SA_RESETHAND);
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

}  // namespace

Control::Control(double limit) : limit_(limit), terminal_(isatty(STDERR_FILENO) != 0) {
  asked = 0;
  on_signals(ask);
}

Control::~Control() {
  show("");
  on_signals(SIG_DFL);
}

bool Control::stop() {
  if (partial()) return true;
  const double passed =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  interrupted_ = asked != 0;
  if (interrupted_)
    why_ = "interrupted";
  else if (limit_ > 0 && passed > limit_)
    why_ = fmt::format("the time limit of {:g} s is up", limit_);
  return partial();
}

void Control::show(const std::string& text) const {
  if (terminal_) std::fprintf(stderr, "\r\033[K%s", text.c_str());
}

}  // namespace trine::bench
