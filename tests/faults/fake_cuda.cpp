// The fake driver's contexts, streams and events, and its table.
#include "fake_cuda.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "fake_state.hpp"
#include "injector.hpp"

namespace fake_cuda {

State state;
thread_local std::vector<Context> current;
thread_local int capture_mode = 0;  // CUstreamCaptureMode: global

namespace {
bool is_inside(const std::map<char*, std::size_t>& blocks, const char* begin, std::size_t bytes) {
  for (const auto& [at, size] : blocks) {
    if (begin >= at && begin + bytes <= at + size) return true;
  }
  return false;
}
}  // namespace

bool is_device(Pointer pointer, std::size_t bytes) {
  return is_inside(state.memory, host_of(pointer), bytes) ||
         is_inside(state.registered, host_of(pointer), bytes);
}

Result ready(bool needs_context) {
  if (std::getenv("FAKE_CUDA_BREAKS")) state.broken = 719;
  if (state.broken) return state.broken;
  return needs_context && (current.empty() || !current.back()) ? kNoContext : kSuccess;
}

Result ready_beside_captures() {
  if (const Result code = ready()) return code;
  if (capture_mode == kCaptureRelaxed) return kSuccess;
  Result code = kSuccess;
  for (CUstream_st* stream : state.streams)
    if (stream->captured) stream->captured = kCaptureSpoilt, code = kNotWhileCaptured;
  return code;
}

// Runs what can run in all streams, until nothing moves.
void pump() {
  for (bool moved = true; moved;) {
    moved = false;
    for (auto at = state.streams.begin(); at != state.streams.end();) {
      CUstream_st* stream = *at;
      while (!stream->work.empty() && stream->work.front()()) {
        stream->work.pop_front();
        moved = true;
      }
      const bool gone = stream->destroyed && stream->work.empty();
      at = gone ? state.streams.erase(at) : std::next(at);
      if (gone) delete stream;
    }
  }
}

Result enqueue(Stream stream, std::function<bool()> work) {
  if (!state.streams.contains(stream)) return kInvalidHandle;
  stream->work.push_back(std::move(work));
  return kSuccess;
}
Result enqueue_at_once(Stream stream, std::function<void()> work) {
  return enqueue(stream, [work = std::move(work)] {
    work();
    return true;
  });
}

namespace {

// --- Devices and contexts -----------------------------------------------------------------------

Result init(unsigned) { return state.broken; }
Result version(int* v) { return *v = state.version, kSuccess; }
Result error_name(Result, const char** name) { return *name = "CUDA_ERROR_FAKE", kSuccess; }
Result error_string(Result, const char** text) { return *text = "a fault of a test", kSuccess; }
Result count(int* n) { return *n = 1, state.broken; }
Result device(DeviceId* id, int index) { return *id = index, index == 0 ? kSuccess : 101; }
Result name(char* text, int bytes, DeviceId) {
  std::snprintf(text, static_cast<std::size_t>(bytes), "Fake GPU");
  return state.broken;
}
Result uuid(unsigned char* id, DeviceId) { return std::memset(id, 7, 16), kSuccess; }
Result total(std::size_t* bytes, DeviceId) { return *bytes = kTotalMemory, kSuccess; }
Result attribute(int* value, int which, DeviceId) {
  static const std::map<int, int> values = {{kMaxThreadsPerBlock, 1024},
                                            {kMaxPitch, 1 << 20},
                                            {kClockRate, 1'980'000},
                                            {kMultiprocessorCount, 132},
                                            {kIntegrated, 0},
                                            {kPciBus, 0x3b},
                                            {kPciDevice, 0},
                                            {kMemoryClockRate, 3'201'000},
                                            {kMemoryBusWidth, 6144},
                                            {kPciDomain, 0}};
  const Lock lock(state.mutex);
  if (which == kMemoryPools) return *value = state.has_pools, state.broken;
  if (which == kComputeMajor) return *value = state.major, state.broken;
  if (which == kMaxSharedOptin) return *value = state.shared, state.broken;
  if (which == kComputeMinor) return *value = state.minor, state.broken;
  if (!values.contains(which)) return kInvalidValue;
  return *value = values.at(which), state.broken;
}
Result retain(Context* context, DeviceId) {
  const Lock lock(state.mutex);
  if (state.broken) return state.broken;
  ++state.retained;
  return *context = &state.context, kSuccess;
}
Result release(DeviceId) {
  const Lock lock(state.mutex);
  return state.retained > 0 ? (--state.retained, kSuccess) : kInvalidValue;
}
Result get_current(Context* context) {
  return *context = current.empty() ? nullptr : current.back(), kSuccess;
}
Result push(Context context) { return current.push_back(context), state.broken; }
Result pop(Context* context) {
  if (current.empty()) return kNoContext;
  *context = current.back();
  return current.pop_back(), kSuccess;
}

// --- Streams and events -------------------------------------------------------------------------

// Its release threshold is 0.
void trim_pool() {
  const Lock lock(state.mutex);
  state.unused.clear();
}
Result stream_create(Stream* stream, unsigned) {
  const Lock lock(state.mutex);
  if (const Result code = ready()) return code;
  *stream = *state.streams.insert(new CUstream_st).first;
  return kSuccess;
}
Result stream_destroy(Stream stream) {
  const Lock lock(state.mutex);
  if (!state.streams.contains(stream)) return kInvalidHandle;
  stream->destroyed = true;
  pump();
  return kSuccess;
}
Result stream_query(Stream stream) {
  const Lock lock(state.mutex);
  if (const Result code = ready()) return code;
  if (!state.streams.contains(stream)) return kInvalidHandle;
  if (stream->captured) return stream->captured = kCaptureSpoilt, kNotWhileCaptured;
  pump();
  return stream->work.empty() ? kSuccess : kNotReady;
}
Result stream_synchronize(Stream stream) {
  trim_pool();
  {
    const Lock lock(state.mutex);
    note(Enqueued::kHostWaits, stream);
  }
  for (;;) {
    const Result code = stream_query(stream);
    if (code != kNotReady) return code;
    std::this_thread::yield();
  }
}
Result stream_is_capturing(Stream stream, int* capturing) {
  const Lock lock(state.mutex);
  if (!state.streams.contains(stream)) return kInvalidHandle;
  return *capturing = stream->captured, ready();
}
Result exchange_capture_mode(int* mode) { return std::swap(*mode, capture_mode), kSuccess; }
Result stream_context(Stream stream, Context* context) {
  const Lock lock(state.mutex);
  *context = &state.context;
  return state.streams.contains(stream) ? ready() : kInvalidHandle;
}
Result wait_event(Stream stream, NativeEvent event, unsigned) {
  const Lock lock(state.mutex);
  if (const Result code = ready()) return code;
  if (!state.events.contains(event)) return kInvalidHandle;
  note(Enqueued::kWait, stream, event);
  return enqueue(stream, [event, until = event->recorded] { return event->passed >= until; });
}
Result wait_value(Stream stream, Pointer at, uint32_t value, unsigned) {
  const Lock lock(state.mutex);
  if (const Result code = ready()) return code;
  if (!is_device(at, 4) || at % 4) return kInvalidValue;
  return enqueue(stream, [word = reinterpret_cast<volatile uint32_t*>(at), value] {
    return static_cast<int32_t>(*word - value) >= 0;
  });
}
Result add_callback(Stream stream, StreamCallback callback, void* data, unsigned) {
  const Lock lock(state.mutex);
  if (const Result code = ready()) return code;
  return enqueue_at_once(stream, [=] { callback(stream, kSuccess, data); });
}
Result event_create(NativeEvent* event, unsigned) {
  const Lock lock(state.mutex);
  if (const Result code = ready()) return code;
  *event = *state.events.insert(new CUevent_st).first;
  return kSuccess;
}
Result event_destroy(NativeEvent event) {
  const Lock lock(state.mutex);
  pump();
  if (!state.events.erase(event)) return kInvalidHandle;
  state.destroyed_events.emplace_back(event);
  return kSuccess;
}
Result event_record(NativeEvent event, Stream stream) {
  const Lock lock(state.mutex);
  if (const Result code = ready()) return code;
  if (!state.events.contains(event)) return kInvalidHandle;
  note(Enqueued::kRecord, stream, event);
  const long number = ++event->recorded;
  return enqueue_at_once(stream, [event, number] {
    event->passed = number;
    event->time = state.clock += 1;
  });
}
Result event_query(NativeEvent event) {
  const Lock lock(state.mutex);
  if (const Result code = ready_beside_captures()) return code;
  if (!state.events.contains(event)) return kInvalidHandle;
  pump();
  return event->passed == event->recorded ? kSuccess : kNotReady;
}
Result event_synchronize(NativeEvent event) {
  trim_pool();
  {
    const Lock lock(state.mutex);
    note(Enqueued::kHostWaits, nullptr, event);
  }
  for (;;) {
    const Result code = event_query(event);
    if (code != kNotReady) return code;
    std::this_thread::yield();
  }
}
Result event_elapsed(float* milliseconds, NativeEvent start, NativeEvent stop) {
  const Lock lock(state.mutex);
  if (const Result code = ready()) return code;
  if (!start->recorded || !stop->recorded) return kInvalidHandle;
  pump();
  if (start->passed < start->recorded || stop->passed < stop->recorded) return kNotReady;
  return *milliseconds = static_cast<float>(stop->time - start->time), kSuccess;
}

const Driver kPlain = {init,
                       version,
                       error_name,
                       error_string,
                       count,
                       device,
                       name,
                       uuid,
                       total,
                       attribute,
                       retain,
                       release,
                       get_current,
                       push,
                       pop,
                       stream_create,
                       stream_destroy,
                       stream_query,
                       stream_synchronize,
                       stream_is_capturing,
                       exchange_capture_mode,
                       stream_context,
                       wait_event,
                       wait_value,
                       add_callback,
                       event_create,
                       event_destroy,
                       event_record,
                       event_query,
                       event_synchronize,
                       event_elapsed,
                       allocate,
                       deallocate,
                       allocate_async,
                       deallocate_async,
                       host_allocate,
                       host_free,
                       host_register,
                       host_unregister,
                       device_pointer,
                       pointer_attributes,
                       copy_in,
                       copy_out,
                       copy_across,
                       copy_2d,
                       fill_8,
                       fill_16,
                       fill_32,
                       load,
                       unload,
                       get_function,
                       set_attribute,
                       launch_kernel,
                       launch_kernel_ex};

// A wrapper for each member: fails when the plan says so.
template <auto Member>
const char* symbol;
template <auto Member, class Function>
struct Wrapped;
template <auto Member, class... Parameters>
struct Wrapped<Member, Result (*)(Parameters...)> {
  static Result call(Parameters... parameters) {
    const bool fails = faults::plan.fails(symbol<Member>);
    if (fails && !faults::gives_back(symbol<Member>)) return faults::plan.code;
    const Result code = (kPlain.*Member)(parameters...);
    return fails ? faults::plan.code : code;
  }
};

Driver make_faulty() {
  Driver faulty = kPlain;
#define WRAP(name, driver_symbol, parameters) \
  symbol<& Driver::name> = #name;             \
  faulty.name = Wrapped<&Driver::name, decltype(Driver::name)>::call;
  TRINE_CUDA_FUNCTIONS(WRAP)
#undef WRAP
  // Words for errors are no work of the driver.
  faulty.cuGetErrorName = error_name;
  faulty.cuGetErrorString = error_string;
  return faulty;
}

}  // namespace

const Driver& table() {
  static const Driver faulty = make_faulty();
  return faulty;
}
const Driver& plain() { return kPlain; }

void reset() {
  const Lock lock(state.mutex);
  for (auto* stream : state.streams) delete stream;
  for (auto* event : state.events) delete event;
  for (const auto& [block, bytes] : state.memory) std::free(block);
  state.streams.clear();
  state.events.clear();
  state.destroyed_events.clear();
  state.memory.clear();
  state.pinned.clear();
  state.registered.clear();
  state.modules.clear();
  state.launches.clear();
  state.context = {};
  state.unused.clear();
  state.retained = state.broken = 0;
  state.has_pools = true;
  state.contracts = state.is_memory_late = false;
  state.version = 13000;
  state.major = 9;
  state.minor = 0;
  state.shared = 232448;
  current.clear();
}

void break_device(int code) { state.broken = code; }
void set_captured(Stream stream, bool captured) { stream->captured = captured; }
bool is_capture_intact(Stream stream) { return stream->captured == 1; }
void set_has_pools(bool has) { state.has_pools = has; }
void set_memory_is_late(bool late) { state.is_memory_late = late; }
void set_compute_capability(int major, int minor) { state.major = major, state.minor = minor; }
void set_version(int version) { state.version = version; }
void set_shared_memory(int bytes) { state.shared = bytes; }
void set_probe_fuses(bool contracts) { state.contracts = contracts; }
const std::vector<Launch>& launches() { return state.launches; }
int mapped() { return state.context.mapped; }
int host_waits() {
  const Lock lock(state.mutex);
  return int(std::ranges::count(state.context.enqueued, Enqueued::kHostWaits, &Enqueued::what));
}

std::string leftovers() {
  const Lock lock(state.mutex);
  pump();
  std::string text;
  const auto add = [&](const char* what, std::size_t number) {
    if (number) text += std::to_string(number) + " " + what + "; ";
  };
  add("contexts", static_cast<std::size_t>(state.retained));
  add("streams", state.streams.size());
  add("events", state.events.size());
  add("blocks of memory", state.memory.size());
  add("registered ranges", state.registered.size());
  add("modules", state.modules.size());
  add("contexts still current", current.size());
  return text;
}

}  // namespace fake_cuda
