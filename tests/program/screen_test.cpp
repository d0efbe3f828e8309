// Tests that text too wide for the screen is made to fit it, and that the verdict on bits has its
// colour.
#include "bench/ui/screen.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "bench/ui/table.hpp"

namespace trine::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// The text that `print` prints on a terminal of so many columns.
template <class Print>
std::string printed(const char* columns, Print print) {
  setenv("COLUMNS", columns, 1);
  testing::internal::CaptureStdout();
  print();
  std::fflush(stdout);
  unsetenv("COLUMNS");
  return testing::internal::GetCapturedStdout();
}

/// Sets what the command line would.
void options(const std::string& words) {
  CLI::App app;
  add_screen_options(app);
  app.parse(words);
}

TEST(Screen, TextIsBrokenAtSpaces) {
  EXPECT_THAT(wrapped("one two three", 13, 2), ElementsAre("one two three"));
  EXPECT_THAT(wrapped("one two three", 12, 2), ElementsAre("one two", "  three"));
  EXPECT_THAT(wrapped("  one  two   three", 11, 4), ElementsAre("  one  two", "    three"));
  EXPECT_THAT(wrapped("", 5, 2), ElementsAre(""));
}

TEST(Screen, AFigureKeepsItsUnit) {
  EXPECT_THAT(wrapped("it took 12 ms", 11, 0), ElementsAre("it took", "12 ms"));
}

TEST(Screen, WhatHasNoPlaceToBreakStaysWhole) {
  EXPECT_THAT(wrapped("a /a/long/path b", 4, 0), ElementsAre("a", "/a/long/path", "b"));
  EXPECT_THAT(wrapped("----------", 4, 0), ElementsAre("----"))
      << "a drawn line has no end to lose";
}

TEST(Screen, WidthCountsWhatIsSeen) {
  EXPECT_EQ(width_of("±µ×"), 3U);
  EXPECT_EQ(width_of("\033[32msame bits\033[0m"), 9U);
}

TEST(Screen, LinesAreAsWideAsTheTerminalAndNeverAboveAHundred) {
  const std::string text(60, 'x');
  EXPECT_EQ(printed("70", [&] { say("{0} {0}", text); }), text + "\n  " + text + "\n");
  EXPECT_EQ(printed("500", [&] { say("{0} {0}", text); }), text + "\n  " + text + "\n");
  options("--wide");
  EXPECT_EQ(printed("70", [&] { say("{0} {0}", text); }), text + " " + text + "\n");
  options("--wide=false");
}

TEST(Screen, ColoursAreForTheVerdict) {
  options("--color always");
  EXPECT_THAT(painted("same bits, built-in"), HasSubstr("\033[32msame bits\033[0m, built-in"));
  EXPECT_THAT(painted("WRONG"), HasSubstr("\033[31mWRONG"));
  EXPECT_EQ(painted("within bound"), "within bound");
  options("--color never");
  EXPECT_EQ(painted("WRONG"), "WRONG");
  options("--color auto");
}

const std::vector<std::vector<std::string>> kRows{
    {"size", "rung", "time", "vs built-in", "verified"},
    {"2^10", "cascade:threads=128,finish=recursive", "6.62 µs", "7.03×", "same bits, built-in"},
    {},
    {"2^12", "exact", "74.4 µs", "-", "WRONG"}};

TEST(Screen, ATableThatFitsIsLeftAlone) {
  EXPECT_EQ(
      printed("100", [] { print_table(kRows, 2); }),
      "size  rung                                     time  vs built-in  verified\n"
      "2^10  cascade:threads=128,finish=recursive  6.62 µs        7.03×  same bits, built-in\n"
      "\n"
      "2^12  exact                                 74.4 µs            -  WRONG\n");
}

TEST(Screen, ATableBreaksItsWords) {
  EXPECT_EQ(printed("60", [] { print_table(kRows, 2); }),
            "size  rung                   time  vs built-in  verified\n"
            "2^10  cascade:            6.62 µs        7.03×  same bits,\n"
            "        threads=128,                              built-in\n"
            "        finish=recursive\n"
            "\n"
            "2^12  exact               74.4 µs            -  WRONG\n");
  EXPECT_THAT(printed("57", [] { print_table(kRows, 2); }),
              StartsWith("                                           vs\n"
                         "size  rung                   time    built-in  verified\n"));
}

TEST(Screen, ATableThatCannotBeBrokenGoesOnBelow) {
  const std::vector<std::vector<std::string>> rows{
      {"size", "first", "second", "third"}, {"1", std::string(30, '1'), std::string(30, '2'), "3"}};
  const std::string text = printed("50", [&] { print_table(rows, 1); });
  EXPECT_EQ(text, "size                           first\n1     " + std::string(30, '1') +
                      "\n\nsize                          second  third\n1     " +
                      std::string(30, '2') + "  3\n");
}

TEST(Screen, SomeColumnsAreForWideAlone) {
  EXPECT_THAT(printed("100", [] { print_table(kRows, 2, {"vs built-in"}); }),
              Not(HasSubstr("7.03")));
  options("--wide");
  EXPECT_THAT(printed("100", [] { print_table(kRows, 2, {"vs built-in"}); }), HasSubstr("7.03"));
  options("--wide=false");
}

}  // namespace
}  // namespace trine::bench
