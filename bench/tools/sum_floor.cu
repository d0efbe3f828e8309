// What one launch that reads numbers once takes at least, in CUDA graphs: the loops of `exact_stream` and of `exact_lines`
// over columns, without their exactness. docs/performance.md shows its figures.
//
//   nvcc -std=c++20 -O3 -arch=sm_90a -o sum_floor bench/tools/sum_floor.cu && ./sum_floor
//
// One sum: a line is a size, a column a kernel of 132 groups of 512: "bare" keeps the largest word; "gather": the last group
// then waits for a word of each; "double" adds doubles, too, "both" does both.
// Columns: each group has `width` of them side by side; "bare" keeps each one's largest word; "ticket": where groups
// share columns, the last of them gathers theirs.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
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

__device__ unsigned words_max(float4 x, unsigned most) {
  most = max(max(most, __float_as_uint(x.x)), __float_as_uint(x.y));
  return max(max(most, __float_as_uint(x.z)), __float_as_uint(x.w));
}
__device__ unsigned words_max(double2 x, unsigned most) {
  return max(max(most, unsigned(__double2hiint(x.x))), unsigned(__double2hiint(x.y)));
}
__device__ void add(float4 x, double& even, double& odd) {
  even += double(x.x), odd += double(x.y);
  even += double(x.z), odd += double(x.w);
}
__device__ void add(double2 x, double& even, double& odd) { even += x.x, odd += x.y; }

