// The hand-over of a loop's pieces between the executor and a thread that waits, without a backend.
#include "cpu/caller_participation.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace {

using trine::cpu::CallerParticipation;
using trine::cpu::Loop;

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
    loop.take_pieces(0);
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
  loop.take_pieces(0);
  participation.withdraw();
  EXPECT_EQ(work.scratch[0], 64);
}

}  // namespace
