// How long Hopper's bulk copies (cp.async.bulk, without tensor maps) take from L2 to local memory, by their size, if each
// lane of one or four warps asks for its own, as it would for the rows of a panel. docs/performance.md shows its figures.
//
//   nvcc -std=c++20 -O3 -arch=sm_90a -o bulk_copies bench/tools/bulk_copies.cu && ./bulk_copies
#include <cstdint>

#include "floor.cuh"

constexpr int kStages = 4, kRounds = 1000, kArena = 192 << 10;
constexpr size_t kOwn = 128 << 10;  // bytes that a group reads again and again

__device__ uint32_t shared_of(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

__global__ void __launch_bounds__(128) copy(const char* from, int bytes, long long* clocks) {
  extern __shared__ __align__(128) char arena[];
  __shared__ uint64_t full[4][kStages];
  const int warp = threadIdx.x / 32;
  if (threadIdx.x == 0)
    for (auto& barriers : full)
      for (uint64_t& barrier : barriers)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" ::"r"(shared_of(&barrier)));
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  __syncthreads();
  const long long start = clock64();
  for (int round = 0; round < kRounds + kStages; ++round) {
    const int stage = round % kStages;
    const uint32_t barrier = shared_of(&full[warp][stage]);
    for (uint32_t over = round < kStages; !over;)
      asm volatile(
          "{\n\t.reg .pred over;\n\tmbarrier.try_wait.parity.shared::cta.b64 over, [%1], %2;\n\t"
          "selp.u32 %0, 1, 0, over;\n\t}"
          : "=r"(over)
          : "r"(barrier), "r"((round / kStages - 1) & 1)
          : "memory");
    if (round >= kRounds) continue;
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                 : "memory");
    const int place = stage * blockDim.x + threadIdx.x;
    const size_t at = (size_t(round) * blockDim.x + threadIdx.x) * bytes % (kOwn - bytes) / 16 * 16;
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, "
        "[%3];" ::"r"(shared_of(arena + place % (kArena / bytes) * bytes)),
        "l"(from + blockIdx.x * kOwn + at), "r"(bytes), "r"(barrier)
        : "memory");
  }
  __syncthreads();
  if (threadIdx.x == 0) clocks[blockIdx.x] = clock64() - start;
}

int main() {
  constexpr int kGroups = 132;
  char* from;
  long long *clocks, first;
  must(cudaMalloc(&from, kOwn * kGroups));
  must(cudaMalloc(&clocks, kGroups * sizeof *clocks));
  must(cudaMemsetAsync(from, 0, kOwn * kGroups, floor_stream()));
  must(cudaFuncSetAttribute(copy, cudaFuncAttributeMaxDynamicSharedMemorySize, kArena));
  for (const int groups : {1, kGroups})
    for (const int warps : {1, 4})
      for (const int bytes : {128, 256, 272, 512, 528, 1024}) {
        for (int i = 0; i < 2; ++i)
          start(copy, {groups, warps * 32, kArena, false}, from, bytes, clocks);
        must(cudaStreamSynchronize(floor_stream()));
        must(cudaMemcpy(&first, clocks, sizeof first, cudaMemcpyDeviceToHost));
        const double one = double(first) / kRounds / warps / 32;
        std::printf("%3d groups, %d warps, %4d bytes: %6.1f clocks a copy, %5.1f bytes a clock\n",
                    groups, warps, bytes, one, bytes / one);
      }
}
