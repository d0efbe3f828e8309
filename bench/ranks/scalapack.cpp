#include "scalapack.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "bench/timing/side_by_side.hpp"

namespace trine::bench::ranks {
namespace {

// One of another MPI would bring that along, so the name has to tell.
#ifdef OPEN_MPI
constexpr const char* kNames[] = {"libscalapack-openmpi.so.2.2", "libscalapack-openmpi.so.2.1",
                                  "libscalapack-openmpi.so"};
#else
constexpr const char* kNames[] = {"libscalapack-mpich.so.2.2", "libscalapack-mpich.so.2.1",
                                  "libscalapack-mpich.so"};
#endif

template <class T>
using GemmCall = void(const char*, const char*, const int*, const int*, const int*, const T*,
                      const T*, const int*, const int*, const int*, const T*, const int*,
                      const int*, const int*, const T*, T*, const int*, const int*, const int*);
template <class T>
using TransposeCall = void(const int*, const int*, const T*, const T*, const int*, const int*,
                           const int*, const T*, T*, const int*, const int*, const int*);

struct Library {
  int (*handle)(MPI_Comm) = nullptr;
  void (*free_handle)(int) = nullptr;
  void (*grid)(int*, const char*, int, int) = nullptr;
  void (*exit_grid)(int) = nullptr;
  GemmCall<double>* pdgemm = nullptr;
  GemmCall<float>* psgemm = nullptr;
  TransposeCall<double>* pdtran = nullptr;
  TransposeCall<float>* pstran = nullptr;
  bool is_there = false;
};
Library library;

template <class F>
bool find(void* from, const char* name, F*& function) {
  function = reinterpret_cast<F*>(dlsym(from, name));
  return function != nullptr;
}

bool find_all(void* from, Library& l) {
  return find(from, "Csys2blacs_handle", l.handle) &&
         find(from, "Cfree_blacs_system_handle", l.free_handle) &&
         find(from, "Cblacs_gridinit", l.grid) && find(from, "Cblacs_gridexit", l.exit_grid) &&
         find(from, "pdgemm_", l.pdgemm) && find(from, "psgemm_", l.psgemm) &&
         find(from, "pdtran_", l.pdtran) && find(from, "pstran_", l.pstran);
}

const int kFirst = 1;

template <class T>
void gemm(GemmCall<T>* call, const Problem& p, const void* a, const int* of_a, const void* b,
          const int* of_b, void* c, const int* of_c) {
  const T one = 1, zero = 0;
  const int m = int(p.size.rows), n = int(p.size.cols), k = int(p.size.depth);
  call("N", "N", &m, &n, &k, &one, static_cast<const T*>(a), &kFirst, &kFirst, of_a,
       static_cast<const T*>(b), &kFirst, &kFirst, of_b, &zero, static_cast<T*>(c), &kFirst,
       &kFirst, of_c);
}

template <class T>
void transpose(TransposeCall<T>* call, const Problem& p, const void* a, const int* of_a, void* c,
               const int* of_c) {
  const T one = 1, zero = 0;
  const int rows = int(p.size.cols), cols = int(p.size.rows);  // c's
  call(&rows, &cols, &one, static_cast<const T*>(a), &kFirst, &kFirst, of_a, &zero,
       static_cast<T*>(c), &kFirst, &kFirst, of_c);
}

}  // namespace

std::string load_scalapack(int threads) {
  setenv("OPENBLAS_NUM_THREADS", std::to_string(threads).c_str(), 0);
  choose_openblas_core();
  void* found = nullptr;
  for (const char* name : kNames)
    if (found == nullptr) found = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (found == nullptr)
    return fmt::format("absent: no {} (Debian: libscalapack-openmpi2.2)", kNames[0]);
  library.is_there = find_all(found, library);
  if (!library.is_there) return "absent: it lacks functions";
  const char* (*config)() = nullptr;
  std::string blas = "a BLAS that isn't OpenBLAS";
  if (find(found, "openblas_get_config", config)) blas = config();
  return fmt::format("over {}, {} thread{} a rank", blas.substr(0, blas.find("MAX_THREADS") - 1),
                     threads, threads == 1 ? "" : "s");
}

bool has_scalapack() { return library.is_there; }

Context::Context(MPI_Comm comm, Grid grid) {
  const int handle = library.handle(comm);
  number_ = handle;
  library.grid(&number_, "Row", grid.rows, grid.cols);
  library.free_handle(handle);  // the grid has a copy of the communicator
}

Context::~Context() { library.exit_grid(number_); }

Descriptor::Descriptor(const Context& context, const mpi::Distribution& d, int rank)
    : numbers_{1,
               context.number(),
               int(d.rows),
               int(d.cols),
               int(d.block_rows),
               int(d.block_cols),
               0,
               0,
               int(std::max<int64_t>(1, d.local_rows(rank)))} {}

void scalapack_gemm(const Problem& p, const void* a, const Descriptor& of_a, const void* b,
                    const Descriptor& of_b, void* c, const Descriptor& of_c) {
  const int *const x = of_a.numbers(), *const y = of_b.numbers(), *const z = of_c.numbers();
  if (p.dtype == Dtype::f64)
    gemm(library.pdgemm, p, a, x, b, y, c, z);
  else
    gemm(library.psgemm, p, a, x, b, y, c, z);
}

void scalapack_transpose(const Problem& p, const void* a, const Descriptor& of_a, void* c,
                         const Descriptor& of_c) {
  if (p.dtype == Dtype::f64)
    transpose(library.pdtran, p, a, of_a.numbers(), c, of_c.numbers());
  else
    transpose(library.pstran, p, a, of_a.numbers(), c, of_c.numbers());
}

}  // namespace trine::bench::ranks
