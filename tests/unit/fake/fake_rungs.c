/* The fake backend's ladders: plain loops, a rung that needs a workspace, one that refuses. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "fake_parts.h"

#include <trine/lists.h>

#ifndef FAKE_NAP
#define FAKE_NAP 0 /* nanoseconds that each launch sleeps */
#endif

#ifndef FAKE_LACKS
#define FAKE_LACKS 0 /* the operation that has no rung */
#endif

static const char* const thread_values[] = {"64", "128", "256"};
static const char* const finish_values[] = {"atomic", "two"};
static const trine_parameter parameters[] = {
    {sizeof(trine_parameter), 3, 1, "threads", thread_values},
    {sizeof(trine_parameter), 2, 0, "finish", finish_values},
};

#define ROW(name, numerics, summary, needs) \
  { sizeof(trine_rung), numerics, name, summary, needs, NULL, 0, sizeof(trine_parameter), 0 }
#define TUNED(name, summary, takes)                                             \
  {                                                                             \
    sizeof(trine_rung), TRINE_REPRODUCIBLE, name, summary, NULL, parameters, 2, \
        sizeof(trine_parameter), takes                                          \
  }
#ifndef FAKE_TAKES
#define FAKE_TAKES TRINE_CONTINUES /* of gemm's flags */
#endif

static const trine_rung reduce_rows[] = {
    ROW("naive", TRINE_REPRODUCIBLE, "one loop", NULL),
    TUNED("tuned", "one loop that wants a workspace", 0),
    ROW("picky", TRINE_STUDY, "refuses everything", "the impossible"),
};
static const trine_rung transpose_rows[] = {ROW("naive", TRINE_REPRODUCIBLE, "one loop", NULL)};
static const trine_rung gemm_rows[] = {ROW("naive", TRINE_REPRODUCIBLE, "three loops", NULL),
                                       TUNED("tuned", "three loops with a workspace", FAKE_TAKES)};

enum { NAIVE, TUNED_RUNG, PICKY };

const trine_rung* fake_rungs(uint32_t operation, int32_t* count, uint32_t* stride) {
  *stride = sizeof(trine_rung);
  switch (operation == FAKE_LACKS ? 0 : operation) {
#define TRINE_ROWS(VALUE, word, ...) \
  case TRINE_##VALUE: *count = sizeof word##_rows / sizeof(trine_rung); return word##_rows;
    TRINE_OPERATIONS(TRINE_ROWS)
#undef TRINE_ROWS
    default: *count = 0; return NULL;
  }
}

trine_status fake_refuses(trine_device* device, const trine_selection* selection,
                          const trine_call* call, char* reason, size_t reason_bytes) {
  (void)device;
  if (call->operation == TRINE_REDUCE && selection->rung == PICKY) {
    snprintf(reason, reason_bytes, "it likes nothing");
    return TRINE_UNSUPPORTED;
  }
  if (call->operation == TRINE_GEMM && selection->rung == TUNED_RUNG && selection->values[0] == 0 &&
      ((const trine_gemm*)call->descriptor)->c.rows > 100) {
    snprintf(reason, reason_bytes, "64 threads take at most 100 rows");
    return TRINE_UNSUPPORTED;
  }
  return TRINE_OK;
}

static uint32_t dtype_of(const trine_call* call) {
  switch (call->operation) {
    case TRINE_REDUCE: return ((const trine_reduce*)call->descriptor)->dtype;
    case TRINE_GEMM: return ((const trine_gemm*)call->descriptor)->dtype;
    default: return 0;
  }
}

trine_status fake_choose(trine_device* device, const trine_call* call, trine_selection* selection) {
  const uint32_t dtype = dtype_of(call);
  if (dtype != 0 && dtype == fake_dtype_refused(device->index)) {
    return fake_error(TRINE_UNSUPPORTED, "it has no such arithmetic");
  }
  if (call->operation == FAKE_LACKS) return fake_error(TRINE_UNSUPPORTED, "it has no rung for it");
  const int tuned = call->operation != TRINE_TRANSPOSE;
  selection->rung = tuned ? TUNED_RUNG : NAIVE;
  memset(selection->values, 0, sizeof selection->values);
  if (tuned) selection->values[0] = 2;
  selection->why = "default: the fake's best";
  return TRINE_OK;
}

trine_status fake_workspace_bytes(trine_device* device, const trine_selection* selection,
                                  const trine_call* call, uint64_t* bytes) {
  (void)device;
  *bytes = 0;
  if (call->operation == TRINE_TRANSPOSE || selection->rung != TUNED_RUNG) return TRINE_OK;
  *bytes = TRINE_CONTROL_BYTES + 64;
  if (call->operation == TRINE_REDUCE) {
    *bytes += (uint64_t)((const trine_reduce*)call->descriptor)->input.rows;
  }
  return TRINE_OK;
}

typedef struct launch_task {
  trine_workspace space;
  uint32_t operation;
  trine_status fault;
  union {
    TRINE_DESCRIPTOR_MEMBERS
  } op;
} launch_task;

static trine_status run_launch(void* argument) {
  launch_task* task = argument;
  if (task->space.memory) {
    unsigned char* control = (unsigned char*)task->space.memory + task->space.offset;
    for (int i = 0; i < TRINE_CONTROL_BYTES; ++i) {
      if (control[i]) {
        fake_counted(FAKE_DIRTY_WORKSPACES, 1);
        break;
      }
    }
    /* A launch that fails leaves its control bytes anyhow. */
    if (task->fault != TRINE_OK) memset(control, 1, TRINE_CONTROL_BYTES);
    memset(control + TRINE_CONTROL_BYTES, 0xEE, (size_t)(task->space.bytes - TRINE_CONTROL_BYTES));
  }
  if (task->fault != TRINE_OK) return task->fault;
  const trine_call call = {sizeof call, task->operation, &task->op};
  const struct timespec nap = {0, FAKE_NAP};
  if (FAKE_NAP != 0) nanosleep(&nap, NULL);
  fake_compute(&call);
  return TRINE_OK;
}

trine_status fake_launch(trine_queue* queue, const trine_selection* selection,
                         const trine_call* call, const trine_workspace* space) {
  (void)selection;
  fake_counted(FAKE_LAUNCHES, 1);
  if (fake_device_of(queue)->noop) return TRINE_OK;
  const trine_status fault = fake_fault(FAKE_LAUNCH);
  if (fault != TRINE_OK) return fault;
  launch_task* task = fake_allocate(sizeof *task);
  if (!task) return TRINE_OUT_OF_MEMORY;
  task->space = *space;
  task->operation = call->operation;
  task->fault = fake_fault(FAKE_IN_QUEUE);
  memcpy(&task->op, call->descriptor, *(const uint32_t*)call->descriptor); /* its size */
  return fake_push(queue, run_launch, task);
}
