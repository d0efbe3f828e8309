#include "peers.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <trine/trine.hpp>

namespace trine::bench {
namespace {

/// OpenBLAS chooses its kernels by processor model when it is loaded and takes old ones on models it
/// doesn't know. The best type for the instructions that are here is known: say it, unless the user has.
void choose_openblas_core() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl"))
    setenv("OPENBLAS_CORETYPE", "SkylakeX", 0);
  else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    setenv("OPENBLAS_CORETYPE", "Haswell", 0);
#endif
}

}  // namespace

std::string load_peers() {
  choose_openblas_core();
  std::string text;
  for (const std::string& folder : search_path()) {
    const std::string packs = (std::filesystem::path(folder) / "packs").string();
    std::error_code unreadable;
    if (!std::filesystem::is_directory(packs, unreadable)) continue;
    for (const BackendInfo& pack : load_packs(packs))
      text += fmt::format("peer {}: {}\n", pack.name,
                          pack.reason.empty() ? pack.build : "absent: " + pack.reason);
  }
  return text.empty() ? "no peers: no rung packs were found\n" : text;
}

}  // namespace trine::bench
