/* The contract between the Trine library ("core") and a backend or a rung pack, in plain C11.
 *
 * A backend is a shared library with hidden visibility that exports one function, trine_backend_v1;
 * it returns a table of functions, a trine_backend. A rung pack adds kernels to an existing
 * backend: it exports trine_rungs_v1 and returns a trine_pack. Installed as <trine/abi.h>. Guides
 * with complete examples: docs/writing-a-backend.md and docs/writing-a-rung.md.
 *
 * Growth. The contract grows by appending. Every struct that crosses this interface begins with
 * `size`, its sizeof as its writer knows it. A reader takes the fields that both know. If the
 * writer's struct is longer and its tail isn't zero, the reader refuses the call
 * (TRINE_UNSUPPORTED). Arrays come with the size of one element as stride.
 *
 * Errors. Functions return a trine_status. After a failure, last_error() gives the calling thread a
 * sentence: what failed, where, why, what helps. A failed call has changed nothing.
 *
 * Threads. Any function may be called from any thread. Core serialises the calls on one queue;
 * calls on different queues run concurrently. A backend never aborts, exits, prints, installs
 * handlers or lets an exception out, and it restores what it changes in the calling thread (CUDA's
 * current context, the floating-point environment).
 *
 * Lifetime. Structs and arrays that are passed in belong to the caller and are gone after the call,
 * so a function that enqueues work keeps a copy. Tables, rows and strings that are returned live as
 * long as the library, which is never unloaded. A handle belongs to core until core destroys it.
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

/* The version of this contract. A change that isn't an addition would make it 2. */
#define TRINE_ABI_VERSION 1
/* Marks the one function that a backend or pack exports. */
#define TRINE_EXPORT __attribute__((visibility("default")))

/* --- The host's services -------------------------------------------------------------------- */

/* Host memory for backends and packs. All host memory that they allocate themselves comes from
 * here, so that tests can let the Nth allocation fail. Valid for the life of the process. */
typedef struct trine_host {
  uint32_t size;
  /* The first argument of both functions. */
  void* context;
  /* `bytes` at a multiple of `alignment` (a power of two); NULL when memory is exhausted. */
  void* (*allocate)(void* context, size_t bytes, size_t alignment);
  /* Frees what allocate returned; NULL is legal. */
  void (*release)(void* context, void* pointer);
} trine_host;

/* --- Devices --------------------------------------------------------------------------------- */

/* Opaque types that each backend defines for itself: an open device, an in-order asynchronous
 * queue, a point in a queue's work, and memory. */
typedef struct trine_device trine_device;
typedef struct trine_queue trine_queue;
typedef struct trine_event trine_event;
typedef struct trine_buffer trine_buffer;

/* The kind of processor. An OpenCL device may be any of them. */
typedef enum trine_device_kind {
  TRINE_DEVICE_CPU = 1,
  TRINE_DEVICE_GPU = 2,
  TRINE_DEVICE_OTHER = 3
} trine_device_kind;

/* Capability bits of a device. */
enum {
  /* It computes with f64. */
  TRINE_CAN_F64 = 1u << 0,
  /* The arithmetic probe has passed, for f32 and, with CAN_F64, for f64. The probe runs when the
   * device is opened (fma, rounding, denormals, no contraction); a driver's flags don't count.
   * Without this bit, reproducible rungs on floats must refuse. */
  TRINE_CAN_REPRODUCE = 1u << 1,
  /* Host and device memory are the same: buffer_wrap costs no copy, and each side sees what the
   * other wrote once the queue has passed it. Many OpenCL devices with "unified memory" don't
   * promise this. */
  TRINE_CAN_SHARE_MEMORY = 1u << 2,
  /* It allocates TRINE_MEMORY_PINNED. */
  TRINE_CAN_PIN = 1u << 3,
  /* It has atomics on 64 bits. */
  TRINE_CAN_ATOMIC_64 = 1u << 4,
  /* Its kernels may contain PTX. */
  TRINE_CAN_INLINE_PTX = 1u << 5,
  /* Work-items of a sub-group (warp) can exchange registers. */
  TRINE_CAN_SUBGROUPS = 1u << 6,
  /* A copy from or to host memory that the device hasn't pinned never blocks the caller. Without
   * this bit such a call may wait for all earlier work of the queue, and core stages copies between
   * two devices in memory that this device has pinned. */
  TRINE_CAN_ORDER_PAGEABLE = 1u << 7
};

