/// Queues and events: the order of asynchronous work, on the CPU as on GPUs. The C form of
/// <trine/queue.hpp>, which says more about adopted queues.
#pragma once

#include <trine/c/device.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A handle of an in-order, asynchronous queue of work on one device.
typedef struct trine_queue_t trine_queue_t;
/// A handle of a point in the work of a queue. It may outlive its queue. NULL is an event that has
/// passed.
typedef struct trine_event_t trine_event_t;

/// Makes a queue of `device`. TRINE_OUT_OF_MEMORY, TRINE_BACKEND_ERROR.
/// ```c
/// trine_device_t* cpu;
/// trine_queue_t *first, *second;
/// trine_event_t* produced;
/// if (trine_device_open("cpu", &cpu) != TRINE_OK) return 1;
/// if (trine_queue_create(cpu, &first) != TRINE_OK) return 1;
/// if (trine_queue_create(cpu, &second) != TRINE_OK) return 1;
/// if (trine_event_record(first, &produced) != TRINE_OK) return 1;
/// trine_queue_wait_event(second, produced);  // second's later work starts after that of first
/// trine_queue_wait(second);                  // this thread blocks until second is empty
/// trine_event_release(produced);
/// trine_queue_release(first);
/// trine_queue_release(second);
/// trine_device_close(cpu);
/// ```
TRINE_EXPORT trine_status trine_queue_create(const trine_device_t* device, trine_queue_t** queue);
/// Uses the program's own queue: a cudaStream_t or CUstream (NULL is CUDA's default stream), or an
/// in-order cl_command_queue. Trine never destroys `native`, which must exist until the last wait
/// on the queue has returned. TRINE_UNSUPPORTED on the cpu.
TRINE_EXPORT trine_status trine_queue_adopt(const trine_device_t* device, void* native,
                                            trine_queue_t** queue);
/// Drops a handle. Never waits: work in flight goes on. NULL is legal.
TRINE_EXPORT void trine_queue_release(trine_queue_t* queue);
/// The device of the queue, as a handle of its own.
TRINE_EXPORT trine_status trine_queue_get_device(const trine_queue_t* queue,
                                                 trine_device_t** device);
/// The CUstream or cl_command_queue, valid as long as the queue exists; NULL on the cpu.
TRINE_EXPORT trine_status trine_queue_get_native(const trine_queue_t* queue, void** native);
/// Makes sure that the device starts on what was enqueued. Waits and events do it themselves.
TRINE_EXPORT trine_status trine_queue_flush(trine_queue_t* queue);
/// Blocks the calling thread until all work on the queue has ended. TRINE_BACKEND_ERROR or
/// TRINE_DEVICE_LOST if any of it failed; the sentence names the operations since the last good
/// wait.
TRINE_EXPORT trine_status trine_queue_wait(trine_queue_t* queue);
/// Sets `done` to 1 if nothing is in flight, else to 0. Never blocks; 0 while another thread uses
/// the queue.
TRINE_EXPORT trine_status trine_queue_is_done(trine_queue_t* queue, int* done);
/// Lets all work that is enqueued from now on wait for `event`, which may come from any queue of
/// any backend. The calling thread does not wait.
TRINE_EXPORT trine_status trine_queue_wait_event(trine_queue_t* queue, const trine_event_t* event);

/// The point after all work that was enqueued on `queue` so far.
TRINE_EXPORT trine_status trine_event_record(trine_queue_t* queue, trine_event_t** event);
/// Drops a handle. Never waits; NULL is legal.
TRINE_EXPORT void trine_event_release(trine_event_t* event);
/// Sets `done` to 1 if all work before the event has ended, else to 0. Never blocks.
/// TRINE_BACKEND_ERROR or TRINE_DEVICE_LOST if that work failed.
TRINE_EXPORT trine_status trine_event_is_done(const trine_event_t* event, int* done);
/// Blocks the calling thread until all work before the event has ended. Errors as
/// trine_event_is_done().
TRINE_EXPORT trine_status trine_event_wait(const trine_event_t* event);
/// The time in seconds from `start` to `stop` on the device's own clock. Waits for both.
/// TRINE_INVALID_ARGUMENT for NULL and for events of different devices.
TRINE_EXPORT trine_status trine_event_get_elapsed(const trine_event_t* start,
                                                  const trine_event_t* stop, double* seconds);

#ifdef __cplusplus
}
#endif
