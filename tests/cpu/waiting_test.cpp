// Tests of threads that wait for the CPU backend.
#include <time.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "backend_fixture.hpp"

namespace {

using namespace trine::cpu::test;

double seconds_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// With more threads than two, the caller's share is smaller.
void expect_the_caller_takes_part(const char* threads) {
  setenv("OMP_NUM_THREADS", threads, 1);  // before the first session
  if (std::getenv("OMP_PROC_BIND")) GTEST_SKIP() << "threads are bound";
  Session s;
  trine_device_facts facts{};
  facts.size = sizeof facts;
  ASSERT_EQ(cpu().device_facts(s.device, &facts), TRINE_OK);
  if (facts.compute_units != std::strtoul(threads, nullptr, 10))
    GTEST_SKIP() << "this process has a pool of " << facts.compute_units << " threads already";
  trine_event* passed = nullptr;
  ASSERT_EQ(cpu().event_create(s.device, 0, &passed), TRINE_OK);
  const std::vector<float> data(kLarge, 1.0f);
  for (const bool by_event : {false, true}) {
    bool takes_part = false;  // a busy machine disturbs one attempt, not all of them
    for (int attempt = 0; attempt < 20 && !takes_part; ++attempt) {
      double mine = 0, all = 0;
      for (int i = 0; i < 30; ++i) {
        std::vector<std::byte> memory;
        float result = 0;
        ASSERT_EQ(enqueue_sum(s, data, result, memory), TRINE_OK);
        ASSERT_EQ(cpu().event_record(passed, s.queue), TRINE_OK);
        const double mine_before = seconds_of(CLOCK_THREAD_CPUTIME_ID);
        const double all_before = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
        ASSERT_EQ(by_event ? cpu().event_wait(passed) : cpu().queue_wait(s.queue), TRINE_OK);
        mine += seconds_of(CLOCK_THREAD_CPUTIME_ID) - mine_before;
        all += seconds_of(CLOCK_PROCESS_CPUTIME_ID) - all_before;
        ASSERT_EQ(result, static_cast<float>(kLarge));
      }
      takes_part = mine > all / 4;
    }
    EXPECT_TRUE(takes_part) << (by_event ? "event" : "queue");
  }
  cpu().event_destroy(passed);
}

// Asleep meanwhile, it would find all cores taken by threads that spin.
TEST(CpuBackend, a_caller_that_waits_for_a_queue_or_an_event_takes_part_in_the_work) {
  expect_the_caller_takes_part("2");
}
// As most ranks of MPI have it: another thread would have to be woken.
TEST(CpuBackend, a_caller_that_waits_works_where_there_is_one_thread) {
  expect_the_caller_takes_part("1");
}

// Else the wait for a short one would last as long as the work behind it.
TEST(CpuBackend, who_waits_for_an_event_does_not_stay_for_the_work_behind_it) {
  constexpr int kSums = 401;
  Session s;
  trine_event *gate = nullptr, *passed = nullptr;
  ASSERT_EQ(cpu().event_create(s.device, 1, &gate), TRINE_OK);
  ASSERT_EQ(cpu().event_create(s.device, 0, &passed), TRINE_OK);
  const std::vector<float> data(kLarge, 1.0f);
  std::vector<std::byte> memory[kSums];
  float results[kSums] = {};
  ASSERT_EQ(cpu().queue_wait_event(s.queue, gate), TRINE_OK);
  for (int i = 0; i < kSums; ++i) {
    ASSERT_EQ(enqueue_sum(s, data, results[i], memory[i]), TRINE_OK);
    if (i == 0) { ASSERT_EQ(cpu().event_record(passed, s.queue), TRINE_OK); }
  }
  ASSERT_EQ(cpu().event_signal(gate), TRINE_OK);
  ASSERT_EQ(cpu().event_wait(passed), TRINE_OK);
  EXPECT_EQ(cpu().queue_query(s.queue), TRINE_NOT_READY);
  ASSERT_EQ(cpu().queue_wait(s.queue), TRINE_OK);
  for (const float result : results) EXPECT_EQ(result, static_cast<float>(kLarge));
  cpu().event_destroy(passed);
  cpu().event_destroy(gate);
}

TEST(CpuBackend, many_threads_wait_for_long_and_short_work_at_once) {
  std::vector<std::thread> threads;
  threads.reserve(4);
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      Session s(t == 3 ? "threads=1" : "");
      const std::vector<float> data(t % 2 ? kLarge : 100'000, 1.0f);
      for (int i = 0; i < 40; ++i) {
        std::vector<std::byte> memory;
        float result = 0;
        enqueue_sum(s, data, result, memory);
        cpu().queue_wait(s.queue);
        if (result != static_cast<float>(data.size())) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

void pause_for(std::chrono::duration<double> pause) {
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < pause) {}
}

// Idle threads watch for work for less than 1 ms, also when they have learnt when to expect it, and
// whatever OpenMP's do.
TEST(CpuBackend, no_core_is_burnt_while_idle) {
  setenv("OMP_NUM_THREADS", "3", 1);
  setenv("OMP_WAIT_POLICY", "active", 1);
  Session s;
  const std::vector<float> data(kLarge, 1.0f);
  std::vector<std::byte> memory;
  float result = 0;
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(enqueue_sum(s, data, result, memory), TRINE_OK);
    ASSERT_EQ(cpu().queue_wait(s.queue), TRINE_OK);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const double before = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_LT(seconds_of(CLOCK_PROCESS_CPUTIME_ID) - before, 2.5e-3);
}

// Only the executor's thread may do this work, at the end of a sleep from which it wakes up by
// itself (some 0.17 ms before the end of the pause that it expects).
TEST(CpuBackend, work_at_the_end_of_an_expected_pause_is_seen) {
  Session s;
  trine_event *gate = nullptr, *passed = nullptr;
  ASSERT_EQ(cpu().event_create(s.device, 0, &passed), TRINE_OK);
  std::atomic<int> told{0};
  const auto tell = [](void* count) { ++*static_cast<std::atomic<int>*>(count); };
  constexpr double kPause = 800e-6;
  int tells = 0;
  for (int i = 0; i < 600; ++i) {
    for (const double pause : {kPause, kPause, kPause - 230e-6 + i * 0.4e-6}) {
      pause_for(std::chrono::duration<double>(pause));
      ASSERT_EQ(cpu().event_create(s.device, 1, &gate), TRINE_OK);
      // Recorded behind a gate, so that the event hasn't passed when it is asked to notify.
      ASSERT_EQ(cpu().queue_wait_event(s.queue, gate), TRINE_OK);
      ASSERT_EQ(cpu().event_record(passed, s.queue), TRINE_OK);
      ASSERT_EQ(cpu().event_notify(passed, tell, &told), TRINE_OK);
      ASSERT_EQ(cpu().event_signal(gate), TRINE_OK);
      ++tells;
      const double begin =
          seconds_of(CLOCK_THREAD_CPUTIME_ID);  // a busy machine takes nothing of it
      while (told < tells) ASSERT_LT(seconds_of(CLOCK_THREAD_CPUTIME_ID) - begin, 10) << i;
      cpu().event_destroy(gate);
    }
  }
  ASSERT_EQ(cpu().queue_wait(s.queue), TRINE_OK);
  cpu().event_destroy(passed);
}

}  // namespace
