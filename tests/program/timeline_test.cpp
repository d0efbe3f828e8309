// The arithmetic of timelines: cuts that cover everything once, spans that can't be, shares,
// pictures.
#include "bench/transfer/modes.hpp"

#include <gtest/gtest.h>

#include "bench/ui/error.hpp"

namespace trine::bench {
namespace {

/// Two chunks, perfectly overlapped: in 0-1, 1-2; kernel 1-2, 2-3; out 2-3, 3-4.
Pass staircase() {
  Pass pass;
  pass.seconds = 4;
  pass.spans = {{Lane::copy_in, 0, 0, 1}, {Lane::kernel, 0, 1, 2}, {Lane::copy_out, 0, 2, 3},
                {Lane::copy_in, 1, 1, 2}, {Lane::kernel, 1, 2, 3}, {Lane::copy_out, 1, 3, 4}};
  return pass;
}

TEST(Timelines, AddUpTheirLanes) {
  const Pass pass = staircase();
  for (const Lane lane : {Lane::copy_in, Lane::kernel, Lane::copy_out})
    EXPECT_DOUBLE_EQ(busy(pass.spans, lane), 2);
  EXPECT_FALSE(uses(pass.spans, Lane::cpu));
  EXPECT_DOUBLE_EQ(overlapped(pass.spans), 2);  // from 1 to 3
  EXPECT_EQ(impossible(pass), "");
}

TEST(Timelines, SerialWorkOverlapsNothing) {
  EXPECT_DOUBLE_EQ(overlapped({{Lane::copy_in, 0, 0, 1}, {Lane::kernel, 0, 1, 2}}), 0);
  EXPECT_DOUBLE_EQ(overlapped({}), 0);
}

TEST(Timelines, WhatCannotBeIsFound) {
  Pass overlap = staircase();
  overlap.spans[3].begin = 0.5;  // the second copy in, before the first has ended
  EXPECT_NE(impossible(overlap), "");
  Pass backwards = staircase();
  std::swap(backwards.spans[1].begin, backwards.spans[1].end);
  EXPECT_NE(impossible(backwards), "");
  Pass late = staircase();
  late.spans.back().end = 4.2;
  EXPECT_NE(impossible(late), "");
  Pass early = staircase();
  early.spans.front().begin = -0.2;
  EXPECT_NE(impossible(early), "");
}

TEST(Timelines, ArePictured) {
  const std::vector<std::string> lines = picture(staircase(), 8);
  EXPECT_EQ(lines, (std::vector<std::string>{"copy in  |0011    |", "kernel   |  0011  |",
                                             "copy out |    0011|"}));
}

TEST(Timelines, ShortSpansShow) {
  Pass pass = staircase();
  pass.spans = {{Lane::kernel, 12, 3.9999, 4}};
  EXPECT_EQ(picture(pass, 4), (std::vector<std::string>{"kernel   |   2|"}));
}

}  // namespace
}  // namespace trine::bench
