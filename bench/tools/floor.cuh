// What the bare CUDA programs of this folder share: an error ends them, launches may begin early as Trine's do, and many of them
// are timed in a graph.
#pragma once
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

inline void must(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
  std::exit(1);
}

inline cudaStream_t floor_stream() {
  static cudaStream_t stream = [] {
    cudaStream_t fresh = nullptr;
    must(cudaStreamCreateWithFlags(&fresh, cudaStreamNonBlocking));
    return fresh;
  }();
  return stream;
}

// In a kernel that begins early: before it touches memory.
__device__ inline void await_earlier_launches() {
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
}

// Every launch begins while the one before it ends, if `early`, for which its kernel waits.
struct Launch {
  long groups;
  int threads;
  int local_bytes = 0;
  bool early = true;
};

template <class... Parameters, class... Arguments>
void start(void (*kernel)(Parameters...), const Launch& launch, Arguments... arguments) {
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(unsigned(launch.groups));
  config.blockDim = dim3(unsigned(launch.threads));
  config.dynamicSmemBytes = std::size_t(launch.local_bytes);
  config.stream = floor_stream();
  config.attrs = &early;
  config.numAttrs = launch.early ? 1 : 0;
  must(cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...));
}

struct Microseconds {
  double best, median;
};

// What one of `launches` takes, of nine replays of a graph of them: `launch` takes its number and starts it.
template <class Start>
Microseconds in_graph(int launches, const Start& launch) {
  const cudaStream_t stream = floor_stream();
  cudaGraph_t graph;
  cudaGraphExec_t replay;
  cudaEvent_t begin, end;
  must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  for (int i = 0; i < launches; ++i) launch(i);
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
  must(cudaEventDestroy(begin));
  must(cudaEventDestroy(end));
  must(cudaGraphExecDestroy(replay));
  must(cudaGraphDestroy(graph));
  std::sort(all.begin(), all.end());
  return {all[0] * 1e3 / launches, all[all.size() / 2] * 1e3 / launches};
}
