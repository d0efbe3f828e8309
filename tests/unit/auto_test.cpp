// Placement with the backends of this build, at its obvious ends.
#include <pthread.h>

#include <algorithm>

#include "fixture.hpp"

namespace trine::testing {
namespace {

/// The first device of that kind, of any backend, or none.
std::string first_device(DeviceKind kind) {
  for (const Facts& facts : devices())
    if (facts.kind == kind) return facts.id;
  return {};
}

struct Auto : ::testing::Test {
  void SetUp() override {
    const std::vector<BackendInfo> all = backends();
    const bool has_cpu = std::any_of(all.begin(), all.end(), [](const auto& info) {
      return info.name == "cpu" && !info.devices.empty();
    });
    if (!has_cpu) GTEST_SKIP() << "this build has no cpu backend";
  }
};

TEST_F(Auto, TinyHostDataRunsOnTheCpuAtOnce) {
  const std::vector<float> values(1000, 0.5f);
  Choice choice;
  std::string why;
  EXPECT_EQ(sum(values, {.choice = &choice, .placement = &why}), 500);
  EXPECT_EQ(choice.device.id(), "cpu");
  EXPECT_THAT(why, HasSubstr("Little data"));
  // Nothing is measured, no driver is woken: once the cpu is open, such a call is a matter of
  // microseconds.
  double best = 1;
  for (int i = 0; i < 50; ++i) {
    const auto start = std::chrono::steady_clock::now();
    sum(values);
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  EXPECT_LT(best, 1e-3);
}

TEST(HostCallsWithAnEvent, GiveTheSameBitsOnEveryDevice) {
  constexpr int64_t n = 200;
  std::vector<double> a(n * n), c(n * n);
  for (size_t i = 0; i < a.size(); ++i) a[i] = 1.0 / double(i + 1);
  for (const Facts& facts : devices()) {
    for (const bool in_place : {true, false}) {
      HostOptions options{.device = facts.id, .in_place = in_place};
      gemm(n, n, n, a.data(), a.data(), c.data(), options);
      std::vector<std::vector<double>> later(20, std::vector<double>(n * n));
      std::vector<Event> events(later.size());
      for (size_t i = 0; i < later.size(); ++i) {
        options.event = &events[i];
        gemm(n, n, n, a.data(), a.data(), later[i].data(), options);
      }
      for (size_t i = 0; i < later.size(); ++i) {
        events[i].wait();
        EXPECT_EQ(later[i], c) << facts.id << " " << in_place;
      }
    }
  }
}

TEST(HostTranspose, OfASquareInPlaceOnEveryDevice) {
  constexpr int64_t n = 1500;
  std::vector<int> before(n * n);
  for (size_t i = 0; i < before.size(); ++i) before[i] = int(i);
  std::vector<int> turned(n * n);
  transpose(n, n, before.data(), turned.data(), {.device = "cpu"});
  for (const Facts& facts : devices()) {
    for (const bool in_place : {true, false}) {
      std::vector<int> values = before;
      transpose(n, n, values.data(), values.data(), {.device = facts.id, .in_place = in_place});
      EXPECT_EQ(values, turned) << facts.id << " " << in_place;
    }
  }
}

/// So many neighbours of one exponent, full to their last place, that what a kernel adds up before
/// it carries must be carried on the way; outliers send them to the fallback for wide ranges.
TEST(Sums, LongPiecesOfAWideRangeAreExact) {
  const size_t half = (size_t{1} << 23) + 40;
  std::vector<double> values(2 * half);
  int64_t units = 0;  // of 2^-17
  for (size_t i = 0; i < values.size(); ++i) {
    const auto below = static_cast<int64_t>(i * 2654435761u % 997);
    const int64_t one = (int64_t{1} << 34) - below;
    units += i < half ? one : -one;
    values[i] = static_cast<double>(i < half ? one : -one) * 0x1p-17;
  }
  // More exponents than an expansion holds, in one vector lane, and the same taken away again.
  const double outliers[] = {0x1p900, 0x1p600, 0x1p300, 0x1p-300};
  for (size_t k = 0; k < 4; ++k)
    for (const size_t at : {8 * k + 7, half + 8 * k + 7}) {
      units -= static_cast<int64_t>(values[at] * 0x1p17);
      values[at] = at < half ? outliers[k] : -outliers[k];
    }
  for (const BackendInfo& info : backends())
    for (const Facts& facts : info.devices) {
      if (!(facts.capabilities & TRINE_CAN_F64)) continue;
      EXPECT_EQ(sum(values, {.device = facts.id}), static_cast<double>(units) * 0x1p-17)
          << facts.id;
    }
}

/// The program's memory wrapped twice, in part, and beside it on the same page; used through each.
TEST(Wrap, HostMemoryMayBeWrappedAgainAndInParts) {
  for (const BackendInfo& info : backends()) {
    for (const Facts& facts : info.devices) {
      const Device device = open(facts.id);
      std::vector<float> data(10000, 0.0f);
      const auto wrap = [&](size_t from, size_t count) {
        return Buffer::wrap(device, &data[from], count * sizeof(float));
      };
      Buffer whole;
      try {
        whole = wrap(1000, 9000);
      } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::unsupported) << facts.id << ": " << error.what();
        EXPECT_NE(info.name, "cuda") << error.what();
        continue;
      }
      Buffer again = wrap(1000, 9000), part = wrap(5000, 100), beside = wrap(0, 1000);
      whole = {};
      again = {};
      Queue queue(device);
      const float one = 1, two = 2;
      fill(queue, vector(part, Dtype::f32, 100), &one);
      fill(queue, vector(beside, Dtype::f32, 1000), &two);
      queue.wait();
      EXPECT_EQ(std::count(data.begin(), data.end(), 1.0f), 100) << facts.id;
      EXPECT_EQ(std::count(data.begin(), data.begin() + 1000, 2.0f), 1000) << facts.id;
      EXPECT_EQ(data[5000], 1) << facts.id;
      EXPECT_EQ(data[1000], 0) << facts.id;
    }
  }
}

TEST_F(Auto, TheSameGpuIsOneCandidateAndHugeWorkGoesThere) {
  const int64_t n = 8192;
  const Gemm huge{.a = row_major({}, Dtype::f32, n, n),
                  .b = row_major({}, Dtype::f32, n, n),
                  .c = row_major({}, Dtype::f32, n, n)};
  const Placement placement = place(huge, Where::host);
  const std::string gpu = first_device(DeviceKind::gpu);
  EXPECT_EQ(placement.device.facts().kind, gpu.empty() ? DeviceKind::cpu : DeviceKind::gpu)
      << placement.sentence;
  if (gpu.empty()) {
    EXPECT_EQ(placement.device.id(), "cpu") << "a CPU seen through OpenCL is no second one";
    EXPECT_EQ(placement.sentence,
              "cpu drives this machine's only processor; any other backend drives the same one.");
  }
}

TEST_F(Auto, ACopyReachesEveryDeviceFromTheCpu) {
  const Device cpu = open("cpu");
  std::vector<float> values(100000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const int64_t count = int64_t(values.size());
  for (const BackendInfo& info : backends()) {
    for (const Facts& facts : info.devices) {
      const Device device = open(facts.id);
      Queue queue(device), home(cpu);
      const View here = vector(Buffer(cpu, values.size() * 4), Dtype::f32, count);
      const View there = vector(Buffer(device, values.size() * 4), Dtype::f32, count);
      copy(home, host_vector(values.data(), Dtype::f32, count), here);
      copy(home, here, there);
      queue.wait(home.record());
      std::vector<float> back(values.size());
      copy(queue, there, host_vector(back.data(), Dtype::f32, count));
      queue.wait();
      EXPECT_TRUE(back == values) << facts.id;
      // And back again, on a queue of the far end.
      const float zero = 0;
      fill(home, here, &zero);
      queue.wait(home.record());
      copy(queue, there, here);
      home.wait(queue.record());
      std::fill(back.begin(), back.end(), -1.0f);
      copy(home, here, host_vector(back.data(), Dtype::f32, count));
      home.wait();
      EXPECT_TRUE(back == values) << facts.id;
    }
  }
}

/// A thread is cancelled while it waits: it ends at the program's next cancellation point, and
/// nothing that it held in a call stays held.
TEST(Cancelled, AThreadInWaitLeavesTheQueueUsable) {
  for (const BackendInfo& info : backends()) {
    for (const Facts& facts : info.devices) {
      Queue queue(open(facts.id));
      const View large = vector({queue.device(), 64 << 20}, Dtype::f32, 16 << 20);
      const float one = 1, two = 2;
      for (int i = 0; i < 20; ++i) fill(queue, large, &one);
      pthread_t waiter{};
      const auto wait = [](void* of) -> void* {
        static_cast<Queue*>(of)->wait();
        for (;;) pause();  // a cancellation point, where the wait was over before the cancel
      };
      ASSERT_EQ(pthread_create(&waiter, nullptr, wait, &queue), 0);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      EXPECT_EQ(pthread_cancel(waiter), 0);
      void* left = nullptr;
      ASSERT_EQ(pthread_join(waiter, &left), 0);
      EXPECT_EQ(left, PTHREAD_CANCELED) << facts.id;
      float seen = 0;
      fill(queue, large, &two);
      copy(queue, vector(large.buffer, Dtype::f32, 1), host_vector(&seen, Dtype::f32, 1));
      queue.wait();
      EXPECT_EQ(seen, 2) << facts.id;
    }
  }
}

}  // namespace
}  // namespace trine::testing
