// Loads fatbins and finds entries by the names that the generator gave them.
#include "cuda/modules.hpp"

#include <cstdio>
#include <cstring>

#include "backends/gpu/instance.hpp"
#include "cuda/objects.hpp"
#include "cuda_programs.h"

namespace trine::cuda {
namespace {

const trine_embedded_file& image_of(const char* file) {
  const std::size_t length = std::strlen(file);
  for (std::size_t i = 0; i < cuda_programs_count; ++i) {
    const char* name = cuda_programs[i].name;
    if (std::strncmp(name, file, length) == 0 && name[length] == '.') return cuda_programs[i];
  }
  kit::fail(TRINE_INTERNAL, "cuda: %s is not in this build", file);
}

}  // namespace

void Modules::unload() {
  for (const Loaded& one : loaded_) driver().cuModuleUnload(one.module);
  loaded_.clear();
}

Module Modules::module_of(const char* file) {
  for (const Loaded& one : loaded_) {
    if (std::strcmp(one.file, file) == 0) return one.module;
  }
  const trine_embedded_file& image = image_of(file);
  loaded_.reserve(loaded_.size() + 1);
  Module module = nullptr;
  device_.check(driver().cuModuleLoadData(&module, image.data), "cuModuleLoadData");
  loaded_.push_back({file, module});
  return module;
}

Function Modules::function(const gpu::Row& row, const int* macro, int entry) {
  char name[gpu::kMaxSymbol * 2], suffix[gpu::kMaxSymbol];
  if (gpu::suffix_of(row, macro, suffix, sizeof suffix) < 0) {
    kit::fail(TRINE_INTERNAL, "cuda: rung %s: the instance's name is too long", row.name);
  }
  std::snprintf(name, sizeof name, "%s%s", row.entries[static_cast<std::size_t>(entry)], suffix);
  std::lock_guard lock(mutex_);
  Function function = nullptr;
  const Result code = driver().cuModuleGetFunction(&function, module_of(row.file), name);
  if (code != kSuccess) {
    char call[600];
    std::snprintf(call, sizeof call, "cuModuleGetFunction(%s)", name);
    device_.check(code, call);
  }
  return function;
}

}  // namespace trine::cuda
