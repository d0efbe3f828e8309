/* The declarations that the fake backend's own files share. */
#ifndef TRINE_TESTS_FAKE_PARTS_H
#define TRINE_TESTS_FAKE_PARTS_H

#include <stdint.h>

#include "fake.h"

extern const fake_panel fake_the_panel;
extern const trine_host* fake_host;

void fake_counted(int counter, long change);
/* The status that the next call of this kind is told to return, TRINE_OK mostly. */
trine_status fake_fault(int call);
void fake_gate(void); /* returns when the gate is open */
int fake_pinned_refused(void);
uint32_t fake_dtype_refused(int device);
trine_status fake_error(trine_status status, const char* text);
const char* fake_last_error(void);
void* fake_allocate(uint64_t bytes);
void fake_release(void* pointer);

struct trine_device {
  int32_t index;
  int noop; /* launches do nothing at all: what core itself costs */
};

struct trine_buffer {
  void* memory;
  uint64_t bytes;
  uint32_t kind;
};

/* A task runs on the queue's thread; `run` frees nothing, the queue frees `argument` after it. */
typedef trine_status (*fake_task)(void* argument);
trine_status fake_push(trine_queue* queue, fake_task run, void* argument);
trine_device* fake_device_of(trine_queue* queue);

/* fake_queue.c */
trine_status fake_queue_create(trine_device*, trine_queue**);
trine_status fake_queue_adopt(trine_device*, void*, trine_queue**);
void fake_queue_destroy(trine_queue*);
void* fake_queue_native(trine_queue*);
trine_status fake_queue_flush(trine_queue*);
trine_status fake_queue_wait(trine_queue*);
trine_status fake_queue_query(trine_queue*);
trine_status fake_queue_wait_event(trine_queue*, trine_event*);
trine_status fake_queue_call(trine_queue*, void (*)(void*), void*);
trine_status fake_event_create(trine_device*, int32_t, trine_event**);
void fake_event_destroy(trine_event*);
trine_status fake_event_record(trine_event*, trine_queue*);
trine_status fake_event_signal(trine_event*);
trine_status fake_event_query(trine_event*);
trine_status fake_event_wait(trine_event*);
trine_status fake_event_notify(trine_event*, void (*)(void*), void*);
trine_status fake_event_elapsed(trine_event*, trine_event*, double*);

/* fake_rungs.c */
const trine_rung* fake_rungs(uint32_t operation, int32_t* count, uint32_t* stride);
trine_status fake_refuses(trine_device*, const trine_selection*, const trine_call*, char*, size_t);
trine_status fake_choose(trine_device*, const trine_call*, trine_selection*);
trine_status fake_workspace_bytes(trine_device*, const trine_selection*, const trine_call*,
                                  uint64_t*);
trine_status fake_launch(trine_queue*, const trine_selection*, const trine_call*,
                         const trine_workspace*);
void fake_compute(const trine_call* call);
void fake_elementwise(const trine_elementwise* call);

#endif
