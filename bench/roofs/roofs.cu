// fma.kernel.h and memory.kernel.h as CUDA compiles them: chains of each dtype and of the f64 tensor cores; words read
// and written.
#define KERNEL extern "C" __global__
#define GLOBAL
#define WORK_ITEM (blockIdx.x * blockDim.x + threadIdx.x)

#define NAME fma_f32
#define T float
#include "fma.kernel.h"
#undef NAME
#undef T

#define NAME fma_f64
#define T double
#include "fma.kernel.h"
#undef NAME

#define TENSOR
#if __CUDA_ARCH__ >= 900
#define NAME tensor_f64
#include "fma.kernel.h"
#undef NAME
#endif
#define NAME tensor8_f64
#define TENSOR_8
#include "fma.kernel.h"
#undef TENSOR_8
#undef TENSOR
#undef NAME
#undef T

#define NAME fma_i32
#define T unsigned
#define INTEGER
#include "fma.kernel.h"

#define WORK_ITEMS (gridDim.x * blockDim.x)
#define WORD(v) make_uint4(v, v, v, v)
#include "memory.kernel.h"
