/* The contract between the Trine library and a backend or a rung pack, in plain C11.
 *
 * A backend is a shared library with hidden visibility that exports one symbol, trine_backend_v1; a
 * rung pack exports trine_rungs_v1. Installed as <trine/abi.h>. docs/writing-a-backend.md and
 * docs/writing-a-rung.md are the guided tours.
 *
 * Growth. The contract grows by appending. Every struct that crosses the border begins with `size`,
 * its sizeof as its writer knows it; a reader takes the fields both know. A tail that the reader
 * doesn't know must be zero, else the call is refused (TRINE_UNSUPPORTED). Arrays come with the
 * size of an element as stride.
 *
 * Errors. Functions return a trine_status; last_error() then gives a sentence (what, where, why,
 * what to do) for the calling thread. A failed call has changed nothing.
 *
 * Threads. Any function may be called from any thread. The caller (core) serialises the calls on
 * one queue; calls on different queues run concurrently. A backend never aborts, exits, prints,
 * installs handlers or throws across this border, and restores what it changes of the calling
 * thread (CUDA's current context, the floating-point environment).
 */
#ifndef TRINE_ABI_H
#define TRINE_ABI_H

#if defined(__has_include) && __has_include(<trine/ops.h>)
#include <trine/ops.h>
#else
#include "ops.h"
#endif

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TRINE_ABI_VERSION 1
#define TRINE_EXPORT __attribute__((visibility("default")))

/* --- The host's services -------------------------------------------------------------------- */

/* All host memory that a backend or pack allocates by itself comes from here, so that a test can
 * fail the Nth allocation. allocate returns NULL on failure; release accepts NULL. */
typedef struct trine_host {
  uint32_t size;
  void* context;
  void* (*allocate)(void* context, size_t bytes, size_t alignment);
  void (*release)(void* context, void* pointer);
} trine_host;

/* --- Devices --------------------------------------------------------------------------------- */

typedef struct trine_device trine_device; /* opaque, one per opened device */
typedef struct trine_queue trine_queue;   /* in-order, asynchronous */
typedef struct trine_event trine_event;
typedef struct trine_buffer trine_buffer;

typedef enum trine_device_kind {
  TRINE_DEVICE_CPU = 1,
  TRINE_DEVICE_GPU = 2,
  TRINE_DEVICE_OTHER = 3
} trine_device_kind;

/* Capability bits of a device. REPRODUCIBLE is the verdict of the arithmetic probe that runs when
 * the device is opened (fma, rounding, denormals, no contraction), never a driver's flag. */
enum {
  TRINE_CAN_F64 = 1u << 0,
  TRINE_CAN_REPRODUCE = 1u << 1, /* f32 probe passed (and f64's where CAN_F64) */
  /* Host and device memory are one: wrap costs no copy, and what either side wrote the other sees
   * once the queue has passed it. Many an OpenCL device with "unified memory" doesn't promise that. */
  TRINE_CAN_SHARE_MEMORY = 1u << 2,
  TRINE_CAN_PIN = 1u << 3,
  TRINE_CAN_ATOMIC_64 = 1u << 4,
  TRINE_CAN_INLINE_PTX = 1u << 5,
  TRINE_CAN_SUBGROUPS = 1u << 6,
  /* Copies from and to host memory that the device hasn't pinned never hold the caller up. Without
   * it, such a call may wait for all that comes before on the queue, and core puts memory that the
   * device has pinned between two devices. */
  TRINE_CAN_ORDER_PAGEABLE = 1u << 7
};

typedef struct trine_device_facts {
  uint32_t size;
  uint32_t kind; /* trine_device_kind */
  char name[128];
  char vendor[64];
  char driver[128]; /* driver, platform and its version in one line */
  char probe[256];  /* what the arithmetic probe found, in words */
  char pci[24];     /* "0000:3b:00.0", or "" */
  uint8_t uuid[16]; /* zeros when unknown */
  uint64_t memory_bytes, max_buffer_bytes;
  uint64_t local_memory_bytes; /* per work-group or block */
  uint64_t capabilities;
  uint32_t compute_units; /* multiprocessors or cores in use */
  uint32_t max_group_threads;
  uint32_t version_major, version_minor; /* CUDA compute capability; OpenCL C version; else 0 */
  double peak_bandwidth;                 /* theoretical bytes/s, 0 when unknown */
  double peak_f32, peak_f64; /* theoretical flop/s without tensor cores, 0 when unknown */
} trine_device_facts;

