// One-line calls on host data: every way to a device and back gives the same answer.
#include <numeric>

#include "fixture.hpp"

namespace trine::testing {
namespace {

template <class T = float>
std::vector<T> counting(size_t count) {
  std::vector<T> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<T>(i % 17);
  return values;
}

/// The compiler refuses arguments that are no operands.
template <class Range>
concept Summable = requires(Range range) {
  sum(range), argmax(range);
};
template <class T>
concept Multipliable = requires(const T* in, T* out) {
  gemm(1, 1, 1, in, in, out);
};
template <class X, class Y>
concept Dottable = requires(X x, Y y) {
  dot(x, y);
};
template <class In, class Out>
concept Transposable = requires(In in, Out out) {
  transpose(in, out);
};
static_assert(Summable<std::vector<long long>> && Summable<std::array<double, 3>>);
static_assert(!Summable<std::vector<short>> && !Summable<std::vector<bool>> && !Summable<int>);
static_assert(Dottable<std::vector<float>, std::span<const float>>);
static_assert(!Dottable<std::vector<float>, std::vector<double>>);
static_assert(!Dottable<std::vector<int>, std::vector<int>>);
static_assert(Multipliable<int32_t> && !Multipliable<long long> && !Multipliable<uint32_t>);
static_assert(Transposable<HostView, HostView> && Transposable<ConstHostView, HostView>);
static_assert(!Transposable<HostView, ConstHostView>, "the output would be const memory");
static_assert(std::same_as<decltype(host_vector(std::declval<const float*>(), Dtype::f32, 1)),
                           ConstHostView>);
static_assert(std::same_as<decltype(host_vector(nullptr, Dtype::f32, 0)), HostView>);

class HostCalls : public ::testing::TestWithParam<const char*> {
 protected:
  Device device = open(GetParam());
  const fake_panel& panel = panel_of(device);
  Choice choice;
  HostOptions options{.device = GetParam(), .choice = &choice};
  ~HostCalls() override {
    panel.refuse_pinned(0);
    for (int call = 0; call < FAKE_CALLS; ++call) panel.fail(call, TRINE_OK);
  }
};

TEST_P(HostCalls, SumOfAVectorASpanAndAnArray) {
  const std::vector<float> values = counting(100);
  const float total = std::accumulate(values.begin(), values.end(), 0.0f);
  EXPECT_EQ(sum(values, options), total);
  EXPECT_EQ(choice.device.id(), GetParam());
  EXPECT_EQ(choice.rung_name(), "tuned");
  EXPECT_EQ(sum(std::span(values).first(2), options), 1);
  const double few[] = {1, 2, 3};
  EXPECT_EQ(sum(few, options), 6);
  EXPECT_EQ(sum(std::vector<int32_t>{1, -2}, options), int64_t{-1});
  EXPECT_EQ(sum(std::vector<long long>{1, -2}, options), -1);
  EXPECT_EQ(sum(std::vector<unsigned long long>{1, 2}, options), 3u);
  EXPECT_EQ(sum(std::vector<unsigned long>{1, 2}, options), 3u);
  static_assert(dtype_of<long> == Dtype::i64 && dtype_of<long long> == Dtype::i64);
  EXPECT_EQ(sum(std::vector<float>{}, options), 0);
}

TEST_P(HostCalls, DotOfVectorsAndOfTheRowsOfMatrices) {
  const std::vector<float> x = counting(100);
  const std::vector<double> y(100, 3);
  EXPECT_EQ(dot(x, x, options), std::inner_product(x.begin(), x.end(), x.begin(), 0.0f));
  EXPECT_EQ(dot(std::span(y).first(4), y.size() > 4 ? std::span(y).last(4) : std::span(y), options),
            36);
  EXPECT_EQ(dot(std::vector<double>{}, std::vector<double>{}, options), 0);
  EXPECT_REFUSED(Status::invalid_argument, "second: 99 x 1, but the input is 100 x 1",
                 dot(x, std::span(x).first(99), options));
  // 3 rows of 4, the second input's a column apart.
  double rows[3] = {-1, -1, -1};
  const auto m = counting<double>(12), n = counting<double>(15);
  HostView second = host_row_major(const_cast<double*>(n.data()), Dtype::f64, 3, 4);
  second.row_stride = 5;
  dot(host_row_major(m.data(), Dtype::f64, 3, 4), second, host_vector(rows, Dtype::f64, 3),
      Axis::each_row, options);
  for (size_t r = 0; r < 3; ++r)
    EXPECT_EQ(rows[r], std::inner_product(&m[4 * r], &m[4 * r] + 4, &n[5 * r], 0.0));
}

TEST_P(HostCalls, LargePageableDataGoesInChunks) {
  // More than the ring of three chunks of 8 MiB holds, and of large elements: the fake moves them
  // one by one.
  const int64_t rows = 1024, cols = 41 * 128;
  const auto values = counting<double>(size_t(rows * cols) + 3);
  std::vector<double> turned(size_t(rows * cols));
  transpose(rows, cols, values.data(), turned.data(), options);
  size_t wrong = 0;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < cols; ++j)
      wrong += turned[size_t(j * rows + i)] != values[size_t(i * cols + j)];
  }
  EXPECT_EQ(wrong, 0u);
  // Without pinned memory to be had, the fallback leads there, too.
  panel.refuse_pinned(1);
  std::fill(turned.begin(), turned.end(), 0.0);
  transpose(rows, cols, values.data(), turned.data(), options);
  EXPECT_EQ(turned[1], values[size_t(cols)]);
  options.pinned = true;
  EXPECT_EQ(sum(std::span(values).first(1000), options),
            std::accumulate(values.begin(), values.begin() + 1000, 0.0));
}

