// The hand-over of a loop's pieces between the executor and a thread that waits, without a backend.
#include "cpu/caller_participation.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include <cstdlib>
#include <stdexcept>
#include <vector>

#include "cpu/mask.hpp"
#include "cpu/pool.hpp"

namespace {

using trine::cpu::CallerParticipation;
using trine::cpu::Cores;
using trine::cpu::Loop;
using trine::cpu::Mask;
using trine::cpu::Pool;

struct Work {
  std::vector<int> times = std::vector<int>(64);  // each piece is written by one thread, plainly
  long scratch[2] = {};

  static void piece(void* self, std::int64_t index, int thread) {
    auto& work = *static_cast<Work*>(self);
    ++work.times[static_cast<std::size_t>(index)];
    ++work.scratch[thread];
  }
};

TEST(CallerParticipation, each_piece_is_done_once_and_seen_by_both) {
  CallerParticipation participation;
  std::atomic<bool> over{false};
  std::atomic<long> helped{0};
  std::thread helper([&] {
    while (!over)
      if (participation.help([] { return false; })) ++helped;
  });
  Work work;
  // Until the helper has come: on a busy machine the rounds may be over before it has a core.
  for (int round = 1; round <= 2000 || (helped == 0 && round < 10'000'000); ++round) {
    Loop loop(64, Work::piece, &work);
    participation.offer(loop, 1);
    if (round % 2 == 0) std::this_thread::yield();
    loop.take_chunks(0);
    participation.withdraw();
    for (const int times : work.times) ASSERT_EQ(times, round);
    ASSERT_EQ(work.scratch[0] + work.scratch[1], 64 * round);
  }
  over = true;
  helper.join();
  EXPECT_GT(helped, 0);
  EXPECT_FALSE(participation.offers());
}

TEST(CallerParticipation, who_is_free_leaves_the_loop_to_others) {
  CallerParticipation participation;
  Work work;
  Loop loop(64, Work::piece, &work);
  participation.offer(loop, 1);
  EXPECT_FALSE(participation.help([] { return true; }));
  EXPECT_TRUE(participation.offers());
  int asked = 0;  // free between looking and taking
  EXPECT_TRUE(participation.help([&] { return asked++ == 1; }));
  EXPECT_EQ(work.scratch[1], 0);
  loop.take_chunks(0);
  participation.withdraw();
  EXPECT_EQ(work.scratch[0], 64);
}

TEST(Loop, a_piece_that_throws_ends_it_and_is_told_when_all_have_left) {
  CallerParticipation participation;
  std::atomic<bool> over{false};
  std::thread helper([&] {
    while (!over) participation.help([] { return false; });
  });
  for (int round = 0; round < 2000; ++round) {
    std::atomic<int> begun{0};
    Loop loop(
        64,
        [](void* count, std::int64_t index, int) {
          ++*static_cast<std::atomic<int>*>(count);
          if (index == 7) throw std::runtime_error("seven");
        },
        &begun);
    participation.offer(loop, 1);
    loop.take_chunks(0);
    participation.withdraw();
    EXPECT_THROW(loop.end(), std::runtime_error);
    EXPECT_GE(begun, 8);
  }
  over = true;
  helper.join();
}

/// A pool of three threads, which outlive the test.
struct Three {
  Pool& pool = *new Pool(3, *new Cores(4, trine::cpu::mask_of(0).count));
  clockid_t clock[4] = {};
  Three() {
    for (int number = 1; number <= 3; ++number) {
      std::thread thread([this, number] { pool.serve(number); });
      pthread_getcpuclockid(thread.native_handle(), &clock[number]);
      thread.detach();
    }
  }
  double seconds(int number) const {
    timespec time{};
    clock_gettime(clock[number], &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }
  static Three& get() {
    const auto allocate = [](void*, std::size_t bytes, std::size_t alignment) {
      return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    };
    trine::kit::use_host(
        {sizeof(trine_host), nullptr, allocate, [](void*, void* p) { std::free(p); }});
    static Three& all = *new Three;
    return all;
  }
};

void pause_until_all_sleep() { std::this_thread::sleep_for(std::chrono::milliseconds(3)); }

TEST(Loop, a_thread_takes_its_own_part_first_then_what_others_left) {
  std::vector<int> taken;
  const auto take = [](void* self, std::int64_t piece, int) {
    static_cast<std::vector<int>*>(self)->push_back(int(piece));
  };
  std::vector<Loop::Part> parts(3);
  for (int round = 0; round < 2; ++round) {
    taken.clear();
    Loop(10, take, &taken, parts).take_chunks(1);
    EXPECT_EQ(taken, (std::vector{3, 4, 5, 6, 7, 8, 9, 0, 1, 2}));
  }
  taken.clear();
  Loop(2, take, &taken, {parts.data(), 2}).take_chunks(7);  // a caller's number
  EXPECT_EQ(taken, (std::vector{1, 0}));
}

/// Pins the calling thread, as long as it lives.
class Pinned {
 public:
  Pinned(const Mask& all, int cpu) : all_(all), one_{} {
    CPU_SET_S(static_cast<std::size_t>(cpu), sizeof one_.cpus, one_.cpus);
    EXPECT_EQ(sched_setaffinity(0, sizeof one_.cpus, one_.cpus), 0);
  }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  ~Pinned() { sched_setaffinity(0, sizeof all_.cpus, all_.cpus); }

