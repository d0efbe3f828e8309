// 16 bytes of memory as one vector, and the LANES elements in it.
#include "problem.h"

#define LANES (16 / BYTES)

// The number of neighbours in a word of 4 bytes.
#if BYTES == 1
#define PER_WORD 4
#define WORD_OF(e) ((e)[0] | (e)[1] << 8 | (e)[2] << 16 | (uint)(e)[3] << 24)
#elif BYTES == 2
#define PER_WORD 2
#define WORD_OF(e) ((e)[0] | (uint)(e)[1] << 16)
#endif

DEVICE uint4 pack(const Element* e) {
#if BYTES < 4
  return make_uint4(WORD_OF(e), WORD_OF(e + PER_WORD), WORD_OF(e + 2 * PER_WORD),
                    WORD_OF(e + 3 * PER_WORD));
#elif BYTES == 4
  return make_uint4(e[0], e[1], e[2], e[3]);
#elif BYTES == 8
  return make_uint4(e[0].x, e[0].y, e[1].x, e[1].y);
#else
  return e[0];
#endif
}

DEVICE void unpack(uint4 v, Element* e) {
#if BYTES <= 2
  const uint words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
  for (int l = 0; l < LANES; ++l) e[l] = (Element)(words[l * BYTES / 4] >> (l * BYTES % 4 * 8));
#elif BYTES == 4
  e[0] = v.x, e[1] = v.y, e[2] = v.z, e[3] = v.w;
#elif BYTES == 8
  e[0] = make_uint2(v.x, v.y), e[1] = make_uint2(v.z, v.w);
#else
  e[0] = v;
#endif
}

// True when every vector that starts a whole number of vectors into a row is aligned: the row has
// unit stride, and the start and all other strides are multiples of 16 bytes.
DEVICE bool is_wide(const GLOBAL uchar* start, long unit, long other, long batch) {
  return unit == 1 && (((ulong)start | (ulong)(other * BYTES) | (ulong)(batch * BYTES)) & 15) == 0;
}
