/* Two rungs for a device on which all else takes 20 ms: the first is faster, by right answers, and
 * turns wrong once the second has run, so that only further rounds tell. */
#define _POSIX_C_SOURCE 200809L
#include <time.h>

#include "pack.h"
#include "truth.h"

enum { TURNCOAT, HERALD };
static const trine_rung rows[] = {ROW("turncoat", "right until the herald has come"),
                                  ROW("herald", "right, and slow")};

static const trine_rung* rungs(uint32_t operation, int32_t* count, uint32_t* stride) {
  *stride = sizeof(trine_rung);
  *count = operation == TRINE_TRANSPOSE ? 2 : 0;
  return rows;
}
static trine_status launch(const trine_native* native, void* state,
                           const trine_selection* selection, const trine_call* call,
                           const trine_workspace* workspace) {
  static int come; /* one queue launches all of it */
  const trine_transpose* op = call->descriptor;
  const struct timespec nap = {0, selection->rung == HERALD ? 24000000 : 500000};
  (void)native, (void)state, (void)workspace;
  nanosleep(&nap, NULL);
  if (selection->rung == HERALD) come = 1;
  if (selection->rung == HERALD || !come) transpose_rows(op, op->output.rows);
  return TRINE_OK;
}

PACK("turncoat", "clock_slow", "turncoats have no errors", takes_all, NULL, NULL)
