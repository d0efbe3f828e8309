// A cl_command_queue that a program brings along, of its own context or of Trine's: the operations
// run on it over adopted memory, and memory of the other context is refused.
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <dlfcn.h>

#include <thread>

#include "fixture.hpp"

namespace trine::testing {
namespace {

/// The program's own way to OpenCL: the loader that Trine finds, too.
struct Cl {
#define TRINE_CL(name) decltype(&::name) name = nullptr;
// clang-format off
#define TRINE_CL_ALL(X) \
  X(clCreateContext) X(clRetainContext) X(clReleaseContext) X(clCreateCommandQueue) \
  X(clReleaseCommandQueue) X(clCreateBuffer) X(clReleaseMemObject) X(clEnqueueWriteBuffer) \
  X(clEnqueueReadBuffer)
  // clang-format on
  TRINE_CL_ALL(TRINE_CL)
#undef TRINE_CL
  bool load() {
    void* const library = dlopen("libOpenCL.so.1", RTLD_NOW);
    if (!library) return false;
#define TRINE_CL(name) name = reinterpret_cast<decltype(name)>(dlsym(library, #name));
    TRINE_CL_ALL(TRINE_CL)
#undef TRINE_CL
    return true;
  }
};

/// A program with a queue and memory of its own; also of a context of its own, or of Trine's.
struct OpenclProgram : ::testing::Test {
  explicit OpenclProgram(bool with_own_context = true) : has_own_context(with_own_context) {}
  const bool has_own_context;
  Cl cl;
  Device device;
  cl_context context = nullptr;
  cl_command_queue native = nullptr;
  std::vector<cl_mem> memories;
  Queue queue;

  void SetUp() override {
    if (!cl.load()) GTEST_SKIP() << "no OpenCL loader";
    try {
      device = open("opencl:0");
    } catch (const Error& error) {
      ASSERT_FALSE(is_required("opencl")) << error.what();
      GTEST_SKIP() << error.what();
    }
    auto* const on = static_cast<cl_device_id>(device.native().device);
    cl_int code = CL_SUCCESS;
    context = static_cast<cl_context>(device.native().context);
    if (has_own_context) {
      context = cl.clCreateContext(nullptr, 1, &on, nullptr, nullptr, &code);
    } else {
      cl.clRetainContext(context);
    }
    ASSERT_EQ(code, CL_SUCCESS);
    native = cl.clCreateCommandQueue(context, on, 0, &code);
    ASSERT_EQ(code, CL_SUCCESS);
    queue = Queue::adopt(device, native);
  }
  void TearDown() override {
    if (queue) queue.wait();
    queue = {};
    for (cl_mem memory : memories) cl.clReleaseMemObject(memory);
    if (native) cl.clReleaseCommandQueue(native);
    if (context) cl.clReleaseContext(context);
  }

  /// The program's memory, adopted.
  template <class T>
  Buffer bring(const std::vector<T>& values) {
    const std::size_t bytes = values.size() * sizeof(T);
    cl_int code = CL_SUCCESS;
    const cl_mem memory = cl.clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &code);
    EXPECT_EQ(code, CL_SUCCESS);
    memories.push_back(memory);
    EXPECT_EQ(cl.clEnqueueWriteBuffer(native, memory, CL_TRUE, 0, bytes, values.data(), 0, nullptr,
                                      nullptr),
              CL_SUCCESS);
    return Buffer::adopt(device, memory, bytes);
  }
  /// By the program's own call behind Trine's work, which the queue's order makes wait.
  template <class T>
  std::vector<T> read(const Buffer& buffer) {
    std::vector<T> values(buffer.bytes() / sizeof(T));
    EXPECT_EQ(cl.clEnqueueReadBuffer(native, static_cast<cl_mem>(buffer.native()), CL_TRUE, 0,
                                     buffer.bytes(), values.data(), 0, nullptr, nullptr),
              CL_SUCCESS);
    return values;
  }
};

struct AdoptedOpencl : OpenclProgram, ::testing::WithParamInterface<bool> {
  AdoptedOpencl() : OpenclProgram(GetParam()) {}
};

std::vector<float> whole_numbers(int64_t count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = float(int(i % 23) - 7);
  return values;
}

TEST_P(AdoptedOpencl, ReducesAlongEveryAxisWithAGrowingWorkspace) {
  for (const auto& [rows, cols] : {std::pair<int64_t, int64_t>{5, 7}, {300, 1000}, {2000, 901}}) {
    const std::vector<float> values = whole_numbers(rows * cols);
    std::vector<float> all(1), of_rows, of_columns;
    of_rows.resize(std::size_t(rows));
    of_columns.resize(std::size_t(cols));
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < cols; ++j) {
        const float value = values[std::size_t(i * cols + j)];
        all[0] += value;
        of_rows[std::size_t(i)] += value;
        of_columns[std::size_t(j)] += value;
      }
    }
    const View input = row_major(bring(values), Dtype::f32, rows, cols);
    using Wanted = std::pair<Axis, std::vector<float>>;
    for (const auto& [axis, wanted] : {Wanted{Axis::all, all}, Wanted{Axis::each_row, of_rows},
                                       Wanted{Axis::each_column, of_columns}}) {
      const Buffer result = bring(std::vector<float>(wanted.size(), -1.0f));
      run(queue, Reduce{.axis = axis,
                        .input = input,
                        .output = vector(result, Dtype::f32, int64_t(wanted.size()))});
      EXPECT_EQ(read<float>(result), wanted) << rows << " x " << cols << ", " << name(axis);
    }
  }
}

