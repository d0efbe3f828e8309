// Says of each .npy file named on the standard input, in a line of JSON, how Trine reads it or why
// it doesn't, and how much memory that took at most: npy_test.py holds both against NumPy.
#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <new>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/cases/npy.hpp"
#include "bench/ui/error.hpp"

namespace {
size_t held = 0, most = 0;
}  // namespace

[[gnu::noinline]] void* operator new(size_t bytes) {
  void* const memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  held += malloc_usable_size(memory);
  most = std::max(most, held);
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  if (memory != nullptr) held -= malloc_usable_size(memory);
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept { operator delete(memory); }

int main() {
  for (std::string path; std::getline(std::cin, path);) {
    nlohmann::ordered_json said;
    const size_t before = held;
    most = held;
    try {
      const trine::bench::Array array = trine::bench::read_npy(path);
      said = {{"memory", most - before},
              {"descr", array.descr},
              {"dtype", trine::name(array.dtype)},
              {"shape", array.shape},
              {"fortran_order", array.fortran_order}};
    } catch (const trine::bench::Refusal& refusal) {
      said = {{"memory", most - before},
              {"refused", std::string(refusal.what()).substr(path.size() + 2)}};
    }
    std::cout << said.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)
              << '\n';
  }
}
