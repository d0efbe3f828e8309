// The script and the loop that fails each of its steps.
#include "road.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "abi_objects.hpp"

namespace faults {
namespace {

constexpr int64_t kRows = 24, kCols = 40;
constexpr size_t kElements = kRows * kCols;
constexpr uint64_t kBytes = kElements * 4;
constexpr float kPoison = -77;

struct Script {
  const trine_backend& backend;
  const bool computes;
  const std::function<void()>& heal;
  std::string wrong;
  std::vector<float> in = std::vector<float>(kElements);
  std::vector<float> out = std::vector<float>(kElements, kPoison);
  float sum = kPoison;
  float total = 0;

  void expect(bool holds, const char* what) {
    if (!holds) wrong += std::string(what) + "; ";
  }

  static void count(void* counter) { ++*static_cast<std::atomic<int>*>(counter); }

  using Buffers = std::vector<Device::Handle<trine_buffer>>;

  void run() {
    for (size_t i = 0; i < kElements; ++i) total += in[i] = static_cast<float>(i % 97);
    const Device on(backend);
    Buffers scratch;  // memory that a launch in flight may still use
    const auto first = on.queue(), second = on.queue();
    try {
      walk(on, first, second, scratch);
    } catch (...) {
      // Nothing may reach for memory that is about to go.
      rest(first, second);
      throw;
    }
  }

  // A lost device's queues refuse to wait; then heal() has waited for them.
  void rest(const Device::Handle<trine_queue>& first, const Device::Handle<trine_queue>& second) {
    heal();
    backend.queue_wait(first.get());
    backend.queue_wait(second.get());
  }

  void walk(const Device& on, const Device::Handle<trine_queue>& first,
            const Device::Handle<trine_queue>& second, Buffers& scratch) {
    const auto keep = [&](uint64_t bytes, uint32_t kind) -> const Device::Handle<trine_buffer>& {
      scratch.reserve(8);
      return scratch.emplace_back(on.buffer(bytes, kind));
    };
    const auto& input = keep(kBytes, TRINE_MEMORY_DEVICE);
    const auto& output = keep(kBytes, TRINE_MEMORY_DEVICE);
    const auto& pinned = keep(kBytes, TRINE_MEMORY_PINNED);
    const auto& result = keep(4, TRINE_MEMORY_DEVICE);
    std::memcpy(on.facts(pinned).host, in.data(), kBytes);
    hold_back_and_let_go(on, first);
    on.copy(first, TRINE_HOST_TO_DEVICE, on.facts(pinned).host, on.native(input), kBytes);
    on.check(backend.fill(first.get(), on.native(output), 0, kBytes, &kPoison, 4));
    transpose(on, first, input, output, scratch);
    reduce(on, first, input, result, scratch);
    collect(on, first, second, output);
  }

  void hold_back_and_let_go(const Device& on, const Device::Handle<trine_queue>& queue) {
    const auto gate = on.event(true);
    on.check(backend.queue_wait_event(queue.get(), gate.get()));
    on.check(backend.event_signal(gate.get()));
  }

  void transpose(const Device& on, const Device::Handle<trine_queue>& queue,
                 const Device::Handle<trine_buffer>& input,
                 const Device::Handle<trine_buffer>& output, Buffers& scratch) {
    const trine_transpose op = transpose_of(on.native(input), on.native(output), kRows, kCols);
    const trine_call call{sizeof call, TRINE_TRANSPOSE, &op};
    trine_selection selection{};
    selection.size = sizeof selection;
    on.check(backend.choose(on.device, &call, &selection));
    const trine_status status = launch(on, call, selection, queue, scratch);
    if (status == TRINE_OK) return;
    // A refused launch must leave its output as it was.
    const Refused refused(status, backend.last_error());
    heal();
    std::vector<float> left(kElements);
    on.wait(queue);
    on.copy(queue, TRINE_DEVICE_TO_HOST, on.native(output), left.data(), kBytes);
    on.wait(queue);
    for (const float value : left) {
      if (value != kPoison) return expect(false, "a refused transpose has written"), throw refused;
    }
    throw refused;
  }

  trine_status launch(const Device& on, const trine_call& call, const trine_selection& selection,
                      const Device::Handle<trine_queue>& queue, Buffers& scratch) {
    uint64_t bytes = 0;
    on.check(backend.workspace_bytes(on.device, &selection, &call, &bytes));
    void* memory = nullptr;
    if (bytes) {
      memory = on.native(scratch.emplace_back(on.buffer(bytes)));
      const uint32_t zero = 0;
      on.check(backend.fill(queue.get(), memory, 0, bytes / 4 * 4, &zero, 4));
    }
    const trine_workspace workspace{sizeof workspace, memory, 0, bytes};
    return backend.launch(queue.get(), &selection, &call, bytes ? &workspace : nullptr);
  }