TEST_P(AdoptedOpencl, TransposesAndMultiplies) {
  const int64_t m = 45, k = 67, n = 33;
  const std::vector<float> a = whole_numbers(m * k), b = whole_numbers(k * n);
  std::vector<float> turned(a.size()), product(std::size_t(m * n));
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < k; ++j) turned[std::size_t(j * m + i)] = a[std::size_t(i * k + j)];
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t t = 0; t < k; ++t)
        product[std::size_t(i * n + j)] += a[std::size_t(i * k + t)] * b[std::size_t(t * n + j)];
    }
  }
  const View left = row_major(bring(a), Dtype::f32, m, k);
  const Buffer flipped = bring(std::vector<float>(a.size())),
               result = bring(std::vector<float>(product.size()));
  run(queue, Transpose{left, row_major(flipped, Dtype::f32, k, m)});
  EXPECT_EQ(read<float>(flipped), turned);
  run(queue, Gemm{.a = left,
                  .b = row_major(bring(b), Dtype::f32, k, n),
                  .c = row_major(result, Dtype::f32, m, n)});
  EXPECT_EQ(read<float>(result), product);
}

TEST_P(AdoptedOpencl, CopiesFillsAndMeetsOtherQueues) {
  const std::vector<float> values = whole_numbers(1000);
  const Buffer first = bring(values), second = bring(std::vector<float>(1000));
  copy(queue, vector(first, Dtype::f32, 1000), vector(second, Dtype::f32, 1000));
  const float nine = 9;
  fill(queue, vector(first, Dtype::f32, 1000), &nine);
  Queue other(device);
  other.wait(queue.record());
  std::vector<float> back(1000);
  if (!has_own_context) {
    copy(other, vector(second, Dtype::f32, 1000), host_vector(back.data(), Dtype::f32, 1000));
    other.wait();
    EXPECT_EQ(back, values);
  }
  queue.wait(other.record());
  copy(queue, vector(first, Dtype::f32, 1000), host_vector(back.data(), Dtype::f32, 1000));
  queue.wait();
  EXPECT_EQ(back, std::vector<float>(1000, 9));
  EXPECT_EQ(read<float>(second), values);
}

TEST_P(AdoptedOpencl, AddsToStates) {
  const std::vector<float> values = whole_numbers(1000);
  const View view = vector(bring(values), Dtype::f32, 1000);
  ExactSum sum, theirs;
  theirs.add(values);
  sum.add(queue, view);
  EXPECT_TRUE(sum == theirs);
  Partial last(Function::argmax, Dtype::f32), product(Function::prod, Dtype::f32);
  last.add(queue, view, 7);
  EXPECT_EQ(last.result<int64_t>(), 7 + 22);
  product.add(queue, view, 0);
  EXPECT_EQ(product.result<float>(), 0);
}

INSTANTIATE_TEST_SUITE_P(, AdoptedOpencl, ::testing::Bool(), [](const auto& test) {
  return test.param ? "OfItsOwnContext" : "OfTrinesContext";
});

TEST_F(OpenclProgram, IsRefusedMemoryOfAnotherContext) {
  const std::vector<float> values = whole_numbers(64);
  const Buffer theirs = bring(values), result = bring(std::vector<float>(1, -1.0f));
  const Buffer ours(device, 256);
  Queue our_queue(device);
  const auto sum = [&](const Buffer& input) {
    return Reduce{.input = vector(input, Dtype::f32, 64), .output = vector(result, Dtype::f32, 1)};
  };
  constexpr Status invalid = Status::invalid_argument;
  EXPECT_REFUSED(invalid, "another cl_context", run(queue, sum(ours)));
  EXPECT_REFUSED(invalid, "another cl_context", run(our_queue, sum(theirs)));
  EXPECT_REFUSED(invalid, "another cl_context",
                 copy(queue, vector(ours, Dtype::f32, 64), vector(theirs, Dtype::f32, 64)));
  EXPECT_REFUSED(invalid, "another cl_context",
                 fill(our_queue, vector(theirs, Dtype::f32, 64), values.data()));
  our_queue.wait();
  EXPECT_EQ(read<float>(result), std::vector<float>{-1});
  EXPECT_EQ(read<float>(theirs), values);
  run(queue, sum(theirs));  // and goes on
  float wanted = 0;
  for (const float value : values) wanted += value;
  EXPECT_EQ(read<float>(result), std::vector<float>{wanted});
}

// PoCL before 6.0 ended a program of these threads within a second.
TEST_F(OpenclProgram, HasEightQueuesThatRunOneKernelOverEverWiderGrids) {
  constexpr int64_t kRows = 64, kCalls = 100, kWider = 64;
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      const uint64_t bytes = kRows * kCalls * kWider * 4;
      const Buffer in(device, bytes), out(device, bytes);
      for (const char* rung : {"naive", "shared", "work_item_tile"}) {
        Queue own(device);
        for (int64_t call = 1; call <= kCalls; ++call) {
          const int64_t cols = call * kWider;
          run(own,
              Transpose{row_major(in, Dtype::f32, kRows, cols),
                        row_major(out, Dtype::f32, cols, kRows)},
              rung);
          if (call % 2 == 0 && call < kCalls) own.wait();
        }  // it is given back with work in flight
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace trine::testing
