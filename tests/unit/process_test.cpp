// The things that a process may do to a library: fork, exit in the middle of work, end without
// closing. Each case is a child of its own, because it ends there.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "fixture.hpp"

namespace trine::testing {
namespace {

/// Exit status of body() in a forked child; 200 + signal when it crashed.
template <class Body>
int in_child(Body&& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    body();
    _exit(99);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 200 + WTERMSIG(status);
}

// These run before this process has touched the registry, and so in a child that has its own.
TEST(Exit, WithoutClosingIsClean) {
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(in_child([] {
                static Device device = open("fake:0");
                static Queue queue(device);
                static Buffer buffer(device, 1 << 20);
                const float one = 1;
                for (int j = 0; j < 8; ++j) fill(queue, vector(buffer, Dtype::f32, 1 << 18), &one);
                std::exit(42);
              }),
              42);
  }
}

TEST(Exit, InAnotherThreadsCallIsClean) {
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(in_child([] {
                // Never destroyed: the thread below doesn't ask whether the program is ending.
                static const Device& device = *new Device(open("fake:0"));
                std::thread([] {
                  for (;;) {
                    Queue queue(device);
                    const Buffer buffer(device, 4096);
                    const float one = 1;
                    fill(queue, vector(buffer, Dtype::f32, 1024), &one);
                  }
                }).detach();
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
                std::exit(42);
              }),
              42);
  }
}

TEST(Exit, WaitsForCallsWithEvents) {
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(in_child([] {
                static std::vector<double> values(1 << 18, 1.0), sums(40);
                // Runs last: by then all has been computed.
                std::atexit([] {
                  for (const double sum : sums)
                    if (sum != 1 << 18) _exit(1);
                });
                std::vector<Event> dropped(sums.size());
                for (size_t s = 0; s < sums.size(); ++s)
                  reduce(Function::sum, Map::identity, Axis::all,
                         host_vector(values.data(), Dtype::f64, std::ssize(values)),
                         host_vector(&sums[s], Dtype::f64, 1),
                         {.device = s % 2 ? "fake:0" : "other:0", .event = &dropped[s]});
                dropped.clear();
                std::exit(42);
              }),
              42);
  }
}

TEST(Fork, AChildOfAProcessThatUsesTrineHasNoneOfItsObjectsAndNoDriver) {
  const Device device = open("fake:0");
  Queue queue(device);
  Buffer buffer(device, 64);
  const Event event = queue.record();
  const auto lost = [](auto&& body) {
    const Refusal refusal = refusal_of(body);
    return refusal.status == Status::device_lost &&
           refusal.sentence.find("forked") != std::string::npos;
  };
  const std::vector<float> values{1, 2};
  float result = 0;
  Event later;
  panel_of(device).hold(1);
  reduce(Function::sum, Map::identity, Axis::all, host_vector(values.data(), Dtype::f32, 2),
         host_vector(&result, Dtype::f32, 1), {.device = "fake:0", .event = &later});
  EXPECT_EQ(in_child([&] {
              const float one = 1;
              int right = lost([&] { later.wait(); });
              right += lost([&] { queue.wait(); });
              right += lost([&] { fill(queue, vector(buffer, Dtype::f32, 16), &one); });
              right += lost([&] { event.wait(); });
              right += lost([&] { open("fake:1"); });
              right += lost([&] { open("other:0"); });
              for (const BackendInfo& info : backends())
                if (info.name == "fake" || info.name == "other")
                  right += info.devices.empty() && info.reason.find("forked") != std::string::npos;
              right += lost([&] { Buffer(device, 64); });
              right += lost([&] { sum(std::vector<float>{1, 2}, {.device = "fake:0"}); });
              queue = {};  // dropping handles is legal, and calls nobody
              buffer = {};
              later = {};
              std::exit(right);  // waits for no thread of the parent's
            }),
            10);
  panel_of(device).hold(0);
  later.wait();  // the parent goes on
  EXPECT_EQ(result, 3);
  queue.wait();
}

}  // namespace
}  // namespace trine::testing
