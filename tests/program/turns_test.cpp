// Runs that take turns: processes of their own, as in use.
#include "bench/turns.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "bench/error.hpp"

namespace trine::bench {
namespace {

using ::testing::HasSubstr;

class TurnsTest : public ::testing::Test {
 protected:
  TurnsTest() {
    std::string name = (std::filesystem::temp_directory_path() / "turns_XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~TurnsTest() override { std::filesystem::remove_all(folder_); }

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
  static bool ended_well(pid_t child) {
    int status = 0;
    return waitpid(child, &status, 0) == child && status == 0;
  }

  std::filesystem::path folder_;
};

TEST_F(TurnsTest, OneAfterTheOther) {
  const auto run = [&] {
    Control control;
    Turns turns(path("turns"), 3, control);
    for (int i = 0; i < 4; ++i) {
      note(std::to_string(turns.to_json()["place"].get<int>()));
      usleep(2000);  // long enough for another to butt in
      turns.next();
    }
  };
  for (int again = 0; again < 2; ++again) {  // the file of the first time serves the second
    std::filesystem::remove(path("log"));
    const pid_t children[] = {start(run), start(run), start(run)};
    for (const pid_t child : children) EXPECT_TRUE(ended_well(child));
    EXPECT_EQ(noted(), "012012012012");
  }
}

TEST_F(TurnsTest, WhoDiesIsLeftOut) {
  const auto run = [&](bool dies) {
    Control control;
    Turns turns(path("turns"), 2, control);
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

TEST_F(TurnsTest, TooFewAndTooManyAreRefused) {
  Control control;
  const auto refusal = [&](const std::string& file, int of) -> std::string {
    try {
      Turns(file, of, control, 0.05);
    } catch (const Refusal& refused) { return refused.what(); }
    return {};
  };
  EXPECT_THAT(refusal(path("turns"), 2), HasSubstr("not all came within 0.05 s"));
  const auto run = [&] {
    Control own;
    Turns turns(path("turns"), 2, own);
    note(".");
    for (int i = 0; i < 100; ++i) {
      usleep(10000);
      turns.next();
    }
  };
  const pid_t two[] = {start(run), start(run)};
  while (noted().empty()) usleep(1000);
  EXPECT_THAT(refusal(path("turns"), 2), HasSubstr("2 runs take turns by"));
  for (const pid_t child : two) EXPECT_TRUE(ended_well(child));
  std::ofstream(path("text")) << "a file of somebody's";
  EXPECT_THAT(refusal(path("text"), 2), HasSubstr("something else"));
  std::ifstream text(path("text"));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(text), {}), "a file of somebody's");
  EXPECT_THAT(refusal(path("no/turns"), 2), HasSubstr("can't be written"));
}

TEST_F(TurnsTest, NobodyWaitsForLongerThanTheTimeLimit) {
  Control control(0.02);
  Turns turns(path("turns"), 2, control);
  EXPECT_TRUE(control.partial());
}

}  // namespace
}  // namespace trine::bench
