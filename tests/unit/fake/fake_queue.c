/* The fake backend's queues, a thread each that starts with the first task, and its events. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <time.h>

#include "fake_parts.h"

#ifndef FAKE_CLOCK
#define FAKE_CLOCK 1.0 /* what the clock shows when a second has passed */
#endif
#ifndef FAKE_REBATE
#define FAKE_REBATE \
  0.0 /* seconds that it takes off each time, as what recording the events costs */
#endif

typedef struct task {
  struct task* next;
  fake_task run;
  void* argument;
} task;

struct trine_queue {
  trine_device* device;
  const fake_native_queue* native; /* of an adopted one */
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  task *first, **last;
  int started, busy, ended;
  trine_status failure;
};

typedef struct notice {
  struct notice* next;
  void (*function)(void*);
  void* argument;
} notice;

struct trine_event {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  int references, by_host, passed, recorded;
  double time;
  notice* notices;
};

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* --- Queues --- */

static void free_queue(trine_queue* queue) {
  pthread_cond_destroy(&queue->changed);
  pthread_mutex_destroy(&queue->mutex);
  fake_release(queue);
  fake_counted(FAKE_QUEUES, -1);
}

static void* work(void* argument) {
  trine_queue* queue = argument;
  pthread_mutex_lock(&queue->mutex);
  for (;;) {
    while (!queue->first && !queue->ended) pthread_cond_wait(&queue->changed, &queue->mutex);
    task* next = queue->first;
    if (!next) break;
    queue->first = next->next;
    if (!queue->first) queue->last = &queue->first;
    queue->busy = 1;
    pthread_mutex_unlock(&queue->mutex);
    fake_gate();
    const trine_status status = next->run(next->argument);
    fake_release(next->argument);
    fake_release(next);
    pthread_mutex_lock(&queue->mutex);
    queue->busy = 0;
    fake_counted(FAKE_PENDING, -1);
    if (status != TRINE_OK && queue->failure == TRINE_OK) queue->failure = status;
    pthread_cond_broadcast(&queue->changed);
  }
  pthread_mutex_unlock(&queue->mutex);
  free_queue(queue);
  return NULL;
}

static void use_native(const trine_queue* queue) {
  if (queue->native && queue->native->is_destroyed) fake_counted(FAKE_USES_OF_GONE, 1);
}

trine_status fake_push(trine_queue* queue, fake_task run, void* argument) {
  use_native(queue);
  task* added = fake_allocate(sizeof *added);
  if (!added) {
    fake_release(argument);
    return TRINE_OUT_OF_MEMORY;
  }
  added->next = NULL;
  added->run = run;
  added->argument = argument;
  pthread_mutex_lock(&queue->mutex);
  if (!queue->started) {
    pthread_t thread;
    queue->started = pthread_create(&thread, NULL, work, queue) == 0;
    if (queue->started) pthread_detach(thread);
  }
  fake_counted(FAKE_PENDING, 1);
  *queue->last = added;
  queue->last = &added->next;
  pthread_cond_broadcast(&queue->changed);
  pthread_mutex_unlock(&queue->mutex);
  return TRINE_OK;
}

trine_device* fake_device_of(trine_queue* queue) { return queue->device; }

trine_status fake_queue_create(trine_device* device, trine_queue** made) {
  const trine_status fault = fake_fault(FAKE_QUEUE_CREATE);
  if (fault != TRINE_OK) return fault;
  trine_queue* queue = fake_allocate(sizeof *queue);
  if (!queue) return TRINE_OUT_OF_MEMORY;
  *queue = (trine_queue){.device = device, .failure = TRINE_OK};
  queue->last = &queue->first;
  pthread_mutex_init(&queue->mutex, NULL);
  pthread_cond_init(&queue->changed, NULL);
  fake_counted(FAKE_QUEUES, 1);
  *made = queue;
  return TRINE_OK;
}
trine_status fake_queue_adopt(trine_device* device, void* native, trine_queue** queue) {
  const trine_status status = fake_queue_create(device, queue);
  if (status == TRINE_OK) (*queue)->native = native;
  return status;
}
void fake_queue_destroy(trine_queue* queue) {
  pthread_mutex_lock(&queue->mutex);
  queue->ended = 1;
  const int started = queue->started;
  pthread_cond_broadcast(&queue->changed);
  pthread_mutex_unlock(&queue->mutex);
  if (!started) free_queue(queue);
}
void* fake_queue_native(trine_queue* queue) { return queue; }
trine_status fake_queue_flush(trine_queue* queue) {
  use_native(queue);
  return TRINE_OK;
}
trine_status fake_queue_wait(trine_queue* queue) {
  use_native(queue);
  const trine_status fault = fake_fault(FAKE_QUEUE_WAIT);
  if (fault != TRINE_OK) return fault;
  pthread_mutex_lock(&queue->mutex);
  while (queue->first || queue->busy) pthread_cond_wait(&queue->changed, &queue->mutex);
  const trine_status failure = queue->failure;
  queue->failure = TRINE_OK;
  pthread_mutex_unlock(&queue->mutex);
  return failure == TRINE_OK ? TRINE_OK : fake_error(failure, "a planted fault in the queue");
}
trine_status fake_queue_query(trine_queue* queue) {
  use_native(queue);
  fake_counted(FAKE_QUESTIONS, 1);
  pthread_mutex_lock(&queue->mutex);
  const int idle = !queue->first && !queue->busy;
  pthread_mutex_unlock(&queue->mutex);
  return idle ? TRINE_OK : TRINE_NOT_READY;
}

