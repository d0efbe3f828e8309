// The digest of a view in host memory, as docs/receipts.md defines it. Its blocks may be hashed in
// any order, by any thread that has them in a cache.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "core/src/operations/check.hpp"
#include "hash.hpp"

namespace trine::detail {

/// How the elements of an operand count.
Counted counted(Dtype dtype, bool moves_bits);

class Digest {
 public:
  /// Reads nothing yet. `view` is checked; its memory may come later, by take().
  Digest(const ConstHostView& view, Counted as);

  /// Its elements follow one another in memory.
  bool is_dense() const { return dense_; }
  uint64_t bytes() const { return bytes_; }

  /// Hashes the blocks that begin in [first, last), where they are this view's; from any thread.
  void see(const void* first, const void* last) noexcept;
  /// Hashes the blocks of `bytes` bytes from `position`, a multiple of kBlock, on: they lie at
  /// `data`.
  void take(uint64_t position, const char* data, uint64_t bytes);
  /// Hashes the remaining blocks on several threads, and joins all hashes.
  std::string text();
  /// The elements one behind the other: in place, or in `copy`.
  std::string_view sequence(std::string& copy) const;

 private:
  uint64_t blocks() const { return (bytes_ + kBlock - 1) / kBlock; }
  std::size_t size_of_block(uint64_t block) const;
  void hash(uint64_t block, const void* data) noexcept;
  template <class Source>
  void hash_blocks(uint64_t first, uint64_t last, const Source& source);

  ConstHostView view_;
  Counted as_;
  bool dense_;
  uint64_t bytes_;
  std::vector<Hash> hashes_;
  std::unique_ptr<std::atomic<bool>[]> taken_;
};

}  // namespace trine::detail
