// Signals are the program's: each thread that the library, or a driver for it, starts blocks them.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/signalfd.h>

#include <csignal>

#include "child.hpp"
#include "entries.hpp"
#include "fixture.hpp"

namespace {
std::atomic<int> started{0}, open_to_signals{0};
thread_local bool is_tests_own = false;

/// Those that the kernel sends for what a thread does itself may come through.
bool is_blocked_as_it_should(const sigset_t& mask) {
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    const bool is_never =
        signal == SIGKILL || signal == SIGSTOP || (signal > 31 && signal < SIGRTMIN);
    bool is_own = false;
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS})
      is_own |= signal == own;
    if (!is_never && !is_own && sigismember(&mask, signal) != 1) return false;
  }
  return true;
}
}  // namespace

/// All threads of the process start here, whoever starts them: the program's symbols come first.
extern "C" __attribute__((visibility("default"))) int pthread_create(
    pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*), void* argument) {
  using Create = int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static auto* const real = reinterpret_cast<Create*>(dlsym(RTLD_NEXT, "pthread_create"));
  sigset_t mask;
  pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  ++started;
  if (!is_tests_own && !is_blocked_as_it_should(mask)) ++open_to_signals;
  return real(thread, attributes, body, argument);
}

namespace trine::testing {
namespace {

std::vector<std::string> all_ids() {
  std::vector<std::string> ids;
  for (const Facts& facts : devices()) ids.push_back(facts.id);
  return ids;
}

TEST(Signals, NoThreadThatAFunctionStartsTakesThem) {
  EXPECT_EQ(in_child([] {
              std::string wrong;
              int before = 0;
              for (const std::string& id : all_ids())
                wrong += wrong_in_every_entry(id, [&before, &id] {
                  const bool has_more = open_to_signals > before;
                  before = open_to_signals;
                  return has_more ? "a thread takes signals on " + id : std::string();
                });
              return started > 0 ? wrong : "no thread was seen";
            }),
            "");
}

// Kokkos starts with the first rung that is written in it, and none of its threads takes signals.
TEST(Signals, NoThreadOfKokkosTakesThem) {
  EXPECT_EQ(in_child([] {
              setenv("OMP_NUM_THREADS", "4", 1);
              const auto sum_is_right = [](std::string_view rung) {
                return sum(std::vector<float>(1 << 20, 1.0f), {.device = "cpu", .rung = rung}) ==
                       1 << 20;
              };
              if (refusal_of([&] { sum_is_right("simd"); }).status == Status::not_found)
                return std::string();  // this build has no cpu backend
              const int before = started;
              std::string wrong;
              for (const char* rung : {"kokkos_range", "kokkos_team", "sequential"})
                if (!sum_is_right(rung)) wrong += rung;
              if (started == before) wrong += "Kokkos had threads already";
              return wrong + (open_to_signals == 0 ? "" : "takes signals");
            }),
            "");
}

TEST(Signals, AreReadByAProgramThatBlocksThemAfterTheFirstCalls) {
  EXPECT_EQ(in_child([] {
              for (const std::string& id : all_ids()) multiplies({.device = id});
              sigset_t wanted;
              sigemptyset(&wanted);
              for (const int signal : {SIGTERM, SIGINT, SIGUSR1, SIGCHLD, SIGALRM, SIGRTMIN})
                sigaddset(&wanted, signal);
              sigprocmask(SIG_BLOCK, &wanted, nullptr);
              const int descriptor = signalfd(-1, &wanted, SFD_CLOEXEC);
              alarm(0);
              for (int i = 0; i < 24; ++i) {
                const int sent[] = {SIGTERM, SIGINT, SIGUSR1, SIGRTMIN};
                kill(getpid(), sent[i % 4]);
                signalfd_siginfo seen{};
                if (read(descriptor, &seen, sizeof seen) != sizeof seen ||
                    int(seen.ssi_signo) != sent[i % 4])
                  return std::string("a signal went elsewhere");
                if (i % 8 == 0) multiplies({});
              }
              return std::string();
            }),
            "");
}

// No call changes what the caller has blocked.
TEST(Signals, TheCallersMaskIsItsOwn) {
  EXPECT_EQ(in_child([] {
              sigset_t before, after;
              sigemptyset(&before);
              sigaddset(&before, SIGUSR2);
              pthread_sigmask(SIG_SETMASK, &before, nullptr);
              const auto is_changed = [&] {
                pthread_sigmask(SIG_BLOCK, nullptr, &after);
                for (int signal = 1; signal < SIGRTMAX; ++signal)
                  if (sigismember(&after, signal) != sigismember(&before, signal))
                    return "its mask";
                return "";
              };
              std::string wrong;
              for (const std::string& id : all_ids())
                wrong += wrong_in_every_entry(id, [&] { return std::string(is_changed()); });
              return wrong;
            }),
            "");
}

}  // namespace
}  // namespace trine::testing
