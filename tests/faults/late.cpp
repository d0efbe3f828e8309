#include "late.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "abi_objects.hpp"

namespace faults {
namespace {

constexpr uint64_t kGap = 16;

/// `height` rows in host memory, with gaps where there are several.
struct Shape {
  uint64_t width, height;
  uint64_t pitch() const { return width + (height > 1 ? kGap : 0); }
  uint64_t span() const { return pitch() * height; }
};

struct Late {
  const Device& on;
  const bool lets_the_caller_go;
  const Device::Handle<trine_queue> queue = on.queue();

  /// Enqueues behind a gate, which another thread opens when it has run before_it().
  template <class Enqueue, class Before>
  void behind_a_gate(const Enqueue& enqueue, const Before& before_it) const {
    const auto gate = on.event(true);
    on.check(on.abi.queue_wait_event(queue.get(), gate.get()));
    std::atomic<bool> returned{false};
    bool in_time = false;
    std::thread other([&] {
      for (int looks = lets_the_caller_go ? 10'000 : 20; !returned && looks > 0; --looks)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      in_time = returned;
      before_it();
      on.abi.event_signal(gate.get());
    });
    enqueue();
    returned = true;
    other.join();
    EXPECT_TRUE(in_time || !lets_the_caller_go) << "the call waited for the queue";
    on.wait(queue);
  }

  void there_and_back(const Shape& shape) const {
    const auto buffer = on.buffer(shape.width * shape.height);
    const auto is = [&](const std::vector<char>& host, char wanted) {
      for (uint64_t row = 0; row < shape.height; ++row) {
        const auto begin = host.begin() + static_cast<ptrdiff_t>(row * shape.pitch());
        if (std::count(begin, begin + static_cast<ptrdiff_t>(shape.width), wanted) !=
            static_cast<ptrdiff_t>(shape.width))
          return false;
      }
      return true;
    };
    std::vector<char> in(shape.span(), 'o'), out(shape.span(), 'o');
    behind_a_gate(
        [&] {
          on.copy_rows(queue, TRINE_HOST_TO_DEVICE, in.data(), shape.pitch(), on.native(buffer),
                       shape.width, shape.width, shape.height);
        },
        [&] { std::fill(in.begin(), in.end(), 'n'); });
    behind_a_gate(
        [&] {
          on.copy_rows(queue, TRINE_DEVICE_TO_HOST, on.native(buffer), shape.width, out.data(),
                       shape.pitch(), shape.width, shape.height);
        },
        [] {});
    EXPECT_TRUE(is(out, 'n')) << shape.height << " rows of " << shape.width
                              << " bytes: the source was read before the event";
  }
};

}  // namespace

void copy_late(const trine_backend& backend) {
  const Device on(backend);
  trine_device_facts facts{};
  facts.size = sizeof facts;
  on.check(backend.device_facts(on.device, &facts));
  const Late late{on, (facts.capabilities & TRINE_CAN_ORDER_PAGEABLE) != 0};
  for (const Shape shape :
       {Shape{10, 1}, {65537, 1}, {1 << 20, 1}, {9 << 20, 1}, {100, 40}, {5000, 2000}, {40, 3}})
    late.there_and_back(shape);
}

}  // namespace faults
