/* A backend in plain C11, as a test of the contract and as a stage for core's tests: queues with a
 * thread each, memory of its own, and a control panel with gates, faults and counters.
 *
 * Compiled twice: as "fake", a GPU with memory of its own and an integrated one, which can't pin
 * what it is to wrap, and as "other", a CPU that shares the host's memory (FAKE_SHARED). Tests
 * reach the panel through Device::native().device. A test that needs a device that nothing else
 * has open takes one of its own name: "fake:1:as=mine".
 */
#ifndef TRINE_TESTS_FAKE_H
#define TRINE_TESTS_FAKE_H

#include <trine/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Calls that can be told to fail. */
enum {
  FAKE_DEVICE_OPEN,
  FAKE_QUEUE_CREATE,
  FAKE_QUEUE_WAIT,
  FAKE_EVENT_CREATE,
  FAKE_EVENT_RECORD,
  FAKE_EVENT_NOTIFY,
  FAKE_BUFFER_ALLOCATE,
  FAKE_COPY,
  FAKE_FILL,
  FAKE_LAUNCH,
  FAKE_IN_QUEUE, /* the next launch fails when it runs, not when it is enqueued */
  FAKE_COPY_IN_QUEUE,
  FAKE_CALLS
};

/* The counters of what is alive or has happened. */
enum {
  FAKE_DEVICES,
  FAKE_QUEUES,
  FAKE_EVENTS,
  FAKE_BUFFERS,
  FAKE_ALLOCATIONS, /* buffers of the device's own or pinned memory, freed ones too */
  FAKE_LAUNCHES,
  FAKE_COPIES,
  FAKE_FILLS,
  FAKE_PENDING,          /* tasks that haven't run to their end */
  FAKE_DIRTY_WORKSPACES, /* launches that found a control byte that wasn't zero */
  FAKE_USES_OF_GONE,     /* calls on an adopted queue that the program had destroyed */
  FAKE_QUESTIONS,        /* whether a queue or an event has passed */
  FAKE_COUNTERS
};

typedef struct fake_panel {
  void (*hold)(int on);               /* queues stand still before their next task */
  void (*fail)(int call, int status); /* the next such call returns status */
  long (*count)(int counter);
  void (*refuse_pinned)(int on);                        /* pinned memory is unsupported */
  void (*refuse_dtype)(int device, int dtype);          /* choose() there refuses it; 0: none */
  void (*fail_later)(int call, int status, int passes); /* fail(), after so many that pass */
  void (*slow_copies)(int milliseconds);                /* each takes so much longer */
  void (*largest_buffer)(long bytes);                   /* of devices opened from now on */
  void (*leave)(long bytes);                            /* of memory, to all buffers to come */
} fake_panel;

/* The program's own queue, which the fake adopts and the program may destroy. */
typedef struct fake_native_queue {
  int is_destroyed;
} fake_native_queue;

#ifdef __cplusplus
}
#endif
#endif
