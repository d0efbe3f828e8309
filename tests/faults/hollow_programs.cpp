// Images for the fake CUDA driver: the names of a kernel file's entries, one a line, as the
// generator wrote them. So a specialization that the host asks for and no kernel has is found out.
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "cuda/driver.hpp"

namespace trine::cuda {

const void* image_of(const char* file) {
  static std::map<std::string, std::string> images;
  auto& image = images[file];
  if (image.empty()) {
    std::ifstream in(std::string(TRINE_CUDA_NAMES "/") + file + ".names");
    image.assign(std::istreambuf_iterator<char>(in), {});
  }
  return image.empty() ? nullptr : image.c_str();
}

}  // namespace trine::cuda
