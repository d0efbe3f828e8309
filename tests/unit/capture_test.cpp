// Captured CUDA streams. Kernels that begin while the launch before them ends, behind an event of
// another stream, too, still read what both streams wrote. A graph of an exact product takes other
// inputs, for which the device chooses other moduli and leaves other elements open.
#include <dlfcn.h>

#include <cmath>
#include <numeric>
#include <random>

#include "fixture.hpp"

namespace trine::testing {
namespace {

using Handle = void*;

/// The program's own way to CUDA's driver.
struct Cuda {
#define TRINE_CU_ALL(X)                                   \
  X(cuCtxSetCurrent, Handle)                              \
  X(cuStreamCreate, Handle*, unsigned)                    \
  X(cuStreamBeginCapture_v2, Handle, int)                 \
  X(cuStreamEndCapture, Handle, Handle*)                  \
  X(cuStreamWaitEvent, Handle, Handle, unsigned)          \
  X(cuStreamDestroy_v2, Handle)                           \
  X(cuEventCreate, Handle*, unsigned)                     \
  X(cuEventRecord, Handle, Handle)                        \
  X(cuEventDestroy_v2, Handle)                            \
  X(cuGraphInstantiateWithFlags, Handle*, Handle, size_t) \
  X(cuGraphLaunch, Handle, Handle)                        \
  X(cuGraphExecDestroy, Handle)                           \
  X(cuGraphDestroy, Handle)
#define TRINE_CU(name, ...) int (*name)(__VA_ARGS__) = nullptr;
  TRINE_CU_ALL(TRINE_CU)
#undef TRINE_CU
  bool load() {
    void* const library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) return false;
#define TRINE_CU(name, ...) name = reinterpret_cast<decltype(name)>(dlsym(library, #name));
    TRINE_CU_ALL(TRINE_CU)
#undef TRINE_CU
    return true;
  }
};

#define OK(call) ASSERT_EQ(cuda.call, 0)

bool opens(Device& device) {
  try {
    device = open("cuda:0");
  } catch (const Error& error) { EXPECT_FALSE(is_required("cuda")) << error.what(); }
  return bool(device);
}

TEST(Capture, KernelsThatBeginEarlyAwaitWhatAForkAndAJoinBringThem) {
  Device device;
  if (!opens(device)) GTEST_SKIP() << "there is no GPU";
  Cuda cuda;
  ASSERT_TRUE(cuda.load());
  OK(cuCtxSetCurrent(device.native().context));
  Handle streams[2], forked = nullptr, joined = nullptr, graph = nullptr, replay = nullptr;
  for (Handle& stream : streams) OK(cuStreamCreate(&stream, 1));
  for (Handle* event : {&forked, &joined}) OK(cuEventCreate(event, 2));
  {
    Queue left = Queue::adopt(device, streams[0]), right = Queue::adopt(device, streams[1]);
    for (const int64_t n :
         {64, 1000, 4096}) {  // a launch shorter than the way to the next, and longer
      const size_t count = size_t(n * n), bytes = count * sizeof(float);
      const auto square = [&] { return row_major({device, bytes}, Dtype::f32, n, n); };
      const View x = square(), y = square(), z = square(), back = square();
      const View sum = row_major({device, sizeof(float)}, Dtype::f32, 1, 1);
      // y = x turned; on the left z = y turned, on the right back = y turned; y = z turned, behind
      // both; the sum of back.
      // The first calls of both queues: kernels are loaded and workspaces made in the capture, by
      // the strictest mode, the global one.
      OK(cuStreamBeginCapture_v2(streams[0], 0));
      run(left, Transpose{.input = x, .output = y});
      OK(cuEventRecord(forked, streams[0]));
      OK(cuStreamWaitEvent(streams[1], forked, 0));
      run(right, Transpose{.input = y, .output = back});
      run(left, Transpose{.input = y, .output = z});
      OK(cuEventRecord(joined, streams[1]));
      OK(cuStreamWaitEvent(streams[0], joined, 0));
      run(left, Transpose{.input = z, .output = y});
      run(left, Reduce{.input = back, .output = sum});
      run(left, Transpose{.input = back, .output = z});
      OK(cuStreamEndCapture(streams[0], &graph));
      OK(cuGraphInstantiateWithFlags(&replay, graph, 0));
      std::vector<float> in(count), out(count), turned(count);
      for (int round = 0; round < 20; ++round) {
        std::iota(in.begin(), in.end(), float(round));
        for (size_t i = 0; i < count; ++i)
          turned[i] = in[i % size_t(n) * size_t(n) + i / size_t(n)];
        copy(left, host_row_major(in.data(), Dtype::f32, n, n), x);
        OK(cuGraphLaunch(replay, streams[0]));
        const auto expect = [&](const View& view, const std::vector<float>& wanted) {
          copy(left, view, host_row_major(out.data(), Dtype::f32, n, n));
          left.wait();
          EXPECT_TRUE(out == wanted) << n << ", round " << round;
        };
        expect(back, in);
        expect(y, turned);
        expect(z, turned);
        float total = 0;
        copy(left, sum, host_row_major(&total, Dtype::f32, 1, 1));
        left.wait();
        EXPECT_EQ(total, trine::sum(in, {.device = "cpu"})) << n << ", round " << round;
      }
      OK(cuGraphExecDestroy(replay));
      OK(cuGraphDestroy(graph));
    }
  }
  for (Handle event : {forked, joined}) OK(cuEventDestroy_v2(event));
  for (Handle stream : streams) OK(cuStreamDestroy_v2(stream));
}

/// 0: numbers of any size; 1: integers of few bits, with ties and zeros; 2: uniform.
std::vector<float> inputs(size_t count, int kind, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> all(count);
  for (float& x : all) {
    x = float(int32_t(random()));
    if (kind == 0) x = std::ldexp(x, int(random() % 41) - 20);
    if (kind == 1) x = float(int(random() % 8192) - 4096);
  }
  return all;
}

TEST(Capture, ExactProductsTakeOtherInputs) {
  Device device;
  if (!opens(device)) GTEST_SKIP() << "there is no GPU";
  Cuda cuda;
  ASSERT_TRUE(cuda.load());
  OK(cuCtxSetCurrent(device.native().context));
  Handle stream = nullptr, graph = nullptr, replay = nullptr;
  OK(cuStreamCreate(&stream, 1));
  {
    Queue queue = Queue::adopt(device, stream);
    // By small tiles, by chains, by chains of parts of k, by residues, by residues and a long k.
    constexpr int64_t kSizes[][3] = {
        {70, 90, 110}, {700, 710, 300}, {40, 50, 9000}, {1300, 1310, 1320}, {1200, 1100, 5000}};
    for (const auto& [m, n, k] : kSizes) {
      const auto matrix = [&](int64_t rows, int64_t cols) {
        return row_major({device, size_t(rows * cols) * 4}, Dtype::f32, rows, cols);
      };
      const View a = matrix(m, k), b = matrix(k, n), c = matrix(m, n);
      OK(cuStreamBeginCapture_v2(stream, 0));
      run(queue, Gemm{.a = a, .b = b, .c = c, .numerics = Numerics::exact});
      OK(cuStreamEndCapture(stream, &graph));
      OK(cuGraphInstantiateWithFlags(&replay, graph, 0));
      for (int round = 0; round < 6; ++round) {
        const std::vector<float> x = inputs(size_t(m * k), round % 3, unsigned(round)),
                                 y = inputs(size_t(k * n), round % 3, unsigned(round + 100));
        std::vector<float> found(size_t(m * n)), wanted(size_t(m * n));
        const auto host = [](auto& all, int64_t rows, int64_t cols) {
          return host_row_major(all.data(), Dtype::f32, rows, cols);
        };
        copy(queue, host(x, m, k), a);
        copy(queue, host(y, k, n), b);
        OK(cuGraphLaunch(replay, stream));
        copy(queue, c, host(found, m, n));
        queue.wait();
        gemm(1, host(x, m, k), host(y, k, n), 0, host(wanted, m, n),
             {.device = "cpu", .numerics = Numerics::exact});
        EXPECT_TRUE(found == wanted) << m << " x " << n << " x " << k << ", round " << round;
      }
      OK(cuGraphExecDestroy(replay));
      OK(cuGraphDestroy(graph));
    }
  }
  OK(cuStreamDestroy_v2(stream));
}

}  // namespace
}  // namespace trine::testing
