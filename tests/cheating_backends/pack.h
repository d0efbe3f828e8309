/* What a pack says that refuses no call and needs no workspace. */
#ifndef TRINE_TESTS_LIARS_PACK_H
#define TRINE_TESTS_LIARS_PACK_H

#include <trine/abi.h>

#define ROW(name, summary)                                                                         \
  {                                                                                                \
    sizeof(trine_rung), TRINE_REPRODUCIBLE, name, summary, NULL, NULL, 0, sizeof(trine_parameter), \
        0                                                                                          \
  }

static trine_status refuses(const trine_native* native, const trine_selection* selection,
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

#endif
