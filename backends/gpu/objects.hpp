// The objects behind the contract's opaque handles on a GPU backend: four classes whose functions
// the cuda and the opencl folder implement over their drivers. They throw kit::Failure;
// abi_table.cpp turns that into statuses, checks arguments and keeps lost devices from being used.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "backends/gpu/variant.hpp"
#include "backends/kit/error.hpp"
#include "backends/kit/float_environment.hpp"
#include "backends/kit/fork.hpp"
#include "backends/kit/host.hpp"

/// One per device that is open, shared by all who opened it. Queues, events and buffers hold a
/// reference, so a device closed early lives as long as they do.
struct trine_device : trine::kit::Allocated {
  trine_device(trine::gpu::Backends backend, int device_index) : index(device_index) {
    target = {backend, &facts, this};
    facts.size = sizeof facts;
  }
  virtual ~trine_device() = default;

  virtual void native(void** native_device, void** native_context) = 0;
  virtual trine_queue* create_queue() = 0;
  virtual trine_queue* adopt_queue(void* native) = 0;
  virtual trine_event* create_event(bool signalled_by_host) = 0;
  virtual trine_buffer* allocate(uint64_t bytes, uint32_t kind) = 0;
  virtual trine_buffer* adopt(void* native, uint64_t bytes) = 0;
  virtual trine_buffer* wrap(void* host, uint64_t bytes) = 0;
  /// A reason in words why this build has no code of `variant` for this device, or nullptr.
  virtual const char* lacks(const trine::gpu::Variant& variant) = 0;

  bool is_lost() const { return lost_.load(std::memory_order_acquire); }
  const char* lost_reason() const { return lost_reason_; }
  /// A sticky error: nothing works any more. The first reason stays.
  void lose(const char* reason);

  trine_device_facts facts{};
  trine::gpu::Target target{};
  const int index;
  std::atomic<int> references{1};  // gpu::retain, gpu::release

 private:
  std::atomic<bool> losing_{false}, lost_{false};
  char lost_reason_[256] = "";
};

namespace trine::gpu {

/// A call that waits for an event. The driver's callback delivers it, once.
struct Notice : kit::Allocated {
  Notice(void (*wanted)(void*), void* its_argument) : function(wanted), argument(its_argument) {}
  static void deliver(void* notice) {
    const std::unique_ptr<Notice> owned(static_cast<Notice*>(notice));
    owned->function(owned->argument);
  }

  void (*const function)(void*);
  void* const argument;
  Notice* next = nullptr;
};

/// An object made from a device holds a reference to it.
struct OnDevice : kit::Allocated {
  explicit OnDevice(trine_device& on);
  virtual ~OnDevice();

  trine_device& device;
};

}  // namespace trine::gpu

/// The caller (core) serialises the calls on one queue.
struct trine_queue : trine::gpu::OnDevice {
  using OnDevice::OnDevice;

  virtual void* native() = 0;
  virtual void flush() = 0;
  virtual void wait() = 0;
  virtual bool idle() = 0;
  virtual bool is_captured() { return false; }  ///< into a graph, by the program
  virtual void wait_for(trine_event& event) = 0;
  /// By copy_box(), or row by row where rows overlap or the driver takes no such box.
  void copy(trine_copy copy);
  /// The same for one row between the device and ordinary host memory, behind all work before it.
  /// When it returns or throws, nothing reaches for that memory any more. A copy() and a wait()
  /// don't promise that: where the wait fails, the copy may still be on its way.
  virtual void copy_and_wait(const trine_copy& copy) = 0;
  virtual void fill(void* memory, uint64_t offset, uint64_t bytes, const void* pattern,
                    uint32_t pattern_bytes) = 0;
  virtual void launch(const trine::gpu::Variant& variant, const trine::gpu::Plan& plan) = 0;
  /// Device memory that kernels on this queue can use.
  virtual trine_buffer* allocate(uint64_t bytes) {
    return device.allocate(bytes, TRINE_MEMORY_DEVICE);
  }

