// The embedded fatbins.
#include <cstring>

#include "cuda/driver.hpp"
#include "cuda_programs.h"

namespace trine::cuda {

const void* image_of(const char* file) {
  const std::size_t length = std::strlen(file);
  for (std::size_t i = 0; i < cuda_programs_count; ++i) {
    const char* name = cuda_programs[i].name;
    if (std::strncmp(name, file, length) == 0 && name[length] == '.') return cuda_programs[i].data;
  }
  return nullptr;
}

}  // namespace trine::cuda
