// Core's own cost of a call: validate, choose, hand over, against a backend that does nothing. The
// figure is printed; the floor is 1 us. Nothing may be allocated in the steady state.
#include "backends/services.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <new>

#include "fixture.hpp"

namespace {
std::atomic<long> allocations{0};

void* counted(void*, size_t bytes, size_t alignment) {
  ++allocations;
  return std::aligned_alloc(alignment < 16 ? 16 : alignment, (bytes + 63) / 64 * 64);
}
void release(void*, void* pointer) { std::free(pointer); }
constexpr trine_host kHost{sizeof(trine_host), nullptr, &counted, &release};
}  // namespace

// The library's own C++ allocations come here, too.
[[gnu::noinline]] void* operator new(size_t bytes) {
  ++allocations;
  if (void* pointer = std::malloc(bytes ? bytes : 1)) return pointer;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* pointer) noexcept { std::free(pointer); }
[[gnu::noinline]] void operator delete(void* pointer, size_t) noexcept { std::free(pointer); }

namespace trine::testing {
namespace {

struct Cost : ::testing::Test {
  static void SetUpTestSuite() { trine_test_host(&kHost); }
  Device device = open("fake:0:mode=noop");
  Queue queue{device};
  Buffer a{device, 1 << 16}, b{device, 1 << 16}, c{device, 1 << 16};

  /// Nanoseconds of one call, the best of many rounds; prints it and checks what it may cost.
  template <class Call>
  void expect_cheap(const char* what, Call&& call) {
    call();
    double best = 1e9;
    const long before = allocations;
    for (int round = 0; round < 200; ++round) {
      const auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < 100; ++i) call();
      best = std::min(
          best, std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start)
                        .count() /
                    100);
    }
    const long after = allocations;
    std::printf("core's cost of %-28s %6.0f ns\n", what, best);
    RecordProperty(what, std::to_string(best));
    EXPECT_EQ(after, before) << what << " allocates in the steady state";
#if defined(NDEBUG) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
    EXPECT_LE(best, 1000) << what;
#endif
  }
};

TEST_F(Cost, OfACallIsBelowAMicrosecond) {
  const Reduce sum{.input = vector(a, Dtype::f32, 1000), .output = vector(c, Dtype::f32, 1)};
  const Transpose turn{row_major(a, Dtype::f32, 32, 64), row_major(c, Dtype::f32, 64, 32)};
  const Gemm product{.a = row_major(a, Dtype::f32, 32, 64),
                     .b = row_major(b, Dtype::f32, 64, 16),
                     .c = row_major(c, Dtype::f32, 32, 16)};
  expect_cheap("reduce", [&] { run(queue, sum); });
  expect_cheap("reduce by a named rung", [&] { run(queue, sum, "tuned:threads=64,finish=two"); });
  expect_cheap("transpose", [&] { run(queue, turn); });
  expect_cheap("gemm", [&] { run(queue, product); });
  expect_cheap("choose", [&] { choose(device, product); });

  // With a tuning table of as many rows as a thorough sweep leaves.
  const std::string folder = ::testing::TempDir() + "trine-cost-" + std::to_string(getpid());
  setenv("TRINE_DATA_DIR", folder.c_str(), 1);
  std::vector<Tuned> rows;
  for (int64_t n = 1; n <= 1 << 24; n *= 2)
    for (const Dtype dtype : {Dtype::f32, Dtype::f64, Dtype::i32, Dtype::u64}) {
      const Reduce any{.input = vector({}, dtype, n),
                       .output = vector({}, result_dtype(Function::sum, Map::identity, dtype), 1)};
      rows.push_back({tuning_key(any), "tuned:threads=64", 1e-6, 2e-6, "2026-11-21"});
    }
  save_tuning(device, rows);
  EXPECT_EQ(run(queue, sum).rung(), "tuned:threads=64,finish=atomic");
  expect_cheap("reduce by the tuning table", [&] { run(queue, sum); });
  forget_tuning();
  std::filesystem::remove(folder);
}

}  // namespace
}  // namespace trine::testing
