// Which of Highway's targets the CPU kernels are compiled for, and the list of them for tests. Not
// SSSE3 and SSE4, whose MulAdd rounds twice, nor SVE: kernels keep vectors in arrays, and there are
// none of scalable vectors, so such processors run the kernels for NEON.
#pragma once
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#endif

#include "hwy/targets.h"