/* --- Memory ---------------------------------------------------------------------------------- */

typedef enum trine_memory_kind {
  TRINE_MEMORY_DEVICE = 1,
  TRINE_MEMORY_PINNED = 2,  /* host memory the device reaches at full transfer speed */
  TRINE_MEMORY_WRAPPED = 3, /* the caller's host memory made known to the device */
  TRINE_MEMORY_ADOPTED = 4  /* the caller's native device memory; never freed by the backend */
} trine_memory_kind;

typedef struct trine_buffer_facts {
  uint32_t size;
  uint32_t kind;
  void* native; /* what trine_view::memory takes: CUdeviceptr, cl_mem, host pointer */
  void* host;   /* host pointer of pinned, wrapped and shared memory, else NULL */
  uint64_t bytes;
  /* Address of the first byte as the device counts, for core's checks of alignment and overlap; 0
   * where the native handle is no address (a cl_mem; its host pointer when wrapped). Pinned memory
   * without one is taken to be mapped for the host: core refuses views of it, but on CPUs in place. */
  uint64_t address;
} trine_buffer_facts;

typedef enum trine_direction {
  TRINE_HOST_TO_DEVICE = 1,
  TRINE_DEVICE_TO_HOST = 2,
  TRINE_DEVICE_TO_DEVICE = 3
} trine_direction;

/* Copies `height` rows of `width` bytes. Device ends are native handles with a byte offset, host
 * ends plain pointers (offset counts too). A pitch is the distance of two rows in bytes and means
 * nothing when height <= 1; the source's may be smaller than the width: its rows overlap, or are
 * one. Host memory stays the caller's until the queue has passed the copy: it is read when the queue
 * comes to it, never before, pinned or not. */
typedef struct trine_copy {
  uint32_t size;
  uint32_t direction;
  const void* source;
  void* target;
  uint64_t source_offset, target_offset;
  uint64_t source_pitch, target_pitch;
  uint64_t width, height;
} trine_copy;

/* --- Rungs ----------------------------------------------------------------------------------- */

#define TRINE_MAX_PARAMETERS 8
/* The first bytes of every workspace: zero when a launch begins, left zero by the launch. */
#define TRINE_CONTROL_BYTES 4096

/* A parameter of a rung and the values it takes, as words ("256", "atomic"). */
typedef struct trine_parameter {
  uint32_t size;
  int32_t value_count;
  int32_t default_value; /* index into values */
  const char* name;
  const char* const* values;
} trine_parameter;

typedef struct trine_rung {
  uint32_t size;
  uint32_t numerics;
  const char* name;        /* "sequential" */
  const char* summary;     /* one sentence */
  const char* requirement; /* what it needs in words, or NULL */
  const trine_parameter* parameters;
  int32_t parameter_count;
  uint32_t parameter_stride; /* sizeof(trine_parameter) as the row's writer knows it */
} trine_rung;

/* A rung with its parameters settled: values[p] indexes parameters[p].values. */
typedef struct trine_selection {
  uint32_t size;
  int32_t rung; /* index into rungs(operation) */
  int32_t values[TRINE_MAX_PARAMETERS];
  const char* why; /* choose(): a static sentence, the reason of the choice */
} trine_selection;

/* An operation on its way to a device: `descriptor` is a trine_reduce, trine_transpose, trine_gemm.
 * In refuses(), workspace_bytes() and choose() the views' `memory` may be NULL (a plan, not a call). */
typedef struct trine_call {
  uint32_t size;
  uint32_t operation;
  const void* descriptor;
} trine_call;

typedef struct trine_workspace {
  uint32_t size;
  void* memory;           /* native handle, NULL when workspace_bytes() said 0 */
  uint64_t offset, bytes; /* offset is a multiple of 256 */
} trine_workspace;