/* The properties of a device; 0 or "" where the driver doesn't tell. */
typedef struct trine_device_facts {
  uint32_t size;
  /* A trine_device_kind. */
  uint32_t kind;
  char name[128];
  char vendor[64];
  /* Driver, platform and version in one line. */
  char driver[128];
  /* The result of the arithmetic probe, in words. */
  char probe[256];
  /* "0000:3b:00.0". Two backends that see one GPU give the same address. */
  char pci[24];
  /* Zeros when unknown. */
  uint8_t uuid[16];
  /* Bytes: the device's memory, and its largest single buffer. */
  uint64_t memory_bytes, max_buffer_bytes;
  /* Bytes of local (CUDA: shared) memory for one work-group. */
  uint64_t local_memory_bytes;
  /* TRINE_CAN_... bits. */
  uint64_t capabilities;
  /* Multiprocessors, or cores in use. */
  uint32_t compute_units;
  /* Work-items of the largest work-group. */
  uint32_t max_group_threads;
  /* CUDA's compute capability, OpenCL C's version, else zeros. */
  uint32_t version_major, version_minor;
  /* The data sheet's figures: bytes/s, and flop/s without tensor cores. */
  double peak_bandwidth;
  double peak_f32, peak_f64;
} trine_device_facts;

/* --- Memory ---------------------------------------------------------------------------------- */

/* The kind of memory behind a buffer. */
typedef enum trine_memory_kind {
  TRINE_MEMORY_DEVICE = 1,
  /* Host memory that the device copies from and to at full speed. */
  TRINE_MEMORY_PINNED = 2,
  /* The caller's host memory, registered with the device. */
  TRINE_MEMORY_WRAPPED = 3,
  /* The caller's device memory; a backend never frees it. */
  TRINE_MEMORY_ADOPTED = 4
} trine_memory_kind;

/* The properties of a buffer. */
typedef struct trine_buffer_facts {
  uint32_t size;
  /* A trine_memory_kind. */
  uint32_t kind;
  /* The handle for trine_view::memory: CUdeviceptr, cl_mem, or a host pointer. */
  void* native;
  /* The host pointer of pinned, wrapped and shared memory, else NULL. */
  void* host;
  uint64_t bytes;
  /* The address of the first byte as the device counts, for core's checks of alignment and overlap;
   * 0 where the handle is no address (a cl_mem; but its host pointer when it is wrapped). Pinned
   * memory without an address counts as mapped for the host: core refuses views of it, except on
   * CPUs that share memory. */
  uint64_t address;
} trine_buffer_facts;

/* Both ends of a copy. */
typedef enum trine_direction {
  TRINE_HOST_TO_DEVICE = 1,
  TRINE_DEVICE_TO_HOST = 2,
  TRINE_DEVICE_TO_DEVICE = 3
} trine_direction;

/* A copy of `height` rows of `width` bytes.
 *
 * A device end is a native handle, a host end a plain pointer; both have a byte offset. Host memory
 * is read or written when the queue comes to the copy, never before, pinned or not. */
typedef struct trine_copy {
  uint32_t size;
  /* A trine_direction. */
  uint32_t direction;
  const void* source;
  void* target;
  /* Bytes from `source` and `target` to the first row. */
  uint64_t source_offset, target_offset;
  /* Bytes from one row to the next; without meaning for height <= 1. The source's pitch may be less
   * than the width: its rows overlap then, or are all the same row (0). */
  uint64_t source_pitch, target_pitch;
  uint64_t width, height;
} trine_copy;

/* --- Elementwise commands ----------------------------------------------------------------------
 */

/* A number of the host, or one element of device memory, which is read when the queue comes to the
 * command. */
typedef struct trine_number {
  /* A native handle; NULL for a number of the host. */
  void* memory;
  /* The place of the element, in bytes. */
  uint64_t offset;
  /* The number of the host. */
  trine_scalar value;
} trine_number;

/* An elementwise command over views of one shape. `out` may be the very view u or v; otherwise it
 * shares no memory with them, and none with p and q unless there is one element. */
typedef struct trine_elementwise {
  uint32_t size;
  /* A trine_elementwise_function. */
  uint32_t function;
  /* A trine_dtype: F32, F64, or I32 with AXPBY. */
  uint32_t dtype;
  /* Zero. */
  uint32_t reserved;
  trine_number p, q;
  trine_view u, v, out;
} trine_elementwise;

/* --- Rungs ----------------------------------------------------------------------------------- */

/* The most parameters that a rung may have. */
#define TRINE_MAX_PARAMETERS 8
/* The size of the control area at the start of every workspace: it is zero when a launch begins,
 * and the launch leaves it zero. */
#define TRINE_CONTROL_BYTES 4096

