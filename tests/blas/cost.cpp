// What a call costs: the shim beside the BLASes it replaces, in ns, the best of interleaved rounds.
//
//   blas_cost ROUNDS SHIM OTHER…      each a libblas.so.3; one thread (OPENBLAS_NUM_THREADS=1)
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "blas.hpp"

namespace {

constexpr int kSizes[] = {1, 2, 4, 8, 16, 32, 48, 64}, kMost = 64;

volatile double sink;

/// Seconds of one call, over as many as take 0.1 ms.
double seconds(const std::function<void()>& call) {
  for (int count = 1;; count *= 2) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < count; ++i) call();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (took.count() > 1e-4) return took.count() / count;
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

/// A routine of a library, as a call at size n; empty where the library lacks it.
template <class T>
std::function<void()> call_of(void* library, const std::string& name, int n, Data<T>& d) {
  static constexpr T kOne = 1, kZero = 0, kTiny = T(1e-9);
  static constexpr int kStep = 1;

  const std::string s = sizeof(T) == 4 ? "s" : "d", base = name.substr(0, name.find(' '));
  void* const found =
      dlsym(library, (base == "iamax" ? "i" + s + "amax_" : s + base + "_").c_str());
  if (!found) return {};
  const char* const trans = name.ends_with("T") ? "T" : "N";
#define AS(routine) const auto f = reinterpret_cast<decltype(Blas<T>::routine)>(found)
  if (base == "dot") {
    AS(dot);
    return [=, &d] { sink = f(&n, d.x.data(), &kStep, d.y.data(), &kStep); };
  }
  if (base == "asum" || base == "nrm2") {
    AS(asum);
    return [=, &d] { sink = f(&n, d.x.data(), &kStep); };
  }
  if (base == "iamax") {
    AS(iamax);
    return [=, &d] { sink = T(f(&n, d.x.data(), &kStep)); };
  }
  if (base == "axpy") {
    AS(axpy);
    return [=, &d] { f(&n, &kTiny, d.x.data(), &kStep, d.y.data(), &kStep); };
  }
  if (base == "gemv") {
    AS(gemv);
    return [=, &d] {
      f(trans, &n, &n, &kOne, d.a.data(), &n, d.x.data(), &kStep, &kZero, d.y.data(), &kStep);
    };
  }
  if (base == "gemm") {
    AS(gemm);
    return [=, &d] {
      f(trans, "N", &n, &n, &n, &kOne, d.a.data(), &n, d.b.data(), &n, &kZero, d.c.data(), &n);
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
    int n;
    std::vector<double> best;
  };
  Data<T> data;
  std::vector<Case> cases;
  for (const char* name : {"gemm N", "gemm T", "gemv N", "gemv T", "dot", "asum", "nrm2", "axpy",
                           "iamax", "omatcopy N", "omatcopy T"})
    for (const int n : kSizes)
      cases.push_back({name, n, std::vector<double>(libraries.size(), 1e9)});
  for (int round = 0; round < rounds; ++round)
    for (Case& one : cases)
      for (std::size_t i = 0; i < libraries.size(); ++i)
        if (const auto call = call_of<T>(libraries[i], one.name, one.n, data))
          one.best[i] = std::min(one.best[i], seconds(call));
  for (const auto& [name, n, best] : cases) {
    std::printf("%c%-10s %4d", sizeof(T) == 4 ? 's' : 'd', name.c_str(), n);
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
  }
  measure<float>(libraries, std::atoi(words[1]));
  measure<double>(libraries, std::atoi(words[1]));
}
