// Philox4x32-10, scalar and many counters at a time.
#include "philox.hpp"

#include "clones.hpp"

namespace trine::oracle {
namespace {

constexpr uint32_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
constexpr uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
constexpr int kRounds = 10;

}  // namespace

std::array<uint32_t, 4> philox(std::array<uint32_t, 4> c, std::array<uint32_t, 2> key) {
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t p0 = uint64_t{kMultiplier0} * c[0], p1 = uint64_t{kMultiplier1} * c[2];
    c = {uint32_t(p1 >> 32) ^ c[1] ^ key[0], uint32_t(p1), uint32_t(p0 >> 32) ^ c[3] ^ key[1],
         uint32_t(p0)};
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  return c;
}

TRINE_ORACLE_CLONES
void philox_lanes(uint64_t seed, const uint64_t* counters, uint64_t* bits) {
  uint32_t c0[kPhiloxLanes], c1[kPhiloxLanes], c2[kPhiloxLanes], c3[kPhiloxLanes];
  for (int l = 0; l < kPhiloxLanes; ++l) {
    c0[l] = uint32_t(counters[l]);
    c1[l] = uint32_t(counters[l] >> 32);
    c2[l] = c3[l] = 0;
  }
  uint32_t k0 = uint32_t(seed), k1 = uint32_t(seed >> 32);
  for (int round = 0; round < kRounds; ++round) {
    for (int l = 0; l < kPhiloxLanes; ++l) {
      const uint64_t p0 = uint64_t{kMultiplier0} * c0[l], p1 = uint64_t{kMultiplier1} * c2[l];
      c0[l] = uint32_t(p1 >> 32) ^ c1[l] ^ k0;
      c1[l] = uint32_t(p1);
      c2[l] = uint32_t(p0 >> 32) ^ c3[l] ^ k1;
      c3[l] = uint32_t(p0);
    }
    k0 += kWeyl0;
    k1 += kWeyl1;
  }
  for (int l = 0; l < kPhiloxLanes; ++l) bits[l] = uint64_t{c1[l]} << 32 | c0[l];
}

uint64_t philox_bits(uint64_t seed, uint64_t counter) {
  const auto c = philox({uint32_t(counter), uint32_t(counter >> 32), 0, 0},
                        {uint32_t(seed), uint32_t(seed >> 32)});
  return uint64_t{c[1]} << 32 | c[0];
}

}  // namespace trine::oracle
