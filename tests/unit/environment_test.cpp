// The effects that a process's environment may have on the backends of this build: variables meant
// for others, pinned threads, limits, traps. Each case is a process of its own, because a backend
// starts once.
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cfenv>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "fixture.hpp"

namespace trine::testing {
namespace {

/// Whether this is the fresh process of a case, which asks for nothing beforehand.
bool is_fresh() {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";  // InDeathTestChild() looks at it
  return ::testing::internal::InDeathTestChild();
}

/// Asked in the parent alone: a fresh process hasn't touched a backend when its case begins.
bool is_there(std::string_view backend) {
  if (is_fresh()) return true;
  for (const BackendInfo& info : backends()) {
    if (info.name == backend && !info.devices.empty()) return true;
  }
  return false;
}

/// Runs body() in a fresh process, which must end with what it returns: 0.
void expect_fine(const std::function<int()>& body) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        alarm(120);
        _exit(body());
      },
      ::testing::ExitedWithCode(0), "");
}

/// 0 when each operation gives the right numbers on that device.
int work_on(const char* device) {
  const std::vector<float> values(1 << 18, 0.1f);
  const std::vector<double> matrix(96 * 96, 1.0 / 3);
  std::vector<double> turned(matrix.size()), product(matrix.size());
  const HostOptions on{.device = device};
  if (sum(values, on) == 0) return 2;
  transpose(96, 96, matrix.data(), turned.data(), on);
  if (turned != matrix) return 3;
  gemm(96, 96, 96, matrix.data(), matrix.data(), product.data(), on);
  return product[0] == product[96 * 96 - 1] && product[0] != 0 ? 0 : 4;
}

/// 0 when body() works or throws an Error with a sentence.
template <class Body>
int works_or_says_why(Body&& body) {
  try {
    return body();
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return std::string_view(error.what()).size() > 20 ? 0 : 5;
  }
}

TEST(Environment, VariablesOfTheProgramsOwnKokkosAreNotOurs) {
  if (!is_there("cpu")) GTEST_SKIP() << "this build has no cpu backend";
  expect_fine([] {
    for (const char* name :
         {"NUM_THREADS", "DISABLE_WARNINGS", "RAND_DEVICES", "NUM_DEVICES", "DEVICE_ID", "NUMA",
          "SKIP_DEVICE", "TUNE_INTERNALS", "PRINT_CONFIGURATION", "TOOLS_LIBS", "PROFILE_LIBRARY",
          "MAP_DEVICE_ID_BY", "VISIBLE_DEVICES", "TOOLS_ARGS"})
      setenv((std::string("KOKKOS_") + name).c_str(), "-1 or so", 1);
    return work_on("cpu");
  });
  for (const char* name :
       {"KOKKOS_NUM_THREADS", "KOKKOS_DISABLE_WARNINGS", "KOKKOS_RAND_DEVICES"}) {
    for (const char* value : {"", "1", "1000000", "-3", "perhaps"}) {
      expect_fine([=] {
        setenv(name, value, 1);
        return open("cpu").facts().compute_units > 0 ? 0 : 1;
      });
    }
  }
}

// As many as Kokkos has places for: it doesn't look, and writes behind them.
TEST(Environment, ThereAreAtMost512Threads) {
  ::testing::FLAGS_gtest_death_test_style =
      "threadsafe";  // or is_there() loads OpenMP before its variables are set
  if (!is_there("cpu")) GTEST_SKIP() << "this build has no cpu backend";
  for (const char* bind : {"false", "true"})
    for (const char* device : {"cpu", "cpu:threads=600"})
      expect_fine([=] {
        setenv("OMP_NUM_THREADS", "600", 1);
        setenv("OMP_PROC_BIND", bind, 1);
        for (const BackendInfo& info : backends())
          for (const Facts& facts : info.devices)
            if (facts.id == "cpu" && facts.driver.find("512 threads at most") == std::string::npos)
              return 1;
        const Device cpu = open(device);
        return cpu.facts().compute_units == 512 ? work_on(device) : 1;
      });
}

