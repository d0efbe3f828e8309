// The contract's table of functions over the objects of a GPU backend: arguments are checked,
// failures turned into statuses, and no driver is touched when its device is lost.
#include "backends/kit/abi_struct.hpp"

#include "backends/gpu/ladder.hpp"
#include "backends/gpu/objects.hpp"
#include "backends/gpu/specialization.hpp"

namespace trine::gpu {
namespace {

using kit::fail;

const Driver* the_driver;

template <class T>
T& some(T* pointer, const char* what) {
  if (!pointer) fail(TRINE_INVALID_ARGUMENT, "%s: null", what);
  return *pointer;
}

void check_process() {
  if (is_forked()) {
    fail(TRINE_DEVICE_LOST,
         "%s: this process was forked after its parent had woken the driver, as listing the "
         "devices does, and it doesn't work in a child; list and open devices after the fork, or "
         "exec",
         the_driver->name);
  }
}

/// Wakes the driver, which a child that is forked from now on can't use.
int awake_devices() {
  check_process();
  kit::watch_forks();
  kit::InUse().for_good();
  return the_driver->device_count();
}

trine_device& usable(trine_device* device) {
  check_process();
  trine_device& there = some(device, "device");
  if (there.is_lost()) {
    fail(TRINE_DEVICE_LOST, "%s:%d is lost: %s", the_driver->name, there.index,
         there.lost_reason());
  }
  return there;
}
trine_queue& usable(trine_queue* queue) {
  usable(&some(queue, "queue").device);
  return *queue;
}
trine_event& usable(trine_event* event) {
  usable(&some(event, "event").device);
  return *event;
}

template <class Handle>
void destroy(Handle* handle) {
  guard([&] { delete handle; });
}

/// Reads a caller's struct of any version; one with a tail that we don't know is refused.
template <class T>
T known(const T* foreign, const char* what) {
  T ours;
  if (!kit::take(foreign, ours)) {
    fail(TRINE_UNSUPPORTED, "%s: null, or from a newer contract than this %s backend knows", what,
         the_driver->name);
  }
  return ours;
}

// --- Devices ------------------------------------------------------------------------------------

trine_status device_count(int32_t* count) {
  return guard([&] { some(count, "count") = awake_devices(); });
}

trine_status is_candidate(int32_t gpus) {
  return kit::guard([=] { return the_driver->is_candidate(gpus) ? TRINE_OK : TRINE_NOT_FOUND; });
}

void check_index(int32_t index) {
  const int count = awake_devices();
  if (index >= 0 && index < count) return;
  fail(TRINE_NOT_FOUND, "no device %s:%d; there %s %d", the_driver->name, index,
       count == 1 ? "is" : "are", count);
}

trine_status device_describe(int32_t index, trine_device_facts* facts) {
  return guard([&] {
    check_index(index);
    trine_device_facts ours{};
    ours.size = sizeof ours;
    the_driver->describe(index, ours);
    kit::give(ours, &some(facts, "facts"));
  });
}

trine_status device_open(int32_t index, const char* options, trine_device** device) {
  return guard([&] {
    check_index(index);
    if (options && *options) {
      fail(TRINE_NOT_FOUND, "no device option '%s': %s devices take none", options,
           the_driver->name);
    }
    some(device, "device") = open(*the_driver, index);
  });
}

void device_close(trine_device* device) {
  if (device) guard([&] { release(*device); });
}

trine_status device_facts(trine_device* device, trine_device_facts* facts) {
  return guard([&] { kit::give(some(device, "device").facts, &some(facts, "facts")); });
}

trine_status device_native(trine_device* device, void** native_device, void** native_context) {
  return guard([&] { usable(device).native(native_device, native_context); });
}

// --- Queues -------------------------------------------------------------------------------------

trine_status queue_create(trine_device* device, trine_queue** queue) {
  return guard([&] { some(queue, "queue") = usable(device).create_queue(); });
}
trine_status queue_adopt(trine_device* device, void* native, trine_queue** queue) {
  return guard([&] { some(queue, "queue") = usable(device).adopt_queue(native); });
}
constexpr auto queue_destroy = destroy<trine_queue>;
void* queue_native(trine_queue* queue) { return queue ? queue->native() : nullptr; }
trine_status queue_flush(trine_queue* queue) {
  return guard([&] { usable(queue).flush(); });
}
trine_status queue_wait(trine_queue* queue) {
  return guard([&] { usable(queue).wait(); });
}
trine_status queue_query(trine_queue* queue) {
  return guard([&] { return usable(queue).idle() ? TRINE_OK : TRINE_NOT_READY; });
}
trine_status queue_wait_event(trine_queue* queue, trine_event* event) {
  return guard([&] { usable(queue).wait_for(usable(event)); });
}

// --- Events -------------------------------------------------------------------------------------

trine_status event_create(trine_device* device, int32_t signalled_by_host, trine_event** event) {
  return guard([&] { some(event, "event") = usable(device).create_event(signalled_by_host != 0); });
}
constexpr auto event_destroy = destroy<trine_event>;
trine_status event_record(trine_event* event, trine_queue* queue) {
  return guard([&] {
    if (usable(event).by_host)
      fail(TRINE_INVALID_ARGUMENT, "an event signalled by the host isn't recorded");
    event->record(usable(queue));
  });
}
// Signalling is host work and must go through when the device is lost: others may wait for it.
trine_status event_signal(trine_event* event) {
  return guard([&] {
    if (!some(event, "event").by_host)
      fail(TRINE_INVALID_ARGUMENT, "only an event made for it is signalled by the host");
    event->signal();
  });
}
trine_status event_query(trine_event* event) {
  return guard([&] { return usable(event).passed() ? TRINE_OK : TRINE_NOT_READY; });
}
trine_status event_wait(trine_event* event) {
  return guard([&] { usable(event).wait(); });
}
trine_status event_notify(trine_event* event, void (*function)(void*), void* argument) {
  return guard([&] {
    if (!function) fail(TRINE_INVALID_ARGUMENT, "event_notify: no function");
    // The notice is given even if the device is lost: a caller would wait for it for ever.
    if (some(event, "event").device.is_lost()) return function(argument);
    usable(event).notify(function, argument);
  });
}
trine_status event_elapsed(trine_event* start, trine_event* stop, double* seconds) {
  return guard([&] {
    if (&usable(start).device != &usable(stop).device) {
      fail(TRINE_INVALID_ARGUMENT, "events of two devices have no time between them");
    }
    if (start->by_host || stop->by_host)
      fail(TRINE_INVALID_ARGUMENT, "an event signalled by the host has no device time");
    some(seconds, "seconds") = stop->seconds_since(*start);
  });
}

// --- Memory -------------------------------------------------------------------------------------

trine_status buffer_allocate(trine_device* device, uint64_t bytes, uint32_t kind,
                             trine_buffer** buffer) {
  return guard([&] {
    trine_device& on = usable(device);
    if (kind != TRINE_MEMORY_DEVICE && kind != TRINE_MEMORY_PINNED) {
      fail(TRINE_INVALID_ARGUMENT, "memory of kind %u can't be allocated", kind);
    }
    if (kind == TRINE_MEMORY_DEVICE) check_limit(on, bytes);
    some(buffer, "buffer") = on.allocate(bytes, kind);
  });
}
trine_status queue_allocate(trine_queue* queue, uint64_t bytes, trine_buffer** buffer) {
  return guard([&] {
    trine_queue& on = usable(queue);
    check_limit(on.device, bytes);
    some(buffer, "buffer") = on.allocate(bytes);
  });
}
trine_status queue_is_captured(trine_queue* queue, int32_t* captured) {
  return guard([&] { some(captured, "captured") = usable(queue).is_captured() ? 1 : 0; });
}
trine_status buffer_adopt(trine_device* device, void* native, uint64_t bytes,
                          trine_buffer** buffer) {
  return guard([&] {
    some(static_cast<char*>(native), "native memory");
    some(buffer, "buffer") = usable(device).adopt(native, bytes);
  });
}
trine_status buffer_wrap(trine_device* device, void* host, uint64_t bytes, trine_buffer** buffer) {
  return guard([&] {
    if (bytes) some(static_cast<char*>(host), "host memory");
    some(buffer, "buffer") = usable(device).wrap(host, bytes);
  });
}
constexpr auto buffer_free = destroy<trine_buffer>;
trine_status buffer_facts(trine_buffer* buffer, trine_buffer_facts* facts) {
  return guard([&] { kit::give(some(buffer, "buffer").facts, &some(facts, "facts")); });
}

trine_status copy(trine_queue* queue, const trine_copy* wanted) {
  return guard([&] {
    trine_queue& on = usable(queue);
    trine_copy ours = known(wanted, "copy");
    if (ours.width == 0 || ours.height == 0) return;
    if (!ours.source || !ours.target || ours.direction < TRINE_HOST_TO_DEVICE ||
        ours.direction > TRINE_DEVICE_TO_DEVICE) {
      fail(TRINE_INVALID_ARGUMENT, "copy: null memory, or no direction");
    }
    if (ours.height > 1 && ours.target_pitch < ours.width) {
      fail(TRINE_INVALID_ARGUMENT, "copy: the target's pitch is smaller than the width");
    }
    on.copy(ours);
  });
}

void check_pattern(const void* memory, const void* pattern, uint32_t bytes) {
  if (memory && pattern && bytes != 0 && bytes <= 16 && (bytes & (bytes - 1)) == 0) return;
  fail(TRINE_INVALID_ARGUMENT, "fill: there is memory, and a pattern of 1, 2, 4, 8 or 16 bytes");
}

trine_status fill(trine_queue* queue, void* memory, uint64_t offset, uint64_t bytes,
                  const void* pattern, uint32_t pattern_bytes) {
  return guard([&] {
    trine_queue& on = usable(queue);
    if (bytes == 0) return;
    check_pattern(memory, pattern, pattern_bytes);
    if (bytes % pattern_bytes) {
      fail(TRINE_INVALID_ARGUMENT, "fill: the range isn't a multiple of the pattern");
    }
    on.fill(memory, offset, bytes, pattern, pattern_bytes);
  });
}

trine_status fill_view(trine_queue* queue, const trine_view* view, const void* pattern,
                       uint32_t pattern_bytes) {
  return guard([&] {
    trine_queue& on = usable(queue);
    const trine_view& target = some(view, "view");
    if (target.rows == 0 || target.cols == 0 || target.batch == 0) return;
    check_pattern(target.memory, pattern, pattern_bytes);
    Plan plan;
    plan_fill(target, pattern, pattern_bytes, plan);
    on.launch(fill_variant(), plan);
  });
}

trine_status elementwise(trine_queue* queue, const trine_elementwise* command) {
  return guard([&] {
    trine_queue& on = usable(queue);
    const trine_elementwise ours = known(command, "elementwise command");
    if (!on.device.target.has(TRINE_CAN_F64) &&
        (ours.dtype == TRINE_F64 || ours.function >= TRINE_DIVIDE)) {
      fail(TRINE_UNSUPPORTED, "%s:%d has no f64, which this command needs", the_driver->name,
           on.device.index);
    }
    if (ours.dtype != TRINE_I32 && !on.device.target.has(TRINE_CAN_REPRODUCE)) {
      fail(TRINE_UNSUPPORTED, "%s:%d failed the arithmetic probe: its floats have other bits",
           the_driver->name, on.device.index);
    }
    Plan plan;
    plan_elementwise(ours, plan);
    on.launch(elementwise_variant(), plan);
  });
}

// --- Operations ---------------------------------------------------------------------------------

const trine_rung* rungs(uint32_t operation, int32_t* count, uint32_t* stride) {
  const Ladder* ladder = ladder_of(the_driver->id, operation);
  *stride = sizeof(trine_rung);
  *count = ladder ? ladder->count : 0;
  return ladder ? ladder->rungs : nullptr;
}

trine_status refuses(trine_device* device, const trine_selection* selection, const trine_call* call,
                     char* reason, size_t reason_bytes) {
  return guard([&] {
    return gpu::refuses(usable(device), known(selection, "selection"), known(call, "call"), reason,
                        reason_bytes);
  });
}
trine_status choose(trine_device* device, const trine_call* call, trine_selection* selection) {
  return guard([&] {
    trine_selection ours{};
    ours.size = sizeof ours;
    gpu::choose(usable(device), known(call, "call"), ours);
    kit::give(ours, &some(selection, "selection"));
  });
}
trine_status workspace_bytes(trine_device* device, const trine_selection* selection,
                             const trine_call* call, uint64_t* bytes) {
  return guard([&] {
    some(bytes, "bytes") =
        gpu::workspace_bytes(usable(device), known(selection, "selection"), known(call, "call"));
  });
}
trine_status launch(trine_queue* queue, const trine_selection* selection, const trine_call* call,
                    const trine_workspace* workspace) {
  return guard([&] {
    trine_workspace ours{};
    if (workspace) ours = known(workspace, "workspace");
    gpu::launch(usable(queue), known(selection, "selection"), known(call, "call"),
                workspace && ours.bytes ? &ours : nullptr);
  });
}

}  // namespace

void check_limit(const trine_device& on, uint64_t bytes) {
  if (bytes <= on.facts.max_buffer_bytes) return;
  fail(TRINE_UNSUPPORTED, "%s:%d: a buffer of %llu bytes exceeds the device's limit, %llu",
       the_driver->name, on.index, static_cast<unsigned long long>(bytes),
       static_cast<unsigned long long>(on.facts.max_buffer_bytes));
}

trine_status enter(const Driver& driver, const trine_host* host, const trine_backend** backend) {
  trine_host services;
  if (!kit::take(host, services) || !backend)
    return kit::report(TRINE_UNSUPPORTED, "%s: the host is newer than this backend", driver.name);
  kit::use_host(services);
  the_driver = &driver;
  static const trine_backend filled = [] {
    trine_backend table{};
    table.size = sizeof table;
    table.version = TRINE_ABI_VERSION;
    table.name = the_driver->name;
    table.build = the_driver->build;
    table.last_error = kit::last_error;
    TRINE_DEVICE_FUNCTIONS(TRINE_SET)
    TRINE_QUEUE_FUNCTIONS(TRINE_SET)
    TRINE_BUFFER_FUNCTIONS(TRINE_SET)
    TRINE_OPERATION_FUNCTIONS(TRINE_SET)
    table.queue_allocate = queue_allocate;
    table.fill_view = fill_view;
    table.elementwise = elementwise;
    table.queue_is_captured = queue_is_captured;
    table.is_candidate = is_candidate;
    return table;
  }();
  *backend = &filled;
  return TRINE_OK;
}

}  // namespace trine::gpu
