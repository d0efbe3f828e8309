// The best that a GPU's units do: independent chains of multiply-adds, as many as hide their
// latency; with READ the best rate at which its memory is read. Compiled by OpenCL for each T
// (float, double), and by nvcc through roofs.cu. With TENSOR a chain's step is a warp's f64 tensor
// core instruction: 16 x 8 x 8 multiply-adds, 32 a work-item, or with TENSOR_8 (compute capability
// 8.0) 8 x 8 x 4, 8 a work-item.
#ifndef KERNEL
#pragma OPENCL FP_CONTRACT OFF
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#define KERNEL __kernel
#define GLOBAL __global
#define WORK_ITEM get_global_id(0)
#define WORK_ITEMS get_global_size(0)
#endif

#ifdef READ
/// Every work-item reads words of 16 bytes, a grid's stride apart, four on their way at once.
KERNEL void read_words(int count, unsigned factor, unsigned term, GLOBAL unsigned* data) {
  const GLOBAL uint4* words = (const GLOBAL uint4*)data;
  const long step = (long)WORK_ITEMS;
  unsigned sum = factor;
  for (long i = (long)WORK_ITEM; i + 3 * step < count; i += 4 * step) {
    const uint4 a = words[i], b = words[i + step], c = words[i + 2 * step], d = words[i + 3 * step];
    sum ^= a.x ^ a.y ^ a.z ^ a.w ^ b.x ^ b.y ^ b.z ^ b.w;
    sum ^= c.x ^ c.y ^ c.z ^ c.w ^ d.x ^ d.y ^ d.z ^ d.w;
  }
  if (sum == term) *data = sum;  // hardly ever, but the compiler can't know
}
#else
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
      for (int i = 0; i < CHAINS; ++i) chain[i] = fma(chain[i], factor, term);
  }
  T sum = 0;
#pragma unroll
  for (int i = 0; i < CHAINS; ++i) sum += chain[i];
#endif
  if (sum == (T)-1) *sink = sum;  // hardly ever, but the compiler can't know
}
#endif
