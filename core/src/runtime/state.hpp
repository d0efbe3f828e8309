// The states behind the handles: devices, queues, events and buffers, and who keeps what alive.
//
// A queue's Timeline outlives the queue as long as a buffer remembers having been used on it, so
// that a buffer dropped with work in flight knows what it must wait for. Whatever can't go at once
// becomes DeferredDeletion (deferred_deletion.hpp) and goes later, in passing, without blocking
// anybody.
#pragma once

#include <trine/operations.hpp>

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backends/kit/host.hpp"
#include "backends/registry.hpp"
#include "backends/services.hpp"
#include "deferred_deletion.hpp"
#include "error.hpp"

namespace trine::detail {

/// Why a child that was forked while Trine was in use can't have a device of that backend; "" where
/// it can: the cpu's work is done by the threads that call.
std::string why_not_in_child(const registry::Backend& backend);

/// The contract's facts of a device as the API shows them.
Facts to_facts(const trine_device_facts& raw, std::string id);

/// The device for this rank of MPI among a backend's that are of the first one's kind: ranks of
/// a node take turns.
const Facts& of_this_rank(const std::vector<Facts>& devices);

/// The backends among whose devices `auto` looks, with those devices.
std::vector<BackendInfo> backends_for_auto();

struct TuningTable;
/// Raised whenever tuning tables may have changed: saved, forgotten, ladders grown.
extern std::atomic<unsigned> tuning_generation;

struct DeviceState : kit::Allocated {
  DeviceState(const registry::Backend& backend, int32_t index, std::string id,
              const std::string& options);
  ~DeviceState();

  /// Throws when the device is lost, or another process's.
  void check() const {
    if (lost.load(std::memory_order_acquire) || generation != kit::generation()) throw_lost();
  }
  /// Neither a forked child nor a process that exits calls a backend to free anything.
  bool may_call() const noexcept { return generation == kit::generation() && !registry::exiting(); }
  /// Throws Error for anything but TRINE_OK: "cuda:0: <what>: <the backend's words>".
  void expect(trine_status status, const char* what) const {
    if (status != TRINE_OK) raise(status, what);
  }
  [[noreturn]] void raise(trine_status status, std::string_view what) const;
  [[noreturn]] void throw_lost() const;
  /// Takes note of a status that can't be thrown; only a lost device matters.
  void notice(trine_status status) const noexcept;
  void lose(std::string sentence) const noexcept;

  const registry::Backend& backend;
  const trine_backend& api;
  int32_t index;
  const unsigned generation = kit::generation();  ///< of the process that opened it
  std::string id;
  Facts facts;
  trine_device_facts raw{};
  trine_device* handle = nullptr;
  void* native_device = nullptr;
  void* native_context = nullptr;
  /// A CPU computes in the host's memory, whatever its address. An integrated GPU shares it too,
  /// but must pin whole pages of it first: calls on host data bring it what they need, as to any
  /// GPU.
  bool in_place = false;
  /// Its copies from or to another device go through memory that it has pinned itself.
  bool needs_pinned() const { return (raw.capabilities & TRINE_CAN_ORDER_PAGEABLE) == 0; }
  mutable std::atomic<const TuningTable*> tuning{nullptr};  ///< tuning_of() fills it in
  mutable std::atomic<bool> lost{false};
  mutable std::mutex lost_mutex;
  mutable std::string lost_why;
};

/// A queue as others may refer to it, also after it is gone.
struct Timeline : kit::Allocated {
  explicit Timeline(std::shared_ptr<DeviceState> of) : device(std::move(of)) {}
  ~Timeline();
  /// The queue is gone, and all its work has passed, or failed: nothing more will come of it.
  bool is_over() const noexcept {
    return !queue && (!tail || device->api.event_query(tail) != TRINE_NOT_READY);
  }
  /// An adopted queue in which nothing is left may be gone: then only the program may ask about it.
  bool can_be_asked() const { return !is_adopted || has_work; }

  std::shared_ptr<DeviceState> device;
  std::mutex mutex;              ///< serialises the calls on the queue
  trine_queue* queue = nullptr;  ///< nullptr once destroyed
  trine_event* tail = nullptr;   ///< of a destroyed queue: passes when all its work has; or nullptr
  bool is_adopted = false;
  bool has_work = false;  ///< something was enqueued since the last good wait
};

/// A call since the last good wait, to be named when something fails.
struct Logged {
  uint32_t operation = 0;  ///< trine_operation; 0: a copy, fill or wait
  const char* what = nullptr;
  const char* function = nullptr;
  const char* dtype = nullptr;
  const char* rung = nullptr;
  int64_t extents[3] = {0, 0, -1};  ///< -1: there are two
};

struct BufferState;
struct QueueState;
using Helpers = kit::Vector<std::shared_ptr<QueueState>>;

struct QueueState : DeferredDeletion {
  explicit QueueState(std::shared_ptr<DeviceState> on);
  ~QueueState() override;
  bool passed() noexcept override;
  bool frees(const DeviceState& of, uint32_t kind) const noexcept override {
    return scratch && &device() == &of && kind == TRINE_MEMORY_DEVICE;
  }
  /// The last handle is gone: queue and workspace go when the work in flight has passed.
  static void retire(QueueState* state) noexcept;

