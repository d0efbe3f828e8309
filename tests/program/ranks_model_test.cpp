// The model of `trine ranks` by its formulas: who has how much, what moves, what a fat tree adds.
#include "bench/ranks/model.hpp"

#include <gtest/gtest.h>

#include "bench/cases/operations.hpp"

namespace trine::bench::ranks {
namespace {

Problem sum_of(int64_t length) { return problem_of(Operation::reduce, Dtype::f64, {length, 1, 0}); }
Problem product_of(int64_t n) { return problem_of(Operation::gemm, Dtype::f64, {n, n, n}); }

TEST(RanksModel, GridsAreAsSquareAsTheNumberAllows) {
  for (const auto& [ranks, rows, cols] :
       {std::tuple(1, 1, 1), {2, 1, 2}, {7, 1, 7}, {8, 2, 4}, {12, 3, 4}, {10000, 100, 100}}) {
    EXPECT_EQ(grid_of(ranks).rows, rows) << ranks;
    EXPECT_EQ(grid_of(ranks).cols, cols) << ranks;
  }
}

TEST(RanksModel, BlocksThatDontComeOutEvenCount) {
  EXPECT_DOUBLE_EQ(largest_share(product_of(2048), 4, 64), 0.25);
  EXPECT_DOUBLE_EQ(largest_share(product_of(2048), 3, 64), 11.0 / 32);
  EXPECT_DOUBLE_EQ(largest_share(product_of(50), 2, 64), 1);
  EXPECT_DOUBLE_EQ(largest_share(sum_of(100), 3, 64), 1.0 / 3);
}

TEST(RanksModel, OneRankSendsNothing) {
  for (const Problem& p : {sum_of(1000), product_of(100)}) {
    const Traffic t = traffic_of(p, 1, 64);
    EXPECT_EQ(t.bytes + t.messages, 0);
    EXPECT_DOUBLE_EQ(predicted(p, 1, 64, {.seconds = 3, .cores = 4}, {}), 3);
  }
}

TEST(RanksModel, ASumMovesItsFirstMessageAlone) {
  for (const int64_t length : {10, 1 << 24}) {
    const Traffic t = traffic_of(sum_of(length), 10000, 64);
    EXPECT_EQ(t.messages, 15);  // 13 in pairs, and two for the 1,808 beyond 2^13
    EXPECT_EQ(t.bytes, 15 * 128);
  }
}

TEST(RanksModel, ATransposeMovesAllButItsOwnPart) {
  const Problem p = problem_of(Operation::transpose, Dtype::f64, {1024, 1024, 0});
  const double beside = 2 * 128;  // the first message
  EXPECT_DOUBLE_EQ(traffic_of(p, 4, 64).bytes - beside,
                   8.0 * 1024 * 1024 / 4);  // across the diagonal
  EXPECT_DOUBLE_EQ(traffic_of(p, 2, 64).bytes - beside / 2, 0.5 * 8 * 1024 * 1024 / 2);
}

TEST(RanksModel, AProductMovesThePanelsOfOthers) {
  const double beside = 2 * 128;
  EXPECT_DOUBLE_EQ(traffic_of(product_of(1024), 4, 64).bytes - beside,
                   2 * 0.5 * 8 * 512 * 1024);  // half of its rows of a, half of its columns of b
}

TEST(RanksModel, WhatRanksShareLimitsThemTogether) {
  const Link link{.bandwidth = 10e9, .total = 16e9};
  EXPECT_DOUBLE_EQ(link.bandwidth_of(1), 10e9);
  EXPECT_DOUBLE_EQ(link.bandwidth_of(4), 4e9);
}

TEST(RanksModel, MoreRanksThanCoresTakeTurns) {
  const Local local{.seconds = 8, .cores = 2};
  const Link free{.bandwidth = 1e300};
  EXPECT_DOUBLE_EQ(predicted(sum_of(80), 2, 64, local, free), 4);
  EXPECT_DOUBLE_EQ(predicted(sum_of(80), 8, 64, local, free), 4);
}

TEST(RanksModel, AFatTreeOf36PortsHoldsSoManyNodes) {
  EXPECT_EQ(FatTree::levels(36), 1);
  EXPECT_EQ(FatTree::levels(37), 2);
  EXPECT_EQ(FatTree::levels(648), 2);
  EXPECT_EQ(FatTree::levels(649), 3);
  EXPECT_EQ(FatTree::levels(11664), 3);
  EXPECT_GT(FatTree::link(37).latency, FatTree::link(36).latency);
  EXPECT_LT(FatTree::link(37).bandwidth, FatTree::link(36).bandwidth);
}

TEST(RanksModel, GrownProblemsKeepWhatARankHas) {
  EXPECT_EQ(grown(sum_of(100), 16).size.rows, 1600);
  EXPECT_EQ(grown(product_of(100), 16).size.depth, 400);
  const Prediction at = on_fat_tree(product_of(2048), 16, 64, 1);
  EXPECT_DOUBLE_EQ(at.computing, 4);  // 64 times the work on 16 ranks
  EXPECT_DOUBLE_EQ(at.efficiency, 4 / at.seconds());
}

}  // namespace
}  // namespace trine::bench::ranks