/* --- A backend ------------------------------------------------------------------------------- */

typedef struct trine_backend {
  uint32_t size;
  uint32_t version;  /* TRINE_ABI_VERSION */
  const char* name;  /* "cuda", "opencl", "cpu" */
  const char* build; /* version and options of this backend's build, one line */

  /* Text of the calling thread's last failure; never NULL. */
  const char* (*last_error)(void);

  /* Number of devices. 0 is no error: last_error() then says why there are none. */
  trine_status (*device_count)(int32_t* count);
  /* What is known of device `index` without opening it (capabilities and probe may be missing). */
  trine_status (*device_describe)(int32_t index, trine_device_facts* facts);
  /* Opens a device; `options` is "" or "key=value,…" from the device string ("threads=8"). Opening
   * the same device with the same options again gives an independent handle or counts references. */
  trine_status (*device_open)(int32_t index, const char* options, trine_device** device);
  void (*device_close)(trine_device* device);
  trine_status (*device_facts)(trine_device* device, trine_device_facts* facts);
  /* Native handles: CUdevice as intptr and CUcontext; cl_device_id and cl_context; cpu: NULL. */
  trine_status (*device_native)(trine_device* device, void** native_device, void** native_context);

  /* Queues. `native` is a CUstream or cl_command_queue; adopted ones are never destroyed. */
  trine_status (*queue_create)(trine_device* device, trine_queue** queue);
  trine_status (*queue_adopt)(trine_device* device, void* native, trine_queue** queue);
  void (*queue_destroy)(trine_queue* queue); /* legal with work in flight; never blocks others */
  void* (*queue_native)(trine_queue* queue);
  trine_status (*queue_flush)(trine_queue* queue);
  trine_status (*queue_wait)(trine_queue* queue);
  /* TRINE_OK when nothing is in flight, TRINE_NOT_READY otherwise. */
  trine_status (*queue_query)(trine_queue* queue);
  /* Work enqueued later waits for `event`, recorded on any queue of this backend, or signalled. */
  trine_status (*queue_wait_event)(trine_queue* queue, trine_event* event);
  /* Runs function(argument) in order on the queue. The cpu backend's way to run packs; NULL where
   * packs enqueue on the native queue. */
  trine_status (*queue_call)(trine_queue* queue, void (*function)(void*), void* argument);

  /* Events. One created with `signalled_by_host` is completed by event_signal() alone. */
  trine_status (*event_create)(trine_device* device, int32_t signalled_by_host,
                               trine_event** event);
  void (*event_destroy)(trine_event* event);
  trine_status (*event_record)(trine_event* event, trine_queue* queue);
  trine_status (*event_signal)(trine_event* event);
  trine_status (*event_query)(trine_event* event); /* TRINE_OK or TRINE_NOT_READY */
  trine_status (*event_wait)(trine_event* event);
  /* Calls function(argument) once, from any thread, after the event; at once when it has passed.
   * The function may call event_signal(), nothing else of a backend. */
  trine_status (*event_notify)(trine_event* event, void (*function)(void*), void* argument);
  /* Device time between two recorded, completed events of one device. */
  trine_status (*event_elapsed)(trine_event* start, trine_event* stop, double* seconds);

  /* Memory. */
  trine_status (*buffer_allocate)(trine_device* device, uint64_t bytes, uint32_t kind,
                                  trine_buffer** buffer);
  trine_status (*buffer_adopt)(trine_device* device, void* native, uint64_t bytes,
                               trine_buffer** buffer);
  trine_status (*buffer_wrap)(trine_device* device, void* host, uint64_t bytes,
                              trine_buffer** buffer);
  /* Core calls it when no queue uses the buffer any more. */
  void (*buffer_free)(trine_buffer* buffer);
  trine_status (*buffer_facts)(trine_buffer* buffer, trine_buffer_facts* facts);
  trine_status (*copy)(trine_queue* queue, const trine_copy* copy);
  /* Repeats `pattern` (1, 2, 4, 8 or 16 bytes) over [offset, offset + bytes). */
  trine_status (*fill)(trine_queue* queue, void* memory, uint64_t offset, uint64_t bytes,
                       const void* pattern, uint32_t pattern_bytes);

  /* Operations. */
  const trine_rung* (*rungs)(uint32_t operation, int32_t* count, uint32_t* stride);
  /* TRINE_OK when the rung takes the call; TRINE_UNSUPPORTED with the reason in `reason`. */
  trine_status (*refuses)(trine_device* device, const trine_selection* selection,
                          const trine_call* call, char* reason, size_t reason_bytes);
  /* The best rung for the call on this device (numerics as the descriptor asks). */
  trine_status (*choose)(trine_device* device, const trine_call* call, trine_selection* selection);
  trine_status (*workspace_bytes)(trine_device* device, const trine_selection* selection,
                                  const trine_call* call, uint64_t* bytes);
  /* Enqueues; never waits for the device and reads nothing back. The call is valid: core checked. */
  trine_status (*launch)(trine_queue* queue, const trine_selection* selection,
                         const trine_call* call, const trine_workspace* workspace);

  /* Device memory for the workspaces of `queue`, freed by buffer_free(). NULL where that of
   * buffer_allocate() serves every queue; an adopted cl_command_queue's own context needs its own. */
  trine_status (*queue_allocate)(trine_queue* queue, uint64_t bytes, trine_buffer** buffer);
  /* Writes `pattern` (1, 2, 4, 8 or 16 bytes: the element) to each element of `view`, in one command
   * whatever its strides. NULL: core calls fill() for each run of elements that lie side by side. */
  trine_status (*fill_view)(trine_queue* queue, const trine_view* view, const void* pattern,
                            uint32_t pattern_bytes);
} trine_backend;