TEST(Environment, ThePoolHasTheProcesssCpusWhateverTheThreadIsPinnedTo) {
  if (!is_there("cpu")) GTEST_SKIP() << "this build has no cpu backend";
  expect_fine([] {
    unsetenv("OMP_NUM_THREADS");
    cpu_set_t all;
    sched_getaffinity(0, sizeof all, &all);
    int threads = 0;
    std::thread([&] {
      cpu_set_t one;
      CPU_ZERO(&one);
      for (int cpu = 0; CPU_COUNT(&one) == 0; ++cpu) {
        if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
      }
      pthread_setaffinity_np(pthread_self(), sizeof one, &one);
      threads = static_cast<int>(open("cpu").facts().compute_units);
      cpu_set_t still;
      pthread_getaffinity_np(pthread_self(), sizeof still, &still);
      if (!CPU_EQUAL(&one, &still)) threads = -1;
    }).join();
    return threads == CPU_COUNT(&all) ? work_on("cpu") : 1;
  });
}

/// All cores that there are for the process, also where it was given a mask (taskset): ranks that
/// were look bound.
cpu_set_t all_cores() {
  cpu_set_t all;
  std::thread([&] {
    std::memset(&all, 0xFF, sizeof all);
    sched_setaffinity(0, sizeof all, &all);
    sched_getaffinity(0, sizeof all, &all);
  }).join();
  return all;
}

/// The threads of the cpu of a rank, one of `ranks` of this node, that is bound to `bound` cores.
int threads_of_rank(int ranks, int bound) {
  setenv("OMPI_COMM_WORLD_LOCAL_RANK", "0", 1);
  setenv("OMPI_COMM_WORLD_LOCAL_SIZE", std::to_string(ranks).c_str(), 1);
  cpu_set_t all = all_cores(), mine;
  CPU_ZERO(&mine);
  for (size_t cpu = 0; CPU_COUNT(&mine) < bound; ++cpu)
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &mine);
  sched_setaffinity(0, sizeof mine, &mine);
  const Device cpu = open("cpu");
  sched_getaffinity(0, sizeof all, &all);
  const int threads = static_cast<int>(cpu.facts().compute_units);
  std::fprintf(stderr, "rank of %d, bound to %d: %d\n", ranks, bound, threads);
  return CPU_EQUAL(&all, &mine) ? threads : -1;
}

TEST(Environment, RanksOfANodeShareItsCores) {
  if (!is_there("cpu")) GTEST_SKIP() << "this build has no cpu backend";
  const cpu_set_t all = all_cores();
  const int cores = CPU_COUNT(&all);
  const auto expect_threads = [](int threads, int ranks, int bound) {
    SCOPED_TRACE(std::to_string(ranks) + " ranks, bound to " + std::to_string(bound));
    expect_fine([=] {
      unsetenv("OMP_NUM_THREADS");
      return threads_of_rank(ranks, bound) == threads ? work_on("cpu") : 1;
    });
  };
  // Not bound: the cores, divided; at least one thread.
  for (const int ranks : {1, 2, 3, 2 * cores, 1000})
    expect_threads(std::max(1, cores / ranks), ranks, cores);
  // Bound to cores of its own, and to the half of the cores, which half of the ranks share.
  expect_threads(1, cores, 1);
  if (cores >= 4) expect_threads(2, cores / 2, 2);
  if (cores % 2 == 0) expect_threads(std::max(1, cores / 4), 4, cores / 2);
}

TEST(Environment, LimitsOfThreadsGiveASmallerPoolOrAnError) {
  if (!is_there("cpu")) GTEST_SKIP() << "this build has no cpu backend";
  for (const rlim_t more : {0, 1, 2, 3, 5, 7, 8, 9}) {
    SCOPED_TRACE(more);
    expect_fine([=] {
      setenv("OMP_NUM_THREADS", "8", 1);
      // A user of this process's own, so that nothing else counts; root itself is never refused.
      if (geteuid() == 0 && setresuid(61234, 61234, 61234) != 0) return 0;
      const rlimit limit{1 + more, 1 + more};
      setrlimit(RLIMIT_NPROC, &limit);
      return works_or_says_why([] { return work_on("cpu"); }) + works_or_says_why([] {
               const HostOptions by_kokkos{.device = "cpu", .rung = "kokkos_team"};
               return sum(std::vector<float>(1 << 18, 1.0f), by_kokkos) == 1 << 18 ? 0 : 6;
             });
    });
  }
}

TEST(Environment, FactsSayWhoseThreadsRunLoops) {
  if (!is_there("cpu")) GTEST_SKIP() << "this build has no cpu backend";
  for (const auto& [bind, whose] :
       {std::pair{"false", "own threads; Kokkos "}, {"true", "Kokkos's threads; "}})
    expect_fine([bind = bind, whose = whose] {
      setenv("OMP_PROC_BIND", bind, 1);
      return open("cpu").facts().driver.starts_with(whose) ? 0 : 1;
    });
}

