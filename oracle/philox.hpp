// Philox4x32-10, the counter-based generator behind every input that Trine tests or measures.
//
// A pure function of (seed, counter), in integers alone, so every host makes the same data and any
// part of an array can be made without the rest. J. Salmon et al., "Parallel random numbers: as
// easy as 1, 2, 3", SC 2011.
#pragma once

#include <array>
#include <cstdint>

namespace trine::oracle {

/// One block: 128 random bits of a 128-bit counter under a 64-bit key.
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

constexpr int kPhiloxLanes = 256;

/// 64 random bits for each of kPhiloxLanes counters. Written to vectorize: one lane per counter.
void philox_lanes(uint64_t seed, const uint64_t* counters, uint64_t* bits);

/// 64 random bits of one counter; the same as one lane.
uint64_t philox_bits(uint64_t seed, uint64_t counter);

}  // namespace trine::oracle