TEST_P(HostCalls, SubMatricesLeaveTheirSurroundingsAlone) {
  const int64_t rows = 1500, cols = 1100, pitch = 1103;  // 6.6 MB an operand: staged, in rows
  std::vector<float> input(size_t(rows * pitch)), output(size_t(cols * (rows + 5)), -1.0f);
  for (size_t i = 0; i < input.size(); ++i) input[i] = static_cast<float>(i % 1021);
  HostView from = host_row_major(input.data() + 1, Dtype::f32, rows, cols);
  from.row_stride = pitch;
  HostView to = host_row_major(output.data() + 2, Dtype::f32, cols, rows);
  to.row_stride = rows + 5;
  transpose(from, to, options);
  size_t wrong = 0, touched = 0;
  for (int64_t j = 0; j < cols; ++j) {
    for (int64_t i = 0; i < rows; ++i) {
      wrong += output[size_t(2 + j * (rows + 5) + i)] != input[size_t(1 + i * pitch + j)];
    }
    for (int64_t gap = rows; gap < rows + 5 && 2 + j * (rows + 5) + gap < int64_t(output.size());
         ++gap) {
      touched += output[size_t(2 + j * (rows + 5) + gap)] != -1.0f;
    }
  }
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(touched, 0u);
}

TEST_P(HostCalls, GemmOfColumnMajorSubMatricesWithBeta) {
  const std::vector<float> a{1, 2, 9, 3, 4, 9};  // column-major 2 x 2, leading dimension 3
  const std::vector<float> b{1, 0, 0, 1};
  std::vector<float> c{10, 20, -7, 30, 40, -7};
  ConstHostView left = host_col_major(a.data(), Dtype::f32, 2, 2);
  HostView result = host_col_major(c.data(), Dtype::f32, 2, 2);
  left.col_stride = result.col_stride = 3;
  gemm(2, left, host_row_major(b.data(), Dtype::f32, 2, 2), 1, result, options);
  EXPECT_EQ(c, (std::vector<float>{12, 24, -7, 36, 48, -7}));
  std::vector<float> product(4);
  gemm(2, 2, 2, b.data(), b.data(), product.data(), options);
  EXPECT_EQ(product, b);
  gemm(2, 2, 2, 0.1, b.data(), b.data(), 0, product.data(), options);
  EXPECT_EQ(product, (std::vector<float>{0.1f, 0, 0, 0.1f}));
}

