// Loads fatbins and finds entries by the names that the generator gave them.
#include <cstdio>
#include <cstring>

#include "backends/gpu/specialization.hpp"
#include "cuda/objects.hpp"
#include "cuda/programs.hpp"

namespace trine::cuda {
void Modules::unload() {
  for (const Loaded& one : loaded_) driver().cuModuleUnload(one.module);
  loaded_.clear();
}

Module Modules::module_of(const char* file) {
  for (const Loaded& one : loaded_) {
    if (std::strcmp(one.file, file) == 0) return one.module;
  }
  const void* image = image_of(file);
  if (!image) kit::fail(TRINE_INTERNAL, "cuda: %s is not in this build", file);
  loaded_.reserve(loaded_.size() + 1);
  Module module = nullptr;
  device_.check(driver().cuModuleLoadData(&module, image), "cuModuleLoadData");
  loaded_.push_back({file, module});
  return module;
}

Function Modules::function(const gpu::Variant& variant, const int* macro, int entry) {
  char name[gpu::kMaxSymbol * 2], suffix[gpu::kMaxSymbol];
  if (gpu::suffix_of(variant, macro, suffix, sizeof suffix) < 0) {
    kit::fail(TRINE_INTERNAL, "cuda: rung %s: the specialization's name is too long", variant.name);
  }
  std::snprintf(name, sizeof name, "%s%s", variant.kernels()[static_cast<std::size_t>(entry)],
                suffix);
  std::lock_guard lock(mutex_);
  Function function = nullptr;
  const Result code = driver().cuModuleGetFunction(&function, module_of(variant.file), name);
  if (code != kSuccess) {
    char call[600];
    std::snprintf(call, sizeof call, "cuModuleGetFunction(%s)", name);
    device_.check(code, call);
  }
  return function;
}

}  // namespace trine::cuda
