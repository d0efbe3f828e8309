/* Two rungs for a device on which all else takes 20 ms: the first is faster, by right answers, and turns wrong
 * once the second has run, so that only further rounds tell. */
#define _POSIX_C_SOURCE 200809L
#include <time.h>

#include "pack.h"
#include "truth.h"

enum { TURNCOAT, HERALD };
static const trine_rung rows[] = {ROW("turncoat", "right until the herald has come"),
                                  ROW("herald", "right, and slow")};

static const char* last_error(void) { return "turncoats have no errors"; }
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

static const trine_pack table = {
    .size = sizeof table,
    .version = TRINE_ABI_VERSION,
    .name = "turncoat",
    .backend = "clock_slow",
    .build = "C11, for tests",
    .last_error = last_error,
    .rungs = rungs,
    .refuses = refuses,
    .workspace_bytes = workspace_bytes,
    .launch = launch,
};

trine_status trine_rungs_v1(const trine_host* host, const trine_pack** pack) {
  (void)host;
  *pack = &table;
  return TRINE_OK;
}
