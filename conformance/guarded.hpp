// Host memory between pages that nobody may touch: an access beside it ends the program.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <new>

namespace trine::conformance {

class Guarded {
 public:
  enum class At { end, begin };  ///< which side of the memory meets its guard page

  /// `bytes` that end where a guard page begins, or begin where one ends.
  explicit Guarded(std::size_t bytes, At at = At::end) {
    const auto page = std::size_t(sysconf(_SC_PAGESIZE));
    const std::size_t inner = (bytes + page - 1) / page * page;
    size_ = inner + 2 * page;
    pages_ = mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages_ == MAP_FAILED) throw std::bad_alloc();
    char* const begin = static_cast<char*>(pages_) + page;
    if (inner != 0 && mprotect(begin, inner, PROT_READ | PROT_WRITE) != 0) {
      munmap(pages_, size_);
      throw std::bad_alloc();
    }
    data_ = at == At::end ? begin + inner - bytes : begin;
  }
  ~Guarded() { munmap(pages_, size_); }
  Guarded(const Guarded&) = delete;

  char* data() const { return data_; }

 private:
  void* pages_;
  std::size_t size_;
  char* data_;
};

}  // namespace trine::conformance
