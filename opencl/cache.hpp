// Program binaries on disk, so that a kernel is compiled once a machine and not once a process. No
// failure here is an error: without a folder, or with a damaged entry, programs are just compiled.
//
// Folder: TRINE_CACHE_DIR (empty: no cache), else XDG_CACHE_HOME/trine, else HOME/.cache/trine; in
// it opencl/<key>.bin. An entry is written to a temporary and renamed. Its checksum is tested
// before a driver sees a byte of it: Oclgrind aborts on a damaged binary.
#pragma once

#include <cstdint>

#include "backends/kit/host.hpp"

namespace trine::opencl {

/// The key of an entry: device, driver, source, options; hashed piece by piece.
struct CacheKey {
  uint64_t high = 0xcbf29ce484222325u, low = 0x84222325cbf29ce4u;
  void add(std::string_view text);
};

/// The binary stored under `key`, or empty.
kit::Vector<unsigned char> load_binary(const CacheKey& key);
void store_binary(const CacheKey& key, const unsigned char* binary, std::size_t bytes);

}  // namespace trine::opencl
