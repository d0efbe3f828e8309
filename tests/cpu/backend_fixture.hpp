// The CPU backend as a test sees it through its contract: loaded, with an allocator that watches.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "backends/abi.h"
#include "tests/faults/abi_objects.hpp"
#include "tests/faults/module.hpp"

namespace trine::cpu::test {

// The size and alignment of the largest allocation since `largest_bytes` was set to 0.
inline std::atomic<std::size_t> largest_bytes{0}, largest_alignment{0};

inline void* test_allocate(void*, std::size_t bytes, std::size_t alignment) {
  if (bytes > largest_bytes) largest_bytes = bytes, largest_alignment = alignment;
  void* memory = nullptr;
  return posix_memalign(&memory, alignment, bytes) == 0 ? memory : nullptr;
}

inline const trine_backend& cpu() {
  static const trine_host host{sizeof host, nullptr, test_allocate,
                               [](void*, void* pointer) { std::free(pointer); }};
  static const trine_backend& backend = *faults::load_backend(TRINE_TEST_CPU_BACKEND, host);
  return backend;
}

// A device with one queue.
struct Session {
  trine_device* device = nullptr;
  trine_queue* queue = nullptr;
  explicit Session(const char* options = "") {
    EXPECT_EQ(cpu().device_open(0, options, &device), TRINE_OK) << cpu().last_error();
    EXPECT_EQ(cpu().queue_create(device, &queue), TRINE_OK);
  }
  ~Session() {
    cpu().queue_destroy(queue);
    cpu().device_close(device);
  }
};

inline std::int32_t default_rung(const trine_call& call, trine_device* device) {
  trine_selection selection{};
  selection.size = sizeof selection;
  EXPECT_EQ(cpu().choose(device, &call, &selection), TRINE_OK);
  return selection.rung;
}

// Enqueues the exact sum of `data` into `result`; the workspace lives in `memory`.
inline trine_status enqueue_sum(Session& s, const std::vector<float>& data, float& result,
                                std::vector<std::byte>& memory) {
  const auto n = static_cast<std::int64_t>(data.size());
  const trine_reduce op = faults::sum_of(const_cast<float*>(data.data()), &result, 1, n);
  const trine_call call{sizeof call, TRINE_REDUCE, &op};
  trine_selection selection{};
  selection.size = sizeof selection;
  selection.rung = default_rung(call, s.device);
  std::uint64_t bytes = 0;
  EXPECT_EQ(cpu().workspace_bytes(s.device, &selection, &call, &bytes), TRINE_OK);
  memory.assign(bytes + 256, std::byte{0});
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
  const trine_workspace workspace{sizeof workspace, memory.data(), 256 - address % 256, bytes};
  return cpu().launch(s.queue, &selection, &call, &workspace);
}

constexpr std::size_t kLarge = std::size_t(1) << 22;

}  // namespace trine::cpu::test
