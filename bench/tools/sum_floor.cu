// What one launch that goes through memory once takes at least, in CUDA graphs: the loops of `exact_stream`, `exact_lines`
// and `exact_columns` without their exactness, and copies of a transpose's bytes. docs/performance.md shows its figures.
//
//   nvcc -std=c++20 -O3 -arch=sm_90a -o sum_floor bench/tools/sum_floor.cu && ./sum_floor
//
// One sum: a line is a size, a column a kernel of 132 groups of 512: "bare" keeps the largest word; "added" adds doubles, and
// the last group waits for a word of each. Two vectors ahead: the same loops as squares have them.
// Columns: each group has `width` of them side by side; "bare" keeps each one's largest word; "ticket": where groups
// share columns, the last of them gathers theirs. Few columns: four of them a work-item, 132 groups, added.
// Rows: `lanes` of a group have a line, four vectors each at once; "checked" adds doubles, sees by the exponents that they add
// up without rounding, and keeps what two doubles lose, as any exact sum has to; "added" adds up what a line's lanes have.
// Copies: four and eight vectors a work-item; by the driver; tiles, as `vector` reads and writes them, but not turned, without and
// with a way through local memory.
#include <array>
#include <cuda/atomic>

#include "floor.cuh"

constexpr int kGroups = 132;

// One group's number among those that share something; the last one sees what all the others wrote.
__device__ unsigned take_ticket(unsigned* tickets) {
  return cuda::atomic_ref<unsigned, cuda::thread_scope_device>(*tickets).fetch_add(
      1, cuda::memory_order_acq_rel);
}

__device__ unsigned group_max(unsigned x, unsigned* scratch) {
  x = __reduce_max_sync(~0u, x);
  __syncthreads();
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = x;
  __syncthreads();
  return __reduce_max_sync(~0u, scratch[threadIdx.x % (blockDim.x / 32)]);
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

template <int kThreads, int kAhead, class Vector>
__device__ void load(const Vector* in, long v, long vectors, Vector* to) {
#pragma unroll
  for (int i = 0; i < kAhead; ++i, v += kThreads) to[i] = v < vectors ? in[v] : Vector{};
}

template <class Vector, bool kAdds, int kThreads, int kAhead>
__global__ void __launch_bounds__(kThreads, 1) read(const Vector* in, long vectors,
                                                    volatile unsigned* words, unsigned* out) {
  __shared__ unsigned scratch[kThreads / 32];
  const long step = long{kGroups} * kThreads * kAhead;
  await_earlier_launches();
  Vector x[kAhead], next[kAhead];
  unsigned most = 0;
  double even = 0, odd = 0;
  long v = long{blockIdx.x} * kThreads * kAhead + threadIdx.x;
  load<kThreads, kAhead>(in, v, vectors, x);
#pragma unroll 2
  for (; v < vectors; v += step) {
    load<kThreads, kAhead>(in, v + step, vectors, next);
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      most = words_max(x[i], most);
      if (kAdds) add(x[i], even, odd);
      x[i] = next[i];
    }
  }
  if (kAdds) most ^= __double2uint_rd(even + odd);
  most = group_max(most, scratch) | 1;
  if (threadIdx.x == 0) words[blockIdx.x] = most;
  if (!kAdds || blockIdx.x != kGroups - 1) return;
  if (threadIdx.x < kGroups) {
    do { most = words[threadIdx.x]; } while (most == 0);
    words[threadIdx.x] = 0;
  }
  most = group_max(most, scratch);
  if (threadIdx.x == 0) *out = most;
}

__device__ float at(float4 x, int c) { return c == 0 ? x.x : c == 1 ? x.y : c == 2 ? x.z : x.w; }

