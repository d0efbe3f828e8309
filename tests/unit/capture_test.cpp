// A captured CUDA stream that forks and joins: kernels that begin while the launch before them
// ends, behind an event of another stream, too, still read what both streams wrote.
#include <dlfcn.h>

#include <numeric>

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

TEST(Capture, KernelsThatBeginEarlyAwaitWhatAForkAndAJoinBringThem) {
  Device device;
  try {
    device = open("cuda:0");
  } catch (const Error& error) {
    ASSERT_FALSE(is_required("cuda")) << error.what();
    GTEST_SKIP() << error.what();
  }
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

}  // namespace
}  // namespace trine::testing
