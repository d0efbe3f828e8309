// What a call costs: the shim beside the BLASes it replaces, in ns of the process's CPU clock, the best
// of interleaved rounds.
//
//   blas_cost ROUNDS SHIM OTHER…      each a libblas.so.3; one thread (OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1)
//
// OpenBLAS chooses its kernels by a list of processors, and what isn't on it gets old ones: where the
// first line says so, OPENBLAS_CORETYPE names better ones.
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "blas.hpp"

namespace {

constexpr int kMost = 1000;
constexpr int kSizes[] = {1, 2, 4, 8, 16, 32, 48, 64};
constexpr int kLonger[] = {200, 1000};
struct Shape {
  int m, n, k;
};
constexpr Shape kPanels[] = {{50, 50, 64},   {100, 100, 64}, {200, 64, 64},  {900, 32, 32},
                             {900, 900, 32}, {900, 900, 64}, {900, 900, 128}};
constexpr Shape kThin[] = {{50, 1, 0}, {50, 2, 0},  {50, 4, 0},
                           {50, 8, 0}, {50, 16, 0}, {50, 50, 0}};

volatile double sink;

double now() {
  std::timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}
/// Seconds of one call, over as many as take 0.1 ms.
double seconds(const std::function<void()>& call) {
  for (int count = 1;; count *= 2) {
    const double start = now();
    for (int i = 0; i < count; ++i) call();
    const double took = now() - start;
    if (took > 1e-4) return took / count;
  }
}

template <class T>
struct Data {
  std::vector<T> a, b, c, x, y;
  Data() {
    std::mt19937 engine(1);
    std::uniform_real_distribution<T> uniform(-1, 1);
    for (auto* all : {&a, &b, &c, &x, &y}) {
      all->resize(kMost * kMost);
      for (T& value : *all) value = uniform(engine);
    }
  }
};

/// A routine of a library, as a call of that shape; empty where the library lacks it. A word after its
/// name: the operands' letters, or the increment.
template <class T>
std::function<void()> call_of(void* library, const std::string& name, Shape shape, Data<T>& d) {
  static constexpr T kOne = 1, kZero = 0, kTiny = T(1e-9);
  static constexpr int kStep = 1, kSteps[] = {1, 2};

  const auto [m, n, k] = shape;
  const std::string s = sizeof(T) == 4 ? "s" : "d", base = name.substr(0, name.find(' '));
  const int* const step = &kSteps[name.ends_with("2")];
  void* const found =
      dlsym(library, (base == "iamax" ? "i" + s + "amax_" : s + base + "_").c_str());
  if (!found) return {};
  const char* const trans = name.find(" T") != name.npos ? "T" : "N";
  const char* const trans_b = name.ends_with("NT") || name.ends_with("TT") ? "T" : "N";
#define AS(routine) const auto f = reinterpret_cast<decltype(Blas<T>::routine)>(found)
  if (base == "dot") {
    AS(dot);
    return [=, &d] { sink = f(&n, d.x.data(), step, d.y.data(), step); };
  }
  if (base == "asum" || base == "nrm2") {
    AS(asum);
    return [=, &d] { sink = f(&n, d.x.data(), step); };
  }
  if (base == "iamax") {
    AS(iamax);
    return [=, &d] { sink = T(f(&n, d.x.data(), step)); };
  }
  if (base == "axpy") {
    AS(axpy);
    return [=, &d] { f(&n, &kTiny, d.x.data(), step, d.y.data(), step); };
  }
  if (base == "gemv") {
    AS(gemv);
    return [=, &d] {
      const int lda = m == n ? n : kMost;
      f(trans, &m, &n, &kOne, d.a.data(), &lda, d.x.data(), &kStep, &kZero, d.y.data(), &kStep);
    };
  }
  if (base == "gemm") {
    AS(gemm);
    return [=, &d] {
      const int lda = *trans == 'T' ? k : m, ldb = *trans_b == 'T' ? n : k;
      f(trans, trans_b, &m, &n, &k, &kOne, d.a.data(), &lda, d.b.data(), &ldb, &kZero, d.c.data(),
        &m);
    };
  }
  AS(omatcopy);
  return [=, &d] { f("C", trans, &n, &n, &kOne, d.a.data(), &n, d.c.data(), &n); };
#undef AS
}

/// Every round has all routines and sizes: what disturbs the machine for a while disturbs few of a
/// case's rounds.
template <class T>
void measure(const std::vector<void*>& libraries, int rounds) {
  struct Case {
    std::string name;
    Shape shape;
    std::vector<double> best;
  };
  Data<T> data;
  std::vector<Case> cases;
  const auto add = [&](const char* name, Shape shape) {
    cases.push_back({name, shape, std::vector<double>(libraries.size(), 1e9)});
  };
  for (const char* name : {"gemm N", "gemm T", "gemv N", "gemv T", "omatcopy N", "omatcopy T"})
    for (const int n : kSizes) add(name, {n, n, n});
  for (const char* name :
       {"dot", "asum", "nrm2", "axpy", "iamax", "dot 2", "asum 2", "nrm2 2", "axpy 2", "iamax 2"}) {
    for (const int n : kSizes) add(name, {n, n, n});
    for (const int n : kLonger) add(name, {n, n, n});
  }
  for (const char* name : {"gemm NN", "gemm NT", "gemm TN", "gemm TT"})
    for (const Shape& shape : kPanels) add(name, shape);
  for (const char* name : {"gemv N", "gemv T"})
    for (const Shape& shape : kThin) add(name, shape);
  for (int round = 0; round < rounds; ++round)
    for (Case& one : cases)
      for (std::size_t i = 0; i < libraries.size(); ++i)
        if (const auto call = call_of<T>(libraries[i], one.name, one.shape, data))
          one.best[i] = std::min(one.best[i], seconds(call));
  for (const auto& [name, shape, best] : cases) {
    const auto [m, n, k] = shape;
    std::string size = std::to_string(n);
    if (m != n || n != k) size = std::to_string(m) + "x" + size;
    if (k != 0 && (m != n || n != k)) size += "x" + std::to_string(k);
    std::printf("%c%-10s %-11s", sizeof(T) == 4 ? 's' : 'd', name.c_str(), size.c_str());
    for (std::size_t i = 0; i < best.size(); ++i) {
      if (best[i] < 1e9)
        std::printf(" %9.1f", best[i] * 1e9);
      else
        std::printf("         -");
      if (i > 0 && best[i] < 1e9) std::printf(" %5.2f", best[0] / best[i]);
    }
    std::printf("\n");
  }
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) return 2;
  std::vector<void*> libraries;
  for (int i = 2; i < count; ++i) {
    // Each by itself: by their common soname the loader would take the first for all.
    void* const library = dlopen(words[i], RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (!library) {
      std::fprintf(stderr, "%s\n", dlerror());
      return 1;
    }
    libraries.push_back(library);
    if (const auto core =
            reinterpret_cast<const char* (*)()>(dlsym(library, "openblas_get_corename")))
      std::printf("%s: kernels for %s\n", words[i], core());
  }
  measure<float>(libraries, std::atoi(words[1]));
  measure<double>(libraries, std::atoi(words[1]));
}