// 4 * quads columns; doubles are added, the groups' words meet in memory, the last group takes them.
__global__ void __launch_bounds__(512, 1) few_columns(const float4* in, long vectors, int quads,
                                                      unsigned* words, unsigned* out) {
  constexpr int kAhead = 4, kThreads = 512;
  __shared__ unsigned scratch[kThreads / 32][32], ticket;
  const long step = long{kGroups} * kThreads * kAhead;
  await_earlier_launches();
  float4 x[kAhead], next[kAhead];
  unsigned most[4] = {};
  double sum[4] = {};
  long v = long{blockIdx.x} * kThreads * kAhead + threadIdx.x;
  load<kThreads, kAhead>(in, v, vectors, x);
#pragma unroll 2
  for (; v < vectors; v += step) {
    load<kThreads, kAhead>(in, v + step, vectors, next);
#pragma unroll
    for (int c = 0; c < 4; ++c) {
#pragma unroll
      for (int i = 0; i < kAhead; ++i) most[c] = max(most[c], __float_as_uint(at(x[i], c)));
      sum[c] +=
          (double(at(x[0], c)) + double(at(x[1], c))) + (double(at(x[2], c)) + double(at(x[3], c)));
    }
#pragma unroll
    for (int i = 0; i < kAhead; ++i) x[i] = next[i];
  }
#pragma unroll
  for (int c = 0; c < 4; ++c) {
    most[c] ^= __double2uint_rd(sum[c]);
    for (int mask = quads; mask < 32; mask *= 2)
      most[c] = max(most[c], __shfl_xor_sync(~0u, most[c], mask));
    const int lane = threadIdx.x % 32;
    if (lane < quads) scratch[threadIdx.x / 32][4 * lane + c] = most[c];
  }
  __syncthreads();
  const int me = threadIdx.x;
  unsigned mine = 0;
  if (me < 4 * quads) {
    for (int w = 0; w < kThreads / 32; ++w) mine = max(mine, scratch[w][me]);
    atomicMax(words + 1 + me, mine);
  }
  __syncthreads();
  if (me == 0) ticket = take_ticket(words);
  __syncthreads();
  if (ticket != kGroups - 1) return;
  if (me < 4 * quads) {
    out[me] = reinterpret_cast<volatile unsigned*>(words)[1 + me];
    words[1 + me] = 0;
  }
  if (me == 0) words[0] = 0;
}

__device__ double two_sum(double a, double b, double* rest) {
  const double sum = a + b, part = sum - a;
  *rest = (a - (sum - part)) + (b - part);
  return sum;
}

// Adds two doubles to two; false: something is lost.
__device__ bool add_pair(double& hi, double& mid, double more, double rest_of_more) {
  double rest, lost1, lost2;
  hi = two_sum(hi, more, &rest);
  mid = two_sum(mid, rest_of_more, &lost1);
  mid = two_sum(mid, rest, &lost2);
  return lost1 == 0 && lost2 == 0;
}

enum Work { kBare, kChecked, kAdded };

template <Work kWork>
__global__ void __launch_bounds__(256, 4) rows(const float4* in, long vectors, int lanes,
                                               unsigned* out) {
  __shared__ unsigned most_of[256];
  __shared__ double his[256], mids[256];
  const int lane = threadIdx.x % lanes, width = 256 / lanes;
  const long line = long{blockIdx.x} * width + threadIdx.x / lanes;
  const float4* from = in + line * vectors;
  unsigned most = 0;
  double hi = 0, mid = 0;
  await_earlier_launches();
  for (long v = lane; v < vectors; v += 4 * lanes) {
    float4 x[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) x[i] = from[v + i * lanes];
    double even = 0, odd = 0;
    unsigned largest = 0, least = ~0u;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (kWork == kBare) most = words_max(x[i], most);
      if (kWork != kBare) {
        add(x[i], even, odd);
#pragma unroll
        for (int c = 0; c < 4; ++c) {
          const unsigned magnitude = __float_as_uint(at(x[i], c)) & 0x7fffffff;
          largest = max(largest, magnitude);
          least = min(least, magnitude - 1);
        }
      }
    }
    if (kWork == kBare) continue;
    if (int(largest >> 23) - int(least >> 23) > 25) {
      most |= 1;
      continue;
    }
    double rest;
    hi = two_sum(hi, even + odd, &rest);
    if (rest != 0) mid = two_sum(mid, rest, &rest);
    if (rest != 0) most |= 2;
  }
  for (int mask = 1; kWork == kAdded && mask < lanes && mask < 32; mask *= 2)
    if (!add_pair(hi, mid, __shfl_xor_sync(~0u, hi, mask), __shfl_xor_sync(~0u, mid, mask)))
      most |= 4;
  if (kWork == kAdded && lanes > 32) {
    his[threadIdx.x] = hi;
    mids[threadIdx.x] = mid;
    __syncthreads();
    for (int other = 32; other < lanes; other += 32)
      if (lane == 0 && !add_pair(hi, mid, his[threadIdx.x + other], mids[threadIdx.x + other]))
        most |= 4;
  }
  if (kWork != kBare) most ^= __double2uint_rd(hi + mid);
  for (int mask = 1; kWork != kAdded && mask < lanes && mask < 32; mask *= 2)
    most = max(most, __shfl_xor_sync(~0u, most, mask));
  most_of[threadIdx.x] = most;
  __syncthreads();
  for (int other = 32; other < lanes; other += 32)
    if (lane == 0) most = max(most, most_of[threadIdx.x + other]);
  if (lane == 0) out[line] = most;
}

