// The judge of a case's memory: the right answer passes, every kind of wrong one is seen.
#include "conformance/arena.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "oracle/bits.hpp"

namespace trine::conformance {
namespace {

/// A padded each_row sum of 5 rows: gaps between inputs and between results.
Case padded_sum(uint64_t seed) {
  Case c;
  auto op = std::get<trine_reduce>(
      oracle::plan_reduce(TRINE_SUM, TRINE_IDENTITY, TRINE_EACH_ROW, TRINE_F32, 5, 7));
  op.input.row_stride = 9;
  op.output.row_stride = 3, op.output.offset = 4;
  c.plan = op;
  c.seed = seed;
  return c;
}

class Judge : public testing::TestWithParam<uint64_t> {
 protected:
  Judge() : arenas_(padded_sum(GetParam())) {
    for (size_t a = 0; a < arenas_.count(); ++a) found_.push_back(arenas_.before(a));
    oracle::Operation op = arenas_.expected();
    const oracle::Operand output = oracle::output_of(op);
    for (int64_t r = 0; r < 5; ++r)
      std::memcpy(result(r), oracle::origin(*output.view) + 12 * r, 4);
  }
  char* result(int64_t r) {
    const Place at = arenas_.place(1);
    return found_[at.arena].data() + at.offset + 12 * r;
  }
  char* input(int64_t element) {
    const Place at = arenas_.place(0);
    return found_[at.arena].data() + at.offset + 4 * element;
  }
  std::string verdict(uint32_t numerics = TRINE_REPRODUCIBLE) {
    return arenas_.judge(found_, numerics);
  }

  Arenas arenas_;
  std::vector<std::vector<char>> found_;
};

TEST_P(Judge, accepts_the_right_answer) {
  EXPECT_EQ(arenas_.count(), GetParam() % 2 == 1 ? 1u : 2u);
  EXPECT_EQ(verdict(), "");
}
TEST_P(Judge, sees_one_wrong_bit_of_the_last_result) {
  result(4)[0] ^= 1;
  EXPECT_NE(verdict().find("1 of 5 differ, first at (0, 4, 0)"), std::string::npos);
}
TEST_P(Judge, allows_a_study_rung_the_bit_but_not_a_nan) {
  result(4)[0] ^= 1;
  EXPECT_EQ(verdict(TRINE_STUDY), "");
  std::memset(result(4), 0xff, 4);
  EXPECT_NE(verdict(TRINE_STUDY), "");
}
TEST_P(Judge, sees_nothing_written_at_all) {
  std::vector<std::vector<char>> untouched;
  for (size_t a = 0; a < arenas_.count(); ++a) untouched.push_back(arenas_.before(a));
  EXPECT_NE(arenas_.judge(untouched, TRINE_REPRODUCIBLE).find("5 of 5"), std::string::npos);
}
TEST_P(Judge, sees_a_write_between_results_before_and_behind_them) {
  for (char* at : {result(0) + 4, result(0) - 1, result(4) + 4, result(4) + 200}) {
    *at ^= 4;
    EXPECT_NE(verdict().find("outside the output"), std::string::npos);
    *at ^= 4;
  }
  EXPECT_EQ(verdict(), "");
}
TEST_P(Judge, sees_a_changed_input_and_its_padding) {
  for (int64_t element : {0, 7, 8, 42, 43}) {
    input(element)[2] ^= 1;
    EXPECT_NE(verdict().find("input"), std::string::npos);
    input(element)[2] ^= 1;
  }
}

INSTANTIATE_TEST_SUITE_P(one_buffer_and_two, Judge, testing::Values(1, 2));

Case gemm_case(double alpha, double beta, oracle::Values values) {
  Case c;
  c.plan = oracle::plan_gemm(TRINE_F32, 3, 4, 5, alpha, beta);
  c.values = values;
  c.seed = 2;
  return c;
}

TEST(arenas, plant_nan_where_gemm_must_not_read) {
  const auto nans = [](const Case& c, size_t operand, int64_t count) {
    const Arenas arenas(c);
    const Place at = arenas.place(operand);
    const char* p = arenas.before(at.arena).data() + at.offset;
    int64_t found = 0;
    for (int64_t i = 0; i < count; ++i)
      found += oracle::is_nan_bits(oracle::load<float>(p + 4 * i));
    return found;
  };
  EXPECT_EQ(nans(gemm_case(1, 0, oracle::Values::kUniform), 2, 12), 12);
  EXPECT_EQ(nans(gemm_case(1, 1, oracle::Values::kUniform), 2, 12), 0);
  EXPECT_EQ(nans(gemm_case(0, 1, oracle::Values::kUniform), 0, 15), 15);
  EXPECT_EQ(nans(gemm_case(1, 1, oracle::Values::kUniform), 0, 15), 0);
}

TEST(arenas, surround_float_inputs_with_nan) {
  const Arenas arenas(padded_sum(2));
  const Place at = arenas.place(0);
  const char* input = arenas.before(at.arena).data() + at.offset;
  for (int64_t element : {-1, 7, 8, 43, 44})
    EXPECT_TRUE(oracle::is_nan_bits(oracle::load<float>(input + 4 * element))) << element;
}

}  // namespace
}  // namespace trine::conformance
