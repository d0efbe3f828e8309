/* A pack that needs no workspace: its file has rungs() and launch(), and ends with PACK. */
#ifndef TRINE_TESTS_LIARS_PACK_H
#define TRINE_TESTS_LIARS_PACK_H

#include <trine/abi.h>

#define ROW(name, summary)                                                                         \
  {                                                                                                \
    sizeof(trine_rung), TRINE_REPRODUCIBLE, name, summary, NULL, NULL, 0, sizeof(trine_parameter), \
        0                                                                                          \
  }

static inline trine_status takes_all(const trine_native* native, const trine_selection* selection,
                                     const trine_call* call, char* reason, size_t reason_bytes) {
  (void)native, (void)selection, (void)call, (void)reason, (void)reason_bytes;
  return TRINE_OK;
}
static trine_status workspace_bytes(const trine_native* native, const trine_selection* selection,
                                    const trine_call* call, uint64_t* bytes) {
  (void)native, (void)selection, (void)call;
  *bytes = 0;
  return TRINE_OK;
}

/* ERROR: what last_error() says; REFUSES: takes_all, or its own; CREATE, DESTROY: of a state per
 * queue, or NULL. */
#define PACK(NAME, BACKEND, ERROR, REFUSES, CREATE, DESTROY)                     \
  static const char* last_error(void) { return ERROR; }                          \
  static const trine_pack table = {.size = sizeof table,                         \
                                   .version = TRINE_ABI_VERSION,                 \
                                   .name = NAME,                                 \
                                   .backend = BACKEND,                           \
                                   .build = "C11, for tests",                    \
                                   .last_error = last_error,                     \
                                   .rungs = rungs,                               \
                                   .refuses = REFUSES,                           \
                                   .workspace_bytes = workspace_bytes,           \
                                   .state_create = CREATE,                       \
                                   .state_destroy = DESTROY,                     \
                                   .launch = launch};                            \
  trine_status trine_rungs_v1(const trine_host* host, const trine_pack** pack) { \
    (void)host;                                                                  \
    *pack = &table;                                                              \
    return TRINE_OK;                                                             \
  }

#endif