TEST_P(HostCalls, BroadcastAndStridedInputs) {
  const std::vector<float> values = counting(64);
  float total = 0;
  ConstHostView view = host_row_major(values.data(), Dtype::f32, 1000, 4);
  view.row_stride = 0;
  reduce(Function::sum, Map::identity, Axis::all, view, host_vector(&total, Dtype::f32, 1),
         options);
  EXPECT_EQ(total, 6000);
  view = host_row_major(values.data(), Dtype::f32, 4,
                        3);  // every fifth of every sixteenth: no unit stride
  view.row_stride = 16, view.col_stride = 5;
  reduce(Function::sum, Map::identity, Axis::all, view, host_vector(&total, Dtype::f32, 1),
         options);
  float wanted = 0;
  for (size_t i = 0; i < 4; ++i) {
    for (size_t j = 0; j < 3; ++j) wanted += values[16 * i + 5 * j];
  }
  EXPECT_EQ(total, wanted);
  std::vector<float> sums(7, -1.0f);
  HostView spread = host_vector(sums.data(), Dtype::f32, 4);
  spread.row_stride = 2;
  reduce(Function::sum, Map::identity, Axis::each_row,
         host_row_major(values.data(), Dtype::f32, 4, 2), spread, options);
  EXPECT_EQ(sums, (std::vector<float>{1, -1, 5, -1, 9, -1, 13}));
}

TEST_P(HostCalls, MistakesAreRefusedAlikeOnEveryDevice) {
  std::vector<float> values = counting(16);
  const HostView view = host_row_major(values.data(), Dtype::f32, 4, 4);
  EXPECT_REFUSED(Status::invalid_argument, "transpose: output overlaps input",
                 transpose(view, transposed(view), options));
  EXPECT_REFUSED(Status::invalid_argument, "host memory is null",
                 transpose(view, host_row_major(nullptr, Dtype::f32, 4, 4), options));
  std::vector<float> out(16);
  char* const odd = reinterpret_cast<char*>(values.data()) + 1;
  EXPECT_REFUSED(Status::invalid_argument, "reduce: input: its host memory starts at an address",
                 reduce(Function::sum, Map::identity, Axis::all, host_vector(odd, Dtype::f32, 15),
                        host_vector(out.data(), Dtype::f32, 1), options));
  EXPECT_REFUSED(Status::invalid_argument, "is not a multiple of 4 bytes",
                 transpose(host_row_major(odd, Dtype::b128, 1, 3),
                           host_row_major(out.data(), Dtype::b128, 3, 1), options));
  transpose(host_row_major(odd, Dtype::b8, 4, 4), host_row_major(out.data(), Dtype::b8, 4, 4),
            options);
  transpose(host_row_major(values.data() + 1, Dtype::b128, 1, 3),
            host_row_major(out.data(), Dtype::b128, 3, 1), options);
  EXPECT_EQ(out[0], values[1]);
  out.assign(16, 0.0f);
  EXPECT_REFUSED(Status::invalid_argument, "doesn't give",
                 gemm(1, view, view, 0, host_row_major(values.data(), Dtype::f32, 4, 3), options));
  EXPECT_REFUSED(Status::invalid_argument, "no exact f32", gemm(0.1, view, view, 0, view, options));
  options.rung = "nave";
  EXPECT_REFUSED(Status::not_found, "'naive'", transpose(4, 4, values.data(), out.data(), options));
  EXPECT_EQ(out, std::vector<float>(16));
  options.rung = {};
  transpose(4, 4, values.data(), out.data(), options);
  EXPECT_EQ(out[1], values[4]);
}

TEST_P(HostCalls, AFailureOnTheWayIsThrownAndTheNextCallIsRight) {
  const std::vector<float> values = counting(100);
  for (const int call : {FAKE_LAUNCH, FAKE_IN_QUEUE, FAKE_QUEUE_WAIT}) {
    panel.fail(call, TRINE_BACKEND_ERROR);
    EXPECT_REFUSED(Status::backend_error, "a planted fault", sum(values, options));
    EXPECT_EQ(sum(values, options), std::accumulate(values.begin(), values.end(), 0.0f)) << call;
  }
}

