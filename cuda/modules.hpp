// The embedded fatbins of one device: a module a kernel file, loaded when its first kernel is wanted.
#pragma once

#include <mutex>

#include "backends/gpu/row.hpp"
#include "backends/kit/host.hpp"
#include "cuda/driver.hpp"

namespace trine::cuda {

struct Device;

class Modules {
 public:
  explicit Modules(Device& device) : device_(device) {}
  void unload();
  /// The entry of the row's instance with these macro values.
  Function function(const gpu::Row& row, const int* macro, int entry);

 private:
  Module module_of(const char* file);

  struct Loaded {
    const char* file;
    Module module;
  };
  Device& device_;
  std::mutex mutex_;
  kit::Vector<Loaded> loaded_;
};

}  // namespace trine::cuda
