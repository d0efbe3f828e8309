// The blocks' hashes with AVX2 (compiled with -mavx2, on x86 alone).
#include "hash-inl.hpp"

namespace trine::detail {

Hash hash_block_avx2(const void* data, std::size_t bytes, Counted as) {
  return block_hash(data, bytes, as);
}

}  // namespace trine::detail
