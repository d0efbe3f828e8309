// Which of Highway's targets the CPU kernels are compiled for, and the list of them for tests.
//
// SSSE3 and SSE4 are disabled: their MulAdd rounds twice.
#pragma once

#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#endif

#include "hwy/targets.h"
