/* Backends that aren't right, one per ODD_… definition, and one that is merely newer (ODD_GROWN).
 */
#include <string.h>

#include <trine/abi.h>

static const char* last_error(void) { return "there is nothing in this machine"; }

#if defined(ODD_NO_ENTRY)

TRINE_EXPORT int trine_odd_nothing(void);
int trine_odd_nothing(void) { return last_error() != NULL; }

#else

static trine_status device_count(int32_t* count) {
#if defined(ODD_MANY)
  *count = 2000000000;
#else
  *count = 0;
#endif
  return TRINE_OK;
}
static const trine_rung* rungs(uint32_t operation, int32_t* count, uint32_t* stride) {
  (void)operation;
  *count = 0;
  *stride = sizeof(trine_rung);
  return NULL;
}
static void unused(void) {}

/* A table of a later version of the contract: two more functions. */
typedef struct grown_backend {
  trine_backend known;
  void (*later[2])(void);
} grown_backend;

static grown_backend table;

trine_status trine_backend_v1(const trine_host* host, const trine_backend** backend) {
  (void)host;
  void (*fill)(void) = unused;
  /* Every function but the few below is never called: no device can be opened. */
  for (size_t at = offsetof(trine_backend, last_error); at < sizeof(trine_backend);
       at += sizeof fill) {
    memcpy((char*)&table.known + at, &fill, sizeof fill);
  }
  table.known.size = sizeof(trine_backend);
  table.known.version = TRINE_ABI_VERSION;
  table.known.name = "odd";
  table.known.build = "odd";
  table.known.last_error = last_error;
  table.known.device_count = device_count;
  table.known.rungs = rungs;
  table.known.is_candidate = NULL;
#if defined(ODD_GROWN)
  table.known.size = sizeof table;
#elif defined(ODD_TAIL)
  table.known.size = sizeof table;
  table.later[1] = unused;
#elif defined(ODD_VERSION)
  table.known.version = 7;
#elif defined(ODD_SHORT)
  table.known.size = offsetof(trine_backend, launch);
#elif defined(ODD_FAILS)
  *backend = &table.known;
  return TRINE_BACKEND_ERROR;
#endif
  *backend = &table.known;
  return TRINE_OK;
}

#endif
