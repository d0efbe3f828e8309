// Programs of one cl_context: built from the embedded sources at first use, or from the binaries
// that the cache kept, and held until the context goes.
#pragma once

#include <mutex>

#include "backends/gpu/row.hpp"
#include "opencl/cache.hpp"
#include "opencl/driver.hpp"

namespace trine::opencl {

struct Device;

struct Program : kit::Allocated {
  const char* file;
  String defines, options;
  cl_program program = nullptr;
};

class Context : public kit::Allocated {
 public:
  /// Takes over one reference of `native`.
  Context(Device& device, cl_context native) : device_(device), native_(native) {}
  ~Context();

  cl_context native() const { return native_; }
  /// The instance of the row's file with these macro values.
  Program& program(const gpu::Row& row, const int* macro);

 private:
  Program* find(const char* file, const String& defines, const String& options);
  bool build_from_binary(Program& program, const CacheKey& key);
  void build_from_source(Program& program, const char* source, std::size_t bytes);
  void store(const Program& program, const CacheKey& key);
  cl_int build(Program& program);
  [[noreturn]] void fail_build(Program& program, cl_int code);

  Device& device_;
  const cl_context native_;
  std::mutex mutex_;
  kit::Vector<Program*> programs_;
};

}  // namespace trine::opencl
