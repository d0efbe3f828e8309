// What a GPU's units do at best: independent chains of multiply-adds, as many as hide their latency.
// Compiled by OpenCL for each T (float, double, uint), and by nvcc through roofs.cu. With TENSOR a
// chain's step is a warp's f64 tensor core instruction: 16 x 8 x 8 multiply-adds, 32 a work-item, or
// with TENSOR_8 (compute capability 8.0) 8 x 8 x 4, 8 a work-item.
#ifndef KERNEL
#pragma OPENCL FP_CONTRACT OFF
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#define KERNEL __kernel
#define GLOBAL __global
#define WORK_ITEM get_global_id(0)
#endif
#ifdef INTEGER
#define STEP(x) ((x)*factor + term)
#else
#define STEP(x) fma(x, factor, term)
#endif
#define CHAINS 16
#define DEPTH 8 /* steps a turn of the loop, so that the loop itself hardly counts */

KERNEL void NAME(int turns, T factor, T term, GLOBAL T* sink) {
#ifdef TENSOR
  double chain[CHAINS][4];
#pragma unroll
  for (int i = 0; i < CHAINS; ++i)
    for (int j = 0; j < 4; ++j) chain[i][j] = term * (double)(WORK_ITEM + i + j);
  for (int turn = 0; turn < turns; ++turn) {
#pragma unroll
    for (int i = 0; i < CHAINS; ++i)
#ifdef TENSOR_8
      __asm__ volatile(
          "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
          : "+d"(chain[i][0]), "+d"(chain[i][1])
          : "d"(factor), "d"(factor));
#else
      __asm__ volatile(
          "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
          "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
          : "+d"(chain[i][0]), "+d"(chain[i][1]), "+d"(chain[i][2]), "+d"(chain[i][3])
          : "d"(factor), "d"(factor), "d"(factor), "d"(factor), "d"(factor), "d"(factor));
#endif
  }
  double sum = 0;
#pragma unroll
  for (int i = 0; i < CHAINS; ++i) sum += chain[i][0] + chain[i][1] + chain[i][2] + chain[i][3];
#else
  T chain[CHAINS];
#pragma unroll
  for (int i = 0; i < CHAINS; ++i) chain[i] = (T)(WORK_ITEM + i);
  for (int turn = 0; turn < turns; ++turn) {
#pragma unroll
    for (int s = 0; s < DEPTH; ++s)
#pragma unroll
      for (int i = 0; i < CHAINS; ++i) chain[i] = STEP(chain[i]);
  }
  T sum = 0;
#pragma unroll
  for (int i = 0; i < CHAINS; ++i) sum += chain[i];
#endif
  if (sum == (T)-1) *sink = sum;  // hardly ever, but the compiler can't know
}
#undef STEP
