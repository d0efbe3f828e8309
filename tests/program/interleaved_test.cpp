// Runs that take turns: processes of their own, as in use.
#include "bench/gate/interleaved.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "bench/ui/error.hpp"

namespace trine::bench {
namespace {

using ::testing::HasSubstr;

class InterleavedRunsTest : public ::testing::Test {
 protected:
  InterleavedRunsTest() {
    std::string name = (std::filesystem::temp_directory_path() / "turns_XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~InterleavedRunsTest() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void note(const std::string& text) const { std::ofstream(path("log"), std::ios::app) << text; }
  std::string noted() const {
    std::ifstream log(path("log"));
    return {std::istreambuf_iterator<char>(log), {}};
  }
  static pid_t start(const std::function<void()>& run) {
    const pid_t child = fork();
    if (child != 0) return child;
    try {
      run();
    } catch (const std::exception&) { _exit(1); }
    _exit(0);
  }
  /// Whether another process has that byte of the file locked.
  bool is_held(const std::string& name, off_t byte) const {
    const int file = ::open(path(name).c_str(), O_RDWR);
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = byte;
    lock.l_len = 1;
    const bool held = fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    close(file);
    return held;
  }
  /// Whether that many have joined, and nobody is about to.
  bool joined(const std::string& name, int count) const {
    constexpr off_t kJoining = 4096;
    return is_held(name, count - 1) && !is_held(name, kJoining);
  }
  static void wait_for(const std::function<bool()>& come) {
    for (int i = 0; i < 20000 && !come(); ++i) usleep(1000);
    ASSERT_TRUE(come());
  }
  static bool ended_well(pid_t child) {
    int status = 0;
    return waitpid(child, &status, 0) == child && status == 0;
  }

  std::filesystem::path folder_;
};

TEST_F(InterleavedRunsTest, OneAfterTheOtherAndBackAgain) {
  const auto run = [&](int64_t steps) {
    Control control;
    InterleavedRuns turns({.path = path("turns"), .of = 3, .steps = steps}, control);
    for (int i = 0; i < 4; ++i) {
      note(std::to_string(turns.to_json()["place"].get<int>()));
      usleep(2000);  // long enough for another to butt in
      turns.next();
    }
    if (!turns.left().empty()) _exit(1);  // all had as many
  };
  for (const auto& [steps, order] :
       {std::pair{1, "012210012210"}, {2, "012012210210"}, {3, "012012012210"}}) {
    std::filesystem::remove(path("log"));  // the file of turns serves again
    // Named again: clang before 16 captures no structured binding.
    const auto child = [&, steps = steps] { return start([&] { run(steps); }); };
    const pid_t children[] = {child(), child(), child()};
    for (const pid_t one : children) EXPECT_TRUE(ended_well(one));
    EXPECT_EQ(noted(), order);
  }
}

TEST_F(InterleavedRunsTest, WhoDiesIsLeftOut) {
  const auto run = [&](bool dies) {
    Control control;
    InterleavedRuns turns({path("turns")}, control);
    for (int i = 0; i < 3; ++i) {
      note(dies ? "d" : "s");
      if (dies && i == 1) _exit(2);
      turns.next();
    }
  };
  const pid_t dying = start([&] { run(true); }), surviving = start([&] { run(false); });
  EXPECT_FALSE(ended_well(dying));
  EXPECT_TRUE(ended_well(surviving));
  const std::string order = noted();
  EXPECT_EQ(std::count(order.begin(), order.end(), 's'), 3) << order;
}

TEST_F(InterleavedRunsTest, WhoeverDiesWhenever) {
  constexpr int kOf = 3, kTurns = 5, kSteps = 2;
  /// The one of `place` dies in its turn number `last`, or soon after.
  const auto run = [&](int place, int last, bool after) {
    Control control;
    InterleavedRuns turns({.path = path("turns"), .of = kOf, .steps = kSteps}, control);
    const int own = turns.to_json()["place"];
    for (int i = 0; i < kTurns; ++i) {
      if (own == place && i == last) {
        if (!after) _exit(0);
        std::thread([] { usleep(4000), _exit(0); }).detach();
      }
      note(std::to_string(own));
      turns.next();
    }
    const std::vector<InterleavedRuns::Left> left = turns.left();
    const bool named = left.size() == 1 && left[0].place == place;
    if (own != place && !after && (!named || left[0].rounds != last / kSteps)) _exit(1);
    if (own != place && after && !left.empty() && !named) _exit(1);
  };
  for (int place = 0; place < kOf; ++place)
    for (int last = 0; last < kTurns; ++last)
      for (const bool after : {false, true}) {
        std::filesystem::remove(path("log"));
        const auto child = [&] { return start([&] { run(place, last, after); }); };
        const pid_t children[] = {child(), child(), child()};
        for (const pid_t one : children) EXPECT_TRUE(ended_well(one)) << place << " at " << last;
        const std::string order = noted();
        for (int i = 0; i < kOf; ++i) {
          const auto had = std::count(order.begin(), order.end(), char('0' + i));
          if (i != place || !after) { EXPECT_EQ(had, i == place ? last : kTurns) << order; }
        }
      }
}

TEST_F(InterleavedRunsTest, WhoDiesBeforeTheFirstTurnIsLeftOut) {
  const auto run = [&] {
    Control control;
    InterleavedRuns turns({.path = path("turns"), .patience = 20}, control);
    turns.next();
  };
  const pid_t first = start(run);
  wait_for([&] { return joined("turns", 1); });
  kill(first, SIGSTOP);  // the first turn will be its, and it doesn't see that
  ASSERT_EQ(waitpid(first, nullptr, WUNTRACED), first);
  const pid_t second = start(run);
  wait_for([&] { return joined("turns", 2); });
  kill(first, SIGKILL);
  EXPECT_FALSE(ended_well(first));
  EXPECT_TRUE(ended_well(second));
}

TEST_F(InterleavedRunsTest, TheLastTurnOfWhoEndsEarlyCounts) {
  const auto run = [&](bool leaves) {
    Control control;
    InterleavedRuns turns({path("turns")}, control);
    for (int i = 0; i < 3; ++i) {
      if (leaves && i == 1) raise(SIGINT);  // which comes while it measures
      turns.next();
      if (control.stop()) return;
    }
    const std::vector<InterleavedRuns::Left> left = turns.left();
    if (left.size() != 1 || left[0].rounds != 2) _exit(1);
  };
  const pid_t leaving = start([&] { run(true); }), staying = start([&] { run(false); });
  EXPECT_TRUE(ended_well(leaving));
  EXPECT_TRUE(ended_well(staying));
}

TEST_F(InterleavedRunsTest, WhoDoesNotBelongToThemIsRefused) {
  Control control;
  const auto refusal = [&](RunGroup group) -> std::string {
    group.patience = 0.05;
    try {
      InterleavedRuns turns(group, control);
    } catch (const Refusal& refused) { return refused.what(); }
    return {};
  };
  EXPECT_THAT(refusal({path("alone")}), HasSubstr("not all started within 0.05 s"));
  std::ofstream(path("log")) << "";
  const auto run = [&] {
    Control own;
    note("s");
    InterleavedRuns turns({path("turns"), 2, "sums"}, own);
    note("b");
    while (!std::filesystem::exists(path("end"))) turns.next();
  };
  const pid_t first = start(run);
  wait_for([&] { return joined("turns", 1); });
  EXPECT_THAT(refusal({path("turns"), 3, "sums"}), HasSubstr("2 runs are to be interleaved by"));
  EXPECT_THAT(refusal({path("turns"), 2, "products"}), HasSubstr("measure something else"));
  const pid_t second = start(run);
  wait_for([&] { return std::ranges::count(noted(), 'b') == 2; });
  EXPECT_THAT(refusal({path("turns"), 2, "sums"}), HasSubstr("are in progress"));
  kill(first, SIGKILL);
  EXPECT_FALSE(ended_well(first));
  EXPECT_THAT(refusal({path("turns"), 2, "sums"}), HasSubstr("are in progress"))
      << "nor in its place";
  std::ofstream(path("end")) << "";
  EXPECT_TRUE(ended_well(second));
}

TEST_F(InterleavedRunsTest, AnotherVersionsFileServesAgainUnlessItIsHeld) {
  const std::string older("\x0a\x00 turns and what it kept", 25);
  const auto refusal = [&]() -> std::string {
    Control control;
    try {
      InterleavedRuns turns({.path = path("turns"), .patience = 0.05}, control);
    } catch (const Refusal& refused) { return refused.what(); }
    return {};
  };
  std::ofstream(path("turns")) << older;
  const pid_t other = start([&] {
    const int file = ::open(path("turns").c_str(), O_RDWR);
    if (lockf(file, F_TLOCK, 1) == 0) sleep(60);
  });
  wait_for([&] { return is_held("turns", 0); });
  EXPECT_THAT(refusal(), HasSubstr("interleaves runs differently"));
  std::ifstream left(path("turns"));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(left), {}), older);
  kill(other, SIGKILL);
  EXPECT_FALSE(ended_well(other));
  EXPECT_THAT(refusal(), HasSubstr("not all started"));
}

TEST_F(InterleavedRunsTest, OtherFilesAreLeftAlone) {
  Control control;
  const std::string text(4096, 'x');  // longer than its page
  std::ofstream(path("text")) << text;
  const auto join = [&](const std::string& name) { InterleavedRuns turns({path(name)}, control); };
  EXPECT_THROW(join("text"), Refusal);
  std::ifstream left(path("text"));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(left), {}), text);
  EXPECT_THROW(join("no/turns"), Refusal);
}

