// One-line calls on host data: pick a device, bring the operands there (or use them in place where
// the device is a CPU), run, bring the results back; large ones in chunks, so that
// copies and kernels overlap.
#include <algorithm>
#include <array>
#include <chrono>
#include <future>
#include <map>
#include <new>
#include <system_error>

#include "backends/kit/signals.hpp"
#include "background.hpp"
#include "core/src/auto/placement.hpp"
#include "core/src/call/run.hpp"
#include "core/src/receipts/receipt.hpp"
#include "host_call.hpp"
#include "operand.hpp"

namespace trine {
namespace detail {
namespace {

/// The work of a queue: all of a call, or its share of one in chunks.
enum class QueueRole : std::size_t { whole, bring, compute, fetch };

/// Idle queues by device and role, kept with their pinned memory for the next call. They keep the
/// device open. By role, since a queue's copies should keep their direction: CUDA's driver
/// may order what comes next on a stream, be it a wait or a record, behind all copies of the
/// direction that the stream had before.
struct IdleQueues {
  /// A device's idle queues keep so many, of 32 MiB each: more calls at once than a link is busy
  /// with.
  static constexpr std::ptrdiff_t kRings = 8;
  using Idle =
      std::array<std::vector<std::unique_ptr<CallQueue>>, std::size_t(QueueRole::fetch) + 1>;

  std::mutex mutex;
  std::map<const DeviceState*, Idle> idle;
};

/// A queue for the length of a call. One that failed is dropped, not handed on.
class LentQueue {
 public:
  explicit LentQueue(const Device& device, QueueRole role, const trine_witness* witness = nullptr)
      : key_(&Access::use(device)), role_(static_cast<std::size_t>(role)) {
    IdleQueues& queues = singleton<IdleQueues>();
    {
      const std::lock_guard lock(queues.mutex);
      auto& idle = queues.idle[key_][role_];
      if (!idle.empty()) {
        queue_ = std::move(idle.back());
        idle.pop_back();
      }
    }
    if (!queue_) queue_ = std::make_unique<CallQueue>(device);
    queue_->show(witness);
  }
  ~LentQueue() {
    if (!queue_) return;
    try {
      queue_->queue.wait();  // a call that failed leaves nothing in flight on the caller's memory
    } catch (...) {}
  }
  LentQueue(const LentQueue&) = delete;
  LentQueue& operator=(const LentQueue&) = delete;

  void give_back() {
    IdleQueues& queues = singleton<IdleQueues>();
    Buffer spare;  // freed when the lock is off
    queue_->show(nullptr);
    const std::lock_guard lock(queues.mutex);
    IdleQueues::Idle& idle = queues.idle[key_];
    std::ptrdiff_t rings = 0;
    for (const auto& list : idle)
      rings += std::ranges::count_if(list, [](const auto& queue) { return bool(queue->ring); });
    if (rings >= IdleQueues::kRings) std::swap(spare, queue_->ring);
    idle[role_].push_back(std::move(queue_));
  }
  CallQueue& operator*() { return *queue_; }
  CallQueue* operator->() { return queue_.get(); }

 private:
  const DeviceState* key_;
  std::size_t role_;
  std::unique_ptr<CallQueue> queue_;
};

Device device_for(const AnyOperation& planned, const HostOptions& options) {
  if (options.device != "auto") return open(options.device);
  const auto ask = [&](const Device& device) { choose(device, planned, options.rung); };
  const Where pinned =
      options.overlap && options.rung.empty() ? Where::host_pipelined : Where::host_pinned;
  Placement best = best_device(work_of(planned), options.pinned ? pinned : Where::host, 1, ask);
  if (options.placement) *options.placement = std::move(best.sentence);
  return std::move(best.device);
}

/// Times the steps of a call where that is asked for.
class Tracer {
 public:
  explicit Tracer(HostTrace* trace) : trace_(trace) {}

