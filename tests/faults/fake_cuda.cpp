// The fake driver's objects, and streams whose work runs when somebody looks.
#include "fake_cuda.hpp"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "injector.hpp"

namespace trine::cuda {  // the driver's handles are pointers to these
struct CUctx_st {};
struct CUfunc_st {
  std::string name;
  int dynamic_limit = 49152;
};
struct CUmod_st {
  std::string names;  // of entries, one a line
  std::map<std::string, std::unique_ptr<CUfunc_st>> functions;
};
struct CUevent_st {
  long recorded = 0, passed = 0;  // records so far, and how many of them have been reached
  double time = 0;
};
struct CUstream_st {
  // Returns whether it could run; work that waits is asked again.
  std::deque<std::function<bool()>> work;
  bool destroyed = false;
};
}  // namespace trine::cuda

namespace fake_cuda {
namespace {

using namespace trine::cuda;

constexpr int kInvalidValue = 1, kInvalidHandle = 400, kNotFound = 500, kNoContext = 201;

struct State {
  std::recursive_mutex mutex;
  CUctx_st context;
  int retained = 0;
  bool has_pools = true, contracts = false;
  int major = 9, minor = 0, broken = 0;
  std::set<CUstream_st*> streams;
  std::set<CUevent_st*> events;
  std::map<char*, std::size_t> memory;         // device and pinned
  std::set<char*> pinned;
  std::map<char*, std::size_t> registered;
  std::map<CUmod_st*, std::unique_ptr<CUmod_st>> modules;
  std::vector<Launch> launches;
  double clock = 0;
} state;
thread_local std::vector<Context> current;

using Lock = std::lock_guard<std::recursive_mutex>;

char* host_of(Pointer pointer) { return reinterpret_cast<char*>(pointer); }

bool is_inside(const std::map<char*, std::size_t>& blocks, const char* begin, std::size_t bytes) {
  for (const auto& [at, size] : blocks) {
    if (begin >= at && begin + bytes <= at + size) return true;
  }
  return false;
}
bool is_device(Pointer pointer, std::size_t bytes) {
  return is_inside(state.memory, host_of(pointer), bytes) ||
         is_inside(state.registered, host_of(pointer), bytes);
}

Result ready(bool needs_context = true) {
  if (state.broken) return state.broken;
  return needs_context && (current.empty() || !current.back()) ? kNoContext : kSuccess;
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

// --- Devices and contexts -----------------------------------------------------------------------

Result init(unsigned) { return state.broken; }
Result version(int* v) { return *v = 13000, kSuccess; }
Result error_name(Result, const char** name) { return *name = "CUDA_ERROR_FAKE", kSuccess; }
Result error_string(Result, const char** text) { return *text = "a fault of a test", kSuccess; }
Result count(int* n) { return *n = 1, state.broken; }
Result device(DeviceId* id, int index) { return *id = index, index == 0 ? kSuccess : 101; }
Result name(char* text, int bytes, DeviceId) {
  std::snprintf(text, static_cast<std::size_t>(bytes), "Fake GPU");
  return state.broken;
}
Result uuid(unsigned char* id, DeviceId) { return std::memset(id, 7, 16), kSuccess; }
Result total(std::size_t* bytes, DeviceId) { return *bytes = std::size_t{1} << 30, kSuccess; }
Result attribute(int* value, int which, DeviceId) {
  static const std::map<int, int> values = {
      {kMaxThreadsPerBlock, 1024}, {kMaxPitch, 1 << 20}, {kClockRate, 1'980'000},
      {kMultiprocessorCount, 132}, {kIntegrated, 0}, {kPciBus, 0x3b}, {kPciDevice, 0},
      {kMemoryClockRate, 3'201'000}, {kMemoryBusWidth, 6144}, {kPciDomain, 0},
      {kMaxSharedOptin, 232448}};
  const Lock lock(state.mutex);
  if (which == kMemoryPools) return *value = state.has_pools, state.broken;
  if (which == kComputeMajor) return *value = state.major, state.broken;
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
  pump();
  return stream->work.empty() ? kSuccess : kNotReady;
}
Result stream_synchronize(Stream stream) {
  for (;;) {
    const Result code = stream_query(stream);
    if (code != kNotReady) return code;
    std::this_thread::yield();
  }
}
Result stream_context(Stream stream, Context* context) {
  const Lock lock(state.mutex);
  *context = &state.context;
  return state.streams.contains(stream) ? ready() : kInvalidHandle;
}
Result wait_event(Stream stream, NativeEvent event, unsigned) {
  const Lock lock(state.mutex);
  if (const Result code = ready()) return code;
  if (!state.events.contains(event)) return kInvalidHandle;
  return enqueue(stream, [event, until = event->recorded] {
    return !state.events.contains(event) || event->passed >= until;
  });
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
  delete event;
  return kSuccess;
}
Result event_record(NativeEvent event, Stream stream) {
  const Lock lock(state.mutex);
  if (const Result code = ready()) return code;
  if (!state.events.contains(event)) return kInvalidHandle;
  const long number = ++event->recorded;
  return enqueue_at_once(stream, [event, number] {
    if (!state.events.contains(event)) return;
    event->passed = number;
    event->time = state.clock += 1;
  });
}
Result event_query(NativeEvent event) {
  const Lock lock(state.mutex);
  if (const Result code = ready()) return code;
  if (!state.events.contains(event)) return kInvalidHandle;
  pump();
  return event->passed == event->recorded ? kSuccess : kNotReady;
}
Result event_synchronize(NativeEvent event) {
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

// --- Memory -------------------------------------------------------------------------------------

Result allocate(Pointer* pointer, std::size_t bytes) {
  const Lock lock(state.mutex);
  if (const Result code = ready()) return code;
  auto* block = static_cast<char*>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  std::memset(block, 0xcd, bytes);
  state.memory[block] = bytes;
  return *pointer = reinterpret_cast<Pointer>(block), kSuccess;
}
Result deallocate(Pointer pointer) {
  const Lock lock(state.mutex);
  pump();
  if (!state.memory.erase(host_of(pointer))) return kInvalidValue;
  std::free(host_of(pointer));
  return kSuccess;
}
Result allocate_async(Pointer* pointer, std::size_t bytes, Stream) { return allocate(pointer, bytes); }
Result deallocate_async(Pointer pointer, Stream) { return deallocate(pointer); }
Result host_allocate(void** host, std::size_t bytes, unsigned) {
  Pointer pointer = 0;
  const Result code = allocate(&pointer, bytes);
  if (code == kSuccess) state.pinned.insert(host_of(pointer));
  return *host = host_of(pointer), code;
}
Result host_free(void* host) {
  state.pinned.erase(static_cast<char*>(host));
  return deallocate(reinterpret_cast<Pointer>(host));
}
Result host_register(void* host, std::size_t bytes, unsigned) {
  const Lock lock(state.mutex);
  if (const Result code = ready()) return code;
  const bool fresh = state.registered.emplace(static_cast<char*>(host), bytes).second;
  return fresh ? kSuccess : kHostMemoryAlreadyRegistered;
}
Result host_unregister(void* host) {
  const Lock lock(state.mutex);
  return state.registered.erase(static_cast<char*>(host)) ? kSuccess : 713;
}
Result device_pointer(Pointer* pointer, void* host, unsigned) {
  const Lock lock(state.mutex);
  *pointer = reinterpret_cast<Pointer>(host);
  return is_device(*pointer, 1) ? ready() : kInvalidValue;
}
Result pointer_attribute(void* answer, int which, Pointer pointer) {
  const Lock lock(state.mutex);
  if (!is_device(pointer, 1)) return kInvalidValue;
  const bool is_host = state.pinned.contains(host_of(pointer));
  const int value = which == kAttributeOrdinal ? 0 : is_host ? kMemoryHost : 2;
  return std::memcpy(answer, &value, sizeof value), ready();
}

Result copy_any(char* target, const char* source, std::size_t bytes, Stream stream) {
  if (const Result code = ready()) return code;
  return enqueue_at_once(stream, [=] { std::memmove(target, source, bytes); });
}
Result copy_in(Pointer target, const void* source, std::size_t bytes, Stream stream) {
  const Lock lock(state.mutex);
  if (!is_device(target, bytes)) return kInvalidValue;
  return copy_any(host_of(target), static_cast<const char*>(source), bytes, stream);
}
Result copy_out(void* target, Pointer source, std::size_t bytes, Stream stream) {
  const Lock lock(state.mutex);
  if (!is_device(source, bytes)) return kInvalidValue;
  return copy_any(static_cast<char*>(target), host_of(source), bytes, stream);
}
Result copy_across(Pointer target, Pointer source, std::size_t bytes, Stream stream) {
  const Lock lock(state.mutex);
  if (!is_device(source, bytes) || !is_device(target, bytes)) return kInvalidValue;
  return copy_any(host_of(target), host_of(source), bytes, stream);
}
Result copy_2d(const Copy2D* c, Stream stream) {
  const Lock lock(state.mutex);
  if (const Result code = ready()) return code;
  if (c->source_pitch < c->width || c->target_pitch < c->width) return kInvalidValue;
  if (c->source_pitch > (1u << 20) || c->target_pitch > (1u << 20)) return kInvalidValue;
  const bool from_host = c->source_type == kMemoryHost, to_host = c->target_type == kMemoryHost;
  const auto span = [&](std::size_t pitch) { return (c->height - 1) * pitch + c->width; };
  if (!from_host && !is_device(c->source_device, span(c->source_pitch))) return kInvalidValue;
  if (!to_host && !is_device(c->target_device, span(c->target_pitch))) return kInvalidValue;
  const auto* source = from_host ? static_cast<const char*>(c->source_host)
                                 : host_of(c->source_device);
  auto* target = to_host ? static_cast<char*>(c->target_host) : host_of(c->target_device);
  return enqueue_at_once(stream, [=, box = *c] {
    for (std::size_t row = 0; row < box.height; ++row) {
      std::memmove(target + row * box.target_pitch, source + row * box.source_pitch, box.width);
    }
  });
}
template <class Word>
Result fill(Pointer at, Word value, std::size_t n, Stream stream) {
  const Lock lock(state.mutex);
  if (const Result code = ready()) return code;
  if (!is_device(at, n * sizeof value) || at % sizeof value) return kInvalidValue;
  return enqueue_at_once(stream, [=] {
    for (std::size_t i = 0; i < n; ++i) std::memcpy(host_of(at) + i * sizeof value, &value, sizeof value);
  });
}

// --- Kernels ------------------------------------------------------------------------------------

Result load(Module* module, const void* image) {
  const Lock lock(state.mutex);
  if (const Result code = ready()) return code;
  auto fresh = std::make_unique<CUmod_st>();
  fresh->names = std::string("\n") + static_cast<const char*>(image);
  *module = fresh.get();
  state.modules[*module] = std::move(fresh);
  return kSuccess;
}
Result unload(Module module) {
  const Lock lock(state.mutex);
  return state.modules.erase(module) ? kSuccess : kInvalidHandle;
}
Result get_function(Function* function, Module module, const char* wanted) {
  const Lock lock(state.mutex);
  if (const Result code = ready()) return code;
  if (!state.modules.contains(module)) return kInvalidHandle;
  const std::string line = std::string(1, '\n').append(wanted).append(1, '\n');
  if (module->names.find(line) == std::string::npos) return kNotFound;
  auto& entry = module->functions[wanted];
  if (!entry) entry.reset(new CUfunc_st{wanted});
  return *function = entry.get(), kSuccess;
}
Result set_attribute(Function function, int which, int value) {
  if (which != kMaxDynamicShared || value > 232448) return kInvalidValue;
  return function->dynamic_limit = value, ready();
}

template <class Float>
void probe(const Float* in, Float* out) {
  for (int i = 0; i < 64; ++i) {
    const volatile Float a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2];
    const Float product = a * b;
    out[4 * i] = std::fma(Float(a), Float(b), Float(c));
    out[4 * i + 1] = state.contracts ? out[4 * i] : product + c;
    out[4 * i + 2] = product;
    out[4 * i + 3] = a + c;
  }
}

void compute(const Launch& launch) {
  if (launch.name == "probe__") {
    const auto* in = reinterpret_cast<const float*>(launch.arguments[0]);
    auto* out = reinterpret_cast<float*>(launch.arguments[1]);
    probe(in, out);
    probe(reinterpret_cast<const double*>(in + 192), reinterpret_cast<double*>(out + 256));
  } else if (launch.name == "fill__") {
    auto* words = reinterpret_cast<int32_t*>(launch.arguments[0] + launch.arguments[1]);
    for (uint64_t i = 0; i < launch.arguments[2]; ++i) words[i] = launch.i32(3 + i % 4);
  }
}

Result launch_kernel(Function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                     unsigned by, unsigned bz, unsigned dynamic, Stream stream, void** arguments,
                     void**) {
  const Lock lock(state.mutex);
  if (const Result code = ready()) return code;
  if (!gx || !gy || !gz || !bx || !by || !bz || bx * by * bz > 1024 || gy > 65535 || gz > 65535 ||
      static_cast<int>(dynamic) > function->dynamic_limit) {
    return kInvalidValue;
  }
  Launch launch{function->name, {gx, gy, gz}, {bx, by, bz}, dynamic, {}};
  for (; *arguments; ++arguments) {
    uint64_t value;
    std::memcpy(&value, *arguments, sizeof value);
    launch.arguments.push_back(value);
  }
  state.launches.push_back(launch);
  return enqueue_at_once(stream, [launch] { compute(launch); });
}

const Driver kPlain = {
    init, version, error_name, error_string, count, device, name, uuid, total, attribute, retain,
    release, get_current, push, pop, stream_create, stream_destroy, stream_query,
    stream_synchronize, stream_context, wait_event, wait_value, add_callback, event_create,
    event_destroy, event_record, event_query, event_synchronize, event_elapsed, allocate,
    deallocate, allocate_async, deallocate_async, host_allocate, host_free, host_register,
    host_unregister, device_pointer, pointer_attribute, copy_in, copy_out, copy_across, copy_2d,
    fill<unsigned char>, fill<unsigned short>, fill<unsigned>, load, unload, get_function,
    set_attribute, launch_kernel};

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
#define WRAP(name, driver_symbol, parameters)                                        \
  symbol<&Driver::name> = #name;                                                     \
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
  state.memory.clear();
  state.pinned.clear();
  state.registered.clear();
  state.modules.clear();
  state.launches.clear();
  state.retained = state.broken = 0;
  state.has_pools = true;
  state.contracts = false;
  state.major = 9;
  state.minor = 0;
  current.clear();
}

void break_device(int code) { state.broken = code; }
void set_has_pools(bool has) { state.has_pools = has; }
void set_compute_capability(int major, int minor) { state.major = major, state.minor = minor; }
void set_probe_fuses(bool contracts) { state.contracts = contracts; }
const std::vector<Launch>& launches() { return state.launches; }

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
