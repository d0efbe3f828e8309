/* A rung pack in plain C11: one more rung of each operation for the backend PACK_EXTENDS. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "fake_parts.h"

#ifndef PACK_EXTENDS
#define PACK_EXTENDS "fake"
#endif

const trine_host* fake_host;
static const trine_rung rows[] = {{sizeof(trine_rung), TRINE_VENDOR, "packed", "a pack's loops",
                                   "no more than 1000 rows", NULL, 0, sizeof(trine_parameter), 0}};
static _Thread_local char error_text[128] = "no error";

static const char* last_error(void) { return error_text; }
static const trine_rung* rungs(uint32_t operation, int32_t* count, uint32_t* stride) {
  *count = operation == TRINE_GEMM ? 0 : 1;
  *stride = sizeof(trine_rung);
  return rows;
}
static int64_t rows_of(const trine_call* call) {
  return call->operation == TRINE_REDUCE ? ((const trine_reduce*)call->descriptor)->input.rows
                                         : ((const trine_transpose*)call->descriptor)->input.rows;
}
static trine_status refuses(const trine_native* native, const trine_selection* selection,
                            const trine_call* call, char* reason, size_t reason_bytes) {
  (void)native, (void)selection;
  if (rows_of(call) <= 1000) return TRINE_OK;
  snprintf(reason, reason_bytes, "more than 1000 rows");
  return TRINE_UNSUPPORTED;
}
static trine_status workspace_bytes(const trine_native* native, const trine_selection* selection,
                                    const trine_call* call, uint64_t* bytes) {
  (void)native, (void)selection, (void)call;
  *bytes = 8192;
  return TRINE_OK;
}

/* A handle per queue, as vendor libraries have them. */
static trine_status state_create(const trine_native* native, void** state) {
  (void)native;
  *state = fake_host->allocate(fake_host->context, 16, 16);
  return *state ? TRINE_OK : TRINE_OUT_OF_MEMORY;
}
static void state_destroy(void* state) { fake_host->release(fake_host->context, state); }

static trine_status launch(const trine_native* native, void* state,
                           const trine_selection* selection, const trine_call* call,
                           const trine_workspace* workspace) {
  (void)native, (void)selection;
  if (!state || !workspace->memory) {
    snprintf(error_text, sizeof error_text, "the pack got no state or workspace");
    return TRINE_INTERNAL;
  }
  if (rows_of(call) == 13) {
    snprintf(error_text, sizeof error_text, "13 rows bring bad luck");
    return TRINE_BACKEND_ERROR;
  }
  fake_compute(call);
  return TRINE_OK;
}

static const trine_pack table = {
    .size = sizeof table,
    .version = TRINE_ABI_VERSION,
    .name = "pack_for_" PACK_EXTENDS,
    .backend = PACK_EXTENDS,
    .build = "C11, for tests",
    .last_error = last_error,
    .rungs = rungs,
    .refuses = refuses,
    .workspace_bytes = workspace_bytes,
    .state_create = state_create,
    .state_destroy = state_destroy,
    .launch = launch,
};

trine_status trine_rungs_v1(const trine_host* host, const trine_pack** pack) {
  fake_host = host;
  *pack = &table;
  return TRINE_OK;
}
