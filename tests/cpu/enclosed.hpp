// Memory between two pages that nobody may touch, flush with the first or with the last: an access
// beside it ends the test.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <new>

namespace trine::cpu {

class Enclosed {
 public:
  Enclosed(std::size_t bytes, bool at_end) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t inner = (bytes + page - 1) / page * page;
    size_ = inner + 2 * page;
    whole_ = mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (whole_ == MAP_FAILED) throw std::bad_alloc();
    char* const first = static_cast<char*>(whole_) + page;
    if (mprotect(first, inner, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
    data_ = at_end ? first + inner - bytes : first;
  }
  ~Enclosed() { munmap(whole_, size_); }
  Enclosed(const Enclosed&) = delete;

  char* data() const { return data_; }

 private:
  void* whole_;
  std::size_t size_;
  char* data_;
};

}  // namespace trine::cpu