  DeviceState& device() const { return *timeline->device; }
  void log(const Logged& entry) noexcept {
    entries[logged++ % kLogged] = entry;
    timeline->has_work = true;
  }
  /// Enqueues nothing but says what failed: names the operations since the last good wait.
  [[noreturn]] void raise(trine_status status, std::string_view what);
  void expect(trine_status status, std::string_view what) {
    if (status != TRINE_OK) raise(status, what);
  }
  std::string history() const;
  /// Notes a failure of work that ran inside the queue; the next wait throws it.
  void note_failure(trine_status status, const char* sentence) noexcept;
  void throw_failure();
  /// Keeps a queue of another device that works for this one until wait(), which reports what
  /// failed there. Those that are done are handed over, their failures noted: the caller lets them
  /// go when it has unlocked this queue, since their end may look at what other queues hold.
  void keep(std::shared_ptr<QueueState> helper, Helpers& finished);
  /// Waits for the helpers, notes what failed, and hands them over likewise.
  Helpers finish_helpers() noexcept;
  /// Device memory for the launch that was logged last; grows, and zeroes the control bytes when
  /// they may not be. `lock` is this queue's; where memory must be waited for, it is off meanwhile.
  trine_workspace workspace(uint64_t bytes, std::unique_lock<std::mutex>& lock);
  /// Enqueues the element all over a view, in as few commands as the backend takes; the queue is
  /// locked. `view` is canonical, touches an element, and its elements lie apart.
  void fill(const trine_view& view, const void* element, uint32_t bytes, const char* what);
  trine_status grow_scratch(uint64_t bytes);
  /// Whether the program captures the queue into a graph; the queue is locked.
  bool is_captured();
  /// Where the queue's kernels can use it: an adopted queue may live in a context of its own.
  trine_status allocate_here(uint64_t bytes, trine_buffer** made);
  void* pack_state(const registry::Pack& pack, const trine_native& native);

  static constexpr uint64_t kShown = 8;
  static constexpr uint64_t kLogged = kShown + 1;  ///< the last may be taken back
  std::shared_ptr<Timeline> timeline;
  trine_buffer* scratch = nullptr;
  trine_buffer_facts scratch_facts{};
  kit::Vector<trine_buffer*> outgrown;  ///< an adopted queue's: graphs of the program may use them
  bool scratch_is_clean = false;        ///< the control bytes are zero
  bool is_quiet = false;                ///< core's own, to measure: its calls leave no receipts
  uint64_t logged = 0;                  ///< since the last good wait
  Logged entries[kLogged];
  struct PackState {
    const registry::Pack* pack;
    void* state;
  };
  kit::Vector<PackState> pack_states;
  Helpers helpers;
  std::shared_ptr<BufferState>
      staging;               ///< of the last copy between devices, for the next (pinning is slow)
  std::mutex failure_mutex;  ///< of a helper, or a pack's rung that ran inside the queue (cpu)
  std::atomic<trine_status> failure{TRINE_OK};
  std::string failure_text;
};

struct EventState : kit::Allocated {
  explicit EventState(std::shared_ptr<DeviceState> of) : device(std::move(of)) {}
  ~EventState();
  std::shared_ptr<DeviceState> device;
  trine_event* handle = nullptr;
  bool by_host = false;        ///< of a call on host data
  std::exception_ptr failure;  ///< of that call; set before the event passes
};

struct BufferState : DeferredDeletion {
  explicit BufferState(std::shared_ptr<DeviceState> of) : device(std::move(of)) {}
  ~BufferState() override;
  bool passed() noexcept override;
  bool frees(const DeviceState& of, uint32_t kind) const noexcept override {
    return device.get() == &of && facts.kind == kind;
  }
  static void retire(BufferState* state) noexcept;
  /// Remembers that `timeline` is about to use the buffer.
  void used_on(const std::shared_ptr<Timeline>& timeline);

  std::shared_ptr<DeviceState> device;
  trine_buffer* handle = nullptr;
  trine_buffer_facts facts{};

 private:
  struct Use {
    std::shared_ptr<Timeline> timeline;
    trine_event* moment = nullptr;
    bool passed = false;
  };
  bool has_passed(Use& use) noexcept;

  std::atomic<const Timeline*> last_{nullptr};
  std::mutex mutex_;
  kit::Vector<Use> uses_;
};

/// The only access from handles to states.
struct Access {
  template <class Handle>
  static auto& state(Handle& handle) {
    return handle.state_;
  }
  static Device device(std::shared_ptr<DeviceState> state) {
    Device device;
    device.state_ = std::move(state);
    return device;
  }

  /// The state behind a handle; throws when there is none, use() also when its device is lost.
  static DeviceState& some(const Device& device);
  static DeviceState& use(const Device& device);
  static QueueState& use(const Queue& queue);
  static BufferState& use(const Buffer& buffer);
};

std::shared_ptr<QueueState> make_queue(const std::shared_ptr<DeviceState>& device);
std::shared_ptr<QueueState> adopt_queue(const std::shared_ptr<DeviceState>& device, void* native);
std::shared_ptr<EventState> make_event(const std::shared_ptr<DeviceState>& device, bool by_host);
/// A moment after all work enqueued so far.
std::shared_ptr<EventState> record(QueueState& queue);
/// Work enqueued from now on waits for `event`, of any backend; the caller doesn't.
void wait_for(QueueState& queue, const std::shared_ptr<EventState>& event);
void wait(QueueState& queue);

std::shared_ptr<BufferState> allocate(std::shared_ptr<DeviceState> device, uint64_t bytes,
                                      Memory kind);
/// Device memory for the queue's kernels, whatever context an adopted queue lives in.
Buffer memory_for(Queue& queue, uint64_t bytes);
std::shared_ptr<BufferState> wrap(std::shared_ptr<DeviceState> device, void* host, uint64_t bytes);

}  // namespace trine::detail
