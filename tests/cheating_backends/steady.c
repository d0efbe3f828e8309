/* Transposes on one thread, which take SLOWER percent (of the environment) longer than their work:
 * the slowdown that Google Benchmark's compare.py must find. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <time.h>

#include "pack.h"
#include "truth.h"

static const trine_rung rows[] = {ROW("steady", "plain loops on one thread")};

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static const trine_rung* rungs(uint32_t operation, int32_t* count, uint32_t* stride) {
  *stride = sizeof(trine_rung);
  *count = operation == TRINE_TRANSPOSE ? 1 : 0;
  return rows;
}
static trine_status launch(const trine_native* native, void* state,
                           const trine_selection* selection, const trine_call* call,
                           const trine_workspace* workspace) {
  (void)native, (void)state, (void)selection, (void)workspace;
  const char* const slower = getenv("SLOWER");
  const trine_transpose* op = call->descriptor;
  const double begin = now();
  transpose_rows(op, op->output.rows);
  const double end = now() + (now() - begin) * (slower ? atof(slower) : 0) / 100;
  while (now() < end) continue;
  return TRINE_OK;
}

PACK("steady", "cpu", "steady has no errors", takes_all, NULL, NULL)
