// The private Kokkos does not read the environment: KOKKOS_ variables are meant for a Kokkos of the
// program's own. The linker leads its calls of getenv here (--wrap).
#include <cstring>

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the linker's names
extern "C" char* __real_getenv(const char* name);

extern "C" char* __wrap_getenv(const char* name) {
  constexpr char kPrefix[] = "KOKKOS_";
  return std::strncmp(name, kPrefix, sizeof kPrefix - 1) == 0 ? nullptr : __real_getenv(name);
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
