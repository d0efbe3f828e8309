// A backend as its library: loaded as the registry does it.
#pragma once

#include <dlfcn.h>

#include <stdexcept>

#include "backends/abi.h"

namespace faults {

inline const trine_backend* load_backend(const char* path, const trine_host& host) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) throw std::runtime_error(dlerror());
  const auto entry = reinterpret_cast<trine_backend_entry>(dlsym(library, "trine_backend_v1"));
  const trine_backend* backend = nullptr;
  if (!entry || entry(&host, &backend) != TRINE_OK) throw std::runtime_error("no entry");
  return backend;
}

}  // namespace faults
