// A driver's functions as a table of pointers, filled at run time from its library. A machine
// without the library is an ordinary state with a reason. Tests put a table of their own in its
// place.
#pragma once

#include <dlfcn.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <mutex>

namespace trine::kit {

struct Library {
  const char* file;    ///< "libcuda.so.1"
  const char* absent;  ///< "there is no CUDA driver"
  const char* hint;    ///< behind dlopen's own words
  const char* least;   ///< what has all of `symbols`: "CUDA 11.8"
};

/// `Table` holds a pointer to each of the functions `symbols`, in their order, and nothing else.
template <class Table, std::size_t Count>
class DriverTable {
 public:
  constexpr DriverTable(const Library& library, const char* const (&symbols)[Count])
      : library_(library), symbols_(symbols) {}

  /// The table in use, loaded at the first call; nullptr with a reason where there is no driver.
  const Table* find(const char** reason) {
    if (const Table* table = in_use_.load(std::memory_order_acquire)) return table;
    const std::lock_guard lock(mutex_);
    if (!in_use_ && load()) in_use_.store(&loaded_, std::memory_order_release);
    *reason = reason_;
    return in_use_;
  }
  bool is_found() const { return in_use_.load(std::memory_order_acquire) != nullptr; }
  const Table& get() const { return *in_use_.load(std::memory_order_acquire); }
  void replace(const Table* table) {
    const std::lock_guard lock(mutex_);
    in_use_ = table;
  }

 private:
  static_assert(sizeof(Table) == Count * sizeof(void*));

  bool load() {
    void* const library = dlopen(library_.file, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      std::snprintf(reason_, sizeof reason_, "%s: %s%s", library_.absent, dlerror(), library_.hint);
      return false;
    }
    void* functions[Count];
    for (std::size_t i = 0; i < Count; ++i) {
      functions[i] = dlsym(library, symbols_[i]);
      if (functions[i]) continue;
      std::snprintf(reason_, sizeof reason_, "%s has no %s: it is older than %s", library_.file,
                    symbols_[i], library_.least);
      dlclose(library);
      return false;
    }
    std::memcpy(static_cast<void*>(&loaded_), functions, sizeof loaded_);
    return true;
  }

  const Library library_;
  const char* const (&symbols_)[Count];
  std::mutex mutex_;
  Table loaded_{};
  std::atomic<const Table*> in_use_{nullptr};
  char reason_[256] = "";
};

}  // namespace trine::kit
