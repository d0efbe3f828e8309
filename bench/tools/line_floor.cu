// What `few_columns` takes at least for f32 8192 x 1, k = 8192, in CUDA graphs: its copies of A and B by single warps, and a
// loop that only reads as many bytes.
//
//   nvcc -std=c++20 -O3 -arch=sm_90a -o line_floor bench/tools/line_floor.cu && ./line_floor
//
// A line: best and median of 9. rows: of a warp; depth: floats of each in a stage; hint: bytes that the L2 cache is asked to
// fetch; chain: with the arithmetic; early: launches begin early; linear: a group's rows lie one behind the other.
#include "floor.cuh"

template <int HINT>
__device__ void fetch(float* to, const float* from) {
  unsigned s = (unsigned)__cvta_generic_to_shared(to);
  if (HINT == 0)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(s), "l"(from) : "memory");
  if (HINT == 128)
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(s), "l"(from)
                 : "memory");
  if (HINT == 256)
    asm volatile("cp.async.cg.shared.global.L2::256B [%0], [%1], 16;" ::"r"(s), "l"(from)
                 : "memory");
}
template <int ROWS, int DEPTH, int STAGES, int HINT, bool CHAIN, bool EARLY, bool LINEAR>
__global__ void __launch_bounds__(32) lines(const float* a, const float* b, float* c, int k) {
  extern __shared__ float arena[];
  constexpr int PITCH = DEPTH + 4, A = ROWS * PITCH, STAGE = A + PITCH;
  const int t = threadIdx.x;
  constexpr int ACROSS = DEPTH / 4 < 32 ? DEPTH / 4 : 32, DOWN = 32 / ACROSS;
  const int line = t / ACROSS, first = t % ACROSS * 4;
  const long row = LINEAR ? DEPTH : k, step = LINEAR ? ROWS * DEPTH : DEPTH;
  const float* from = a + (long)blockIdx.x * ROWS * k + line * row + first;
  const float* y = b + t;
  if (EARLY) await_earlier_launches();
  auto copy = [&](int s) {
    float* to = arena + s * STAGE + line * PITCH + first;
    const float* f = from;
#pragma unroll
    for (int r = 0; r < ROWS; r += DOWN, f += DOWN * row)
#pragma unroll
      for (int e = 0; e < DEPTH; e += ACROSS * 4) fetch<HINT>(to + r * PITCH + e, f + e);
#pragma unroll
    for (int l = 0; l < DEPTH; l += 32) {
      unsigned s4 = (unsigned)__cvta_generic_to_shared(arena + s * STAGE + A + t + l);
      asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(s4), "l"(y + l) : "memory");
    }
    from += step, y += DEPTH;
  };
  int stages = k / DEPTH, sent = 0;
  for (int s = 0; s < STAGES - 1; ++s) {
    if (sent < stages) copy(s), ++sent;
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  float acc = 0;
  int stage = 0;
  for (int i = 0; i < stages; ++i) {
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
    __syncwarp();
    const int next = stage == 0 ? STAGES - 1 : stage - 1;
    if (sent < stages) copy(next), ++sent;
    asm volatile("cp.async.commit_group;" ::: "memory");
    const float* p = arena + stage * STAGE;
    if (CHAIN) {
#pragma unroll
      for (int l = 0; l < DEPTH; l += 4) {
        float4 u = *(const float4*)(p + t % ROWS * PITCH + l), v = *(const float4*)(p + A + l);
        acc = fmaf(u.x, v.x, acc), acc = fmaf(u.y, v.y, acc), acc = fmaf(u.z, v.z, acc),
        acc = fmaf(u.w, v.w, acc);
      }
    } else
      acc = fmaxf(acc, p[t % ROWS * PITCH]);
    stage = stage == STAGES - 1 ? 0 : stage + 1;
  }
  if (t < ROWS) c[(long)blockIdx.x * ROWS + t] = acc;
}
__global__ void __launch_bounds__(512, 1) words(const float4* in, long n, float* c) {
  float m = 0;
  const long step = 132L * 512 * 4;
  float4 x[4], y[4];
  auto load = [&](long v, float4* to) {
    for (int i = 0; i < 4; ++i, v += 512) to[i] = v < n ? in[v] : float4{};
  };
  long v = blockIdx.x * 2048L + threadIdx.x;
  load(v, x);
  for (; v < n; v += step) {
    load(v + step, y);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      m = fmaxf(fmaxf(fmaxf(fmaxf(m, x[i].x), x[i].y), x[i].z), x[i].w), x[i] = y[i];
  }
  if (m == 123.f) c[0] = m;
}
float *a, *b, *c;
template <class F>
void line(const char* name, F launch) {
  const Microseconds t = in_graph(64, [&](int) { launch(); });
  std::printf("%-52s %7.2f %7.2f us\n", name, t.best, t.median);
}
template <int ROWS, int DEPTH, int STAGES, int HINT, bool CHAIN, bool EARLY, bool LINEAR = false>
void go() {
  auto* f = lines<ROWS, DEPTH, STAGES, HINT, CHAIN, EARLY, LINEAR>;
  constexpr int bytes = STAGES * (ROWS + 1) * (DEPTH + 4) * 4;
  must(cudaFuncSetAttribute(f, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  char name[99];
  std::snprintf(name, 99, "rows %d depth %d stages %d (%d KB) hint %d%s%s%s", ROWS, DEPTH, STAGES,
                bytes >> 10, HINT, CHAIN ? " chain" : "", EARLY ? " early" : "",
                LINEAR ? " linear" : "");
  line(name, [&] { start(f, {8192 / ROWS, 32, bytes, EARLY}, a, b, c, 8192); });
}
int main() {
  must(cudaMalloc(&a, 1 << 28));
  must(cudaMalloc(&b, 1 << 20));
  must(cudaMalloc(&c, 1 << 20));
  std::vector<float> h(1 << 26);
  unsigned s = 1;
  for (auto& v : h) s = s * 1664525 + 1013904223, v = (s >> 8) * 0x1p-24f;
  must(cudaMemcpy(a, h.data(), 1 << 28, cudaMemcpyHostToDevice));
  must(cudaMemcpy(b, h.data(), 1 << 20, cudaMemcpyHostToDevice));
  must(cudaDeviceSynchronize());
  for (int round = 0; round < 2; ++round) {
    line("words, 132 groups of 512", [&] {
      start(words, {132, 512, 0, false}, (const float4*)a, 1L << 24, c);
    });
    go<32, 64, 5, 0, true, false>();
    go<32, 64, 5, 0, false, false>();
    go<32, 64, 5, 0, true, true>();
    go<32, 64, 5, 128, true, true>();
    go<32, 64, 5, 256, true, true>();
    go<32, 64, 8, 0, true, true>();
    go<32, 64, 11, 0, true, true>();
    go<32, 32, 10, 0, true, true>();
    go<32, 32, 10, 256, true, true>();
    go<32, 128, 3, 0, true, true>();
    go<32, 128, 4, 0, true, true>();
    go<32, 128, 6, 0, true, true>();
    go<32, 128, 6, 0, false, true>();
    go<16, 128, 5, 0, true, true>();
    go<16, 64, 10, 0, true, true>();
    go<16, 256, 3, 0, true, true>();
    go<16, 256, 3, 0, false, true>();
    go<8, 256, 5, 0, true, true>();
    go<32, 64, 5, 0, false, true, true>();
    go<32, 128, 6, 0, false, true, true>();
  }
}