/* A parameter of a rung: its name and its possible values, as words ("256", "atomic"). */
typedef struct trine_parameter {
  uint32_t size;
  /* The length of `values`. */
  int32_t value_count;
  /* An index into `values`. */
  int32_t default_value;
  const char* name;
  const char* const* values;
} trine_parameter;

/* A rung: one named kernel variant of an operation. */
typedef struct trine_rung {
  uint32_t size;
  /* A trine_numerics: the promise about its bits. */
  uint32_t numerics;
  /* A word, "sequential". */
  const char* name;
  /* One sentence on its idea. */
  const char* summary;
  /* Its requirement in words, or NULL. */
  const char* requirement;
  const trine_parameter* parameters;
  int32_t parameter_count;
  /* sizeof(trine_parameter) as the writer of the array knows it. */
  uint32_t parameter_stride;
  /* The flags of a trine_gemm that it takes: TRINE_CONTINUES; and TRINE_TAKES_EXACT. Core
   * refuses calls with others in its place; choose() leaves it out for them. */
  uint64_t takes;
} trine_rung;

/* A rung with fixed parameters. */
typedef struct trine_selection {
  uint32_t size;
  /* An index into rungs(operation). */
  int32_t rung;
  /* values[p] is an index into parameters[p].values. */
  int32_t values[TRINE_MAX_PARAMETERS];
  /* Set by choose(): the reason of the choice, a static sentence. */
  const char* why;
} trine_selection;

/* An operation with its views.
 *
 * Core has checked shapes, strides, dtypes, alignment and overlap, except in refuses(),
 * workspace_bytes() and choose() that are called for a plan: there the views' `memory` may be NULL.
 */
typedef struct trine_call {
  uint32_t size;
  /* A trine_operation. */
  uint32_t operation;
  /* The trine_reduce, trine_transpose or trine_gemm. */
  const void* descriptor;
} trine_call;

/* One who looks at the memory that launches read while it is in a cache: core's digests. */
typedef struct trine_witness {
  uint32_t size;
  /* The first argument of `see`. */
  void* context;
  /* The bytes [first, last) of an input are about to be read: once each in a launch,
   * in pieces that fit a cache, in any order, from any thread, before the work has
   * passed. A rung may leave out as much as it likes. */
  void (*see)(void* context, const void* first, const void* last);
} trine_witness;

/* Device memory for a launch, of the size that workspace_bytes() gave. Core keeps one per queue. */
typedef struct trine_workspace {
  uint32_t size;
  /* A native handle; NULL when workspace_bytes() gave 0. */
  void* memory;
  /* The place in `memory`, a multiple of 256, and the size. */
  uint64_t offset, bytes;
} trine_workspace;

/* --- A backend ------------------------------------------------------------------------------- */

