// The next BLAS, which does what the shim doesn't compute: found once, when the first such routine
// is called, and asked for each name once.
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "log.hpp"
#include "xerbla.hpp"

extern "C" {
/// forward.S: one for each FORWARD name, in the order of names.def.
extern std::atomic<void*> trine_blas_slots[];
void* trine_blas_resolve(unsigned index);
}

namespace trine::blas {
namespace {

#define COMPUTED(name)
#define FORWARD(name) #name,
constexpr const char* kForwarded[] = {
#include "names.def"
};
#undef FORWARD
#undef COMPUTED

/// OpenBLAS has no cblas_xerbla: what the reference's prints, after which OpenBLAS's xerbla_
/// returns too.
void print_parameter(int info, const char* routine, const char* form, ...) {
  if (info != 0) std::fprintf(stderr, "Parameter %d to routine %s was incorrect\n", info, routine);
  std::va_list arguments;
  va_start(arguments, form);
  std::vfprintf(stderr, form, arguments);
  va_end(arguments);
}

/// There is no way to go on without the routine: as the dynamic linker ends a program.
[[noreturn]] void end_without(const char* name, const std::string& why) {
  Log::finish();
  std::fprintf(stderr, "libtrine_blas: %s is not computed by Trine, and %s\n", name, why.c_str());
  _exit(127);
}

bool is_shim(void* library) {
  Dl_info found{}, own{};
  void* const symbol = dlsym(library, kForwarded[0]);
  void* const other = symbol ? symbol : dlsym(library, "dtrsm_");
  return other && dladdr(other, &found) && dladdr(trine_blas_slots, &own) &&
         found.dli_fbase == own.dli_fbase;
}

#if defined(__x86_64__)
#define TRIPLET "x86_64-linux-gnu"
#else
#define TRIPLET "aarch64-linux-gnu"
#endif
constexpr const char* kFolders[] = {"/usr/lib/" TRIPLET "/", "/usr/lib64/", "/usr/lib/",
                                    "/usr/local/lib/"};
constexpr const char* kFiles[] = {"openblas-pthread/libblas.so.3",
                                  "openblas-openmp/libblas.so.3",
                                  "openblas-serial/libblas.so.3",
                                  "libopenblas.so.0",
                                  "blas/libblas.so.3",
                                  "libblas.so.3"};

/// By absolute path: our own soname is that of the one we look for.
void* open_next(const char* name) {
  if (const char* path = secure_getenv("TRINE_BLAS_NEXT"); path && *path) {
    void* const library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (!library) end_without(name, std::string("TRINE_BLAS_NEXT can't be loaded: ") + dlerror());
    if (is_shim(library))
      end_without(name, std::string("TRINE_BLAS_NEXT=") + path + " is this library itself");
    return library;
  }
  if (dlsym(RTLD_NEXT, "dtrsm_")) return RTLD_NEXT;
  for (const char* folder : kFolders)
    for (const char* file : kFiles) {
      const std::string path = std::string(folder) + file;
      void* const library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
      if (library && !is_shim(library)) return library;
    }
  end_without(name,
              "there is no other BLAS in /usr/lib (Debian: libopenblas0 or libblas3); "
              "TRINE_BLAS_NEXT=FILE names one.");
}

}  // namespace

const char* forwarded_name(unsigned index) { return kForwarded[index]; }
unsigned forwarded_count() { return std::size(kForwarded); }

}  // namespace trine::blas

void* trine_blas_resolve(unsigned index) {
  using namespace trine::blas;
  const char* const name = kForwarded[index];
  static std::atomic<void*> found[std::size(kForwarded)];
  void* target = found[index].load(std::memory_order_relaxed);
  if (!target) {
    // A program's own comes before any BLAS's, wherever it stands: this library, if it was
    // preloaded, is in front of all but the executable.
    const bool is_own = !std::strcmp(name, "xerbla_") || !std::strcmp(name, "cblas_xerbla");
    if (is_own) target = dlsym(RTLD_NEXT, name);
    if (!target) {
      static void* const next = open_next(name);
      target = dlsym(next, name);
    }
    if (!target && !std::strcmp(name, "cblas_xerbla"))
      target = reinterpret_cast<void*>(print_parameter);
    if (!target) {
      end_without(name,
                  "the BLAS behind it has no such routine (TRINE_BLAS_NEXT=FILE names another).");
    }
    found[index].store(target, std::memory_order_relaxed);
  }
  if (Log::is_on())
    Log::count_forwarded(index);  // each call comes here: the slot stays at its stub
  else
    trine_blas_slots[index].store(target, std::memory_order_relaxed);
  return target;
}