TEST_F(InterleavedRunsTest, NobodyWaitsForLongerThanTheTimeLimit) {
  Control control(0.02);
  InterleavedRuns alone({path("alone")}, control);
  EXPECT_TRUE(control.partial());
  // Those that still wait for the others don't begin without them.
  const pid_t other = start([&] {
    Control own;
    InterleavedRuns turns({.path = path("three"), .of = 3, .patience = 0.2}, own);
  });
  Control third(0.05);
  InterleavedRuns turns({path("three"), 3}, third);
  EXPECT_FALSE(ended_well(other));
  // Nor does one whose time is up wait for its next turn, which here never comes.
  const auto run = [&](double limit) {
    Control own(limit);
    InterleavedRuns pair({path("pair")}, own);
    if (limit == 0) wait_for([&] { return std::filesystem::exists(path("end")); });
    pair.next();
    if (limit > 0 && !own.partial()) _exit(1);
  };
  const pid_t patient = start([&] { run(0); });
  wait_for([&] { return joined("pair", 1); });
  const pid_t hurried = start([&] { run(1); });
  EXPECT_TRUE(ended_well(hurried));
  std::ofstream(path("end")) << "";
  EXPECT_TRUE(ended_well(patient));
}

}  // namespace
}  // namespace trine::bench