// Kokkos can't use fewer threads than it was started with; a device that has fewer says how to get
// them.
TEST(Environment, ADeviceOfFewerThreadsRefusesRungsOfKokkos) {
  if (!is_there("cpu")) GTEST_SKIP() << "this build has no cpu backend";
  expect_fine([] {
    setenv("OMP_NUM_THREADS", "3", 1);
    const auto by_kokkos = [](const char* device) {
      return sum(std::vector<float>(999, 1.0f), {.device = device, .rung = "kokkos_range"}) == 999;
    };
    if (!by_kokkos("cpu") || !by_kokkos("cpu:threads=3") || work_on("cpu:threads=2") != 0) return 1;
    try {
      by_kokkos("cpu:threads=2");
    } catch (const Error& error) {
      const std::string_view why = error.what();
      const bool is_told = why.find("OMP_NUM_THREADS") != why.npos;
      return error.status() == Status::unsupported && is_told ? 0 : 2;
    }
    return 3;
  });
}

/// The address space that this process has.
rlim_t address_space() {
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  unsigned long pages = 0;
  if (!file || std::fscanf(file, "%lu", &pages) != 1) pages = 0;
  if (file) std::fclose(file);
  return pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

TEST(Environment, LimitsOfMemoryGiveASmallerPoolOrAnError) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need the address space";
#endif
  if (!is_there("cpu")) GTEST_SKIP() << "this build has no cpu backend";
  for (const char* stack : {"", "64m"}) {
    for (const rlim_t megabytes : {10, 20, 40, 80, 160, 320, 640}) {
      SCOPED_TRACE(megabytes);
      expect_fine([=] {
        setenv("OMP_NUM_THREADS", "16", 1);
        if (*stack) setenv("OMP_STACKSIZE", stack, 1);
        backends();  // from here on the libraries are loaded
        const rlim_t bytes = address_space() + (megabytes << 20);
        const rlimit limit{bytes, bytes};
        setrlimit(RLIMIT_AS, &limit);
        return works_or_says_why([] { return open("cpu").facts().compute_units > 0 ? 0 : 1; });
      });
    }
  }
}

/// The drivers' libraries that are in this process.
std::string drivers_here() {
  std::string found;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    for (const char* name : {"libOpenCL.so", "libpocl.so", "libLLVM", "libcuda.so"})
      if (line.find(name) != line.npos && found.find(name) == found.npos)
        found += name + std::string(" ");
  return found;
}

bool has_gpu() {
  if (is_fresh()) return false;  // asked in the parent alone, as above
  for (const BackendInfo& info : backends())
    for (const Facts& facts : info.devices)
      if (facts.kind == DeviceKind::gpu) return true;
  return false;
}

/// A call that needs no driver, in a process of its own.
void expect_no_driver(const std::function<int()>& body) {
  expect_fine([=] {
    const int result = body();
    const std::string drivers = drivers_here();
    if (!drivers.empty()) std::fprintf(stderr, "loaded: %s\n", drivers.c_str());
    return result != 0 ? result : drivers.empty() ? 0 : 7;
  });
}

TEST(Environment, CallsThatNeedNoDriverLoadNone) {
  if (!is_there("cpu")) GTEST_SKIP() << "this build has no cpu backend";
  expect_no_driver([] { return work_on("cpu"); });
  expect_no_driver([] { return search_path().empty() ? 1 : 0; });
  expect_no_driver([] {
    open("cpu:threads=1");
    return roofs(open("cpu")).copy > 0 ? 0 : 1;
  });
  expect_no_driver([] {  // the third opens the cpu, for whose sake none is woken
    const Refusal refusal = refusal_of([] { open("nothing like it"); });
    return refusal.status == Status::not_found && !refusal.sentence.empty() ? 0 : 1;
  });
}

TEST(Environment, AutoLoadsNoDriverOfTheCpu) {
  if (!is_there("cpu")) GTEST_SKIP() << "this build has no cpu backend";
  if (has_gpu()) GTEST_SKIP() << "a GPU's driver is asked";
  expect_no_driver([] {
    const std::vector<double> values(1 << 21, 1.0);
    return sum(values) == 1 << 21 ? 0 : 1;
  });
  expect_no_driver([] {
    const View x = row_major({}, Dtype::f64, 3000, 3000);
    return place(Gemm{.a = x, .b = x, .c = x}, Where::host).device.id() == "cpu" ? 0 : 1;
  });
}

