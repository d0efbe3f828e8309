// Objects that end with work in flight: buffers, queues, workspaces, adopted queues; and who waits
// for their memory. Gates in the fake hold work back, so that "in flight" is a fact, not a hope.
#include "fixture.hpp"

namespace trine::testing {
namespace {

struct Lifetimes : FakeSum {
  /// Fills it with ones.
  static void use(Queue& on, const Buffer& buffer) {
    const float one = 1;
    fill(on, vector(buffer, Dtype::f32, int64_t(buffer.bytes() / 4)), &one);
  }
};

TEST_F(Lifetimes, BuffersDroppedInFlightLiveUntilTheQueueHasPassed) {
  const long before = panel.count(FAKE_BUFFERS);
  panel.hold(1);
  {
    const Buffer brief(device, 256);
    use(queue, brief);
    run(queue,
        Reduce{.input = vector(brief, Dtype::f32, 64), .output = vector(result, Dtype::f32, 1)},
        "naive");
  }
  EXPECT_EQ(panel.count(FAKE_BUFFERS), before + 1);
  Queue unrelated(open("fake:1"));  // makes core look around: it must not free what is in use
  EXPECT_EQ(panel.count(FAKE_BUFFERS), before + 1);
  panel.hold(0);
  queue.wait();
  EXPECT_TRUE(eventually([&] {
    Queue another(device);
    return panel.count(FAKE_BUFFERS) == before;
  }));
  EXPECT_EQ(download<float>(result), std::vector<float>{64});
}

TEST_F(Lifetimes, QueuesDroppedInFlightFinishTheirWork) {
  const long buffers = panel.count(FAKE_BUFFERS);
  panel.hold(1);
  {
    Queue brief(device);
    use(brief, data);
    run(brief, sum());
    Buffer(device, 64);  // and a buffer that only it knew
  }
  panel.hold(0);
  EXPECT_TRUE(eventually([&] {
    Queue another(device);
    return panel.count(FAKE_BUFFERS) == buffers;
  })) << "its workspace goes, too";
  EXPECT_EQ(download<float>(result), std::vector<float>{64});
}

TEST_F(Lifetimes, ABufferDroppedAfterItsQueueIsFreedInTheEnd) {
  const long before = panel.count(FAKE_BUFFERS);
  panel.hold(1);
  {
    const Buffer outlives(device, 256);
    {
      Queue brief(device);
      use(brief, outlives);
    }
  }
  EXPECT_EQ(panel.count(FAKE_BUFFERS), before + 1);
  panel.hold(0);
  EXPECT_TRUE(eventually([&] {
    Queue another(device);
    return panel.count(FAKE_BUFFERS) == before;
  }));
}

TEST_F(Lifetimes, ALongLivedBufferForgetsQueuesThatWereDroppedInFlight) {
  const long before = panel.count(FAKE_EVENTS);
  for (int i = 0; i < 20; ++i) {
    panel.hold(1);
    {
      Queue brief(device);
      use(brief, data);
    }
    panel.hold(0);
    EXPECT_TRUE(eventually([&] { return panel.count(FAKE_PENDING) == 0; }));
  }
  EXPECT_LE(panel.count(FAKE_EVENTS), before + 2);
}

TEST_F(Lifetimes, ADropCostsNoMoreWhereMuchIsInFlight) {
  const auto questions_of = [&](int drops) {
    const long before = panel.count(FAKE_QUESTIONS);
    for (int i = 0; i < drops; ++i) use(queue, Buffer(device, 64));
    return panel.count(FAKE_QUESTIONS) - before;
  };
  panel.hold(1);
  const long first = questions_of(200), later = questions_of(200);
  EXPECT_LE(later, first + 200) << "what the first 200 left is looked at again and again";
}

TEST_F(Lifetimes, MuchThatIsStuckHoldsUpNothingThatHasPassed) {
  const Device stuck = open("other:0");
  const fake_panel& gate = panel_of(stuck);
  const long before = panel.count(FAKE_BUFFERS);
  gate.hold(1);
  Queue stopped(stuck);
  for (int i = 0; i < 100; ++i) use(stopped, Buffer(stuck, 64));
  panel.hold(1);
  for (int i = 0; i < 100; ++i) use(queue, Buffer(device, 64));
  panel.hold(0);
  queue.wait();
  for (int i = 0; i < 60; ++i) Queue another(device);
  EXPECT_EQ(panel.count(FAKE_BUFFERS), before);
  gate.hold(0);
  stopped.wait();
}

/// Memory that nobody holds any more but work in flight, until the gate is opened.
struct ShortMemory : Lifetimes {
  static constexpr uint64_t kLarge = 600 << 10;
  std::thread opener;
  ~ShortMemory() override {
    if (opener.joinable()) opener.join();
  }
  void use_and_drop(Queue& on) const { use(on, Buffer(device, kLarge)); }
  void open_gate_later() {
    opener = std::thread([this] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      panel.hold(0);
    });
  }
};

TEST_F(ShortMemory, AllocatingWaitsForWhatWasDroppedInFlight) {
  panel.hold(1);
  panel.leave(2 * kLarge);
  use_and_drop(queue);
  {
    Queue brief(device);
    use_and_drop(brief);
  }
  open_gate_later();
  const Buffer first(device, kLarge), second(device, kLarge);
  EXPECT_REFUSED(Status::out_of_memory, "the fake device is full", Buffer(device, kLarge));
}

TEST_F(ShortMemory, AWorkspaceWaitsForTheOneItGrewOutOf) {
  Reduce op = sum();
  op.input.row_stride = 0;
  const auto run_of = [&](int64_t rows) {
    op.input.rows = rows;
    run(queue, op);
  };
  panel.hold(1);
  panel.leave(2'100'000);
  run_of(400'000);
  run_of(700'000);
  open_gate_later();
  run_of(1'050'000);
  queue.wait();
  EXPECT_EQ(panel.count(FAKE_DIRTY_WORKSPACES), 0);
}

TEST_F(ShortMemory, TheCallersMemoryIsNotWaitedFor) {
  std::vector<float> host(64);
  panel.hold(1);
  use(queue, Buffer::wrap(device, host.data(), 256));
  panel.leave(kLarge / 2);
  EXPECT_REFUSED(Status::out_of_memory, "the fake device is full", Buffer(device, kLarge));
  panel.hold(0);
  queue.wait();
}

TEST_F(ShortMemory, MemoryOfAnotherKindIsNotWaitedFor) {
  panel.hold(1);
  panel.leave(kLarge + kLarge / 2);
  use_and_drop(queue);
  EXPECT_REFUSED(Status::out_of_memory, "the fake device is full",
                 Buffer(device, kLarge, Memory::pinned));
}

TEST_F(ShortMemory, AnotherDevicesMemoryIsNotWaitedFor) {
  Queue other(open("fake:1"));
  panel.hold(1);
  use(other, Buffer(open("fake:1"), 256));
  panel.leave(kLarge - 1);
  EXPECT_REFUSED(Status::out_of_memory, "the fake device is full", Buffer(device, kLarge));
}

TEST_F(Lifetimes, DroppingABufferNeverWaitsForAnotherThreadsWait) {
  panel.hold(1);
  auto shared = std::make_unique<Buffer>(device, 256);
  use(queue, *shared);
  std::thread waiter([&] { queue.wait(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  shared
      .reset();  // as long as the gate is shut: who waits for the other thread here, waits for ever
  EXPECT_FALSE(queue.done());
  panel.hold(0);
  waiter.join();
}

struct AdoptedQueues : Lifetimes {
  fake_native_queue theirs{};
  const long uses_before = panel.count(FAKE_USES_OF_GONE), buffers = panel.count(FAKE_BUFFERS);
  void expect_unused() const { EXPECT_EQ(panel.count(FAKE_USES_OF_GONE), uses_before); }
};

TEST_F(AdoptedQueues, MayBeDestroyedAfterTheLastWait) {
  {
    Buffer kept(device, 256);
    {
      Queue adopted = Queue::adopt(device, &theirs);
      use(adopted, kept);
      run(adopted, sum());
      adopted.wait();
      theirs.is_destroyed = 1;
      kept = {};  // goes before the Queue
      expect_unused();
    }
    data = {};  // and after it
  }
  const Queue another(device);
  expect_unused();
}

TEST_F(AdoptedQueues, KeepTheirWorkspacesForGraphsThatTheProgramHasCaptured) {
  queue = Queue::adopt(device, &theirs);
  run(queue, sum());
  const long one = panel.count(FAKE_BUFFERS);
  const Buffer large(device, 1 << 20);
  run(queue,
      Reduce{.input = vector(large, Dtype::f32, 1 << 18), .output = vector(result, Dtype::f32, 1)});
  queue.wait();
  const Queue another(device);  // makes core look around
  EXPECT_EQ(panel.count(FAKE_BUFFERS), one + 2) << "the large buffer, and a second workspace";
  queue = Queue(device);
  EXPECT_EQ(panel.count(FAKE_BUFFERS), one) << "less the two workspaces, and the large buffer";
}

TEST_F(AdoptedQueues, AreNotAskedWhenAdoptedMemoryIsDropped) {
  panel.hold(1);
  Buffer adopted = Buffer::adopt(device, data.native(), 256);
  use(queue, adopted);
  const long questions = panel.count(FAKE_QUESTIONS);
  adopted = {};
  EXPECT_EQ(panel.count(FAKE_QUESTIONS), questions);
  panel.hold(0);
  queue.wait();
}

TEST_F(AdoptedQueues, MayBeDestroyedWhereNothingWasEnqueued) {
  {
    const Queue adopted = Queue::adopt(device, &theirs);
    theirs.is_destroyed = 1;
  }
  expect_unused();
}

TEST_F(AdoptedQueues, KeepWhatIsInFlightThereAgainAfterAWait) {
  Queue adopted = Queue::adopt(device, &theirs);
  adopted.wait();
  panel.hold(1);
  {
    const Buffer brief(device, 256);
    use(adopted, brief);
  }
  EXPECT_EQ(panel.count(FAKE_BUFFERS), buffers + 1);
  panel.hold(0);
  adopted.wait();
  EXPECT_EQ(panel.count(FAKE_BUFFERS), buffers);
}

/// The memory for a second ring is in flight in the first, which another backend's gate holds up: a
/// copy that stops halfway.
TEST_F(AdoptedQueues, KeepAStagedCopyInWhichAnotherThreadWaits) {
  const Device far = open("fake:1"), third = open("other:0");
  const Buffer source(far, 256);
  Buffer target(device, 256);
  Queue adopted = Queue::adopt(device, &theirs), stopped(far), gated(third);
  panel_of(third).hold(1);
  stopped.wait(gated.record());
  copy(stopped, vector(source, Dtype::f32, 64), vector(data, Dtype::f32, 64));
  panel.leave(1 << 20);
  std::thread copier(
      [&] { copy(adopted, vector(source, Dtype::f32, 64), vector(target, Dtype::f32, 64)); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  adopted.wait();
  panel.slow_copies(200);
  panel_of(third).hold(0);
  copier.join();
  const long alive = panel.count(FAKE_BUFFERS);
  target = {};
  const long left = panel.count(FAKE_BUFFERS);
  EXPECT_TRUE(left == alive || adopted.done()) << "the target is in use";
  panel.slow_copies(0);
  adopted.wait();
}

}  // namespace
}  // namespace trine::testing
