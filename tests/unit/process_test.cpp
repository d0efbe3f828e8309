// What a process may do to a library: fork, exit in the middle of work, end without closing. Each
// case is a child of its own, because it ends there.
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

// Before this process opens a device, likewise.
TEST(Fork, AChildOfAProcessThatOnlyListedDevicesMayUseThem) {
  EXPECT_EQ(in_child([] {
              backends();
              refusal_of([] { open("nonsense"); });
              _exit(in_child([] {
                const bool right =
                    !backends().empty() && sum(std::vector<float>{1, 2}, {.device = "fake:0"}) == 3;
                _exit(right ? 42 : 1);
              }));
            }),
            42);
}

TEST(Fork, AChildOfAProcessThatUsesTrineIsToldSo) {
  const Device device = open("fake:0");
  Queue queue(device);
  Buffer buffer(device, 64);
  const Event event = queue.record();
  const auto lost = [](auto&& body) {
    const Refusal refusal = refusal_of(body);
    return refusal.status == Status::device_lost &&
           refusal.sentence.find("forked") != std::string::npos;
  };
  EXPECT_EQ(in_child([&] {
              const float one = 1;
              int right = 0;
              right += lost([&] { queue.wait(); });
              right += lost([&] { fill(queue, vector(buffer, Dtype::f32, 16), &one); });
              right += lost([&] { event.wait(); });
              right += lost([&] { open("fake:1"); });
              right += lost([&] { backends(); });
              right += lost([&] { Buffer(device, 64); });
              right += lost([&] { sum(std::vector<float>{1, 2}, {.device = "fake:0"}); });
              queue = {};  // dropping handles is legal, and calls nobody
              buffer = {};
              _exit(right);
            }),
            7);
  queue.wait();  // the parent goes on
}

}  // namespace
}  // namespace trine::testing
