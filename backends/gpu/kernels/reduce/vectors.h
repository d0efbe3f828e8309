// The neighbouring elements that a work-item loads: CHUNK of them, in vectors.
#pragma once
#include "unpack.h"

// Vectors v, v + apart, … of x below `end`, by elements where they aren't `aligned`; -0 in place of
// the others.
DEVICE void load_vectors(GLOBAL const T* from, long v, int apart, long end, const bool aligned,
                         T* x) {
#pragma unroll
  for (int k = 0; k < CHUNK; k += VECTOR, v += apart) {
    Vector one = ALL_OF((T)-0.0);
    if (v < end && aligned) one = ((GLOBAL const Vector*)from)[v];
    if (v < end && !aligned) one = VECTOR_AT(from + v * VECTOR);
    unpack(one, x + k);
  }
}
