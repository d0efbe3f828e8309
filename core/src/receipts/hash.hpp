// The blocks that a digest is made of, hashed by xxHash's XXH3 of 128 bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace trine::detail {

/// How a block's elements count: as bits, or as floats whose NaNs are all one.
enum class Counted : uint32_t { bits, f32, f64 };

/// XXH3's 128 bits in its canonical form, the most significant byte first.
using Hash = std::array<unsigned char, 16>;

constexpr std::size_t kBlock = 1 << 14;

/// The hash of a block of at most kBlock bytes, whole elements.
Hash hash_block(const void* data, std::size_t bytes, Counted as);
Hash hash_block_avx2(const void* data, std::size_t bytes, Counted as);  ///< the same, on x86
/// The hash of any bytes: of the hashes of a digest's blocks.
Hash hash_bytes(const void* data, std::size_t bytes, uint64_t seed);

}  // namespace trine::detail
