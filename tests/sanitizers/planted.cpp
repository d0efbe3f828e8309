// Planted bugs, one per argument: a sanitizer that stays silent over its own is not alive.
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <limits>
#include <thread>

namespace {

int plant(const char* bug, int one) {
  if (std::strcmp(bug, "overflow_of_heap") == 0) {
    int* values = new int[4]{};
    const int value = values[3 + one];
    delete[] values;
    return value;
  }
  if (std::strcmp(bug, "use_after_free") == 0) {
    int* value = new int(one);
    delete value;
    return *static_cast<volatile int*>(value);
  }
  if (std::strcmp(bug, "leak") == 0) {
    static_cast<char*>(std::malloc(100 + size_t(one)))[0] = 1;
    return 0;
  }
  if (std::strcmp(bug, "signed_overflow") == 0) return std::numeric_limits<int>::max() + one;
  if (std::strcmp(bug, "data_race") == 0) {
    int shared = 0;
    std::thread other([&] { ++shared; });
    ++shared;
    other.join();
    return shared;
  }
  std::cerr << "no bug '" << bug << "'\n";
  return 2;
}

}  // namespace

int main(int count, char** arguments) {
  std::cout << plant(count > 1 ? arguments[1] : "", count - 1) << '\n';
  return 0;
}