 private:
  const Mask& all_;
  Mask one_;
};

/// Two of this thread's cores.
struct CoresOfTwo : testing::Test {
  Mask all = trine::cpu::mask_of(0);
  int first = 0, second = 0;

  void SetUp() override {
    if (all.count < 2) GTEST_SKIP() << "one core";
    Three::get();  // the allocator
    while (!all.has(first)) ++first;
    for (second = first + 1; !all.has(second);) ++second;
  }
  /// Whether thread `number`, which may run on all cores, leaves this one.
  static bool leaves(Cores& cores, const Mask& all, int number, int cpu) {
    { const Pinned there(all, cpu); }
    cores.move_if_shared(number);
    const Mask mask = trine::cpu::mask_of(0);
    EXPECT_TRUE(CPU_EQUAL_S(sizeof mask.cpus, mask.cpus, all.cpus));
    return sched_getcpu() != cpu;
  }
};

// And may run where it could before.
TEST_F(CoresOfTwo, a_thread_leaves_that_of_another_one) {
  Cores cores(2, 2);
  const Pinned here(all, first);
  cores.occupy(0);
  std::thread([&] {
    cores.move_if_shared(1);  // it inherited the mask of one
    EXPECT_EQ(sched_getcpu(), first);
    EXPECT_EQ(trine::cpu::mask_of(0).count, 1);
    EXPECT_TRUE(leaves(cores, all, 1, first));
  }).join();
}

// Who was driven off it and comes back has it.
TEST_F(CoresOfTwo, a_thread_keeps_the_core_that_it_takes_again) {
  Cores cores(2, 2);
  {
    const Pinned here(all, first);
    cores.move_if_shared(1);
    cores.occupy(0);
  }
  {
    const Pinned here(all, second);
    cores.occupy(0);
  }
  {
    const Pinned here(all, first);
    cores.move_if_shared(1);
    cores.move_if_shared(1);
  }
  EXPECT_TRUE(leaves(cores, all, 0, first));
}

TEST_F(CoresOfTwo, more_threads_than_cores_stay) {
  Cores cores(3, 2);
  const Pinned here(all, first);
  cores.occupy(0);
  std::thread([&] { EXPECT_FALSE(leaves(cores, all, 1, first)); }).join();
}

TEST(Pool, wakes_all_that_a_loop_wants) {
  Pool& pool = Three::get().pool;
  for (int wanted : {1, 3, 2, 3, 3, 1, 2, 3}) {
    pause_until_all_sleep();
    for (int round = 0; round < 20; ++round) {
      // Each piece waits until all threads have one.
      struct Meeting {
        std::atomic<int> there{0};
        int all;
      } meeting{{}, wanted + 1};
      Loop loop(
          wanted + 1,
          [](void* self, std::int64_t, int) {
            auto& [there, all] = *static_cast<Meeting*>(self);
            for (++there; there < all;) std::this_thread::yield();
          },
          &meeting);
      pool.offer(loop, wanted);
      loop.take_chunks(0);
      pool.withdraw();
      ASSERT_EQ(meeting.there, wanted + 1);
    }
  }
}

TEST(Pool, threads_that_no_loop_wants_sleep) {
  const Three& three = Three::get();
  pause_until_all_sleep();
  const double before = three.seconds(2) + three.seconds(3);
  Work work;
  for (int round = 0; round < 50; ++round) {
    Loop loop(64, Work::piece, &work);
    three.pool.offer(loop, 1);
    loop.take_chunks(0);
    three.pool.withdraw();
    three.pool.expect();
    pause_until_all_sleep();
  }
  EXPECT_LT(three.seconds(2) + three.seconds(3) - before, 5e-3);  // 0; if all wake, 0.027 and more
}

}  // namespace