TEST(Environment, TrineBackendsSaysWhichMayLoad) {
  if (!is_there("cpu")) GTEST_SKIP() << "this build has no cpu backend";
  expect_no_driver([] {
    setenv("TRINE_BACKENDS", "cpu", 1);
    for (const BackendInfo& info : backends())
      if (info.name != "cpu" && (!info.devices.empty() || info.reason.empty())) return 1;
    return work_on("auto");
  });
  if (!is_there("opencl") || has_gpu()) return;
  expect_fine([] {  // better than none
    setenv("TRINE_BACKENDS", "opencl", 1);
    return work_on("auto");
  });
}

TEST(Environment, AFirstCallWithoutADescriptorIsTriedAgain) {
  if (!is_there("cpu")) GTEST_SKIP() << "this build has no cpu backend";
  for (const char* device : {"cpu", "auto"}) {
    expect_fine([=] {
      rlimit before{};
      getrlimit(RLIMIT_NOFILE, &before);
      const rlimit none{0, before.rlim_max};
      setrlimit(RLIMIT_NOFILE, &none);
      const std::vector<double> values(1 << 20, 1.0);
      const Refusal refusal = refusal_of([&] { sum(values, {.device = device}); });
      setrlimit(RLIMIT_NOFILE, &before);
      if (refusal.status == Status::ok) return 1;
      std::fprintf(stderr, "%s\n", refusal.sentence.c_str());
      return work_on(device);
    });
  }
}

TEST(Environment, AWrongNameNeedsLittleStack) {
  if (!is_there("cpu") || has_gpu()) GTEST_SKIP() << "a GPU's driver takes more";
  for (const char* name : {"opnecl:0", "cdua", "cpu:7", "nothing like it", ""}) {
    expect_fine([=] {
      pthread_attr_t attributes;
      pthread_attr_init(&attributes);
      pthread_attr_setstacksize(&attributes, 64 << 10);
      pthread_t thread;
      const auto body = [](void* its_name) -> void* {
        const Refusal refusal = refusal_of([&] { open(static_cast<const char*>(its_name)); });
        return refusal.status == Status::not_found ? its_name : nullptr;
      };
      void* result = nullptr;
      if (pthread_create(&thread, &attributes, body, const_cast<char*>(name)) != 0) return 1;
      pthread_join(thread, &result);
      return result == name ? 0 : 2;
    });
  }
}

/// The state of the floating-point unit: flags, traps, rounding.
struct FloatState {
  int flags = fetestexcept(FE_ALL_EXCEPT);
  int traps = fegetexcept();
#if defined(__SSE2__)
  unsigned sse = _mm_getcsr();
#else
  unsigned sse = 0;
#endif
  bool operator==(const FloatState&) const = default;
};

int work_with_traps(const char* device) {
  feclearexcept(FE_ALL_EXCEPT);
  feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW | FE_UNDERFLOW | FE_INEXACT);
  const FloatState before;
  int result = work_on(device);
  for (const int count : {3, 40, 9000}) {  // nor does an infinity or an overflow leave a flag
    std::vector<double> values(size_t(count), std::numeric_limits<double>::max());
    const double wanted = std::numeric_limits<double>::infinity();
    if (sum(values, {.device = device}) != wanted) result = 7;
    values[1] = wanted;
    if (dot(values, values, {.device = device}) != wanted) result = 8;
  }
  return result != 0 ? result : before == FloatState() ? 0 : 6;
}

class TrapsOfTheProgram : public ::testing::TestWithParam<const char*> {};

TEST_P(TrapsOfTheProgram, AreNotRaised) {
  const std::string device = GetParam();
  if (device != "auto" && !is_there(device.substr(0, device.find(':'))))
    GTEST_SKIP() << "there is no " << device;
  expect_fine([=] { return work_with_traps(device.c_str()); });
}

INSTANTIATE_TEST_SUITE_P(on, TrapsOfTheProgram, ::testing::Values("cpu", "opencl:0", "auto"),
                         [](const auto& test) {
                           return std::string(test.param, std::strcspn(test.param, ":"));
                         });

TEST(Environment, KernelsOnTheCallersThreadLeaveItsFlagsAlone) {
  if (!is_there("opencl")) GTEST_SKIP() << "there is no OpenCL device";
  expect_fine([] {
    setenv("POCL_DEVICES", "basic", 1);
    return work_with_traps("opencl:0");
  });
}

}  // namespace
}  // namespace trine::testing
