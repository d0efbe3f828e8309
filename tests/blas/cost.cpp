// The cost of a call: the shim beside the BLASes it replaces, in ns of the process's CPU clock, the
// third best of nine interleaved rounds, as that clock is at times too slow in a virtual machine.
//
//   blas_cost [OPTIONS] ROUNDS SHIM OTHER…      each a libblas.so.3; one thread
//                   (OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1)
//   --only=WORD     the cases whose name has it, as in "--only=ddot"
//   --random=SEED   instead of the usual cases: 60 shapes of products that nobody chose, in
//                   matrices with lda = 1000
//   --beta=1        products add to C
//
// OpenBLAS chooses its kernels by a list of processors, and what isn't on it gets old ones: where
// the first line says so, OPENBLAS_CORETYPE names better ones.
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <memory>
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

struct Options {
  std::string only;
  unsigned seed = 0;  // 0: the usual cases
  double beta = 0;
} options;

volatile double sink;

double now() {
  std::timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}
/// Seconds of one call, over as many as take 0.1 ms. The first finds its operands elsewhere than in
/// the cache.
double seconds(const std::function<void()>& call) {
  call();
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

/// A routine of a library, as a call of that shape; empty where the library lacks it. A word after
/// its name: the operands' letters, or the increment.
template <class T>
std::function<void()> call_of(void* library, const std::string& name, Shape shape, Data<T>& d) {
  static constexpr T kOne = 1, kTiny = T(1e-9);
  static const T kBeta = T(options.beta);
  static constexpr int kStep = 1, kSteps[] = {1, 2};

  const auto [m, n, k] = shape;
  const std::string s = sizeof(T) == 4 ? "s" : "d", base = name.substr(0, name.find(' '));
  const int* const step = &kSteps[name.ends_with(" 2")];
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
      f(trans, &m, &n, &kOne, d.a.data(), &lda, d.x.data(), &kStep, &kBeta, d.y.data(), &kStep);
    };
  }
  if (base == "gemm") {
    AS(gemm);
    return [=, &d] {
      const auto wide = [](int tight) { return options.seed != 0 ? kMost : tight; };
      const int lda = wide(*trans == 'T' ? k : m), ldb = wide(*trans_b == 'T' ? n : k);
      const int ldc = wide(m);
      f(trans, trans_b, &m, &n, &k, &kOne, d.a.data(), &lda, d.b.data(), &ldb, &kBeta, d.c.data(),
        &ldc);
    };
  }
  AS(omatcopy);
  return [=, &d] { f("C", trans, &n, &n, &kOne, d.a.data(), &n, d.c.data(), &n); };
#undef AS
}

struct Case {
  std::string name;
  Shape shape;
  std::vector<std::vector<double>> times;  ///< of each library
};
std::vector<Case> usual_cases() {
  std::vector<Case> cases;
  for (const char* name :
       {"gemm NN", "gemm TN", "gemm NT", "gemm TT", "gemv N", "gemv T", "omatcopy N", "omatcopy T"})
    for (const int n : kSizes) cases.push_back({name, {n, n, n}, {}});
  for (const char* name :
       {"dot", "asum", "nrm2", "axpy", "iamax", "dot 2", "asum 2", "nrm2 2", "axpy 2", "iamax 2"}) {
    for (const int n : kSizes) cases.push_back({name, {n, n, n}, {}});
    for (const int n : kLonger) cases.push_back({name, {n, n, n}, {}});
  }
  for (const char* name : {"gemm NN", "gemm NT", "gemm TN", "gemm TT"})
    for (const Shape& shape : kPanels) cases.push_back({name, shape, {}});
  for (const char* name : {"gemv N", "gemv T"})
    for (const Shape& shape : kThin) cases.push_back({name, shape, {}});
  return cases;
}
/// Extents whose logarithms are uniform.
std::vector<Case> random_cases() {
  std::mt19937 engine(options.seed);
  const auto extent = [&](double least, double most) {
    return int(least * std::pow(most / least, double(engine()) / 0x1p32));
  };
  std::vector<Case> cases;
  for (int i = 0; i < 10; ++i) {
    for (const char* name : {"gemm NN", "gemm NT", "gemm TN", "gemm TT"}) {
      const int m = extent(16, 1000), n = extent(16, 1000);
      cases.push_back({name, {m, n, extent(8, 256)}, {}});
    }
    for (const char* name : {"gemv N", "gemv T"}) {
      const int m = extent(1, 1000);
      cases.push_back({name, {m, extent(1, 1000), 0}, {}});
    }
  }
  return cases;
}

std::string text_of(Shape shape) {
  const auto [m, n, k] = shape;
  if (m == n && n == k) return std::to_string(n);
  std::string text = std::to_string(m);
  for (const int extent : {n, k})
    if (extent != 0) text.append("x").append(std::to_string(extent));
  return text;
}

/// Every round has all routines and sizes: what disturbs the machine for a while disturbs few of a
/// case's rounds.
template <class T>
void measure(const std::vector<void*>& libraries, int rounds) {
  const auto data = std::make_unique<Data<T>>();
  std::vector<Case> cases = options.seed != 0 ? random_cases() : usual_cases();
  const std::string letter = sizeof(T) == 4 ? "s" : "d";
  std::erase_if(cases, [&](const Case& one) {
    return (letter + one.name).find(options.only) == std::string::npos;
  });
  for (Case& one : cases) one.times.resize(libraries.size());
  for (int round = 0; round < rounds; ++round)
    for (Case& one : cases)
      for (std::size_t i = 0; i < libraries.size(); ++i)
        if (const auto call = call_of<T>(libraries[i], one.name, one.shape, *data))
          one.times[i].push_back(seconds(call));
  for (auto& [name, shape, times] : cases) {
    std::printf("%s%-10s %-11s", letter.c_str(), name.c_str(), text_of(shape).c_str());
    double first = 0;
    for (std::vector<double>& all : times) {
      std::sort(all.begin(), all.end());
      const double time = all.empty() ? NAN : all[all.size() / 4];
      std::printf(" %9.1f", time * 1e9);
      if (&all == &times[0])
        first = time;
      else
        std::printf(" %5.2f", first / time);
    }
    std::printf("\n");
  }
}

}  // namespace

int main(int count, char** words) {
  int at = 1;
  for (; at < count && words[at][0] == '-'; ++at) {
    const std::string word = words[at];
    const std::string value = word.substr(word.find('=') + 1);
    if (word.starts_with("--only="))
      options.only = value;
    else if (word.starts_with("--random="))
      options.seed = unsigned(std::atoi(value.c_str()));
    else if (word.starts_with("--beta="))
      options.beta = std::atof(value.c_str());
    else
      return 2;
  }
  if (count < at + 2) return 2;
  const int rounds = std::atoi(words[at]);
  std::vector<void*> libraries;
  for (int i = at + 1; i < count; ++i) {
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
  measure<float>(libraries, rounds);
  measure<double>(libraries, rounds);
}