/* The one symbol of a backend. Stores `host` for its lifetime (the library is never unloaded). */
typedef trine_status (*trine_backend_entry)(const trine_host* host, const trine_backend** backend);
TRINE_EXPORT trine_status trine_backend_v1(const trine_host* host, const trine_backend** backend);

/* --- A rung pack ----------------------------------------------------------------------------- */

/* Where a pack's rung runs: the backend's native handles. */
typedef struct trine_native {
  uint32_t size;
  int32_t device_index;
  void* device;
  void* context; /* the device's; an adopted cl_command_queue may be of another */
  void* queue;   /* CUstream, cl_command_queue; NULL on cpu, and in refuses, workspace_bytes */
  const trine_device_facts* facts;
  int32_t threads; /* cpu: how many threads the device may use, else 0 */
} trine_native;

typedef struct trine_pack {
  uint32_t size;
  uint32_t version;    /* TRINE_ABI_VERSION */
  const char* name;    /* "cublas"; its rungs are addressed by their own names ("cublas") */
  const char* backend; /* the backend whose ladder it extends: "cuda" */
  const char* build;   /* version line, with the vendor library's version */
  const char* (*last_error)(void);
  const trine_rung* (*rungs)(uint32_t operation, int32_t* count, uint32_t* stride);
  trine_status (*refuses)(const trine_native* native, const trine_selection* selection,
                          const trine_call* call, char* reason, size_t reason_bytes);
  trine_status (*workspace_bytes)(const trine_native* native, const trine_selection* selection,
                                  const trine_call* call, uint64_t* bytes);
  /* State kept per queue (a library's handle); NULL functions mean none. */
  trine_status (*state_create)(const trine_native* native, void** state);
  void (*state_destroy)(void* state);
  /* GPU backends: enqueues on native->queue. cpu: computes; core runs it in the queue's order. */
  trine_status (*launch)(const trine_native* native, void* state, const trine_selection* selection,
                         const trine_call* call, const trine_workspace* workspace);
} trine_pack;

typedef trine_status (*trine_rungs_entry)(const trine_host* host, const trine_pack** pack);
TRINE_EXPORT trine_status trine_rungs_v1(const trine_host* host, const trine_pack** pack);

#ifdef __cplusplus
}
#endif
#endif /* TRINE_ABI_H */