TEST_P(HostCalls, SquaresAreTransposedInPlace) {
  for (const bool in_place : {true, false}) {  // memory shared with the device, and copied
    options.in_place = in_place;
    std::vector<double> values = counting<double>(2 * 5 * 7);
    const std::vector<double> before = values;
    HostView squares = host_batched(values.data(), Dtype::f64, 2, 5, 5);  // in rows of 7
    squares.row_stride = 7, squares.batch_stride = 35;
    transpose(squares, squares, options);
    for (size_t at = 0; at < values.size(); ++at) {
      const size_t matrix = at / 35 * 35, i = at % 35 / 7, j = at % 7;
      EXPECT_EQ(values[at], j < 5 ? before[matrix + j * 7 + i] : before[at]) << at;
    }
    transpose(5, 5, values.data(), values.data(), options);
    const HostView wide = host_row_major(values.data(), Dtype::f64, 2, 5);
    EXPECT_REFUSED(Status::invalid_argument, "transpose: output", transpose(wide, wide, options));
    const HostView tall = host_row_major(values.data(), Dtype::f64, 5, 2);
    EXPECT_REFUSED(Status::invalid_argument, "transpose: output overlaps input",
                   transpose(wide, tall, options));
    EXPECT_REFUSED(Status::invalid_argument, "gemm: c overlaps a",
                   gemm(1, squares, squares, 0, squares, options));
  }
}

/// A call with an event, and what it computes.
struct Later {
  explicit Later(size_t count = 100) : values(counting(count)) {}
  void start(HostOptions options) {
    options.event = &event;
    reduce(Function::sum, Map::identity, Axis::all,
           host_vector(values.data(), Dtype::f32, std::ssize(values)),
           host_vector(&result, Dtype::f32, 1), options);
  }
  bool right() const { return result == std::accumulate(values.begin(), values.end(), 0.0f); }
  std::vector<float> values;
  float result = -1;
  Event event;
};

TEST_P(HostCalls, AnEventPassesWhenTheResultIsThere) {
  Later call;
  std::string rung = "naive";
  options.rung = rung;
  panel.hold(1);
  call.start(options);  // returns all the same
  rung = "gone!";
  EXPECT_FALSE(call.event.done());
  EXPECT_EQ(call.result, -1);
  EXPECT_EQ(choice.rung_name(), "naive");
  panel.hold(0);
  call.event.wait();
  EXPECT_TRUE(call.event.done());
  EXPECT_TRUE(call.right());
  EXPECT_REFUSED(Status::invalid_argument, "one is of a call on host data",
                 elapsed(call.event, call.event));
}

TEST_P(HostCalls, QueuesOfAllBackendsWaitForTheEvent) {
  for (const char* other : {"fake:0", "other:0"}) {
    Later call;
    float seen = 0;
    Queue queue(open(other));
    const Buffer through(queue.device(), 4);
    panel.hold(1);
    call.start(options);
    queue.wait(call.event);
    copy(queue, host_vector(&call.result, Dtype::f32, 1), vector(through, Dtype::f32, 1));
    copy(queue, vector(through, Dtype::f32, 1), host_vector(&seen, Dtype::f32, 1));
    queue.flush();
    panel.hold(0);
    queue.wait();
    EXPECT_EQ(seen, call.result);
    EXPECT_TRUE(call.right());
  }
}

TEST_P(HostCalls, WithAnEventMistakesAreRefusedAtOnceAndFailuresThrownByTheEvent) {
  Later call;
  options.rung = "nave";
  EXPECT_REFUSED(Status::not_found, "'naive'", call.start(options));
  EXPECT_TRUE(call.event.done()) << "it is as it was: empty";
  options.rung = {};
  for (const int fault : {FAKE_LAUNCH, FAKE_IN_QUEUE, FAKE_QUEUE_WAIT}) {
    panel.fail(fault, TRINE_BACKEND_ERROR);
    call.start(options);
    EXPECT_REFUSED(Status::backend_error, "a planted fault", call.event.wait());
    EXPECT_REFUSED(Status::backend_error, "a planted fault", call.event.done());
    EXPECT_REFUSED(Status::backend_error, "a planted fault", call.event.wait());
    call.start(options);
    call.event.wait();
    EXPECT_TRUE(call.right());
  }
}

