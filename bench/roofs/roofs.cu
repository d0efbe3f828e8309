// probes.kernel.h for CUDA: chains of each dtype and of the f64 tensor cores; words read.
#define KERNEL extern "C" __global__
#define GLOBAL
#define WORK_ITEM (blockIdx.x * blockDim.x + threadIdx.x)

#define NAME fma_f32
#define T float
#include "probes.kernel.h"
#undef NAME
#undef T

#define NAME fma_f64
#define T double
#include "probes.kernel.h"
#undef NAME

#define TENSOR
#if __CUDA_ARCH__ >= 900
#define NAME tensor_f64
#include "probes.kernel.h"
#undef NAME
#endif
#define NAME tensor8_f64
#define TENSOR_8
#include "probes.kernel.h"
#undef TENSOR_8
#undef TENSOR
#undef NAME
#undef T

#define WORK_ITEMS (gridDim.x * blockDim.x)
#define READ
#include "probes.kernel.h"
