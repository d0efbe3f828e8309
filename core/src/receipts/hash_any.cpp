// The blocks' hashes with the instructions that every processor of the kind has, and the choice.
#include "hash-inl.hpp"

namespace trine::detail {

Hash hash_block(const void* data, std::size_t bytes, Counted as) {
#ifdef TRINE_HASH_AVX2
  static const bool kHasAvx2 = __builtin_cpu_supports("avx2");
  if (kHasAvx2) return hash_block_avx2(data, bytes, as);
#endif
  return block_hash(data, bytes, as);
}

Hash hash_bytes(const void* data, std::size_t bytes, uint64_t seed) {
  return canonical(XXH3_128bits_withSeed(data, bytes, seed));
}

}  // namespace trine::detail