  void reduce(const Device& on, const Device::Handle<trine_queue>& queue,
              const Device::Handle<trine_buffer>& input, const Device::Handle<trine_buffer>& result,
              Buffers& scratch) {
    const trine_reduce op = sum_of(on.native(input), on.native(result), kRows, kCols);
    const trine_call call{sizeof call, TRINE_REDUCE, &op};
    trine_selection selection{};
    selection.size = sizeof selection;
    on.check(backend.choose(on.device, &call, &selection));
    on.check(launch(on, call, selection, queue, scratch));
    on.copy(queue, TRINE_DEVICE_TO_HOST, on.native(result), &sum, 4);
    on.wait(queue);
    if (computes) expect(sum == total, "the sum is wrong");
  }

  void collect(const Device& on, const Device::Handle<trine_queue>& first,
               const Device::Handle<trine_queue>& second,
               const Device::Handle<trine_buffer>& output) {
    const auto start = on.event(), stop = on.event();
    std::atomic<int> notices{0};
    on.check(backend.event_record(start.get(), first.get()));
    const trine_status notified = backend.event_notify(start.get(), count, &notices);
    const std::string why = backend.last_error();
    try {
      on.check(backend.queue_wait_event(second.get(), start.get()));
      on.copy(second, TRINE_DEVICE_TO_HOST, on.native(output), out.data(), kBytes);
      on.check(backend.event_record(stop.get(), second.get()));
      on.wait(second);
      on.check(backend.event_wait(stop.get()));
      double seconds = -1;
      on.check(backend.event_elapsed(start.get(), stop.get(), &seconds));
    } catch (...) {
      settle(first, second, notified, notices);
      throw;
    }
    settle(first, second, notified, notices);
    if (notified != TRINE_OK) throw Refused(notified, why.c_str());
    for (size_t i = 0; computes && i < kElements; ++i) {
      const size_t row = i / kRows, col = i % kRows;
      if (out[i] != in[col * kCols + row]) return expect(false, "the transpose is wrong");
    }
  }

  // `notices` and `out` lie on the stack: nothing may reach for them when it is gone.
  void settle(const Device::Handle<trine_queue>& first, const Device::Handle<trine_queue>& second,
              trine_status notified, const std::atomic<int>& notices) {
    rest(first, second);
    for (int i = 0; i < 2000 && notified == TRINE_OK && notices == 0; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      backend.queue_wait(first.get());
    }
    expect(notices == (notified == TRINE_OK ? 1 : 0), "a notice came not once");
  }
};

}  // namespace

Road run_road(const trine_backend& backend, bool computes, const std::function<void()>& heal) {
  Script script{backend, computes, heal, {}};
  Road road;
  try {
    script.run();
  } catch (const Refused& refused) {
    road.status = refused.status;
    road.error = refused.what();
  }
  heal();
  road.wrong = script.wrong;
  return road;
}

long fail_everywhere(const trine_backend& backend, bool computes, const Faults& faults) {
  long fired = 0;
  for (const bool forever : {false, true}) {
    for (long n = 1;; ++n) {
      bool came = false;
      std::string first;
      // Healing forgets what happened, so look before.
      const auto keep_then_heal = [&] {
        if (faults.fired()) came = true, first = faults.name();
        faults.heal();
      };
      faults.arm(n, forever);
      const Road failed = run_road(backend, computes, keep_then_heal);
      const std::string where = std::to_string(n) + (forever ? " and on: " : ": ") + first;
      if (!came) {
        EXPECT_EQ(failed.status, TRINE_OK) << failed.error;
        break;
      }
      ++fired;
      EXPECT_EQ(failed.wrong, "") << "fault " << where;
      if (failed.status != TRINE_OK) { EXPECT_NE(failed.error, "") << "fault " << where; }
      EXPECT_EQ(faults.inspect(), "") << "left after fault " << where;
      const Road next = run_road(backend, computes, [] {});
      EXPECT_EQ(next.status, TRINE_OK) << "after fault " << where << ": " << next.error;
      EXPECT_EQ(next.wrong, "") << "after fault " << where;
      EXPECT_EQ(faults.inspect(), "") << "left after the next run, fault " << where;
      if (testing::Test::HasFailure()) return fired;
    }
  }
  return fired;
}

}  // namespace faults
