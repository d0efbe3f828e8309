// Each backend's library by itself: every allocation fails, the process forks, threads have a queue
// each, devices are opened and closed in loops.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

#include "abi_objects.hpp"
#include "late.hpp"
#include "module.hpp"
#include "road.hpp"

namespace {

struct Module : testing::Test {
  void SetUp() override {
    if (!backend) backend = faults::load_backend(std::getenv("TRINE_TEST_MODULE"), host.services);
    int count = 0;
    ASSERT_EQ(backend->device_count(&count), TRINE_OK);
    if (count == 0) GTEST_SKIP() << backend->last_error();
  }
  inline static faults::Host host;
  inline static const trine_backend* backend = nullptr;
};

TEST_F(Module, every_allocation_of_host_memory_fails_once_and_from_then_on) {
  if (std::string_view(backend->name) != "cpu")
    GTEST_SKIP()
        << "cuda_faults_test.cpp and opencl_faults_test.cpp do this, and count objects, too";
  // Threads and pools that a backend makes once and keeps are no leak.
  ASSERT_EQ(faults::run_road(*backend, true, [] {}).wrong, "");
  const long kept = host.alive;
  const faults::Faults faults = {
      .arm = [](long n, bool forever) { host.reset(n, forever); },
      .heal = [] { host.reset(); },
      .fired = [] { return host.fired > 0; },
      .name = [] { return std::string("an allocation"); },
      .inspect =
          [=] {
            // A backend may let go on a thread of its own, a moment later.
            for (int i = 0; i < 10000 && host.alive > kept; ++i) usleep(1000);
            const long more = host.alive - kept;
            return more > 0 ? std::to_string(more) + " blocks of host memory" : std::string();
          }};
  EXPECT_GT(fail_everywhere(*backend, true, faults), 5);
}

TEST_F(Module, eight_threads_with_a_queue_each) {
  std::vector<faults::Road> roads(8);
  std::vector<std::thread> threads;
  threads.reserve(roads.size());
  for (auto& road : roads) {
    threads.emplace_back([&road] { road = faults::run_road(*backend, true, [] {}); });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& road : roads) {
    EXPECT_EQ(road.status, TRINE_OK) << road.error;
    EXPECT_EQ(road.wrong, "");
  }
}

TEST_F(Module, open_use_and_close_in_a_loop_keeps_nothing) {
  faults::run_road(*backend, true, [] {});
  const long kept = host.alive;
  for (int i = 0; i < 20; ++i) {
    const faults::Road road = faults::run_road(*backend, true, [] {});
    ASSERT_EQ(road.status, TRINE_OK) << road.error;
  }
  EXPECT_LE(host.alive, kept);
}

TEST_F(Module, a_forked_child_is_told_and_can_end) {
  const faults::Device device(*backend);
  const auto queue = device.queue();
  const auto buffer = device.buffer(64);
  device.wait(queue);
  const pid_t child = fork();
  if (child == 0) {
    trine_device* again = nullptr;
    const trine_status waited = backend->queue_wait(queue.get());
    const trine_status opened = backend->device_open(0, "", &again);
    backend->queue_destroy(nullptr);
    // A child has the cpu; what a driver holds belongs to the parent.
    const bool has_device = std::string_view(backend->name) == "cpu";
    const bool told = has_device ? opened == TRINE_OK
                                 : waited == TRINE_DEVICE_LOST && opened == TRINE_DEVICE_LOST;
    _exit(told ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  device.wait(queue);  // the parent goes on
}

TEST_F(Module, copies_take_host_memory_when_the_queue_comes_to_them) {
  faults::copy_late(*backend);
}

TEST_F(Module, an_unknown_tail_of_a_struct_is_refused) {
  const faults::Device device(*backend);
  const auto queue = device.queue();
  struct {
    trine_copy copy;
    uint64_t newer;
  } wanted{};
  wanted.copy.size = sizeof wanted;
  wanted.copy.direction = TRINE_HOST_TO_DEVICE;
  wanted.newer = 1;
  EXPECT_EQ(backend->copy(queue.get(), &wanted.copy), TRINE_UNSUPPORTED);
}

}  // namespace
