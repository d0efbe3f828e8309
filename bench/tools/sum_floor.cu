// What one launch that reads 2^n floats once takes at least, in CUDA graphs: the loop of `exact_stream` without its
// exactness. docs/performance.md shows its figures.
//
//   nvcc -std=c++20 -O3 -arch=sm_90a -o sum_floor bench/tools/sum_floor.cu && ./sum_floor
//
// A line is a size, a column a kernel of 132 groups of 512: "bare" keeps the largest word; "gather": the last group
// then waits for a word of each; "double" adds doubles, too, "both" does both.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kThreads = 512, kGroups = 132, kAhead = 4;

__device__ unsigned group_max(unsigned x, unsigned* scratch) {
  x = __reduce_max_sync(~0u, x);
  __syncthreads();
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = x;
  __syncthreads();
  return __reduce_max_sync(~0u, scratch[threadIdx.x % (kThreads / 32)]);
}

template <bool kGather, bool kDoubles>
__global__ void __launch_bounds__(kThreads, 1) read(const float4* in, long vectors,
                                                    volatile unsigned* words, unsigned* out) {
  __shared__ unsigned scratch[kThreads / 32];
  const long step = long{kGroups} * kThreads * kAhead;
  const auto load = [&](long v, float4* to) {
#pragma unroll
    for (int i = 0; i < kAhead; ++i, v += kThreads) to[i] = v < vectors ? in[v] : float4{};
  };
  float4 x[kAhead], next[kAhead];
  unsigned most = 0;
  double even = 0, odd = 0;
  long v = long{blockIdx.x} * kThreads * kAhead + threadIdx.x;
  load(v, x);
#pragma unroll 2
  for (; v < vectors; v += step) {
    load(v + step, next);
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      most = max(max(most, __float_as_uint(x[i].x)), __float_as_uint(x[i].y));
      most = max(max(most, __float_as_uint(x[i].z)), __float_as_uint(x[i].w));
      if (kDoubles) even += double(x[i].x), odd += double(x[i].y);
      if (kDoubles) even += double(x[i].z), odd += double(x[i].w);
      x[i] = next[i];
    }
  }
  if (kDoubles) most ^= __double2uint_rd(even + odd);
  most = group_max(most, scratch) | 1;
  if (threadIdx.x == 0) words[blockIdx.x] = most;
  if (!kGather || blockIdx.x != kGroups - 1) return;
  if (threadIdx.x < kGroups) {
    do { most = words[threadIdx.x]; } while (most == 0);
    words[threadIdx.x] = 0;
  }
  most = group_max(most, scratch);
  if (threadIdx.x == 0) *out = most;
}

void must(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "sum_floor: %s\n", cudaGetErrorString(status));
  std::exit(1);
}

template <bool kGather, bool kDoubles>
double microseconds(const float* data, long count, unsigned* words, cudaStream_t stream) {
  constexpr long kAll = 1 << 28;
  const int launches = int(std::clamp(kAll / count, 3L, 200L));
  cudaGraph_t graph;
  cudaGraphExec_t replay;
  cudaEvent_t begin, end;
  must(cudaMemset(words, 0, 4096));
  must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  for (int i = 0; i < launches; ++i)
    read<kGather, kDoubles><<<kGroups, kThreads, 0, stream>>>(
        reinterpret_cast<const float4*>(data + i * count % kAll), count / 4, words, words + 1000);
  must(cudaStreamEndCapture(stream, &graph));
  must(cudaGraphInstantiate(&replay, graph, 0));
  must(cudaEventCreate(&begin));
  must(cudaEventCreate(&end));
  std::vector<float> all;
  for (int i = 0; i < 10; ++i) {
    float milliseconds = 0;
    must(cudaEventRecord(begin, stream));
    must(cudaGraphLaunch(replay, stream));
    must(cudaEventRecord(end, stream));
    must(cudaEventSynchronize(end));
    must(cudaEventElapsedTime(&milliseconds, begin, end));
    if (i > 0) all.push_back(milliseconds);
  }
  std::ranges::sort(all);
  return all[all.size() / 2] * 1e3 / launches;
}

int main() {
  float* data = nullptr;
  unsigned* words = nullptr;
  cudaStream_t stream = nullptr;
  must(cudaMalloc(&data, size_t{1} << 30));
  must(cudaMalloc(&words, 4096));
  must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  std::vector<float> some(1 << 24);
  for (size_t i = 0; i < some.size(); ++i)
    some[i] = float(unsigned(i * 2654435761u) >> 8) / 0x1p24f - 0.5f;
  for (size_t i = 0; i < 16; ++i)
    must(cudaMemcpy(data + i * some.size(), some.data(), some.size() * 4, cudaMemcpyHostToDevice));
  std::puts("us        bare  gather  double    both");
  for (int n = 18; n <= 28; n += 2)
    std::printf("2^%d   %7.2f %7.2f %7.2f %7.2f\n", n,
                microseconds<false, false>(data, 1L << n, words, stream),
                microseconds<true, false>(data, 1L << n, words, stream),
                microseconds<false, true>(data, 1L << n, words, stream),
                microseconds<true, true>(data, 1L << n, words, stream));
}
