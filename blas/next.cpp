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
void* trine_blas_resolve(unsigned index, void* caller);
}

namespace trine::blas {
namespace {

#define SPELLING(prefix, suffix, Int)
#define COMPUTED(name)
#define FORWARD(name) #name,
constexpr const char* kForwarded[] = {
#include "names.def"
};
#undef FORWARD
#undef COMPUTED
#undef SPELLING

/// There is no way to go on without the routine: as the dynamic linker ends a program.
[[noreturn]] void end_without(const char* name, const std::string& why) {
  Log::finish();
  std::fprintf(stderr, "libtrine_blas: %s is not computed by Trine, and %s\n", name, why.c_str());
  _exit(127);
}

bool is_ours(void* symbol) {
  Dl_info found{}, own{};
  return symbol && dladdr(symbol, &found) && dladdr(trine_blas_slots, &own) &&
         found.dli_fbase == own.dli_fbase;
}
bool is_shim(void* library) {
  void* const symbol = dlsym(library, kForwarded[0]);
  return is_ours(symbol ? symbol : dlsym(library, "dtrsm_"));
}

/// The routine that the caller was linked to: a Python package has a BLAS of its own that is loaded
/// with RTLD_LOCAL, where RTLD_NEXT doesn't look. Null where there is none.
void* find_behind(void* caller, const char* name) {
  Dl_info found{};
  if (!dladdr(caller, &found)) return nullptr;
  void* const library = dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  void* const symbol = library ? dlsym(library, name) : nullptr;
  return is_ours(symbol) ? nullptr : symbol;
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

/// TRINE_BLAS_NEXT's, null where it isn't set.
void* open_named(const char* name) {
  const char* const path = secure_getenv("TRINE_BLAS_NEXT");
  if (!path || !*path) return nullptr;
  void* const library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  if (!library) end_without(name, std::string("TRINE_BLAS_NEXT can't be loaded: ") + dlerror());
  if (is_shim(library))
    end_without(name, std::string("TRINE_BLAS_NEXT=") + path + " is this library itself");
  return library;
}

/// By absolute path: our own soname is that of the one we look for.
void* open_installed() {
  for (const char* folder : kFolders)
    for (const char* file : kFiles) {
      const std::string path = std::string(folder) + file;
      void* const library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
      if (library && !is_shim(library)) return library;
    }
  return nullptr;
}

/// Null where no other BLAS has it.
void* find_next(const char* name, void* caller) {
  static void* const named = open_named(name);
  if (named) return dlsym(named, name);
  static const bool has_linked = dlsym(RTLD_NEXT, "dtrsm_") != nullptr;
  if (void* const linked = has_linked ? dlsym(RTLD_NEXT, name) : nullptr) return linked;
  if (void* const behind = find_behind(caller, name)) return behind;
  static void* const installed = open_installed();
  return installed ? dlsym(installed, name) : nullptr;
}

}  // namespace

void print_xerbla(const char* routine, const int* info, std::size_t length) {
  std::fprintf(stderr, " ** On entry to %.*s parameter number %d had an illegal value\n",
               static_cast<int>(length), routine, *info);
}

void print_parameter(int info, const char* routine, const char* form, ...) {
  if (info != 0) std::fprintf(stderr, "Parameter %d to routine %s was incorrect\n", info, routine);
  std::va_list arguments;
  va_start(arguments, form);
  std::vfprintf(stderr, form, arguments);
  va_end(arguments);
}

const char* forwarded_name(unsigned index) { return kForwarded[index]; }
unsigned forwarded_count() { return std::size(kForwarded); }

}  // namespace trine::blas

void* trine_blas_resolve(unsigned index, void* caller) {
  using namespace trine::blas;
  const char* const name = kForwarded[index];
  static std::atomic<void*> found[std::size(kForwarded)];
  void* target = found[index].load(std::memory_order_relaxed);
  if (!target) {
    // A program's own comes before any BLAS's, wherever it stands: this library, if it was
    // preloaded, is in front of all but the executable.
    const bool is_xerbla = !std::strcmp(name, "xerbla_"),
               is_cblas = !std::strcmp(name, "cblas_xerbla");
    if (is_xerbla || is_cblas) target = dlsym(RTLD_NEXT, name);
    if (!target) target = find_next(name, caller);
    if (!target && is_xerbla) target = reinterpret_cast<void*>(print_xerbla);
    if (!target && is_cblas) target = reinterpret_cast<void*>(print_parameter);
    if (!target) {
      end_without(name,
                  "no other BLAS has it: neither one that the program or the calling library was "
                  "linked to, nor one in /usr/lib (Debian: libopenblas0 or libblas3); "
                  "TRINE_BLAS_NEXT=FILE names one.");
    }
    found[index].store(target, std::memory_order_relaxed);
  }
  if (Log::is_on())
    Log::count_forwarded(index);  // each call comes here: the slot stays at its stub
  else
    trine_blas_slots[index].store(target, std::memory_order_relaxed);
  return target;
}
