// The handles of the contract as the CPU backend has them, and the functions of its table, by what
// they are about: backend.cpp (devices, the table), device.cpp, queues.cpp, buffers.cpp,
// operations.cpp.
#pragma once

#include <atomic>
#include <mutex>

#include "backends/abi.h"
#include "backends/kit/error.hpp"
#include "backends/kit/float_environment.hpp"
#include "backends/kit/host.hpp"
#include "executor.hpp"

// Queues, events and buffers keep their device alive.
struct trine_device : trine::kit::Allocated {
  trine::cpu::Executor* executor;
  int threads;
  std::atomic<int> references{1};
};

struct trine_queue : trine::kit::Allocated {
  trine_device* device;
  trine::cpu::Queue* queue;
  const trine_witness* witness = nullptr;
};

struct trine_event : trine::kit::Allocated {
  trine_device* device;
  bool signalled_by_host;
  std::mutex lock;
  trine::cpu::SharedMark mark;  // null until it is recorded: nothing to wait for
};

struct trine_buffer : trine::kit::Allocated {
  trine_device* device;
  trine_memory_kind kind;
  void* memory;
  std::uint64_t bytes;
  bool owned;
};

namespace trine::cpu {

// Every function that can fail runs through this: what a program traps is not ours to raise. Those
// that compute with integers alone run through kit::guard: putting an environment aside waits for
// all that the thread has begun, some 10 ns.
template <class Body>
trine_status checked(Body&& body) noexcept {
  const kit::FloatEnvironment environment;
  return kit::guard(body);
}

inline trine_device* retain(trine_device* device) {
  device->references.fetch_add(1);
  return device;
}
inline void release(trine_device* device) {
  if (device->references.fetch_sub(1) == 1) delete device;
}

// Fills everything but compute_units, which the executor knows: the processor's name, memory, and
// whether its arithmetic is the one that the numerics are stated in.
void describe_processor(trine_device_facts& facts);

void fill_queue_table(trine_backend& table);
void fill_buffer_table(trine_backend& table);
void fill_operation_table(trine_backend& table);

}  // namespace trine::cpu