  /// Runs `step`, which enqueues on `queue`. Steps of one kind come one after the other, in one
  /// thread.
  template <class Step>
  void time(HostStep::Kind kind, std::size_t chunk, Queue& queue, Step&& step) {
    if (!trace_) return step();
    Event begin = queue.record();
    queue.flush();
    step();
    moments_[static_cast<std::size_t>(kind)].push_back(
        {static_cast<int>(chunk), std::move(begin), queue.record()});
    queue.flush();
  }
  /// Memory has been got: what takes time from here on, a step says.
  void allocated() {
    if (trace_) trace_->allocation = std::chrono::duration<double>(Clock::now() - start_).count();
  }
  /// When all has passed.
  void tell() const {
    if (!trace_) return;
    const Clock::time_point passed = Clock::now();
    trace_->steps.clear();
    const Event* origin = nullptr;
    for (std::size_t kind = 0; kind < moments_.size(); ++kind)
      for (const Moment& moment : moments_[kind]) {
        if (!origin) origin = &moment.begin;
        trace_->steps.push_back({static_cast<HostStep::Kind>(kind), moment.chunk,
                                 elapsed(*origin, moment.begin), elapsed(*origin, moment.end)});
      }
    trace_->reading = std::chrono::duration<double>(Clock::now() - passed).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  struct Moment {
    int chunk;
    Event begin, end;
  };
  HostTrace* trace_;
  Clock::time_point start_ = trace_ ? Clock::now() : Clock::time_point();
  std::array<std::vector<Moment>, 3> moments_;  ///< by kind
};

/// A call on host data: its operation, and its operands, the output last.
class HostCall {
 public:
  HostCall(const AnyValue& operation, std::span<const ConstHostView> data,
           const HostOptions& options)
      : operation_(operation),
        is_(AnyOperation(operation).is),
        options_(options),
        rung_(options.rung),
        tracer_(options.trace) {
    const std::span<const Role> roles = AnyOperation(operation).views().roles;
    operands_.reserve(data.size());
    for (std::size_t i = 0; i < data.size(); ++i) operands_.emplace_back(data[i], roles[i]);
  }

  HostCall(const HostCall&) = delete;

  /// Refuses what can be refused, before anything moves.
  void check() {
    const AnyValue planned = over(operands_);
    check_numerics(options_.numerics, AnyOperation(planned).views().roles[0]);
    plan_of(planned);
    for (const Operand& operand : operands_)
      operand.check(is_.alignment(size_of(operand.view().dtype)));
    const void* const op = AnyOperation(planned).get();
    is_in_place_ = is_.goes_in_place(op) && operands_[0].is_same(output());
    for (std::size_t i = 0; i + 1 < operands_.size() && !is_in_place_; ++i)
      operands_[i].check_apart(output());
    reads_output_ = is_.reads_output(op);
    device_ = device_for(planned, options_);
  }

  void run() {
    if (options_.receipt || ReceiptFile::get()) [[unlikely]]
      receipt_ = std::make_unique<HostReceipt>(over(operands_), hosts(), is_in_place_);
    if (Access::use(device_).in_place && options_.in_place) return run_in_place();
    if (receipt_) receipt_->read_inputs_meanwhile();  // the copies leave cores and memory idle
    if (!run_in_chunks(cutting_of(over(operands_), {options_.pinned, options_.chunks})))
      run_whole();
  }

  /// Runs a checked call in another thread; the event passes when it has ended.
  static Event start(std::unique_ptr<HostCall> checked) {
    const Choice choice =
        choose(checked->device_, checked->over(checked->operands_), checked->rung_);
    HostOptions& options = checked->options_;
    if (options.choice) *options.choice = choice;
    options.choice = nullptr;
    Event event;
    const std::shared_ptr<EventState> end = Access::state(event) =
        make_event(Access::state(checked->device_), true);
    run_in_background(end->device.get(),
                      [end, call = std::shared_ptr<HostCall>(std::move(checked))]() mutable {
                        try {
                          entry([&] { call->run(); });
                        } catch (...) { end->failure = std::current_exception(); }
                        call.reset();  // then the memory is the caller's again
                        end->device->notice(end->device->api.event_signal(end->handle));
                      });
    return event;
  }

 private:
  using Operands = std::vector<Operand>;

  /// The operation on these operands.
  AnyValue over(const Operands& operands) const {
    AnyValue made = operation_;
    const Views views = views_of(made);
    for (std::size_t i = 0; i < operands.size(); ++i) views[i] = operands[i].view();
    return made;
  }
  AnyValue over(const Operands& operands, const Chunk& chunk) const {
    AnyValue made = over(operands);
    std::visit([&](auto& op) { is_.take(&op, chunk); }, made);
    return made;
  }
  Operand& output() { return operands_.back(); }
  bool is_read(std::size_t index) const { return reads_output_ || index + 1 < operands_.size(); }
  void tell(const Choice& choice) const {
    tracer_.tell();
    if (options_.choice) *options_.choice = choice;
    if (!receipt_) return;
    Receipt& receipt = receipt_->finish(choice);
    if (options_.receipt) *options_.receipt = std::move(receipt);
  }
  /// From here on the output may be half new.
  void will_write() const {
    if (options_.choice) options_.choice->device = device_;
  }
  const trine_witness* witness() const { return receipt_ ? receipt_->witness() : nullptr; }
  std::vector<ConstHostView> hosts() const {
    std::vector<ConstHostView> all;
    for (const Operand& operand : operands_) all.push_back(operand.host());
    return all;
  }

