// Sizes on the command line: what they mean, and that nonsense and overflow are refused.
#include "bench/cases/problem.hpp"

#include <gtest/gtest.h>

#include "bench/ui/error.hpp"

namespace trine::bench {
namespace {

TEST(Size, OneNumberIsAVectorForReduceAndSquareElsewhere) {
  EXPECT_EQ(parse_size(Operation::reduce, "7"), (Size{7, 1, 0}));
  EXPECT_EQ(parse_size(Operation::transpose, "7"), (Size{7, 7, 0}));
  EXPECT_EQ(parse_size(Operation::gemm, "7"), (Size{7, 7, 7}));
}

TEST(Size, TakesFactorsSuffixesAndPowers) {
  EXPECT_EQ(parse_size(Operation::reduce, "4x2^3"), (Size{4, 8, 0}));
  EXPECT_EQ(parse_size(Operation::transpose, "2kx1M"), (Size{2048, 1048576, 0}));
  EXPECT_EQ(parse_size(Operation::gemm, "3x4x5"), (Size{3, 4, 5}));
  EXPECT_EQ(parse_size(Operation::reduce, "1G"), (Size{int64_t{1} << 30, 1, 0}));
  EXPECT_EQ(parse_size(Operation::reduce, "0"), (Size{0, 1, 0}));
}

TEST(Size, RefusesWhatIsNoSize) {
  for (const char* text : {"", "x", "4x", "x4", "-1", "1.5", "4y4", "2^", "2^63", "k",
                           "99999999999999999999", "1x2x3"})
    EXPECT_THROW(parse_size(Operation::transpose, text), Refusal) << text;
  EXPECT_THROW(parse_size(Operation::gemm, "3x4"), Refusal);
}

TEST(Size, OffersTheFormsThatTheOperationTakes) {
  const auto refusal = [](Operation operation, const char* text) -> std::string {
    try {
      parse_size(operation, text);
    } catch (const Refusal& error) { return error.what(); }
    return "taken";
  };
  EXPECT_EQ(refusal(Operation::gemm, "3x4"),
            "size '3x4': 2 factors don't fit gemm; write N or MxNxK, with k, M, G or 2^k.");
  EXPECT_EQ(refusal(Operation::reduce, "1x2x3"),
            "size '1x2x3': 3 factors don't fit reduce; write N or RxC, with k, M, G or 2^k.");
}

TEST(Size, RefusesByteCountsThatOverflow) {
  EXPECT_THROW(parse_size(Operation::reduce, "2^62"), Refusal);
  EXPECT_THROW(parse_size(Operation::transpose, "2^40x2^40"), Refusal);
  EXPECT_THROW(parse_size(Operation::gemm, "1x2^40x2^40"), Refusal);
}

TEST(Size, IsWrittenTheWayItIsRead) {
  for (const char* text : {"2^24", "33", "4x8"})
    EXPECT_EQ(to_string(Operation::reduce, parse_size(Operation::reduce, text)), text);
  EXPECT_EQ(to_string(Operation::gemm, parse_size(Operation::gemm, "3x4x5")), "3x4x5");
}

}  // namespace
}  // namespace trine::bench
