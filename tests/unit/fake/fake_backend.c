/* Open, table, close: the fake backend's devices, memory and control panel. */
#define _POSIX_C_SOURCE 200809L
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "fake_parts.h"

#ifndef FAKE_NAME
#define FAKE_NAME "fake"
#endif
#ifndef FAKE_SHARED
#define FAKE_SHARED 0
#endif
#ifndef FAKE_LARGEST
#define FAKE_LARGEST (1L << (FAKE_SHARED ? 31 : 30)) /* bytes of a buffer */
#endif

const trine_host* fake_host;

/* --- Panel --- */

static atomic_long counters[FAKE_COUNTERS];
static atomic_int faults[FAKE_CALLS], passes_left[FAKE_CALLS];
static atomic_int pinned_refused;
static atomic_int copies_last;       /* milliseconds */
static atomic_int dtypes_refused[2]; /* by device */
static atomic_long largest_buffer = FAKE_LARGEST;
static atomic_long memory_left = LONG_MAX / 2;
static pthread_mutex_t gate_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_opened = PTHREAD_COND_INITIALIZER;
static int held;

static void panel_hold(int on) {
  pthread_mutex_lock(&gate_mutex);
  held = on;
  pthread_cond_broadcast(&gate_opened);
  pthread_mutex_unlock(&gate_mutex);
}
static void panel_fail_later(int call, int status, int passes) {
  atomic_store(&passes_left[call], passes);
  atomic_store(&faults[call], status);
}
static void panel_fail(int call, int status) { panel_fail_later(call, status, 0); }
static long panel_count(int counter) { return atomic_load(&counters[counter]); }
static void panel_refuse_pinned(int on) { atomic_store(&pinned_refused, on); }
static void panel_slow_copies(int milliseconds) { atomic_store(&copies_last, milliseconds); }
static void panel_refuse_dtype(int device, int dtype) {
  atomic_store(&dtypes_refused[device], dtype);
}

static void panel_largest_buffer(long bytes) { atomic_store(&largest_buffer, bytes); }
static void panel_leave(long bytes) { atomic_store(&memory_left, bytes); }

const fake_panel fake_the_panel = {panel_hold,          panel_fail,           panel_count,
                                   panel_refuse_pinned, panel_refuse_dtype,   panel_fail_later,
                                   panel_slow_copies,   panel_largest_buffer, panel_leave};

void fake_counted(int counter, long change) { atomic_fetch_add(&counters[counter], change); }
trine_status fake_fault(int call) {
  if (atomic_load(&faults[call]) == TRINE_OK || atomic_fetch_sub(&passes_left[call], 1) > 0) {
    return TRINE_OK;
  }
  const trine_status status = (trine_status)atomic_exchange(&faults[call], TRINE_OK);
  return status == TRINE_OK ? TRINE_OK : fake_error(status, "a planted fault");
}
void fake_gate(void) {
  pthread_mutex_lock(&gate_mutex);
  while (held) pthread_cond_wait(&gate_opened, &gate_mutex);
  pthread_mutex_unlock(&gate_mutex);
}
int fake_pinned_refused(void) { return atomic_load(&pinned_refused); }
uint32_t fake_dtype_refused(int device) { return (uint32_t)atomic_load(&dtypes_refused[device]); }

/* --- Errors and memory --- */

static _Thread_local char error_text[256] = "no error";

trine_status fake_error(trine_status status, const char* text) {
  snprintf(error_text, sizeof error_text, "%s", text);
  return status;
}
const char* fake_last_error(void) { return error_text; }

void* fake_allocate(uint64_t bytes) {
  void* pointer = fake_host->allocate(fake_host->context, (size_t)bytes, 64);
  if (!pointer) fake_error(TRINE_OUT_OF_MEMORY, "the fake has no memory left");
  return pointer;
}
void fake_release(void* pointer) { fake_host->release(fake_host->context, pointer); }

/* --- Devices --- */

static trine_status device_count(int32_t* count) {
  *count = FAKE_SHARED ? 1 : 2;
  return TRINE_OK;
}

static int is_integrated(int32_t index) { return !FAKE_SHARED && index == 1; }

static trine_status describe(int32_t index, trine_device_facts* facts) {
  const uint32_t size = facts->size < sizeof *facts ? facts->size : (uint32_t)sizeof *facts;
  trine_device_facts ours;
  memset(&ours, 0, sizeof ours);
  ours.size = facts->size;
  ours.kind = FAKE_SHARED ? TRINE_DEVICE_CPU : TRINE_DEVICE_GPU;
  snprintf(ours.name, sizeof ours.name, "%s device %d", FAKE_NAME, (int)index);
  snprintf(ours.driver, sizeof ours.driver, "none");
  ours.memory_bytes = (uint64_t)1 << 31;
  ours.max_buffer_bytes = (uint64_t)atomic_load(&largest_buffer);
  ours.capabilities = TRINE_CAN_F64 | TRINE_CAN_REPRODUCE | TRINE_CAN_ORDER_PAGEABLE |
                      (FAKE_SHARED || is_integrated(index) ? TRINE_CAN_SHARE_MEMORY : 0);
  ours.compute_units = 4;
  memcpy(facts, &ours, size);
  return TRINE_OK;
}