  /// Brings what several chunks need with the first of them.
  void bring(CallQueue& stream, Operands& operands, std::size_t chunk, const Cutting& cutting) {
    tracer_.time(HostStep::Kind::copy_in, chunk, stream.queue, [&] {
      for (std::size_t i = 0; i < operands.size(); ++i)
        if (is_read(i) && (chunk == 0 || first_with(cutting, i, chunk) == chunk))
          operands[i].bring(stream, options_.pinned);
    });
  }
  Choice launch(Queue& queue, const AnyValue& made, std::size_t chunk, std::string_view rung) {
    Choice choice;
    tracer_.time(HostStep::Kind::kernel, chunk, queue,
                 [&] { choice = detail::run(queue, made, rung); });
    return choice;
  }
  void fetch(CallQueue& stream, Operand& operand, std::size_t chunk) {
    tracer_.time(HostStep::Kind::copy_out, chunk, stream.queue,
                 [&] { operand.fetch(stream, options_.pinned); });
  }

  void run_in_place() {
    LentQueue stream(device_, QueueRole::whole, witness());
    output().wrap(device_);
    for (std::size_t i = 0; i + 1 < operands_.size(); ++i)
      is_in_place_ ? void(operands_[i] = output()) : operands_[i].wrap(device_);
    tracer_.allocated();
    will_write();
    const Choice choice = launch(stream->queue, over(operands_), 0, rung_);
    stream->queue.wait();
    tell(choice);
    stream.give_back();
  }

  void run_whole() {
    LentQueue stream(device_, QueueRole::whole);
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      const uint64_t bytes = operands_[i].lay_out();
      if (bytes != 0) operands_[i].place(Buffer(device_, bytes), 0);
    }
    tracer_.allocated();
    bring(*stream, operands_, 0, {});
    const Choice choice = launch(stream->queue, over(operands_), 0, rung_);
    will_write();
    fetch(*stream, output(), 0);
    stream->queue.wait();
    tell(choice);
    stream.give_back();
  }

  /// The operands of each chunk.
  std::vector<Operands> chunks_of(const Cutting& cutting) const {
    std::vector<Operands> all;
    for (const Chunk& chunk : cutting) {
      Operands& operands = all.emplace_back();
      for (std::size_t i = 0; i < operands_.size(); ++i)
        operands.push_back(operands_[i].part(chunk.parts[i]));
    }
    return all;
  }

  /// Asked before anything moves, since a refused call writes nothing.
  bool takes(const std::vector<Operands>& chunks, const Cutting& cutting) const {
    try {
      for (std::size_t s = 0; s < chunks.size(); ++s)
        if (choose(device_, over(chunks[s], cutting[s])).numerics != Numerics::reproducible)
          return false;
    } catch (const Error& error) {
      if (error.status() != Status::unsupported) throw;
      return false;
    }
    return true;
  }

  /// Where the chunks of an operand lie in its buffer on the device.
  struct Room {
    uint64_t bytes = 0;
    std::vector<uint64_t> offsets;
  };

  /// Operand `i` of all chunks, one after the other: with the gaps it may take more than the whole.
  /// A part of what a chunk before has is there.
  static Room lay_out(std::vector<Operands>& chunks, std::size_t i, const Cutting& cutting) {
    constexpr uint64_t kAlignment = 256;  // of what kernels load, and to spare
    Room room;
    for (std::size_t s = 0; s < chunks.size(); ++s) {
      const uint64_t size = chunks[s][i].lay_out();
      const std::size_t first = first_with(cutting, i, s);
      if (first < s) {
        room.offsets.push_back(room.offsets[first] + distance(chunks[first][i].view(),
                                                              cutting[first].parts[i],
                                                              cutting[s].parts[i]));
      } else {
        room.offsets.push_back(room.bytes);
        room.bytes += (size + kAlignment - 1) / kAlignment * kAlignment;
      }
    }
    return room;
  }