typedef struct call_task {
  void (*function)(void*);
  void* argument;
} call_task;
static trine_status run_call(void* argument) {
  const call_task* call = argument;
  call->function(call->argument);
  return TRINE_OK;
}
trine_status fake_queue_call(trine_queue* queue, void (*function)(void*), void* argument) {
  call_task* kept = fake_allocate(sizeof *kept);
  if (!kept) return TRINE_OUT_OF_MEMORY;
  kept->function = function;
  kept->argument = argument;
  return fake_push(queue, run_call, kept);
}

/* --- Events --- */

static void release_event(trine_event* event) {
  pthread_mutex_lock(&event->mutex);
  const int left = --event->references;
  pthread_mutex_unlock(&event->mutex);
  if (left) return;
  pthread_cond_destroy(&event->changed);
  pthread_mutex_destroy(&event->mutex);
  fake_release(event);
  fake_counted(FAKE_EVENTS, -1);
}
static void share_event(trine_event* event) {
  pthread_mutex_lock(&event->mutex);
  ++event->references;
  pthread_mutex_unlock(&event->mutex);
}
static void pass_event(trine_event* event) {
  pthread_mutex_lock(&event->mutex);
  event->passed = 1;
  event->time = now();
  notice* notices = event->notices;
  event->notices = NULL;
  pthread_cond_broadcast(&event->changed);
  pthread_mutex_unlock(&event->mutex);
  while (notices) {
    notice* next = notices->next;
    notices->function(notices->argument);
    fake_release(notices);
    notices = next;
  }
}

trine_status fake_event_create(trine_device* device, int32_t by_host, trine_event** made) {
  (void)device;
  const trine_status fault = fake_fault(FAKE_EVENT_CREATE);
  if (fault != TRINE_OK) return fault;
  trine_event* event = fake_allocate(sizeof *event);
  if (!event) return TRINE_OUT_OF_MEMORY;
  *event = (trine_event){.references = 1, .by_host = by_host, .passed = 0, .recorded = by_host};
  pthread_mutex_init(&event->mutex, NULL);
  pthread_cond_init(&event->changed, NULL);
  fake_counted(FAKE_EVENTS, 1);
  *made = event;
  return TRINE_OK;
}
void fake_event_destroy(trine_event* event) { release_event(event); }

typedef struct event_task {
  trine_event* event;
} event_task;
static trine_status run_record(void* argument) {
  trine_event* event = ((event_task*)argument)->event;
  pass_event(event);
  release_event(event);
  return TRINE_OK;
}
static trine_status run_wait(void* argument) {
  trine_event* event = ((event_task*)argument)->event;
  fake_event_wait(event);
  release_event(event);
  return TRINE_OK;
}
static trine_status push_event(trine_queue* queue, fake_task run, trine_event* event) {
  event_task* kept = fake_allocate(sizeof *kept);
  if (!kept) return TRINE_OUT_OF_MEMORY;
  kept->event = event;
  share_event(event);
  const trine_status status = fake_push(queue, run, kept);
  if (status != TRINE_OK) release_event(event);
  return status;
}
trine_status fake_event_record(trine_event* event, trine_queue* queue) {
  const trine_status fault = fake_fault(FAKE_EVENT_RECORD);
  if (fault != TRINE_OK) return fault;
  pthread_mutex_lock(&event->mutex);
  event->recorded = 1;
  event->passed = 0;
  pthread_mutex_unlock(&event->mutex);
  return push_event(queue, run_record, event);
}
trine_status fake_queue_wait_event(trine_queue* queue, trine_event* event) {
  return push_event(queue, run_wait, event);
}
trine_status fake_event_signal(trine_event* event) {
  pass_event(event);
  return TRINE_OK;
}
trine_status fake_event_query(trine_event* event) {
  fake_counted(FAKE_QUESTIONS, 1);
  pthread_mutex_lock(&event->mutex);
  const int passed = event->passed;
  pthread_mutex_unlock(&event->mutex);
  return passed ? TRINE_OK : TRINE_NOT_READY;
}
trine_status fake_event_wait(trine_event* event) {
  pthread_mutex_lock(&event->mutex);
  while (!event->passed) pthread_cond_wait(&event->changed, &event->mutex);
  pthread_mutex_unlock(&event->mutex);
  return TRINE_OK;
}
trine_status fake_event_notify(trine_event* event, void (*function)(void*), void* argument) {
  const trine_status fault = fake_fault(FAKE_EVENT_NOTIFY);
  if (fault != TRINE_OK) return fault;
  notice* added = fake_allocate(sizeof *added);
  if (!added) return TRINE_OUT_OF_MEMORY;
  added->function = function;
  added->argument = argument;
  pthread_mutex_lock(&event->mutex);
  const int passed = event->passed;
  if (!passed) {
    added->next = event->notices;
    event->notices = added;
  }
  pthread_mutex_unlock(&event->mutex);
  if (!passed) return TRINE_OK;
  fake_release(added);
  function(argument);
  return TRINE_OK;
}
trine_status fake_event_elapsed(trine_event* start, trine_event* stop, double* seconds) {
  pthread_mutex_lock(&start->mutex);
  const double from = start->time;
  pthread_mutex_unlock(&start->mutex);
  pthread_mutex_lock(&stop->mutex);
  *seconds = FAKE_CLOCK * (stop->time - from);
  if (FAKE_REBATE != 0) *seconds = *seconds > FAKE_REBATE ? *seconds - FAKE_REBATE : 1e-10;
  pthread_mutex_unlock(&stop->mutex);
  return TRINE_OK;
}