/* The table of a backend's functions. All are required, except those that say NULL is legal. */
typedef struct trine_backend {
  uint32_t size;
  /* TRINE_ABI_VERSION. */
  uint32_t version;
  /* "cuda", "opencl", "cpu": the first part of its devices' names. */
  const char* name;
  /* Version and options of this build, one line. */
  const char* build;

  /* The text of the calling thread's last failure; never NULL. */
  const char* (*last_error)(void);

  /* The number of devices. 0 is no failure; last_error() then says why there are none. */
  trine_status (*device_count)(int32_t* count);
  /* The properties of device `index` without opening it; probe and capabilities may be missing. */
  trine_status (*device_describe)(int32_t index, trine_device_facts* facts);
  /* Opens a device and runs the arithmetic probe. `options` is "" or "key=value,...", the end of
   * the device's name ("cpu:threads=8"); an unknown key is TRINE_NOT_FOUND, with the list of known
   * ones. Opening a device twice gives two handles, or one that counts references. */
  trine_status (*device_open)(int32_t index, const char* options, trine_device** device);
  /* Core calls it when no queue, event or buffer of the device is left. */
  void (*device_close)(trine_device* device);
  /* The properties of an open device, complete. */
  trine_status (*device_facts)(trine_device* device, trine_device_facts* facts);
  /* Native handles: CUdevice as an integer and CUcontext; cl_device_id and cl_context; cpu: NULL.
   */
  trine_status (*device_native)(trine_device* device, void** native_device, void** native_context);

  /* Makes an in-order, asynchronous queue. */
  trine_status (*queue_create)(trine_device* device, trine_queue** queue);
  /* Uses the program's CUstream or cl_command_queue, which is never destroyed by the backend. */
  trine_status (*queue_adopt)(trine_device* device, void* native, trine_queue** queue);
  /* Legal with work in flight, which still completes; never blocks other queues. */
  void (*queue_destroy)(trine_queue* queue);
  /* CUstream, cl_command_queue or NULL. */
  void* (*queue_native)(trine_queue* queue);
  /* Makes sure that the device starts on what was enqueued. */
  trine_status (*queue_flush)(trine_queue* queue);
  /* Blocks until all work has ended; returns the first failure since the last queue_wait. */
  trine_status (*queue_wait)(trine_queue* queue);
  /* TRINE_OK when nothing is in flight, else TRINE_NOT_READY. */
  trine_status (*queue_query)(trine_queue* queue);
  /* Later work on `queue` waits for `event`, which was recorded on any queue of this backend or is
   * signalled by the host. The caller doesn't wait. */
  trine_status (*queue_wait_event)(trine_queue* queue, trine_event* event);
  /* Runs function(argument) in the queue's order, on a thread of the backend. Packs of the cpu
   * backend run this way. NULL is legal where packs enqueue on the native queue. */
  trine_status (*queue_call)(trine_queue* queue, void (*function)(void*), void* argument);

  /* Makes an event. With `signalled_by_host`, only event_signal() completes it. */
  trine_status (*event_create)(trine_device* device, int32_t signalled_by_host,
                               trine_event** event);
  /* Legal before the event has passed. */
  void (*event_destroy)(trine_event* event);
  /* Puts the event behind all work of `queue` so far. */
  trine_status (*event_record)(trine_event* event, trine_queue* queue);
  /* Completes an event that is signalled by the host. */
  trine_status (*event_signal)(trine_event* event);
  /* TRINE_OK when the event has passed, else TRINE_NOT_READY. */
  trine_status (*event_query)(trine_event* event);
  /* Blocks the caller until the event has passed. */
  trine_status (*event_wait)(trine_event* event);
  /* Calls function(argument) once, from any thread, after the event; at once if it has passed. The
   * function may call event_signal(), but nothing else of a backend. */
  trine_status (*event_notify)(trine_event* event, void (*function)(void*), void* argument);
  /* The seconds of device time between two recorded, completed events of one device. */
  trine_status (*event_elapsed)(trine_event* start, trine_event* stop, double* seconds);

  /* Allocates device or pinned memory; `kind` is a trine_memory_kind. */
  trine_status (*buffer_allocate)(trine_device* device, uint64_t bytes, uint32_t kind,
                                  trine_buffer** buffer);
  /* Uses the caller's device memory. */
  trine_status (*buffer_adopt)(trine_device* device, void* native, uint64_t bytes,
                               trine_buffer** buffer);
  /* Registers the caller's host memory. */
  trine_status (*buffer_wrap)(trine_device* device, void* host, uint64_t bytes,
                              trine_buffer** buffer);
  /* Core calls it when no queue uses the buffer any more; of adopted memory, whose caller keeps it,
   * at any time. Wrapped and adopted memory stays. */
  void (*buffer_free)(trine_buffer* buffer);
  /* The properties of a buffer. */
  trine_status (*buffer_facts)(trine_buffer* buffer, trine_buffer_facts* facts);
  /* Enqueues a copy. */
  trine_status (*copy)(trine_queue* queue, const trine_copy* copy);
  /* Enqueues a fill of `bytes` bytes from `offset` on: `pattern` (1, 2, 4, 8 or 16 bytes) repeated.
   */
  trine_status (*fill)(trine_queue* queue, void* memory, uint64_t offset, uint64_t bytes,
                       const void* pattern, uint32_t pattern_bytes);

  /* The ladder of an operation: an array of *count rungs, *stride bytes apart, the naive rung
   * first; a *count of 0 for an operation that the backend doesn't know. */
  const trine_rung* (*rungs)(uint32_t operation, int32_t* count, uint32_t* stride);
  /* TRINE_OK if the rung can run the call, else TRINE_UNSUPPORTED with the reason as text in
   * `reason`. */
  trine_status (*refuses)(trine_device* device, const trine_selection* selection,
                          const trine_call* call, char* reason, size_t reason_bytes);
  /* Writes the best rung for the call on this device, with the promise that the descriptor asks
   * for. */
  trine_status (*choose)(trine_device* device, const trine_call* call, trine_selection* selection);
  /* Writes the size of the workspace that the rung needs for the call; 0 for none. */
  trine_status (*workspace_bytes)(trine_device* device, const trine_selection* selection,
                                  const trine_call* call, uint64_t* bytes);
  /* Enqueues the operation. Never waits for the device and reads nothing back. It writes the output
   * and the workspace only. */
  trine_status (*launch)(trine_queue* queue, const trine_selection* selection,
                         const trine_call* call, const trine_workspace* workspace);

  /* Allocates device memory for the workspaces of `queue`, which buffer_free() frees. NULL is legal
   * where buffer_allocate() serves every queue; the context of an adopted cl_command_queue needs
   * its own. */
  trine_status (*queue_allocate)(trine_queue* queue, uint64_t bytes, trine_buffer** buffer);
  /* Enqueues one command that writes `pattern` (1, 2, 4, 8 or 16 bytes: the element) to each
   * element of `view`, whatever its strides. NULL is legal: core then calls fill() for each run of
   * adjacent elements. */
  trine_status (*fill_view)(trine_queue* queue, const trine_view* view, const void* pattern,
                            uint32_t pattern_bytes);
  /* Enqueues an elementwise command. NULL is legal: such calls are then unsupported. */
  trine_status (*elementwise)(trine_queue* queue, const trine_elementwise* command);
  /* Launches enqueued from now on show `witness` the host memory that they read; NULL: no
   * more. It stays valid until their work has passed. NULL is legal: core then reads the memory
   * again. */
  void (*queue_witness)(trine_queue* queue, const trine_witness* witness);
  /* Writes whether the program captures the queue into a graph, when nothing can be waited for.
   * NULL is legal where there is no such thing. */
  trine_status (*queue_is_captured)(trine_queue* queue, int32_t* captured);
  /* TRINE_OK where a device of this backend may beat the cpu, so that placement by `auto` should
   * ask for its devices; else TRINE_NOT_FOUND, and last_error() says why. `gpus` is the number of
   * GPUs that backends asked before have. It loads no driver: it looks at what costs nothing, such
   * as device files. NULL: always. */
  trine_status (*is_candidate)(int32_t gpus);
} trine_backend;