TEST_P(HostCalls, AnEventAndWhatItDoesNotGoWith) {
  Event event;
  HostTrace trace;
  options.event = &event;
  const std::vector<double> values(4);
  const char* const words = "leave out HostOptions::event";
  EXPECT_REFUSED(Status::invalid_argument, words, sum(values, options));
  EXPECT_REFUSED(Status::invalid_argument, words, argmax(values, options));
  EXPECT_REFUSED(Status::invalid_argument, words, dot(values, values, options));
  EXPECT_REFUSED(Status::invalid_argument, words, norm(values, options));
  options.trace = &trace;
  std::vector<double> turned(4);
  EXPECT_REFUSED(Status::invalid_argument, "is not traced",
                 transpose(2, 2, values.data(), turned.data(), options));
  EXPECT_TRUE(event.done());
}

TEST_P(HostCalls, ManyWithEventsAtOnce) {
  std::vector<Later> calls;
  for (size_t i = 0; i < 40; ++i) calls.emplace_back(1000 + i);
  for (Later& call : calls) call.start({.device = GetParam()});
  release_idle();
  for (const Later& call : calls) call.event.wait();
  for (const Later& call : calls) EXPECT_TRUE(call.right());
  const auto input = counting<double>(1 << 19);  // through a ring, or in chunks
  std::vector<double> output(input.size());
  Event event;
  options.event = &event;
  options.chunks = 3;
  options.pinned = true;
  transpose(512, 1024, input.data(), output.data(), options);
  event.wait();
  EXPECT_EQ(output[1], input[1024]);
  EXPECT_EQ(output[output.size() - 2], input[input.size() - 1025]);
}

INSTANTIATE_TEST_SUITE_P(, HostCalls, ::testing::Values("fake:0", "fake:1", "other:0"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::erase(name, ':');
                           return name;
                         });

TEST(HostCall, AWrongDeviceIsAnErrorNotAnother) {
  const std::vector<float> values(4);
  EXPECT_REFUSED(Status::not_found, "No device is called 'bogus:0'",
                 sum(values, {.device = "bogus:0"}));
}

TEST(HostCall, WhatCallsKeepForTheNextIsBoundedAndCanBeLetGo) {
  constexpr int kCalls = 10, kKept = 8;  // of the rings
  release_idle();
  const Device keeper = open("fake:0");
  const fake_panel& panel = panel_of(keeper);
  eventually([&] { return panel.count(FAKE_PENDING) == 0; });
  Queue{keeper}.wait();  // frees what other tests dropped
  const long devices = panel.count(FAKE_DEVICES), buffers = panel.count(FAKE_BUFFERS),
             launches = panel.count(FAKE_LAUNCHES);
  const std::vector<float> values = counting(1 << 20);  // 4 MiB, which go through a ring
  const auto call = [&] { sum(values, {.device = "fake:1:as=mine", .rung = "naive"}); };
  panel.hold(1);
  std::vector<std::thread> threads;
  threads.reserve(kCalls);
  for (int i = 0; i < kCalls; ++i) threads.emplace_back(call);
  EXPECT_TRUE(eventually([&] { return panel.count(FAKE_LAUNCHES) == launches + kCalls; }));
  EXPECT_EQ(panel.count(FAKE_BUFFERS), buffers + kCalls * 3) << "input, output and a ring each";
  panel.hold(0);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(panel.count(FAKE_BUFFERS), buffers + kKept);
  EXPECT_EQ(panel.count(FAKE_DEVICES), devices + 1);
  call();
  EXPECT_EQ(panel.count(FAKE_BUFFERS), buffers + kKept);
  release_idle();
  EXPECT_EQ(panel.count(FAKE_BUFFERS), buffers);
  EXPECT_EQ(panel.count(FAKE_DEVICES), devices);
}

TEST(HostCall, EightThreadsAtOnce) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      const std::vector<float> values(1000, static_cast<float>(t));
      for (int i = 0; i < 20; ++i) {
        if (sum(values, {.device = i % 2 ? "fake:0" : "other:0"}) !=
            1000.0f * static_cast<float>(t))
          ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace trine::testing
