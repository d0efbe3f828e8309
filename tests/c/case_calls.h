/* The calls that a conformance case is made of, in C. A case is the contract's descriptor over
 * views whose memory is on the host, in images that hold everything around the operands too. */
#pragma once

#include <trine/trine.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct Image {
  char* data;
  uint64_t bytes;
} Image;

/* The answer for a case that a language can't write. No call returns it. */
static const trine_status kLeftOut = TRINE_NOT_READY;

/* `descriptor` is the trine_reduce, trine_transpose or trine_gemm that `operation` says. */
trine_status call_on_host(uint32_t operation, const void* descriptor);
/* Copies the images to the queue's device, runs the operation there and copies them back. */
trine_status call_on_device(trine_queue_t* queue, uint32_t operation, const void* descriptor,
                            const Image* images, size_t count);

#ifdef __cplusplus
}
#endif
