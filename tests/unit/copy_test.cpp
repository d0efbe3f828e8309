// Copies and fills: shapes and pitches, between devices and backends, and what they refuse.
#include <numeric>

#include "fixture.hpp"

namespace trine::testing {
namespace {

std::vector<float> counting(size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

struct Copies : FakeDevice {};

TEST_F(Copies, ASubMatrixTravelsBothWays) {
  const std::vector<float> source = counting(5 * 8);
  const Buffer buffer = upload(std::vector<float>(6 * 10));
  ConstHostView part = host_row_major(source.data() + 8 + 2, Dtype::f32, 3, 4);
  part.row_stride = 8;
  View there = row_major(buffer, Dtype::f32, 3, 4, 4 * 11);
  there.row_stride = 10;
  copy(queue, part, there);
  std::vector<float> back(3 * 4);
  copy(queue, there, host_row_major(back.data(), Dtype::f32, 3, 4));
  queue.wait();
  EXPECT_EQ(back, (std::vector<float>{11, 12, 13, 14, 19, 20, 21, 22, 27, 28, 29, 30}));
  const std::vector<float> whole = download<float>(buffer);
  EXPECT_EQ(whole[11], 11);
  EXPECT_EQ(whole[10], 0);
  EXPECT_EQ(std::count(whole.begin(), whole.end(), 0.0f), 48);
}

TEST_F(Copies, DenseViewsTakeOneCall) {
  const Buffer from = upload(counting(2 * 3 * 4)), to(device, 96);
  const long copies = panel.count(FAKE_COPIES);
  copy(queue, batched(from, Dtype::f32, 2, 3, 4), batched(to, Dtype::f32, 2, 3, 4));
  EXPECT_EQ(panel.count(FAKE_COPIES), copies + 1);
  EXPECT_EQ(download<float>(to), counting(24));
}

TEST_F(Copies, BatchesWithGapsAndColumnMajor) {
  const Buffer from = upload(counting(40)), to = upload(std::vector<float>(40));
  View source{from, Dtype::f32, 0, 3, 2, 2, 1, 4, 20};  // column-major 3 x 2, leading dimension 4
  View target{to, Dtype::f32, 4, 3, 2, 2, 1, 3, 10};
  copy(queue, source, target);
  const std::vector<float> got = download<float>(to);
  const std::vector<float> wanted{0, 1, 2, 3, 5, 6, 7, 0, 0, 0, 0, 21, 22, 23, 25, 26, 27, 0};
  EXPECT_EQ(std::vector<float>(got.begin(), got.begin() + 18), wanted);
}

TEST_F(Copies, AnOverlappingOrRepeatedSource) {
  const Buffer from = upload(counting(8)), to(device, 4 * 12);
  View source = row_major(from, Dtype::f32, 3, 4);
  source.row_stride = 1;
  copy(queue, source, row_major(to, Dtype::f32, 3, 4));
  EXPECT_EQ(download<float>(to), (std::vector<float>{1, 2, 3, 4, 2, 3, 4, 5, 3, 4, 5, 6}));
  source.row_stride = 0;
  copy(queue, source, row_major(to, Dtype::f32, 3, 4));
  EXPECT_EQ(download<float>(to), (std::vector<float>{1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4}));
}

TEST_F(Copies, StridedVectors) {
  const Buffer from = upload(counting(8)), to(device, 16);
  View source = vector(from, Dtype::f32, 4);
  source.row_stride = 2;
  copy(queue, source, vector(to, Dtype::f32, 4));
  EXPECT_EQ(download<float>(to), (std::vector<float>{1, 3, 5, 7}));
}

TEST_F(Copies, RefuseWhatTheyCantDo) {
  constexpr Status invalid = Status::invalid_argument;
  const Buffer buffer(device, 256), target(device, 256);
  std::vector<float> host(64);
  EXPECT_REFUSED(
      invalid, "is a Transpose",
      copy(queue, row_major(buffer, Dtype::f32, 4, 4), col_major(target, Dtype::f32, 4, 4)));
  EXPECT_REFUSED(
      invalid, "the source is 4 x 4",
      copy(queue, row_major(buffer, Dtype::f32, 4, 4), row_major(target, Dtype::f32, 2, 8)));
  EXPECT_REFUSED(
      invalid, "differ in size",
      copy(queue, row_major(buffer, Dtype::f32, 4, 4), row_major(target, Dtype::f64, 4, 4)));
  EXPECT_REFUSED(invalid, "its host memory is null",
                 copy(queue, host_vector(nullptr, Dtype::f32, 4), vector(buffer, Dtype::f32, 4)));
  EXPECT_REFUSED(
      invalid, "its buffer has 256",
      copy(queue, host_vector(host.data(), Dtype::f32, 65), vector(buffer, Dtype::f32, 65)));
  EXPECT_REFUSED(invalid, "overlaps",
                 copy(queue, vector(buffer, Dtype::f32, 8), vector(buffer, Dtype::f32, 8, 16)));
  HostView repeated = host_row_major(host.data(), Dtype::f32, 4, 4);
  repeated.row_stride = 0;
  EXPECT_REFUSED(invalid, "may not overlap",
                 copy(queue, row_major(buffer, Dtype::f32, 4, 4), repeated));
  const Device other = open("other:0");
  Queue third(open("fake:1"));
  EXPECT_REFUSED(
      invalid, "must belong to either end",
      copy(third, vector(buffer, Dtype::f32, 4), vector(Buffer(other, 64), Dtype::f32, 4)));
}

TEST_F(Copies, FillStridedTargets) {
  const Buffer buffer = upload(std::vector<int32_t>(12));
  const int32_t seven = 7;
  View part = row_major(buffer, Dtype::i32, 2, 2, 4);
  part.row_stride = 5;
  fill(queue, part, &seven);
  EXPECT_EQ(download<int32_t>(buffer), (std::vector<int32_t>{0, 7, 7, 0, 0, 0, 7, 7, 0, 0, 0, 0}));
  EXPECT_REFUSED(Status::invalid_argument, "null", fill(queue, part, nullptr));
  part.row_stride = 0;
  EXPECT_REFUSED(Status::invalid_argument, "fill: target", fill(queue, part, &seven));
}

TEST_F(Copies, AValueIsFilledIfItsTypeIsTheTargetsDtype) {
  const auto filled = [&](auto value, Dtype dtype) {
    using T = decltype(value);
    const Buffer buffer = upload(std::vector<T>(3));
    fill(queue, vector(buffer, dtype, 2), value);
    return download<T>(buffer);
  };
  EXPECT_EQ(filled(1.5f, Dtype::f32), (std::vector<float>{1.5f, 1.5f, 0}));
  EXPECT_EQ(filled(0.1, Dtype::f64), (std::vector<double>{0.1, 0.1, 0}));
  EXPECT_EQ(filled(0, Dtype::i32), (std::vector<int>{0, 0, 0}));  // no null pointer
  EXPECT_EQ(filled(-1LL, Dtype::i64), (std::vector<long long>{-1, -1, 0}));
  EXPECT_EQ(filled(~0U, Dtype::u32), (std::vector<unsigned>{~0U, ~0U, 0}));
  constexpr Status kInvalid = Status::invalid_argument;
  EXPECT_REFUSED(kInvalid, "the target is of f64, the value of f32; cast the value, or give",
                 filled(1.0f, Dtype::f64));
  EXPECT_REFUSED(kInvalid, "the target is of u32, the value of i32", filled(1, Dtype::u32));
  EXPECT_REFUSED(kInvalid, "the target is of b32, the value of f32", filled(1.0f, Dtype::b32));
}

TEST_F(Copies, FillViewsThatNothingFolds) {
  for (const char* id : {"fake", "other:0"}) {  // in one command; without fill_view, in many
    const Device on = open(id);
    Queue there(on);
    const std::vector<int32_t> before(180);
    const Buffer buffer(on, 4 * before.size());
    copy(there, host_vector(before.data(), Dtype::i32, 180), vector(buffer, Dtype::i32, 180));
    const View part{buffer, Dtype::i32, 4, 4, 5, 3, 12, 2, 60};
    const int32_t seven = 7;
    const long fills = panel.count(FAKE_FILLS);
    fill(there, part, &seven);
    EXPECT_TRUE(panel.count(FAKE_FILLS) == fills + 1 || on != device);
    std::vector<int32_t> got(180), wanted(180);
    for (size_t b = 0; b < 3; ++b)
      for (size_t i = 0; i < 4; ++i)
        for (size_t j = 0; j < 5; ++j) wanted[1 + 60 * b + 12 * i + 2 * j] = 7;
    copy(there, vector(buffer, Dtype::i32, 180), host_vector(got.data(), Dtype::i32, 180));
    there.wait();
    EXPECT_EQ(got, wanted) << id;
  }
}

TEST_F(Copies, AColumnIsFilledAndABroadcastCopiedInOneCommand) {
  constexpr int64_t many = 100'000;
  const Buffer buffer(device, 3 * many * 4), row = upload(counting(2));
  View column = vector(buffer, Dtype::f32, many);
  column.row_stride = 3;
  const float one = 1;
  const long fills = panel.count(FAKE_FILLS), copies = panel.count(FAKE_COPIES);
  fill(queue, column, &one);
  EXPECT_EQ(panel.count(FAKE_FILLS), fills + 1);
  run(queue, Reduce{.axis = Axis::each_row,
                    .input = row_major(buffer, Dtype::f32, many, 0),
                    .output = column});
  EXPECT_EQ(panel.count(FAKE_FILLS), fills + 2);
  View repeated = row_major(row, Dtype::f32, many, 2),
       target = row_major(buffer, Dtype::f32, many, 2);
  repeated.row_stride = 0, target.row_stride = 3;
  copy(queue, repeated, target);
  EXPECT_EQ(panel.count(FAKE_COPIES), copies + 1);
  const std::vector<float> got = download<float>(buffer);
  for (size_t i = 0; i < size_t(many); ++i)
    ASSERT_TRUE(got[3 * i] == 1 && got[3 * i + 1] == 2) << i;
}

/// The work that fails runs on a queue that core made on the far device.
struct FarFailures : FakeDevice {
  Device far = open("fake:1"), shared = open("other:0");
  Queue far_queue{far}, shared_queue{shared};
  Buffer here = upload(counting(64)), there{far, 256}, anywhere{shared, 256};
  static View all(const Buffer& buffer) { return vector(buffer, Dtype::f32, 64); }

  static void expect_reported(Queue& queue, const char* words) {
    const Refusal refusal = refusal_of([&] { queue.wait(); });
    EXPECT_EQ(refusal.status, Status::backend_error);
    for (const char* piece : {words, "a planted fault", "copy between devices)"}) {
      EXPECT_THAT(refusal.sentence, HasSubstr(piece));
    }
    queue.wait();  // once
  }
};

TEST_F(FarFailures, ReachTheQueueThatWasGivenADirectCopy) {
  panel.fail(FAKE_COPY_IN_QUEUE, TRINE_BACKEND_ERROR);
  copy(shared_queue, all(here), all(anywhere));  // fake:0 writes to the other's memory
  expect_reported(shared_queue, "other:0: a copy between devices failed on fake:0: ");
  copy(shared_queue, all(here), all(anywhere));
  shared_queue.wait();
  EXPECT_EQ(static_cast<const float*>(anywhere.host())[63], 64);
  queue.wait();  // the device's other queues are not concerned
}

TEST_F(FarFailures, ReachTheQueueThatWasGivenAStagedCopy) {
  panel.fail(FAKE_COPY_IN_QUEUE, TRINE_BACKEND_ERROR);
  copy(far_queue, all(here), all(there));
  expect_reported(far_queue, "fake:1: a copy between devices failed on fake:0: ");
  queue.wait();
}

TEST_F(FarFailures, AreNotForgottenWhenManyCopiesFollow) {
  const long queues = panel.count(FAKE_QUEUES);
  panel.fail(FAKE_COPY_IN_QUEUE, TRINE_BACKEND_ERROR);
  for (int i = 0; i < 100; ++i) {
    copy(shared_queue, all(here), all(anywhere));
    ASSERT_TRUE(eventually([&] { return shared_queue.done(); }));
  }
  EXPECT_TRUE(eventually([&] {
    copy(shared_queue, all(here), all(anywhere));
    return panel.count(FAKE_QUEUES) <= queues + 3;
  })) << "queues that are done are let go";
  expect_reported(shared_queue, "failed on fake:0");
}

TEST_F(FarFailures, EndWithTheQueue) {
  const long queues = panel.count(FAKE_QUEUES);
  panel.hold(1);
  panel.fail(FAKE_COPY_IN_QUEUE, TRINE_BACKEND_ERROR);
  {
    Queue brief(shared);
    copy(brief, all(here), all(anywhere));
  }
  panel.hold(0);
  EXPECT_TRUE(eventually([&] {
    shared_queue.wait();
    return panel.count(FAKE_QUEUES) <= queues;
  }));
}

TEST_F(FarFailures, ADeviceLostOnTheFarSideIsToldOnBoth) {
  const Device lost = open("fake:0:mode=noop");  // a handle that no other test works on
  const Buffer memory(lost, 256);
  panel.fail(FAKE_COPY_IN_QUEUE, TRINE_DEVICE_LOST);
  copy(shared_queue, all(memory), all(anywhere));
  EXPECT_REFUSED(Status::device_lost, "failed on fake:0:mode=noop", shared_queue.wait());
  EXPECT_REFUSED(Status::device_lost, "lost", Queue{lost});
  shared_queue.wait();
}

TEST_F(Copies, BetweenDevicesKeepTheirPinnedMemoryForTheNext) {
  const Device far = open("fake:1");
  const Buffer from = upload(counting(1000)), to(far, 4000);
  const long before = panel.count(FAKE_ALLOCATIONS);
  panel.hold(1);
  for (int i = 0; i < 10; ++i) {
    const int64_t count = 100 * (10 - i);  // the first fits all others
    copy(queue, vector(from, Dtype::f32, count), vector(to, Dtype::f32, count));
  }
  panel.hold(0);
  queue.wait();
  EXPECT_EQ(panel.count(FAKE_ALLOCATIONS), before + 1);
  const Buffer back(device, 4000);
  copy(queue, vector(to, Dtype::f32, 1000), vector(back, Dtype::f32, 1000));
  EXPECT_EQ(download<float>(back), counting(1000));
}

TEST_F(Copies, BetweenDevicesOnOneQueueFromManyThreadsDontShareIt) {
  const Device far = open("fake:1");
  const auto many_times = [&](float first) {
    std::vector<float> values(5000, first), back(values.size());
    const auto all = [&](const Buffer& buffer) { return vector(buffer, Dtype::f32, 5000); };
    const Buffer from(device, 20000), there(far, 20000), to(device, 20000);
    for (int i = 0; i < 10; ++i) {
      values.assign(values.size(), first + float(i));
      copy(queue, host_vector(values.data(), Dtype::f32, 5000), all(from));
      copy(queue, all(from), all(there));
      copy(queue, all(there), all(to));
      copy(queue, all(to), host_vector(back.data(), Dtype::f32, 5000));
      queue.wait();
      ASSERT_EQ(back, values);
    }
  };
  panel.slow_copies(1);  // so that they meet
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) threads.emplace_back(many_times, 1000 * float(t));
  for (std::thread& thread : threads) thread.join();
  panel.slow_copies(0);
}

TEST_F(Copies, BetweenDevicesOfManySmallPiecesGoInFewHandovers) {
  const Device far = open("fake:1");
  const int64_t count = 60, rows = 50, cols = 5;  // 50 rectangles
  const Buffer from = upload(counting(size_t(count * rows * cols)));
  const Buffer to(far, uint64_t(count * 512) * 4), back(device, uint64_t(count * rows * cols) * 4);
  const View dense = batched(from, Dtype::f32, count, rows, cols);
  const View apart{to, Dtype::f32, 0, rows, cols, count, 8, 1, 512};
  const long events = panel.count(FAKE_EVENTS);
  panel.hold(1);
  copy(queue, dense, apart);
  EXPECT_LT(panel.count(FAKE_EVENTS), events + 10);
  panel.hold(0);
  copy(queue, apart, batched(back, Dtype::f32, count, rows, cols));
  EXPECT_EQ(download<float>(back), counting(size_t(count * rows * cols)));
}

/// Copies between every pair of devices, on a queue of either end.
struct Between : FakeDevice,
                 ::testing::WithParamInterface<std::tuple<const char*, const char*, bool>> {};

TEST_P(Between, DevicesOnAQueueOfEitherEnd) {
  const auto [from_name, to_name, by_source] = GetParam();
  const Device from = open(from_name), to = open(to_name);
  const int64_t rows = 700, cols = 10000;  // 28 MB: several slots of the staging ring
  const std::vector<float> values = counting(size_t(rows * cols));
  Queue source_queue(from), target_queue(to);
  const Buffer source(from, uint64_t(rows * cols) * 4), target(to, uint64_t(rows * (cols + 3)) * 4);
  copy(source_queue, host_row_major(values.data(), Dtype::f32, rows, cols),
       row_major(source, Dtype::f32, rows, cols));
  View there = row_major(target, Dtype::f32, rows, cols, 4);
  there.row_stride = cols + 3;
  Queue& on = by_source ? source_queue : target_queue;
  Queue& end = by_source ? target_queue : source_queue;
  if (!by_source) on.wait(source_queue.record());
  panel.hold(1);
  copy(on, row_major(source, Dtype::f32, rows, cols), there);  // doesn't block
  const Event copied = on.record();
  EXPECT_FALSE(copied.done());
  panel.hold(0);
  if (by_source) end.wait(copied);
  std::vector<float> back(values.size());
  copy(target_queue, there, host_row_major(back.data(), Dtype::f32, rows, cols));
  target_queue.wait();
  EXPECT_TRUE(back == values);
  source_queue.wait();
}

INSTANTIATE_TEST_SUITE_P(, Between,
                         ::testing::Combine(::testing::Values("fake:0", "fake:1", "other:0"),
                                            ::testing::Values("fake:0", "other:0"),
                                            ::testing::Bool()),
                         [](const auto& test) {
                           std::string text =
                               std::string(std::get<0>(test.param)) + "_to_" +
                               std::get<1>(test.param) +
                               (std::get<2>(test.param) ? "_by_source" : "_by_target");
                           std::replace(text.begin(), text.end(), ':', '_');
                           return text;
                         });

}  // namespace
}  // namespace trine::testing