template <class Vector, bool kGather, bool kDoubles>
__global__ void __launch_bounds__(kThreads, 1) read(const Vector* in, long vectors,
                                                    volatile unsigned* words, unsigned* out) {
  __shared__ unsigned scratch[kThreads / 32];
  const long step = long{kGroups} * kThreads * kAhead;
  const auto load = [&](long v, Vector* to) {
#pragma unroll
    for (int i = 0; i < kAhead; ++i, v += kThreads) to[i] = v < vectors ? in[v] : Vector{};
  };
  Vector x[kAhead], next[kAhead];
  unsigned most = 0;
  double even = 0, odd = 0;
  long v = long{blockIdx.x} * kThreads * kAhead + threadIdx.x;
  load(v, x);
#pragma unroll 2
  for (; v < vectors; v += step) {
    load(v + step, next);
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      most = words_max(x[i], most);
      if (kDoubles) add(x[i], even, odd);
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

// Work-item = lane * width + column; `splits` groups share each `width` columns.
template <bool kTicket>
__global__ void __launch_bounds__(1024, 1) columns(const unsigned* in, long rows, long cols,
                                                   int width, int splits, unsigned* words,
                                                   unsigned* tickets, unsigned* out) {
  constexpr int kRows = 16;
  __shared__ unsigned most_of[1024], ticket;
  const int tile = blockIdx.x / splits, split = blockIdx.x % splits, threads = blockDim.x;
  const int column = threadIdx.x % width, lane = threadIdx.x / width, lanes = threads / width;
  const long step = long{lanes} * splits;
  const unsigned* from = in + tile * width + column;
  const auto load = [&](long row, unsigned* to) {
#pragma unroll
    for (int i = 0; i < kRows; ++i, row += step) to[i] = row < rows ? from[row * cols] : 0;
  };
  unsigned x[kRows], next[kRows], most = 0;
  long row = split * lanes + lane;
  load(row, x);
  for (; row < rows; row += kRows * step) {
    load(row + kRows * step, next);
#pragma unroll
    for (int i = 0; i < kRows; ++i) most = max(most, x[i]), x[i] = next[i];
  }
  const auto fold = [&] {
    most_of[threadIdx.x] = most;
    for (int near = lanes / 2; near > 0; near /= 2) {
      __syncthreads();
      if (lane < near)
        most_of[threadIdx.x] = max(most_of[threadIdx.x], most_of[threadIdx.x + near * width]);
    }
  };
  fold();
  if (!kTicket || splits == 1) {
    if (lane == 0) out[tile * width + column] = most_of[threadIdx.x];
    return;
  }
  unsigned* mine = words + (long{tile} * width + column) * splits;
  if (lane == 0) mine[split] = most_of[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    ticket = atomicAdd(tickets + tile, 1);
    if (ticket == splits - 1) tickets[tile] = 0;
    __threadfence();
  }
  __syncthreads();
  if (ticket != splits - 1) return;
  most = 0;
  for (int s = lane; s < splits; s += lanes) most = max(most, mine[s]);
  fold();
  if (lane == 0) out[tile * width + column] = most_of[threadIdx.x];
}

void must(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "sum_floor: %s\n", cudaGetErrorString(status));
  std::exit(1);
}

constexpr long kAll = 1L << 30;  // bytes that the launches of a graph go through
cudaStream_t stream = nullptr;
char* data = nullptr;
unsigned* words = nullptr;  // as many for a launch as it needs, then its result

// The time of a launch that reads `bytes`, of many: `launch` takes the bytes' place.
template <class Launch>
double microseconds(long bytes, const Launch& launch) {
  const int launches = int(std::clamp(kAll / bytes, 3L, 200L));
  cudaGraph_t graph;
  cudaGraphExec_t replay;
  cudaEvent_t begin, end;
  must(cudaMemset(words, 0, 4096));
  must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  for (int i = 0; i < launches; ++i) launch(data + i * bytes % kAll);
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

template <class Vector, bool kGather, bool kDoubles>
double one_sum(long bytes) {
  return microseconds(bytes, [&](const char* at) {
    read<Vector, kGather, kDoubles><<<kGroups, kThreads, 0, stream>>>(
        reinterpret_cast<const Vector*>(at), bytes / 16, words, words + 1000);
  });
}

template <class Vector>
void one_sum_lines(const char* name, int size) {
  for (int n = 18; n <= 26; n += 2)
    std::printf("%s 2^%d   %7.2f %7.2f %7.2f %7.2f\n", name, n,
                one_sum<Vector, false, false>(long{size} << n),
                one_sum<Vector, true, false>(long{size} << n),
                one_sum<Vector, false, true>(long{size} << n),
                one_sum<Vector, true, true>(long{size} << n));
}

template <bool kTicket>
double of_columns(long rows, long cols, int width, int threads, int splits) {
  return microseconds(rows * cols * 4, [&](const char* at) {
    columns<kTicket><<<cols / width * splits, threads, 0, stream>>>(
        reinterpret_cast<const unsigned*>(at), rows, cols, width, splits, words + 4096, words,
        words + (1 << 20));
  });
}

int main() {
  must(cudaMalloc(&data, kAll));
  must(cudaMalloc(&words, 8 << 20));
  must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  std::vector<float> some(1 << 24);
  for (size_t i = 0; i < some.size(); ++i)
    some[i] = float(unsigned(i * 2654435761u) >> 8) / 0x1p24f - 0.5f;
  for (size_t i = 0; i < 16; ++i)
    must(cudaMemcpy(data + i * some.size() * 4, some.data(), some.size() * 4,
                    cudaMemcpyHostToDevice));
  std::puts("one sum, us   bare  gather  double    both");
  one_sum_lines<float4>("f32", 4);
  one_sum_lines<double2>("f64", 8);
  std::puts("columns of 64 MiB of f32, us      width threads splits    bare  ticket");
  for (const auto& [rows, cols, width, threads, splits] :
       std::vector<std::array<int, 5>>{{4096, 4096, 32, 1024, 1},
                                       {16384, 1024, 8, 1024, 1},
                                       {16384, 1024, 16, 1024, 2},
                                       {16384, 1024, 32, 1024, 4},
                                       {16384, 1024, 64, 1024, 8},
                                       {16384, 1024, 32, 256, 16},
                                       {1024, 16384, 32, 256, 1},
                                       {4 << 20, 4, 4, 1024, 132}})
    std::printf("%7d x %-7d %24d %7d %6d %7.2f %7.2f\n", rows, cols, width, threads, splits,
                of_columns<false>(rows, cols, width, threads, splits),
                of_columns<true>(rows, cols, width, threads, splits));
}
