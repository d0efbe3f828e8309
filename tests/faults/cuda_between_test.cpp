// Copies between cuda and other devices, and from host memory that others write, behind an event
// that comes late: the library's core over the fake driver, with fake devices at the far end.
#include <atomic>
#include <numeric>

#include "fake_state.hpp"
#include "tests/unit/fixture.hpp"

namespace trine::testing {
namespace {

struct Shape {
  int64_t batch, rows, cols;
  int64_t gap;  ///< elements after each row and each matrix
  int64_t row_stride() const { return cols + gap; }
  int64_t batch_stride() const { return rows * row_stride() + gap; }
  uint64_t bytes() const { return static_cast<uint64_t>(batch * batch_stride()) * sizeof(float); }
};

// From a few bytes to several slots of the staging ring.
constexpr Shape kShapes[] = {{1, 1, 3, 0},    {1, 1, 16385, 0},   {3, 5, 7, 2},
                             {40, 9, 300, 3}, {1, 700, 10000, 0}, {2, 350, 10000, 1}};

/// Far is a CPU that computes in the host's memory (other:0) or a device with its own (fake:0).
struct WithCuda : ::testing::TestWithParam<const char*> {
  Device far = open(GetParam()), cuda = open("cuda:0");
  const fake_panel& panel = panel_of(far);
  Queue far_queue{far}, cuda_queue{cuda};
  ~WithCuda() override { panel.hold(0); }

  static View view(const Buffer& buffer, const Shape& s) {
    return {buffer, Dtype::f32, 0, s.rows, s.cols, s.batch, s.row_stride(), 1, s.batch_stride()};
  }
  static HostView dense(std::vector<float>& values, const Shape& s) {
    values.resize(static_cast<size_t>(s.batch * s.rows * s.cols));
    return {values.data(), Dtype::f32, s.rows, s.cols, s.batch, s.cols, 1, s.rows * s.cols};
  }
  static std::vector<float> values_of(const Shape& s) {
    std::vector<float> values;
    dense(values, s);
    std::iota(values.begin(), values.end(), 1.0f);
    return values;
  }
  std::vector<float> read(Queue& queue, const Buffer& buffer, const Shape& s) {
    std::vector<float> values;
    const HostView into = dense(values, s);
    copy(queue, view(buffer, s), into);
    queue.wait();
    return values;
  }

  /// Runs enqueue() while all work of the far device stands still. Whether it returned before that
  /// went on, after `looks` of a millisecond at the latest.
  template <class Enqueue>
  bool returns_at_once(Enqueue&& enqueue, int looks) {
    std::atomic<bool> returned{false};
    bool in_time = false;
    panel.hold(1);
    std::thread opener([&] {
      for (; !returned && looks > 0; --looks)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      in_time = returned;
      panel.hold(0);
    });
    enqueue();
    returned = true;
    opener.join();
    return in_time;
  }

