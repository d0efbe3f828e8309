// Loads fatbins and finds entries by the names that the generator gave them.
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
  const auto name = kit::String(variant.kernels()[static_cast<std::size_t>(entry)]) +
                    gpu::suffix_of<kit::String>(variant, macro);
  std::lock_guard lock(mutex_);
  Function function = nullptr;
  const Result code =
      driver().cuModuleGetFunction(&function, module_of(variant.file), name.c_str());
  if (code != kSuccess) device_.check(code, ("cuModuleGetFunction(" + name + ")").c_str());
  return function;
}

}  // namespace trine::cuda
