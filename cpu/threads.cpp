// The number of threads that the pool may have, from the process's mask, which ranks of MPI may
// share, and from its limits, which are tried.
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <mutex>

#include "backends/kit/host.hpp"
#include "backends/kit/mpi_job.hpp"
#include "mask.hpp"
#include "threads.hpp"

namespace trine::cpu {
namespace {

struct Trial {
  pthread_t thread;
  std::mutex* end;
  pid_t id;
};

void* stay(void* trial) {
  auto& self = *static_cast<Trial*>(trial);
  self.id = static_cast<pid_t>(syscall(SYS_gettid));
  const std::lock_guard wait(*self.end);
  return nullptr;
}

// The limits count a thread until the kernel has removed it, a little after it was joined.
void wait_until_buried(pid_t id) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
  while (syscall(SYS_tgkill, getpid(), id, 0) == 0 && std::chrono::steady_clock::now() < end)
    sched_yield();
}

// As libgomp reads it: a number, of KiB unless a letter says otherwise. 0: none is given.
std::size_t stack_bytes() {
  const char* text = std::getenv("OMP_STACKSIZE");
  if (!text) return 0;
  char* end = nullptr;
  const std::size_t number = std::strtoull(text, &end, 10);
  while (std::isspace(static_cast<unsigned char>(*end))) ++end;
  switch (std::tolower(static_cast<unsigned char>(*end))) {
    case 'b': return number;
    case 'm': return number << 20;
    case 'g': return number << 30;
    default: return number << 10;
  }
}

// The attributes of a thread with such a stack.
struct Attributes {
  Attributes() {
    pthread_attr_init(&with_stack);
    if (const std::size_t bytes = stack_bytes()) pthread_attr_setstacksize(&with_stack, bytes);
  }
  ~Attributes() { pthread_attr_destroy(&with_stack); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  pthread_attr_t with_stack;
};

// Ranks that aren't bound have one mask, and ranks bound to a socket share the socket's: each takes
// its part of the mask. The number of ranks with this mask follows from the node's ranks, if they
// are spread evenly over its cores: the CPUs that a thread gets which asks for all of them.
int share_of(const Mask& mask) {
  const int ranks = kit::place_on_node().ranks;
  if (ranks == 1 || mask.count == 0) return mask.count;
  take_all_cpus();
  const int cores = std::max(mask.count, mask_of(0).count);
  sched_setaffinity(0, sizeof mask.cpus, mask.cpus);
  const auto sharing = (std::int64_t{ranks} * mask.count + cores - 1) / cores;
  return static_cast<int>(mask.count / sharing);
}

}  // namespace

int process_cpus() { return std::max(1, mask_of(getpid()).count); }

int wanted_threads() {
  const Mask mask = mask_of(getpid());
  if (mask.count > 0) pthread_setaffinity_np(pthread_self(), sizeof mask.cpus, mask.cpus);
  // Without the variable, OpenMP would count the CPUs of the thread that loaded it.
  const char* given = std::getenv("OMP_NUM_THREADS");
  const int wanted = given && *given ? omp_get_max_threads() : std::max(1, share_of(mask));
  return std::min({wanted, omp_get_thread_limit(), kMostThreads});
}

bool is_bounded() { return std::max(omp_get_max_threads(), process_cpus()) > kMostThreads; }

void leave_cpu(int cpu) {
  const Mask mask = mask_of(0);
  if (mask.count < 2) return;
  Mask others = mask;
  CPU_CLR_S(static_cast<std::size_t>(cpu), sizeof others.cpus, others.cpus);
  move_to(others, mask);
}

int startable_threads(int wanted) {
  kit::Vector<Trial> trials(static_cast<std::size_t>(wanted) - 1);
  const Attributes attributes;
  std::size_t made = 0;
  std::mutex end;
  {
    const std::lock_guard all_alive(end);
    for (; made < trials.size(); ++made) {
      trials[made].end = &end;
      if (pthread_create(&trials[made].thread, &attributes.with_stack, stay, &trials[made]) != 0)
        break;
    }
  }
  for (std::size_t i = 0; i < made; ++i) pthread_join(trials[i].thread, nullptr);
  for (std::size_t i = 0; i < made; ++i) wait_until_buried(trials[i].id);
  // At a limit, one thread less than could be made is left for others.
  return made == trials.size() ? wanted : std::max(1, static_cast<int>(made));
}

bool start_thread(void* (*serve)(void*), void* argument) {
  const Attributes attributes;
  pthread_t thread;
  if (pthread_create(&thread, &attributes.with_stack, serve, argument) != 0) return false;
  pthread_detach(thread);
  return true;
}

}  // namespace trine::cpu