template <int kAhead>
__global__ void __launch_bounds__(256) copies(const float4* in, float4* to, long vectors) {
  float4 x[kAhead];
  const long v = long{blockIdx.x} * 256 * kAhead + threadIdx.x;
  await_earlier_launches();
#pragma unroll
  for (int i = 0; i < kAhead; ++i)
    if (v + 256 * i < vectors) x[i] = in[v + 256 * i];
#pragma unroll
  for (int i = 0; i < kAhead; ++i)
    if (v + 256 * i < vectors) to[v + 256 * i] = x[i];
}

// kRows rows of 256 bytes each; `tiles` in a row of the matrix, which is square in bytes of tiles. kHop: each vector is stored
// by another work-item than loaded it, which has it from local memory, as a tile that is turned.
template <int kRows, bool kHop>
__global__ void __launch_bounds__(256, 8) tiles(const float4* in, float4* to, int tiles) {
  __shared__ float4 hop[kHop ? 16 * kRows : 1];
  float4 x[kRows / 16];
  const int r = blockIdx.x / tiles, c = blockIdx.x % tiles;
  const int me = threadIdx.x, other = kHop ? me ^ 17 : me;
  const long pitch = 16L * tiles;
  await_earlier_launches();
#pragma unroll
  for (int i = 0; i < kRows / 16; ++i)
    x[i] = in[(r * kRows + me / 16 + 16 * i) * pitch + c * 16 + me % 16];
  if (kHop) {
#pragma unroll
    for (int i = 0; i < kRows / 16; ++i) hop[me + 256 * i] = x[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kRows / 16; ++i) x[i] = hop[other + 256 * i];
  }
#pragma unroll
  for (int i = 0; i < kRows / 16; ++i)
    to[(c * kRows + other / 16 + 16 * i) * pitch + r * 16 + other % 16] = x[i];
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
  await_earlier_launches();
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
    ticket = take_ticket(tickets + tile);
    if (ticket == splits - 1) tickets[tile] = 0;
  }
  __syncthreads();
  if (ticket != splits - 1) return;
  most = 0;
  for (int s = lane; s < splits; s += lanes) most = max(most, mine[s]);
  fold();
  if (lane == 0) out[tile * width + column] = most_of[threadIdx.x];
}

constexpr long kAll = 1L << 31;  // bytes that the launches of a graph go through
char* data = nullptr;
unsigned* words = nullptr;  // as many for a launch as it needs, then its result

// The time of a launch that reads `bytes`, of many: `launch` takes the bytes' place.
template <class Launch>
double microseconds(long bytes, const Launch& launch) {
  must(cudaMemsetAsync(words, 0, 4096, floor_stream()));
  return in_graph(int(std::clamp(kAll / bytes, 3L, 200L)),
                  [&](int i) { launch(data + i % (kAll / bytes) * bytes); })
      .median;
}

template <class Vector, bool kAdds, int kThreads, int kAhead>
double one_sum(long bytes) {
  return microseconds(bytes, [&](const char* at) {
    start(read<Vector, kAdds, kThreads, kAhead>, {kGroups, kThreads},
          reinterpret_cast<const Vector*>(at), bytes / 16, words, words + 1000);
  });
}

template <class Vector, int kThreads = 512, int kAhead = 4>
void one_sum_line(const char* name, int size, int n) {
  std::printf("%s 2^%d   %7.2f %7.2f\n", name, n,
              one_sum<Vector, false, kThreads, kAhead>(long{size} << n),
              one_sum<Vector, true, kThreads, kAhead>(long{size} << n));
}

double of_few_columns(long rows, int cols) {
  return microseconds(rows * cols * 4, [&](const char* at) {
    start(few_columns, {kGroups, 512}, reinterpret_cast<const float4*>(at), rows * cols / 4,
          cols / 4, words, words + 1000);
  });
}

