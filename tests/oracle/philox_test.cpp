// Philox against the known answers of Random123, and lanes against single calls.
#include "oracle/philox.hpp"

#include <gtest/gtest.h>

namespace trine::oracle {
namespace {

using Block = std::array<uint32_t, 4>;

TEST(philox, gives_the_known_answers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(philox, lanes_equal_single_calls) {
  uint64_t counters[kPhiloxLanes], bits[kPhiloxLanes];
  for (int l = 0; l < kPhiloxLanes; ++l) counters[l] = uint64_t(l) * 0x123456789abcdef;
  philox_lanes(42, counters, bits);
  for (int l = 0; l < kPhiloxLanes; ++l) EXPECT_EQ(bits[l], philox_bits(42, counters[l])) << l;
}

}  // namespace
}  // namespace trine::oracle