/* The one exported function of a backend: stores `host` and returns the table. A missing driver is
 * no failure here; device_count() says so. tests/unit/fake/fake_backend.c is a whole backend in
 * C11.
 *
 *   trine_status trine_backend_v1(const trine_host* host, const trine_backend** backend) {
 *     my_host = host;
 *     *backend = &my_table;
 *     return TRINE_OK;
 *   }
 */
typedef trine_status (*trine_backend_entry)(const trine_host* host, const trine_backend** backend);
TRINE_EXPORT trine_status trine_backend_v1(const trine_host* host, const trine_backend** backend);

/* --- A rung pack ----------------------------------------------------------------------------- */

/* The place where a pack's rung runs: the backend's native handles. */
typedef struct trine_native {
  uint32_t size;
  /* The device's index in its backend. */
  int32_t device_index;
  /* CUdevice as an integer, cl_device_id; NULL on the cpu. */
  void* device;
  /* The device's context; an adopted cl_command_queue may be of another. */
  void* context;
  /* CUstream or cl_command_queue; NULL on the cpu, in refuses() and in workspace_bytes(). */
  void* queue;
  const trine_device_facts* facts;
  /* On the cpu the number of threads that the device may use, else 0. */
  int32_t threads;
} trine_native;

/* The table of a pack's functions, which do what the backend's functions of the same names do. */
typedef struct trine_pack {
  uint32_t size;
  /* TRINE_ABI_VERSION. */
  uint32_t version;
  /* The pack's name, "cublas"; callers name its rungs by the rungs' own names. */
  const char* name;
  /* The backend whose ladders it extends: "cuda". */
  const char* backend;
  /* Its version line, with the version of the vendor's library. */
  const char* build;
  const char* (*last_error)(void);
  const trine_rung* (*rungs)(uint32_t operation, int32_t* count, uint32_t* stride);
  trine_status (*refuses)(const trine_native* native, const trine_selection* selection,
                          const trine_call* call, char* reason, size_t reason_bytes);
  trine_status (*workspace_bytes)(const trine_native* native, const trine_selection* selection,
                                  const trine_call* call, uint64_t* bytes);
  /* Makes and destroys what the pack keeps per queue, such as a library's handle. NULL is legal. */
  trine_status (*state_create)(const trine_native* native, void** state);
  void (*state_destroy)(void* state);
  /* On GPUs: enqueues on native->queue and returns. On the cpu: computes; core calls it in the
   * order of the queue. `state` is that of the queue. */
  trine_status (*launch)(const trine_native* native, void* state, const trine_selection* selection,
                         const trine_call* call, const trine_workspace* workspace);
} trine_pack;

/* The one exported function of a rung pack. docs/writing-a-rung.md has a whole pack. */
typedef trine_status (*trine_rungs_entry)(const trine_host* host, const trine_pack** pack);
TRINE_EXPORT trine_status trine_rungs_v1(const trine_host* host, const trine_pack** pack);

#ifdef __cplusplus
}
#endif
#endif /* TRINE_ABI_H */