template <Work kWork>
double of_rows(long lines, long cols, int lanes) {
  return microseconds(lines * cols * 4, [&](const char* at) {
    start(rows<kWork>, {lines * lanes / 256, 256}, reinterpret_cast<const float4*>(at), cols / 4,
          lanes, words + 4096);
  });
}

template <int kAhead>
double of_copies(long bytes) {
  return microseconds(2 * bytes, [&](char* at) {
    start(copies<kAhead>, {(bytes / 16 + 256 * kAhead - 1) / (256 * kAhead), 256},
          reinterpret_cast<const float4*>(at), reinterpret_cast<float4*>(at + bytes), bytes / 16);
  });
}
template <int kRows, bool kHop>
double of_tiles(long side, long size) {
  const long bytes = side * side * size, across = side * size / 256;
  return microseconds(2 * bytes, [&](char* at) {
    start(tiles<kRows, kHop>, {across * across, 256}, reinterpret_cast<const float4*>(at),
          reinterpret_cast<float4*>(at + bytes), int(across));
  });
}
double of_driver(long bytes) {
  return microseconds(2 * bytes, [&](char* at) {
    must(cudaMemcpyAsync(at + bytes, at, bytes, cudaMemcpyDeviceToDevice, floor_stream()));
  });
}

template <bool kTicket>
double of_columns(long rows, long cols, int width, int threads, int splits) {
  return microseconds(rows * cols * 4, [&](const char* at) {
    start(columns<kTicket>, {cols / width * splits, threads}, reinterpret_cast<const unsigned*>(at),
          rows, cols, width, splits, words + 4096, words, words + (1 << 20));
  });
}

int main() {
  must(cudaMalloc(&data, kAll));
  must(cudaMalloc(&words, 8 << 20));
  std::vector<float> some(1 << 24);
  for (size_t i = 0; i < some.size(); ++i)
    some[i] = float(unsigned(i * 2654435761u) >> 8) / 0x1p24f - 0.5f;
  for (size_t i = 0; i < kAll / 4 / some.size(); ++i)
    must(cudaMemcpy(data + i * some.size() * 4, some.data(), some.size() * 4,
                    cudaMemcpyHostToDevice));
  must(cudaDeviceSynchronize());
  std::puts("one sum, us   bare   added");
  for (int n = 18; n <= 28; n += 2) one_sum_line<float4>("f32", 4, n);
  for (int n = 18; n <= 28; n += 2) one_sum_line<double2>("f64", 8, n);
  std::puts("1024 work-items, two vectors ahead");
  for (int n = 24; n <= 26; n += 2) one_sum_line<float4, 1024, 2>("f32", 4, n);
  for (int n = 24; n <= 26; n += 2) one_sum_line<double2, 1024, 2>("f64", 8, n);
  std::puts("few columns of f32, us");
  for (const auto& [rows, cols] : std::vector<std::array<int, 2>>{{4 << 20, 4}, {1 << 20, 16}})
    std::printf("%7d x %-7d        %7.2f\n", rows, cols, of_few_columns(rows, cols));
  std::puts("rows of f32, us  lanes    bare checked   added");
  for (const auto& [lines, cols, lanes] :
       std::vector<std::array<int, 3>>{{4096, 4096, 32}, {16384, 1024, 8}, {1024, 16384, 128}})
    std::printf("%7d x %-7d %4d %7.2f %7.2f %7.2f\n", lines, cols, lanes,
                of_rows<kBare>(lines, cols, lanes), of_rows<kChecked>(lines, cols, lanes),
                of_rows<kAdded>(lines, cols, lanes));
  std::puts("copies, us                 four    eight   driver  tiles   through local memory");
  for (const long side : {1024, 4096, 8192})
    for (const long size : {4, 8})
      std::printf("%ld x %ld of %ld bytes   %7.2f %7.2f %7.2f %7.2f %7.2f\n", side, side, size,
                  of_copies<4>(side * side * size), of_copies<8>(side * side * size),
                  of_driver(side * side * size),
                  size == 4 ? of_tiles<64, false>(side, size) : of_tiles<32, false>(side, size),
                  size == 4 ? of_tiles<64, true>(side, size) : of_tiles<32, true>(side, size));
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