  /// Memory on the device for all chunks; false where its largest buffer, or what is free, doesn't
  /// hold them.
  bool place(std::vector<Operands>& chunks, const Cutting& cutting) const {
    const uint64_t most = Access::use(device_).facts.max_buffer_bytes;
    std::vector<Room> rooms;
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      rooms.push_back(lay_out(chunks, i, cutting));
      if (most != 0 && rooms[i].bytes > most) return false;
    }
    try {
      for (std::size_t i = 0; i < operands_.size(); ++i) {
        if (rooms[i].bytes == 0) continue;
        const Buffer buffer(device_, rooms[i].bytes);
        for (std::size_t s = 0; s < chunks.size(); ++s)
          chunks[s][i].place(buffer, rooms[i].offsets[s]);
      }
    } catch (const Error& error) {
      if (error.status() != Status::out_of_memory) throw;
      return false;
    }
    return true;
  }

  /// Copies in, kernels and copies out of the chunks, each in a queue of its own: while one chunk
  /// is computed, the next is on its way in and the one before on its way out. False, with nothing
  /// done and nothing kept, where the call isn't cut, or there is no room or no thread for its
  /// chunks.
  bool run_in_chunks(const Cutting& cutting) {
    if (!options_.overlap || !rung_.empty() || cutting.size() < 2) return false;
    // Elements that are still to be read lie where this chunk's results go, but for one of
    // matrices.
    if (is_in_place_ && cutting[0].parts[0].batch == whole(operands_[0].view()).batch) return false;
    std::vector<Operands> chunks = chunks_of(cutting);
    if (!takes(chunks, cutting) || !place(chunks, cutting)) return false;
    LentQueue in(device_, QueueRole::bring), kernel(device_, QueueRole::compute),
        out(device_, QueueRole::fetch);
    tracer_.allocated();
    // First, since its end waits for the thread: where something failed, a broken promise ends
    // that.
    std::future<void> taken;
    std::vector<std::promise<Event>> computed(chunks.size());
    std::vector<std::future<Event>> moments;
    moments.reserve(chunks.size());
    for (std::promise<Event>& chunk : computed) moments.push_back(chunk.get_future());
    // Takes the chunks back, in a thread of its own: bringing and taking block while bytes move.
    auto take_all = [this, &out, &chunks, &cutting, moments = std::move(moments)]() mutable {
      for (std::size_t s = 0; s < chunks.size(); ++s) {
        const Event moment = moments[s].get();
        if (!cutting[s].ends) continue;
        out->queue.wait(moment);
        fetch(*out, chunks[s].back(), s);
      }
    };
    try {
      taken =
          kit::without_signals([&] { return std::async(std::launch::async, std::move(take_all)); });
    } catch (const std::system_error&) { return false; } catch (const std::bad_alloc&) {
      return false;
    }
    will_write();
    Choice choice;
    for (std::size_t s = 0; s < chunks.size(); ++s) {
      bring(*in, chunks[s], s, cutting);
      kernel->queue.wait(in->queue.record());
      in->queue.flush();
      Choice chosen = launch(kernel->queue, over(chunks[s], cutting[s]), s, {});
      if (s == 0) choice = std::move(chosen);
      Event moment = kernel->queue.record();
      kernel->queue.flush();
      if (taken.wait_for(std::chrono::seconds(0)) == std::future_status::ready) taken.get();
      computed[s].set_value(std::move(moment));
    }
    taken.get();
    for (LentQueue* stream : {&in, &kernel, &out})
      (*stream)->queue.wait();  // each tells what failed in it
    tell(choice);
    for (LentQueue* stream : {&in, &kernel, &out}) stream->give_back();
    return true;
  }

  const AnyValue operation_;
  const Description& is_;
  Operands operands_;
  bool reads_output_ = false, is_in_place_ = false;
  HostOptions options_;
  const std::string rung_;
  Device device_;
  Tracer tracer_;
  std::unique_ptr<HostReceipt> receipt_;
};

}  // namespace

void run_on_host(const AnyValue& operation, std::span<const ConstHostView> data,
                 const HostOptions& options) {
  entry([&] {
    const kit::InUse in_use;  // what this thread is making, a forked child makes itself
    if (!options.event) {
      HostCall call(operation, data, options);
      call.check();
      return call.run();
    }
    if (options.trace) refuse("A call with an event is not traced: give it no HostOptions::trace.");
    if (options.receipt)
      refuse(
          "A call with an event returns before there is a receipt: set TRINE_RECEIPTS, or give it "
          "no HostOptions::receipt.");
    auto call = std::make_unique<HostCall>(operation, data, options);
    call->check();
    *options.event = HostCall::start(std::move(call));
  });
}

}  // namespace detail

void release_idle() {
  detail::IdleQueues& queues = detail::singleton<detail::IdleQueues>();
  decltype(queues.idle) gone;  // when the lock is off
  const std::lock_guard lock(queues.mutex);
  gone.swap(queues.idle);
}

}  // namespace trine
