// The CPU backend through its contract: the promises of queues, events and memory, whatever thread
// calls and whatever state of the floating-point unit it brings. Failing allocations, threads,
// forks and exits are in faults/module_test.cpp and exit_early.cpp.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "backend_fixture.hpp"
#include "cpu/rung.hpp"

namespace {

using namespace trine::cpu::test;

TEST(CpuBackend, sums_on_its_threads_and_on_the_callers) {
  Session s;
  for (std::size_t n : {std::size_t(7), kLarge}) {
    const std::vector<float> data(n, 0.5f);
    std::vector<std::byte> memory;
    float result = 0;
    ASSERT_EQ(enqueue_sum(s, data, result, memory), TRINE_OK);
    ASSERT_EQ(cpu().queue_wait(s.queue), TRINE_OK);
    EXPECT_EQ(result, static_cast<float>(n) / 2);
  }
}

TEST(CpuBackend, small_work_is_done_when_the_call_returns) {
  Session s;
  const std::vector<float> data(7, 1.0f);
  std::vector<std::byte> memory;
  float result = 0;
  ASSERT_EQ(enqueue_sum(s, data, result, memory), TRINE_OK);
  EXPECT_EQ(result, 7);
  EXPECT_EQ(cpu().queue_query(s.queue), TRINE_OK);
}

TEST(CpuBackend, work_is_handed_over_where_other_threads_save_more_than_that_takes) {
  using trine::cpu::is_small;
  EXPECT_TRUE(is_small(50, 100, 2));
  EXPECT_TRUE(is_small(200, 100, 2));  // 100 and 200 / 2
  EXPECT_FALSE(is_small(201, 100, 2));
  EXPECT_TRUE(is_small(106, 100, 16));
  EXPECT_FALSE(is_small(107, 100, 16));
  EXPECT_TRUE(is_small(100, 100, 1));
  EXPECT_FALSE(is_small(trine::cpu::kNeverSmall, 100, 2));
}

TEST(CpuBackend, a_waiting_queue_holds_no_thread_and_keeps_its_order) {
  Session waiting, other;
  trine_event* gate = nullptr;
  trine_event* passed = nullptr;
  ASSERT_EQ(cpu().event_create(waiting.device, 1, &gate), TRINE_OK);
  ASSERT_EQ(cpu().event_create(waiting.device, 0, &passed), TRINE_OK);
  ASSERT_EQ(cpu().queue_wait_event(waiting.queue, gate), TRINE_OK);
  const std::vector<float> data(kLarge, 1.0f), few(3, 1.0f);
  std::vector<std::byte> memory[3];
  float results[3] = {};
  // Small work must not overtake the wait.
  ASSERT_EQ(enqueue_sum(waiting, few, results[0], memory[0]), TRINE_OK);
  ASSERT_EQ(cpu().event_record(passed, waiting.queue), TRINE_OK);
  ASSERT_EQ(cpu().queue_wait_event(other.queue, passed), TRINE_OK);
  Session third;
  ASSERT_EQ(enqueue_sum(third, data, results[1], memory[1]), TRINE_OK);
  ASSERT_EQ(cpu().queue_wait(third.queue), TRINE_OK);
  EXPECT_EQ(results[1], static_cast<float>(kLarge));
  EXPECT_EQ(results[0], 0);
  EXPECT_EQ(cpu().event_query(passed), TRINE_NOT_READY);
  EXPECT_EQ(cpu().queue_query(other.queue), TRINE_NOT_READY);

  std::atomic<int> notified{0};
  const auto count = [](void* n) { ++*static_cast<std::atomic<int>*>(n); };
  ASSERT_EQ(cpu().event_notify(passed, count, &notified), TRINE_OK);
  EXPECT_EQ(notified, 0);
  ASSERT_EQ(cpu().event_signal(gate), TRINE_OK);
  ASSERT_EQ(cpu().queue_wait(other.queue), TRINE_OK);
  ASSERT_EQ(cpu().queue_wait(waiting.queue), TRINE_OK);
  EXPECT_EQ(results[0], 3);
  EXPECT_EQ(notified, 1);
  ASSERT_EQ(cpu().event_notify(passed, count, &notified), TRINE_OK);
  EXPECT_EQ(notified, 2) << "an event that has passed notifies at once";
  cpu().event_destroy(gate);
  cpu().event_destroy(passed);
}

// Without that, core would read everything again: as right, but slower.
TEST(CpuBackend, a_witness_sees_each_element_once) {
  Session s;
  struct Seen {
    const char* base;
    std::vector<std::atomic<int>> kilobytes;
  };
  for (const std::size_t size : {std::size_t{3000}, kLarge + 1024}) {
    const std::vector<float> data(size, 0.5f);
    Seen seen{reinterpret_cast<const char*>(data.data()),
              std::vector<std::atomic<int>>(size / 256 + 1)};
    const trine_witness witness{sizeof witness, &seen,
                                [](void* self, const void* first, const void* last) {
                                  auto& all = *static_cast<Seen*>(self);
                                  const auto* from = static_cast<const char*>(first);
                                  for (; from < last; from += 1024)
                                    ++all.kilobytes[std::size_t(from - all.base) / 1024];
                                }};
    std::vector<std::byte> memory;
    float result = 0;
    cpu().queue_witness(s.queue, &witness);
    ASSERT_EQ(enqueue_sum(s, data, result, memory), TRINE_OK);
    cpu().queue_witness(s.queue, nullptr);
    ASSERT_EQ(cpu().queue_wait(s.queue), TRINE_OK);
    EXPECT_EQ(result, float(size) / 2);
    for (std::size_t i = 0; i * 256 < size; ++i) ASSERT_EQ(seen.kilobytes[i], 1) << i;
    ASSERT_EQ(enqueue_sum(s, data, result, memory), TRINE_OK);
    ASSERT_EQ(cpu().queue_wait(s.queue), TRINE_OK);
    EXPECT_EQ(seen.kilobytes[0], 1) << "after the witness left";
  }
}

TEST(CpuBackend, events_measure_the_work_between_them) {
  Session s;
  trine_event* events[2];
  for (auto& event : events) ASSERT_EQ(cpu().event_create(s.device, 0, &event), TRINE_OK);
  EXPECT_EQ(cpu().event_query(events[0]), TRINE_OK) << "never recorded: nothing to wait for";
  ASSERT_EQ(cpu().event_record(events[0], s.queue), TRINE_OK);
  const auto nap = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
  ASSERT_EQ(cpu().queue_call(s.queue, nap, nullptr), TRINE_OK);
  ASSERT_EQ(cpu().event_record(events[1], s.queue), TRINE_OK);
  ASSERT_EQ(cpu().event_wait(events[1]), TRINE_OK);
  double seconds = 0;
  ASSERT_EQ(cpu().event_elapsed(events[0], events[1], &seconds), TRINE_OK);
  EXPECT_GE(seconds, 0.019);
  EXPECT_LT(seconds, 5);
  for (auto* event : events) cpu().event_destroy(event);
}

// Ten seconds at most: what comes only after the work may be waited for in it, by mistake.
template <class Come>
void wait_for(Come&& come) {
  for (int i = 0; i < 10000 && !come(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// The backend's threads, held in a signal handler for as long as the object lives.
class HeldThreads {
 public:
  HeldThreads() {
    held = 0, over = false;
    std::signal(SIGUSR2, [](int) {
      ++held;
      while (!over) usleep(1000);
      --held;
    });
    int sent = 0;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
      const int id = std::stoi(task.path().filename());
      if (id != gettid() && syscall(SYS_tgkill, getpid(), id, SIGUSR2) == 0) ++sent;
    }
    wait_for([&] { return held == sent; });
  }
  ~HeldThreads() {
    over = true;
    wait_for([] { return held == 0; });
    std::signal(SIGUSR2, SIG_DFL);
  }

 private:
  static inline std::atomic<int> held{0};
  static inline std::atomic<bool> over{false};
};

TEST(CpuBackend, who_waits_for_work_that_nobody_has_begun_begins_it) {
  Session s;
  trine_device_facts facts{};
  facts.size = sizeof facts;
  ASSERT_EQ(cpu().device_facts(s.device, &facts), TRINE_OK);
  if (facts.compute_units < 2)
    GTEST_SKIP() << "one thread, the executor's, does all there is to do";
  const std::vector<float> data(kLarge, 1.0f);
  std::vector<std::byte> memory;
  float result = 0;
  std::thread watchdog;
  std::atomic<bool> done{false}, in_time{true};
  {
    auto held = std::make_unique<HeldThreads>();
    watchdog = std::thread([&] {
      wait_for([&] { return done.load(); });
      in_time = done.load();
      held.reset();
    });
    EXPECT_EQ(enqueue_sum(s, data, result, memory), TRINE_OK);
    EXPECT_EQ(cpu().queue_wait(s.queue), TRINE_OK);
    done = true;
    watchdog.join();
  }
  EXPECT_TRUE(in_time) << "it waited for threads that don't run";
  EXPECT_EQ(result, static_cast<float>(kLarge));
}

TEST(CpuBackend, objects_may_be_destroyed_with_work_in_flight) {
  static std::atomic<int> calls{0};
  static std::atomic<bool> gone{false};
  calls = 0, gone = false;
  trine_device* device = nullptr;
  trine_queue* queue = nullptr;
  trine_event* event = nullptr;
  ASSERT_EQ(cpu().device_open(0, "", &device), TRINE_OK);
  ASSERT_EQ(cpu().queue_create(device, &queue), TRINE_OK);
  ASSERT_EQ(cpu().event_create(device, 0, &event), TRINE_OK);
  const auto work = [](void*) { wait_for([] { return gone.load(); }), ++calls; };
  for (int i = 0; i < 4; ++i) ASSERT_EQ(cpu().queue_call(queue, work, nullptr), TRINE_OK);
  ASSERT_EQ(cpu().event_record(event, queue), TRINE_OK);
  cpu().event_destroy(event);
  cpu().queue_destroy(queue);
  cpu().device_close(device);
  EXPECT_EQ(calls, 0);
  gone = true;
  wait_for([] { return calls == 4; });
  EXPECT_EQ(calls, 4);
}

TEST(CpuBackend, copies_strided_rows_and_fills_with_patterns) {
  Session s;
  for (std::uint64_t height : {3ull, 3000ull}) {
    const std::uint64_t width = 100, from_pitch = 128, to_pitch = 104;
    std::vector<unsigned char> source(from_pitch * height), target(to_pitch * height, 9);
    for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<unsigned char>(i * 7);
    const trine_copy copy{sizeof copy,
                          TRINE_DEVICE_TO_DEVICE,
                          source.data(),
                          target.data(),
                          8,
                          4,
                          from_pitch,
                          to_pitch,
                          width,
                          height};
    ASSERT_EQ(cpu().copy(s.queue, &copy), TRINE_OK);
    ASSERT_EQ(cpu().queue_wait(s.queue), TRINE_OK);
    for (std::uint64_t r = 0; r < height; ++r)
      for (std::uint64_t i = 0; i < to_pitch; ++i) {
        const bool inside = i >= 4 && i < 4 + width;
        ASSERT_EQ(target[r * to_pitch + i], inside ? source[r * from_pitch + 8 + i - 4] : 9);
      }
  }
  for (std::size_t bytes : {0ul, 24ul, 5ul << 20}) {
    std::vector<std::uint64_t> words(bytes / 8 + 2, 1);
    const std::uint64_t pattern = 0x0123456789abcdef;
    ASSERT_EQ(cpu().fill(s.queue, words.data(), 8, bytes, &pattern, 8), TRINE_OK);
    ASSERT_EQ(cpu().queue_wait(s.queue), TRINE_OK);
    EXPECT_EQ(words.front(), 1u);
    EXPECT_EQ(words.back(), 1u);
    EXPECT_EQ(std::count(words.begin(), words.end(), pattern), static_cast<long>(bytes / 8));
  }
}

// Products of sides that end within a huge page were a tenth slower.
TEST(CpuBackend, large_buffers_are_whole_huge_pages) {
  Session s;
  constexpr std::uint64_t kMiB = 1 << 20;
  const auto asked = [&](std::uint64_t bytes) {
    trine_buffer* buffer = nullptr;
    largest_bytes = 0;
    EXPECT_EQ(cpu().buffer_allocate(s.device, bytes, TRINE_MEMORY_DEVICE, &buffer), TRINE_OK);
    const std::pair<std::size_t, std::size_t> memory{largest_bytes, largest_alignment};
    cpu().buffer_free(buffer);
    return memory;
  };
  EXPECT_EQ(asked(kMiB), std::pair(kMiB, std::uint64_t{64}));
  EXPECT_EQ(asked(2 * kMiB), std::pair(2 * kMiB, 2 * kMiB));
  EXPECT_EQ(asked(3 * kMiB), std::pair(4 * kMiB, 2 * kMiB));
  trine_buffer* none = nullptr;
  EXPECT_EQ(cpu().buffer_allocate(s.device, ~std::uint64_t{0}, TRINE_MEMORY_DEVICE, &none),
            TRINE_OUT_OF_MEMORY);
}

TEST(CpuBackend, device_options_are_obeyed_or_refused_in_words) {
  Session one("threads=1");
  trine_device_facts facts{};
  facts.size = sizeof facts;
  ASSERT_EQ(cpu().device_facts(one.device, &facts), TRINE_OK);
  EXPECT_EQ(facts.compute_units, 1u);
  EXPECT_TRUE(facts.capabilities & TRINE_CAN_REPRODUCE) << facts.probe;
  trine_device* device = nullptr;
  EXPECT_EQ(cpu().device_open(0, "thread=2", &device), TRINE_NOT_FOUND);
  EXPECT_NE(std::string(cpu().last_error()).find("threads"), std::string::npos);
  EXPECT_EQ(cpu().device_open(0, "threads=0", &device), TRINE_INVALID_ARGUMENT);
  EXPECT_EQ(cpu().device_open(1, "", &device), TRINE_NOT_FOUND);
}

#if defined(__SSE2__)
TEST(CpuBackend, the_callers_floating_point_state_neither_leaks_in_nor_changes) {
  Session s;
  const unsigned before = _mm_getcsr();
  // Flush-to-zero, denormals-are-zero, rounding upward, an exception flag.
  const unsigned odd = 0x8040 | 0x1f80 | 0x4000 | 0x20;
  for (std::size_t n : {std::size_t(5), kLarge}) {
    std::vector<float> data(n, 0x1p-149f);
    std::vector<std::byte> memory;
    float result = 0;
    _mm_setcsr(odd);
    const trine_status status = enqueue_sum(s, data, result, memory);
    const trine_status waited = cpu().queue_wait(s.queue);
    const unsigned after = _mm_getcsr();
    _mm_setcsr(before);
    EXPECT_EQ(status, TRINE_OK);
    EXPECT_EQ(waited, TRINE_OK);
    EXPECT_EQ(after & ~0x3fu, odd & ~0x3fu);
    EXPECT_EQ(result, std::ldexp(static_cast<float>(n), -149));
  }
}
#endif

// The first failure is told by the next wait, and the queue goes on.
TEST(CpuBackend, what_throws_is_an_error_of_the_queues_next_wait) {
  Session s, other;
  const auto fails = [](void* why) { throw std::runtime_error(static_cast<const char*>(why)); };
  ASSERT_EQ(cpu().queue_call(s.queue, fails, const_cast<char*>("the first")), TRINE_OK);
  ASSERT_EQ(cpu().queue_call(s.queue, fails, const_cast<char*>("the second")), TRINE_OK);
  EXPECT_EQ(cpu().queue_wait(s.queue), TRINE_INTERNAL);
  EXPECT_NE(std::string(cpu().last_error()).find("the first"), std::string::npos);
  EXPECT_EQ(cpu().queue_wait(s.queue), TRINE_OK);
  // In a piece of a loop, on whatever thread: who sees what is read may throw.
  const std::vector<float> data(kLarge, 1.0f);
  std::vector<std::byte> memory;
  float result = 0;
  const trine_witness witness{sizeof witness, nullptr, [](void*, const void*, const void*) {
                                throw std::runtime_error("seen too much");
                              }};
  for (int i = 0; i < 100; ++i) {
    cpu().queue_witness(s.queue, &witness);
    ASSERT_EQ(enqueue_sum(s, data, result, memory), TRINE_OK);
    cpu().queue_witness(s.queue, nullptr);
    if (i % 2 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
    ASSERT_EQ(cpu().queue_wait(other.queue), TRINE_OK);
    ASSERT_EQ(cpu().queue_wait(s.queue), TRINE_INTERNAL);
    EXPECT_NE(std::string(cpu().last_error()).find("seen too much"), std::string::npos);
    ASSERT_EQ(enqueue_sum(s, data, result, memory), TRINE_OK);
    ASSERT_EQ(cpu().queue_wait(s.queue), TRINE_OK);
    ASSERT_EQ(result, static_cast<float>(kLarge));
  }
}

// Each in a fresh process.
class CpuBackendDeathTest : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

/// Opens the device in a fresh process with these variables; exits with its number of threads,
/// after a large sum.
[[noreturn]] void exit_with_threads(
    std::initializer_list<std::pair<const char*, const char*>> variables) {
  for (const auto& [name, value] : variables) setenv(name, value, 1);
  Session s;
  const std::vector<float> data(kLarge, 1.0f);
  std::vector<std::byte> memory;
  float result = 0;
  if (enqueue_sum(s, data, result, memory) != TRINE_OK || cpu().queue_wait(s.queue) != TRINE_OK ||
      result != static_cast<float>(kLarge))
    std::_Exit(100);
  trine_device_facts facts{};
  facts.size = sizeof facts;
  cpu().device_facts(s.device, &facts);
  std::_Exit(static_cast<int>(facts.compute_units));
}

TEST_F(CpuBackendDeathTest, the_number_of_threads_follows_the_environment) {
  const auto is = [](int threads) { return testing::ExitedWithCode(threads); };
  EXPECT_EXIT(exit_with_threads({{"OMP_NUM_THREADS", "3"}}), is(3), "");
  for (const char* bind : {"false", "true"}) {
    EXPECT_EXIT(exit_with_threads(
                    {{"OMP_NUM_THREADS", "5"}, {"OMP_THREAD_LIMIT", "4"}, {"OMP_PROC_BIND", bind}}),
                is(4), "");
    EXPECT_EXIT(exit_with_threads(
                    {{"OMP_NUM_THREADS", "5"}, {"OMP_DYNAMIC", "true"}, {"OMP_PROC_BIND", bind}}),
                is(5), "");
    EXPECT_EXIT(exit_with_threads(
                    {{"OMP_NUM_THREADS", "5"}, {"OMP_THREAD_LIMIT", "1"}, {"OMP_PROC_BIND", bind}}),
                is(1), "");
  }
}

/// A parallel region, not made by the compiler: libgomp would read the environment before a test
/// sets it.
void loop_as_packs_do(void*) {
  using Region = void(void (*)(void*), void*, unsigned, unsigned);
  auto* const region =
      reinterpret_cast<Region*>(dlsym(dlopen("libgomp.so.1", RTLD_NOW), "GOMP_parallel"));
  if (region) region([](void*) {}, nullptr, 0, 0);
}

/// Runs such a loop in a fresh process that may have `more` threads; exits with 0 unless it fails.
[[noreturn]] void exit_after_a_loop(rlim_t more) {
  setenv("OMP_NUM_THREADS", "8", 1);
  // A user of this process's own, so that nothing else counts; root itself is never refused.
  if (geteuid() == 0 && setresuid(61235, 61235, 61235) != 0) std::_Exit(0);
  const rlimit limit{1 + more, 1 + more};
  setrlimit(RLIMIT_NPROC, &limit);
  trine_device* device = nullptr;
  trine_queue* queue = nullptr;
  if (cpu().device_open(0, "", &device) != TRINE_OK) std::_Exit(0);
  cpu().queue_create(device, &queue);
  cpu().queue_call(queue, loop_as_packs_do, nullptr);
  std::_Exit(cpu().queue_wait(queue) == TRINE_OK ? 0 : 1);
}

// OpenMP ends a program whose loop can't start its threads.
TEST_F(CpuBackendDeathTest, loops_of_packs_find_their_threads_below_a_limit) {
  for (const rlim_t more : {1, 3, 5, 8, 9, 11, 14, 20})
    EXPECT_EXIT(exit_after_a_loop(more), testing::ExitedWithCode(0), "") << more;
}

}  // namespace
