// Queues and events: order, waiting, failures that name what ran, bridges between backends. Gates
// in the fake hold work back, so that "in flight" is a fact, not a hope.
#include "fixture.hpp"

namespace trine::testing {
namespace {

struct Queues : FakeSum {};

TEST_F(Queues, AreAsynchronousAndInOrder) {
  panel.hold(1);
  const float one = 1, two = 2;
  fill(queue, vector(data, Dtype::f32, 64), &one);
  run(queue, sum());
  fill(queue, vector(data, Dtype::f32, 64), &two);
  const Event event = queue.record();
  EXPECT_FALSE(queue.done());
  EXPECT_FALSE(event.done());
  panel.hold(0);
  queue.wait();
  EXPECT_TRUE(queue.done());
  EXPECT_TRUE(event.done());
  EXPECT_EQ(download<float>(result), std::vector<float>{64});
}

TEST_F(Queues, EventsOrderQueuesOfOneBackend) {
  Queue second(device), third(open("fake:1"));
  panel.hold(1);
  const float one = 1;
  fill(queue, vector(data, Dtype::f32, 64), &one);
  const Event filled = queue.record();
  second.wait(filled);
  run(second, sum());
  third.wait(filled);
  panel.hold(0);
  second.wait();
  third.wait();
  EXPECT_EQ(download<float>(result), std::vector<float>{64});
}

TEST_F(Queues, AnEmptyEventHasPassed) {
  const Event none;
  EXPECT_TRUE(none.done());
  none.wait();
  queue.wait(none);
  EXPECT_REFUSED(Status::invalid_argument, "empty", elapsed(none, queue.record()));
}

TEST_F(Queues, ElapsedMeasuresWithinOneDevice) {
  const Event start = queue.record();
  run(queue, sum());
  const Event stop = queue.record();
  EXPECT_GE(elapsed(start, stop), 0);
  Queue other(open("fake:1"));
  EXPECT_REFUSED(Status::invalid_argument, "fake:0 and fake:1", elapsed(start, other.record()));
}

TEST_F(Queues, EventsOutliveTheirQueue) {
  Event event;
  panel.hold(1);
  {
    Queue brief(device);
    run(brief, sum());
    event = brief.record();
  }
  EXPECT_FALSE(event.done());
  panel.hold(0);
  event.wait();
}

TEST_F(Queues, AFailedWaitNamesTheOperationsSinceTheLastGoodOne) {
  run(queue, sum());
  queue.wait();
  run(queue, sum(), "naive");
  panel.fail(FAKE_IN_QUEUE, TRINE_BACKEND_ERROR);
  run(queue, sum());
  const Refusal refusal = refusal_of([&] { queue.wait(); });
  EXPECT_EQ(refusal.status, Status::backend_error);
  EXPECT_THAT(refusal.sentence, HasSubstr("fake:0: waiting for the queue"));
  EXPECT_THAT(refusal.sentence,
              HasSubstr("reduce sum f32 64x1 by naive; reduce sum f32 64x1 by tuned"));
  EXPECT_EQ(panel.count(FAKE_DIRTY_WORKSPACES), 0);
  run(queue, sum());  // the workspace is zeroed again before the next launch
  queue.wait();
  EXPECT_EQ(panel.count(FAKE_DIRTY_WORKSPACES), 0);
}

TEST_F(Queues, ALongHistoryIsCut) {
  for (int i = 0; i < 20; ++i) run(queue, sum(), "naive");
  panel.fail(FAKE_QUEUE_WAIT, TRINE_BACKEND_ERROR);
  const Refusal refusal = refusal_of([&] { queue.wait(); });
  EXPECT_THAT(refusal.sentence, HasSubstr("12 others, then reduce sum"));
  queue.wait();
}

TEST_F(Queues, WorkspacesGrowAndStayClean) {
  Reduce op = sum();
  op.input.row_stride = 0;
  const long buffers = panel.count(FAKE_BUFFERS);
  for (const int64_t rows : {10, 10, 1000, 5, 100000, 100000}) {
    op.input.rows = rows;
    run(queue, op);
  }
  queue.wait();
  EXPECT_EQ(panel.count(FAKE_DIRTY_WORKSPACES), 0);
  EXPECT_TRUE(eventually([&] {
    queue.wait();
    return panel.count(FAKE_BUFFERS) == buffers + 1;
  })) << "grown-out workspaces are freed";
  const long fills = panel.count(FAKE_FILLS);
  run(queue, op);
  queue.wait();
  EXPECT_EQ(panel.count(FAKE_FILLS), fills) << "control bytes are zeroed once";
}

struct Lost : FakeDevice {};

TEST_F(Lost, ALostDeviceSaysSoFromThenOn) {
  const Device device1 = open("fake:1:mode=noop");  // a handle that no other test uses
  Queue first(device1), second(device1);
  const Buffer buffer(device1, 64);
  panel.fail(FAKE_QUEUE_WAIT, TRINE_DEVICE_LOST);
  EXPECT_REFUSED(Status::device_lost, "a planted fault", first.wait());
  const Reduce op{.input = vector(buffer, Dtype::f32, 8),
                  .output = vector(buffer, Dtype::f32, 1, 32)};
  EXPECT_REFUSED(Status::device_lost, "fake:1:mode=noop has been lost since an earlier error",
                 run(second, op));
  EXPECT_REFUSED(Status::device_lost, "a planted fault", second.wait());
  EXPECT_REFUSED(Status::device_lost, "lost", Buffer(device1, 64));
  EXPECT_REFUSED(Status::device_lost, "lost", Queue{device1});
  EXPECT_EQ(device1.id(), "fake:1:mode=noop") << "its name can still be asked";
  queue.wait();  // another device is not concerned
}

struct Bridges : FakeDevice {
  Device other = open("other:0");
  Queue other_queue{other};
  const fake_panel& other_panel = panel_of(other);
  ~Bridges() override { other_panel.hold(0); }
};

TEST_F(Bridges, AQueueWaitsForAnotherBackendsEventWithoutTheCaller) {
  panel.hold(1);
  const Buffer there(device, 4);
  const float five = 5;
  fill(queue, vector(there, Dtype::f32, 1), &five);
  const Event event = queue.record();
  other_queue.wait(event);  // returns at once
  const Buffer here(other, 4);
  const float one = 1;
  fill(other_queue, vector(here, Dtype::f32, 1), &one);
  EXPECT_FALSE(other_queue.done());
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(other_queue.done());
  panel.hold(0);
  other_queue.wait();
  EXPECT_EQ(*static_cast<const float*>(here.host()), 1);
  EXPECT_TRUE(event.done());
}

TEST_F(Bridges, LeaveNothingBehind) {
  queue.wait();
  const long before = other_panel.count(FAKE_EVENTS);
  for (int i = 0; i < 50; ++i) other_queue.wait(queue.record());
  other_queue.wait();
  EXPECT_TRUE(eventually([&] {
    Queue another(device);
    return other_panel.count(FAKE_EVENTS) == before;
  }));
}

TEST_F(Bridges, AFailedNoticeNeverLeavesAQueueHanging) {
  const Event event = queue.record();
  panel.fail(FAKE_EVENT_NOTIFY, TRINE_BACKEND_ERROR);
  EXPECT_REFUSED(Status::backend_error, "requesting a notification of an event",
                 other_queue.wait(event));
  other_queue.wait();
}

TEST_F(Queues, EightThreadsWithAQueueEach) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      const Device mine = open(t % 2 ? "fake:0" : "fake:1");
      Queue own(mine);
      for (int i = 0; i < 50; ++i) {
        const Buffer input(mine, 256), output(mine, 4);
        const float value = static_cast<float>(t + 1);
        fill(own, vector(input, Dtype::f32, 64), &value);
        run(own, Reduce{.input = vector(input, Dtype::f32, 64),
                        .output = vector(output, Dtype::f32, 1)});
        float total = 0;
        copy(own, vector(output, Dtype::f32, 1), host_vector(&total, Dtype::f32, 1));
        if (i % 5 == 0) own.record().wait();
        own.wait();
        if (total != 64 * value) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(Queues, EightThreadsOnOneQueueAndOneBuffer) {
  const float one = 1;
  fill(queue, vector(data, Dtype::f32, 64), &one);
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      const Buffer output(device, 4);
      for (int i = 0; i < 50; ++i) {
        run(queue,
            Reduce{.input = vector(data, Dtype::f32, 64), .output = vector(output, Dtype::f32, 1)});
        if (i % 10 == 0) queue.wait();
        queue.record();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  queue.wait();
  EXPECT_EQ(panel.count(FAKE_DIRTY_WORKSPACES), 0);
}

}  // namespace
}  // namespace trine::testing