static trine_status device_open(int32_t index, const char* options, trine_device** device) {
  const trine_status fault = fake_fault(FAKE_DEVICE_OPEN);
  if (fault != TRINE_OK) return fault;
  const int noop = strcmp(options, "mode=noop") == 0;
  if (!noop && *options && strncmp(options, "as=", 3) != 0)
    return fake_error(TRINE_NOT_FOUND, "the options are mode=noop and as=ANY_NAME");
  *device = fake_allocate(sizeof **device);
  if (!*device) return TRINE_OUT_OF_MEMORY;
  (*device)->index = index;
  (*device)->noop = noop;
  fake_counted(FAKE_DEVICES, 1);
  return TRINE_OK;
}
static void device_close(trine_device* device) {
  fake_counted(FAKE_DEVICES, -1);
  fake_release(device);
}
static trine_status device_facts(trine_device* device, trine_device_facts* facts) {
  return describe(device->index, facts);
}
static trine_status device_native(trine_device* device, void** native_device, void** context) {
  (void)device;
  *native_device = (void*)(uintptr_t)&fake_the_panel;
  *context = NULL;
  return TRINE_OK;
}

/* --- Memory --- */

static trine_status make(void* memory, uint64_t bytes, uint32_t kind, trine_buffer** buffer) {
  *buffer = fake_allocate(sizeof **buffer);
  if (!*buffer) return TRINE_OUT_OF_MEMORY;
  (*buffer)->memory = memory;
  (*buffer)->bytes = bytes;
  (*buffer)->kind = kind;
  fake_counted(FAKE_BUFFERS, 1);
  return TRINE_OK;
}
static trine_status buffer_allocate(trine_device* device, uint64_t bytes, uint32_t kind,
                                    trine_buffer** buffer) {
  (void)device;
  const trine_status fault = fake_fault(FAKE_BUFFER_ALLOCATE);
  if (fault != TRINE_OK) return fault;
  if (kind == TRINE_MEMORY_PINNED && fake_pinned_refused()) {
    return fake_error(TRINE_UNSUPPORTED, "no pinned memory");
  }
  if (atomic_fetch_sub(&memory_left, (long)bytes) < (long)bytes) {
    atomic_fetch_add(&memory_left, (long)bytes);
    return fake_error(TRINE_OUT_OF_MEMORY, "the fake device is full");
  }
  void* memory = fake_allocate(bytes);
  if (!memory) return TRINE_OUT_OF_MEMORY;
  memset(memory, 0xA5, (size_t)bytes); /* nobody may rely on fresh memory */
  fake_counted(FAKE_ALLOCATIONS, 1);
  const trine_status status = make(memory, bytes, kind, buffer);
  if (status != TRINE_OK) fake_release(memory);
  return status;
}
static trine_status buffer_adopt(trine_device* device, void* native, uint64_t bytes,
                                 trine_buffer** buffer) {
  (void)device;
  return make(native, bytes, TRINE_MEMORY_ADOPTED, buffer);
}
static trine_status buffer_wrap(trine_device* device, void* host, uint64_t bytes,
                                trine_buffer** buffer) {
  if (is_integrated(device->index))
    return fake_error(TRINE_UNSUPPORTED, "a page of it is pinned already");
  return make(host, bytes, TRINE_MEMORY_WRAPPED, buffer);
}
static void buffer_free(trine_buffer* buffer) {
  if (buffer->kind == TRINE_MEMORY_DEVICE || buffer->kind == TRINE_MEMORY_PINNED) {
    fake_release(buffer->memory);
    atomic_fetch_add(&memory_left, (long)buffer->bytes);
  }
  fake_release(buffer);
  fake_counted(FAKE_BUFFERS, -1);
}
static trine_status buffer_facts(trine_buffer* buffer, trine_buffer_facts* facts) {
  const int is_host =
      FAKE_SHARED || buffer->kind == TRINE_MEMORY_PINNED || buffer->kind == TRINE_MEMORY_WRAPPED;
  facts->kind = buffer->kind;
  facts->native = buffer->memory;
  facts->host = is_host ? buffer->memory : NULL;
  facts->bytes = buffer->bytes;
  /* Pinned memory is mapped, as an OpenCL GPU's is. */
  const int is_mapped = !FAKE_SHARED && buffer->kind == TRINE_MEMORY_PINNED;
  if (facts->size >= sizeof *facts && !is_mapped) {
    facts->address = (uint64_t)(uintptr_t)buffer->memory;
  }
  return TRINE_OK;
}

