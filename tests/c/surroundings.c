/* No call may change these things, which belong to the program: its handlers of all signals, its
 * mask, its stack for handlers, its floating-point environment. */
#define _GNU_SOURCE
#include <fenv.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

#include "check.h"

enum { kSignals = 64 };
static struct sigaction mine[kSignals + 1];
static int is_mine[kSignals + 1];
static sigset_t my_mask;
static stack_t my_stack;
static int my_rounding;

static _Thread_local sigjmp_buf before_division;
static _Thread_local volatile sig_atomic_t divides;

static void on_signal(int number, siginfo_t* info, void* context) {
  (void)info;
  (void)context;
  if (number == SIGFPE && divides) siglongjmp(before_division, 1);
  if (number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE) _exit(99);
}

void make_surroundings(void) {
  static char stack[1 << 16];
  const stack_t wanted = {.ss_sp = stack, .ss_size = sizeof stack};
  CHECK(sigaltstack(&wanted, NULL) == 0);
  CHECK(sigaltstack(NULL, &my_stack) == 0);
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &blocked, NULL);
  pthread_sigmask(SIG_SETMASK, NULL, &my_mask);
  for (int number = 1; number <= kSignals; ++number) {
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
    if (number == SIGTERM || number == SIGABRT) continue; /* how a test is ended: as they are */
    is_mine[number] = sigaction(number, &action, NULL) == 0;
  }
  for (int number = 1; number <= kSignals; ++number)
    is_mine[number] = sigaction(number, NULL, &mine[number]) == 0;
  my_rounding = fegetround();
}

/* The fault is the processor's: UBSan would end the program before it. */
__attribute__((no_sanitize("undefined"))) static int division_is_a_fault(void) {
#if defined(__x86_64__)
  volatile int one = 1, zero = 0;
  divides = 1;
  const int faulted = sigsetjmp(before_division, 1);
  if (!faulted) one = one / zero;
  divides = 0;
  return faulted;
#else
  return 1; /* no fault there */
#endif
}

void check_surroundings(const char* call) {
  char changed[400] = "";
  for (int number = 1; number <= kSignals; ++number) {
    struct sigaction now;
    if (!is_mine[number] || sigaction(number, NULL, &now) != 0) continue;
    /* glibc adds one flag of its own (SA_RESTORER) when it sets an action. */
    const int differ = (now.sa_flags ^ mine[number].sa_flags) & ~0x04000000;
    if (now.sa_handler != mine[number].sa_handler || differ != 0)
      snprintf(changed + strlen(changed), sizeof changed - strlen(changed), " %d", number);
  }
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, NULL, &mask);
  stack_t stack = {0};
  sigaltstack(NULL, &stack);
  /* The main thread's; others have none of their own. */
  const int has_stack = getpid() != gettid() ||
                        (stack.ss_sp == my_stack.ss_sp && stack.ss_flags == my_stack.ss_flags);
  int same_mask = 1;
  for (int number = 1; number <= kSignals; ++number)
    same_mask &= sigismember(&mask, number) == sigismember(&my_mask, number);
  if (changed[0] == 0 && has_stack && same_mask && fegetround() == my_rounding &&
      division_is_a_fault())
    return;
  fprintf(stderr, "%s changed the program's handlers of%s; stack %s, mask %s\n", call, changed,
          has_stack ? "kept" : "changed", same_mask ? "kept" : "changed");
  exit(1);
}