 private:
  // The fake driver works while somebody asks it.
  std::jthread driver_{[this](const std::stop_token& end) {
    Queue asking(cuda);
    while (!end.stop_requested()) {
      asking.done();
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }};
};

constexpr int kLong = 10'000;

TEST_P(WithCuda, ACopyToCudaTakesWhatTheFarSideWritesLateAndBlocksNobody) {
  for (const Shape& s : kShapes) {
    for (Queue* queue : {&cuda_queue, &far_queue}) {
      std::vector<float> values = values_of(s);
      const Buffer source(far, s.bytes()), target(cuda, s.bytes());
      ASSERT_TRUE(returns_at_once(
          [&] {
            copy(far_queue, dense(values, s), view(source, s));
            cuda_queue.wait(far_queue.record());
            copy(*queue, view(source, s), view(target, s));
          },
          kLong));
      cuda_queue.wait(queue->record());
      EXPECT_TRUE(read(cuda_queue, target, s) == values)
          << s.batch << " " << s.rows << " " << s.cols;
    }
  }
}

TEST_P(WithCuda, ACopyFromCudaTakesWhatComesLateAndBlocksNobody) {
  for (const Shape& s : kShapes) {
    for (Queue* queue : {&cuda_queue, &far_queue}) {
      const Buffer source(cuda, s.bytes()), target(far, s.bytes());
      const float seven = 7;
      ASSERT_TRUE(returns_at_once(
          [&] {
            fill(far_queue, view(target, s), &seven);  // something that stands still
            cuda_queue.wait(far_queue.record());
            fill(cuda_queue, vector(source, Dtype::f32, int64_t(s.bytes() / 4)), &seven);
            if (queue == &far_queue) far_queue.wait(cuda_queue.record());
            copy(*queue, view(source, s), view(target, s));
          },
          kLong));
      far_queue.wait(queue->record());
      const std::vector<float> got = read(far_queue, target, s);
      EXPECT_EQ(std::count(got.begin(), got.end(), seven), std::ssize(got));
    }
  }
}

TEST_P(WithCuda, ACopyOfHostMemoryTakesWhatTheFarSideWritesLate) {
  for (const bool wrapped : {false, true}) {
    for (const Shape& s : kShapes) {
      std::vector<float> values = values_of(s), between(values.size());
      const Buffer source(far, s.bytes()), target(cuda, s.bytes());
      const Buffer pinned =
          wrapped ? Buffer::wrap(cuda, between.data(), between.size() * sizeof(float)) : Buffer();
      const bool at_once = returns_at_once(
          [&] {
            copy(far_queue, dense(values, s), view(source, s));
            copy(far_queue, view(source, s), dense(between, s));
            cuda_queue.wait(far_queue.record());
            copy(cuda_queue, dense(between, s), view(target, s));
          },
          wrapped ? kLong : 20);
      EXPECT_TRUE(at_once || !wrapped) << "pinned memory needs no waiting";
      EXPECT_TRUE(read(cuda_queue, target, s) == values)
          << s.batch << " " << s.rows << " " << s.cols;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, WithCuda, ::testing::Values("other:0", "fake:0"), [](const auto& test) {
  return std::string(test.param == std::string("fake:0") ? "OwnMemory" : "InPlace");
});

TEST(CudaMemory, AFastProductWithoutRoomForItsWorkspaceIsReproducible) {
  constexpr int64_t kSide = 2048;
  constexpr uint64_t kBytes = kSide * kSide * sizeof(float), kMemory = uint64_t{1} << 30;
  const Device cuda = open("cuda:0");
  Queue queue(cuda);
  const Buffer a(cuda, kBytes), b(cuda, kBytes), c(cuda, kBytes);
  const auto square = [](const Buffer& x) { return row_major(x, Dtype::f32, kSide, kSide); };
  const Gemm op{.a = square(a), .b = square(b), .c = square(c), .numerics = Numerics::fast};
  const Refusal missing = refusal_of([&] { choose(cuda, op, "three_tf32"); });
  if (missing.sentence.find("this build holds code") != std::string::npos)
    GTEST_SKIP() << missing.sentence;
  {
    const Buffer others(cuda, kMemory - 5 * kBytes);  // the parts take four
    EXPECT_EQ(choose(cuda, op).rung(), "three_tf32");
    const Choice ran = run(queue, op);
    EXPECT_EQ(ran.rung_name(), "warp_specialized");
    EXPECT_EQ(ran.numerics, Numerics::reproducible);
    EXPECT_EQ(ran.why, "the workspace of the fast rung doesn't fit in the memory that is free");
    EXPECT_REFUSED(Status::out_of_memory,
                   "wait(): gemm f32 2048x2048x2048 by warp_specialized; gemm f32 2048x2048x2048 "
                   "by three_tf32)",
                   run(queue, op, "three_tf32"));
  }
  EXPECT_EQ(run(queue, op).numerics, Numerics::fast);
  queue.wait();
}

TEST(CudaMemory, ACaptureGetsAWorkspaceThatLivesAsLongAsItsAdoptedQueue) {
  const Device cuda = open("cuda:0");
  const Buffer data(cuda, 1 << 20), result(cuda, 8);
  const auto sum = [&](int64_t count) {
    return Reduce{.input = vector(data, Dtype::f32, count),
                  .output = vector(result, Dtype::f32, 1)};
  };
  Queue owner(cuda);  // of the stream that another queue adopts
  auto* const stream = static_cast<cuda::Stream>(owner.native());
  {
    Queue queue = Queue::adopt(cuda, stream);
    const auto fills = [&] { return stream->work.size(); };
    stream->captured = 1;
    run(queue, sum(1 << 18), "exact");
    const auto before = fills();
    run(queue, sum(1 << 18), "exact");
    EXPECT_EQ(fills() - before, before) << "each captured call zeroes what nobody has zeroed yet";
    { const Buffer adopted = Buffer::adopt(cuda, data.native(), 64); }
    EXPECT_EQ(stream->captured, 1) << "nothing has spoilt the capture";
    stream->captured = 0;
    run(queue, sum(1 << 18), "exact");
    run(queue, sum(1 << 18), "exact");
    queue.wait();
  }
  owner.wait();
}

}  // namespace
}  // namespace trine::testing