typedef struct copy_task {
  trine_copy copy;
  trine_status fault;
} copy_task;
static trine_status run_copy(void* argument) {
  const copy_task* task = argument;
  const trine_copy* copy = &task->copy;
  if (task->fault != TRINE_OK) return task->fault;
  const struct timespec wait = {0, 1000000L * atomic_load(&copies_last)};
  if (wait.tv_nsec != 0) nanosleep(&wait, NULL);
  for (uint64_t row = 0; row < copy->height; ++row) {
    memmove((char*)copy->target + copy->target_offset + row * copy->target_pitch,
            (const char*)copy->source + copy->source_offset + row * copy->source_pitch,
            (size_t)copy->width);
  }
  return TRINE_OK;
}
static trine_status copy(trine_queue* queue, const trine_copy* call) {
  const trine_status fault = fake_fault(FAKE_COPY);
  if (fault != TRINE_OK) return fault;
  fake_counted(FAKE_COPIES, 1);
  copy_task* kept = fake_allocate(sizeof *kept);
  if (!kept) return TRINE_OUT_OF_MEMORY;
  kept->copy = *call;
  kept->fault = fake_fault(FAKE_COPY_IN_QUEUE);
  return fake_push(queue, run_copy, kept);
}

typedef struct fill_task {
  trine_view view; /* of bytes */
  uint32_t pattern_bytes;
  char pattern[16];
} fill_task;
static trine_status run_fill(void* argument) {
  const fill_task* fill = argument;
  const trine_view* v = &fill->view;
  for (int64_t b = 0; b < v->batch; ++b)
    for (int64_t i = 0; i < v->rows; ++i)
      for (int64_t j = 0; j < v->cols; ++j)
        memcpy(
            (char*)v->memory + v->offset +
                (b * v->batch_stride + i * v->row_stride + j * v->col_stride) * fill->pattern_bytes,
            fill->pattern, fill->pattern_bytes);
  return TRINE_OK;
}
static trine_status fill_view(trine_queue* queue, const trine_view* view, const void* pattern,
                              uint32_t pattern_bytes) {
  const trine_status fault = fake_fault(FAKE_FILL);
  if (fault != TRINE_OK) return fault;
  fake_counted(FAKE_FILLS, 1);
  fill_task* kept = fake_allocate(sizeof *kept);
  if (!kept) return TRINE_OUT_OF_MEMORY;
  kept->view = *view;
  kept->pattern_bytes = pattern_bytes;
  memcpy(kept->pattern, pattern, pattern_bytes);
  return fake_push(queue, run_fill, kept);
}
static trine_status fill(trine_queue* queue, void* memory, uint64_t offset, uint64_t bytes,
                         const void* pattern, uint32_t pattern_bytes) {
  const int64_t count = (int64_t)(bytes / pattern_bytes);
  const trine_view view = {memory, offset, 1, count, 1, count, 1, 0};
  return fill_view(queue, &view, pattern, pattern_bytes);
}

static trine_status run_elementwise(void* argument) {
  fake_elementwise(argument);
  return TRINE_OK;
}
static trine_status elementwise(trine_queue* queue, const trine_elementwise* command) {
  trine_elementwise* kept = fake_allocate(sizeof *kept);
  if (!kept) return TRINE_OUT_OF_MEMORY;
  *kept = *command;
  return fake_push(queue, run_elementwise, kept);
}

/* --- Table --- */

static const trine_backend table = {
    .size = sizeof table,
    .version = TRINE_ABI_VERSION,
    .name = FAKE_NAME,
    .build = "C11, for tests",
    .last_error = fake_last_error,
    .device_count = device_count,
    .device_describe = describe,
    .device_open = device_open,
    .device_close = device_close,
    .device_facts = device_facts,
    .device_native = device_native,
    .queue_create = fake_queue_create,
    .queue_adopt = fake_queue_adopt,
    .queue_destroy = fake_queue_destroy,
    .queue_native = fake_queue_native,
    .queue_flush = fake_queue_flush,
    .queue_wait = fake_queue_wait,
    .queue_query = fake_queue_query,
    .queue_wait_event = fake_queue_wait_event,
    .queue_call = FAKE_SHARED ? fake_queue_call : NULL,
    .event_create = fake_event_create,
    .event_destroy = fake_event_destroy,
    .event_record = fake_event_record,
    .event_signal = fake_event_signal,
    .event_query = fake_event_query,
    .event_wait = fake_event_wait,
    .event_notify = fake_event_notify,
    .event_elapsed = fake_event_elapsed,
    .buffer_allocate = buffer_allocate,
    .buffer_adopt = buffer_adopt,
    .buffer_wrap = buffer_wrap,
    .buffer_free = buffer_free,
    .buffer_facts = buffer_facts,
    .copy = copy,
    .fill = fill,
    .rungs = fake_rungs,
    .refuses = fake_refuses,
    .choose = fake_choose,
    .workspace_bytes = fake_workspace_bytes,
    .launch = fake_launch,
    /* one that is older */
    .fill_view = FAKE_SHARED ? NULL : fill_view,
    .elementwise = FAKE_SHARED ? NULL : elementwise,
};

trine_status trine_backend_v1(const trine_host* host, const trine_backend** backend) {
  fake_host = host;
  *backend = &table;
  return TRINE_OK;
}