 private:
  /// The first row of `copy`.
  virtual void copy_row(const trine_copy& copy) = 0;
  /// Rows that don't overlap; false, and nothing is enqueued, where the driver can't do such ones.
  virtual bool copy_box(const trine_copy& copy) = 0;
  void repeat_row(const trine_copy& copy);
};

struct trine_event : trine::gpu::OnDevice {
  trine_event(trine_device& on, bool signalled_by_host)
      : OnDevice(on), by_host(signalled_by_host) {}

  virtual void record(trine_queue& queue) = 0;  ///< not by_host
  virtual void signal() = 0;                    ///< by_host alone
  virtual bool passed() = 0;
  virtual void wait() = 0;
  virtual void notify(void (*function)(void*), void* argument) = 0;
  virtual double seconds_since(trine_event& start) = 0;  ///< neither by_host

  const bool by_host;
};

struct trine_buffer : trine::gpu::OnDevice {
  trine_buffer(trine_device& on, uint32_t kind, uint64_t bytes) : OnDevice(on) {
    facts.size = sizeof facts;
    facts.kind = kind;
    facts.bytes = bytes;
  }

  trine_buffer_facts facts{};
};

namespace trine::gpu {

/// A backend as abi_table.cpp sees it.
struct Driver {
  Backends id;
  const char* name;
  const char* build;
  /// Number of devices; 0 with the reason reported (kit::report).
  int (*device_count)();
  /// Whether `auto` should ask for them where other backends have so many GPUs; if not, the reason
  /// is reported.
  bool (*is_candidate)(int gpus);
  void (*describe)(int index, trine_device_facts& facts);
  trine_device* (*open)(int index);
};

constexpr int kMaxDevices = 64;

/// A library's entry: the contract's table of functions over `driver`, which must live as long as
/// the process; a library holds one backend.
trine_status enter(const Driver& driver, const trine_host* host, const trine_backend** backend);

/// The device of that index: the one that is open already, or a new one, its arithmetic probed.
trine_device* open(const Driver& driver, int index);

/// Throws unsupported with the device's limit where a buffer would be larger.
void check_limit(const trine_device& on, uint64_t bytes);

/// kit::guard for an entry that calls the driver, which may run kernels on the caller's thread and
/// starts threads of its own that inherit its floating-point environment.
template <class Body>
trine_status guard(Body&& body) noexcept {
  const kit::WholeFloatEnvironment environment;
  return kit::guard(body);
}

/// The bytes to ask a driver for: drivers know no memory of 0 bytes.
inline std::size_t at_least_one(uint64_t bytes) { return bytes ? bytes : 1; }

/// References of a device: the open handles and all objects made from it.
void retain(trine_device& device);
void release(trine_device& device);

/// In a child that is forked after the driver was woken it doesn't work; even destroying must not
/// call it.
using kit::is_forked;

// --- Checks of a device's arithmetic that run on the device itself (self_check.cpp) ---

/// The variant's self-check on this device, run once a device and process, at the first question.
/// `why` says in words that stay what went wrong, nullptr where nothing did.
struct Checked {
  enum Verdict : uint8_t { kUnknown, kPassed, kWrong, kBroken };  ///< kBroken: it couldn't run
  Verdict verdict;
  const char* why;
};
Checked check_itself(trine_device& device, const Variant& variant);
/// The same without running it: kUnknown where nobody has asked yet.
Checked known_check(const trine_device& device, const Variant& variant);

/// Has the build code of `variant` for this device, and does its self-check pass? (Target::runs)
bool runs_here(trine_device& device, const Variant& variant);

/// Fills facts.capabilities' REPRODUCE (and takes F64 away where f64 doesn't hold) and facts.probe.
/// Runs once a device and process.
void probe_arithmetic(trine_device& device);

/// Forgets all verdicts (tests).
void forget_checks();

}  // namespace trine::gpu
