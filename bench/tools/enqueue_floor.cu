// What launches take at least through NVIDIA's OpenCL and through CUDA, by one source: empty kernels, with one argument and with
// as many as an exact sum has, and a loop that only reads. docs/performance.md shows its figures.
//
//   nvcc -std=c++20 -O3 -arch=sm_90a -o enqueue_floor bench/tools/enqueue_floor.cu -lOpenCL && ./enqueue_floor
//
// enqueue: the host in the call, median, us; launch: of many back to back, best of nine; waited: one alone, until the host knows
// that it is over, median. "early": launches begin while the one before them ends, as Trine's do through CUDA.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <chrono>
#include <cstring>
#include <string>

#include "floor.cuh"

#define NUMBERS                                                                            \
  int n0, int n1, int n2, int n3, int n4, int n5, int n6, int n7, int n8, int n9, int n10, \
      int n11, int n12, int n13, int n14, int n15, int n16, int n17, int n18, int n19
#define TEXT_OF(...) #__VA_ARGS__
#define TEXT(x) TEXT_OF(x)

#define KERNEL extern "C" __global__ __launch_bounds__(512) void
#define GLOBAL
#define GROUP blockIdx.x
#define ITEM threadIdx.x
#define WORD __float_as_uint
#define AWAIT await_earlier_launches();
#define BOTH(...) \
  __VA_ARGS__     \
  const char* const source = #__VA_ARGS__;
// clang-format off
BOTH(
KERNEL few(GLOBAL unsigned* out) {
  AWAIT
  if (ITEM == 512) out[0] = 1;
}
KERNEL many(GLOBAL const float4* in, GLOBAL unsigned* out, GLOBAL unsigned* more, NUMBERS) {
  AWAIT
  if (ITEM == 512) out[0] = more[0] + n0 + n19 + WORD(in[0].x);
}
KERNEL reads(GLOBAL const float4* in, GLOBAL unsigned* out, GLOBAL unsigned* more, NUMBERS) {
  const long vectors = n0;
  const long step = 132L * 2048;
  float4 x[4];
  float4 next[4];
  unsigned most = 0;
  AWAIT
  long v = GROUP * 2048L + ITEM;
  for (int i = 0; i < 4; ++i) x[i] = in[v + 512 * i];
  for (; v < vectors; v += step) {
    const long w = v + step < vectors ? v + step : v;
    for (int i = 0; i < 4; ++i) next[i] = in[w + 512 * i];
    for (int i = 0; i < 4; ++i) {
      most |= WORD(x[i].x) ^ WORD(x[i].y) ^ WORD(x[i].z) ^ WORD(x[i].w);
      x[i] = next[i];
    }
  }
  if (most == 1) out[0] = most;
})
// clang-format on
const char* const prelude =
    "#define KERNEL __kernel __attribute__((reqd_work_group_size(512, 1, 1))) void\n"
    "#define GLOBAL __global\n#define GROUP get_group_id(0)\n#define ITEM get_local_id(0)\n"
    "#define WORD as_uint\n#define AWAIT\n#define NUMBERS " TEXT(NUMBERS) "\n";

constexpr int kArguments = 23;
constexpr std::size_t kBytes = std::size_t{1} << 28;

void must_cl(cl_int code, const char* what) {
  if (code == CL_SUCCESS) return;
  std::fprintf(stderr, "%s: %d\n", what, code);
  std::exit(1);
}

double now() {
  return std::chrono::duration<double, std::micro>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

double median(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

// `enqueue` starts one launch, `finish` awaits all.
template <class Enqueue, class Finish>
void line(const char* name, int launches, const Enqueue& enqueue, const Finish& finish) {
  std::vector<double> calls, rounds, waits;
  for (int i = 0; i < 20; ++i) enqueue();
  finish();
  for (int round = 0; round < 9; ++round) {
    const double begin = now();
    for (int i = 0; i < launches; ++i) {
      const double before = now();
      enqueue();
      calls.push_back(now() - before);
    }
    finish();
    rounds.push_back((now() - begin) / launches);
  }
  for (int i = 0; i < 200; ++i) {
    const double begin = now();
    enqueue();
    finish();
    waits.push_back(now() - begin);
  }
  std::printf("%-48s %7.2f %7.2f %7.2f\n", name, median(calls),
              *std::min_element(rounds.begin(), rounds.end()), median(waits));
}

struct OpenCl {
  cl_device_id device = nullptr;
  cl_context context = nullptr;
  cl_program program = nullptr;
  cl_mem in = nullptr, out = nullptr, more = nullptr;

  OpenCl() {
    cl_uint count = 0;
    must_cl(clGetPlatformIDs(0, nullptr, &count), "clGetPlatformIDs");
    std::vector<cl_platform_id> platforms(count);
    must_cl(clGetPlatformIDs(count, platforms.data(), nullptr), "clGetPlatformIDs");
    for (cl_platform_id platform : platforms)
      if (!device) clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, nullptr);
    if (!device) must_cl(CL_DEVICE_NOT_FOUND, "a GPU");
    char extensions[8192] = {};
    clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, sizeof extensions - 1, extensions, nullptr);
    std::printf("OpenCL has command buffers: %s\n",
                std::strstr(extensions, "cl_khr_command_buffer") ? "yes" : "no");
    cl_int code = CL_SUCCESS;
    context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
    must_cl(code, "clCreateContext");
    const char* texts[] = {prelude, source};
    program = clCreateProgramWithSource(context, 2, texts, nullptr, &code);
    must_cl(code, "clCreateProgramWithSource");
    must_cl(clBuildProgram(program, 1, &device, "", nullptr, nullptr), "clBuildProgram");
    for (auto [memory, bytes] : {std::pair{&in, kBytes}, {&out, 4096}, {&more, 4096}}) {
      *memory = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &code);
      must_cl(code, "clCreateBuffer");
    }
  }

  cl_command_queue queue(cl_command_queue_properties properties) const {
    cl_int code = CL_SUCCESS;
    const cl_command_queue fresh = clCreateCommandQueue(context, device, properties, &code);
    must_cl(code, "clCreateCommandQueue");
    return fresh;
  }

  cl_kernel kernel(const char* name, int vectors = 0) const {
    cl_int code = CL_SUCCESS;
    const cl_kernel fresh = clCreateKernel(program, name, &code);
    must_cl(code, "clCreateKernel");
    set(fresh, std::strcmp(name, "few") != 0, vectors);
    return fresh;
  }

  void set(cl_kernel kernel, bool all, int vectors) const {
    if (!all) return must_cl(clSetKernelArg(kernel, 0, sizeof out, &out), "clSetKernelArg");
    cl_uint at = 0;
    for (const cl_mem* memory : {&in, &out, &more})
      must_cl(clSetKernelArg(kernel, at++, sizeof *memory, memory), "clSetKernelArg");
    for (; at < kArguments; ++at)
      must_cl(clSetKernelArg(kernel, at, sizeof vectors, &vectors), "clSetKernelArg");
  }
};

void enqueue(cl_command_queue queue, cl_kernel kernel, int groups, cl_event* event = nullptr,
             int dimensions = 3) {
  const std::size_t local[] = {512, 1, 1}, global[] = {std::size_t(groups) * 512, 1, 1};
  must_cl(clEnqueueNDRangeKernel(queue, kernel, cl_uint(dimensions), nullptr, global, local, 0,
                                 nullptr, event),
          "clEnqueueNDRangeKernel");
}

int main() {
  const OpenCl cl;
  float4* in = nullptr;
  unsigned *out = nullptr, *more = nullptr;
  must(cudaMalloc(&in, kBytes));
  must(cudaMalloc(&out, 4096));
  must(cudaMalloc(&more, 4096));
  const cl_command_queue plain = cl.queue(0), profiled = cl.queue(CL_QUEUE_PROFILING_ENABLE),
                         unordered = cl.queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const cl_uint pattern = 0x3f9d70a4;
  must_cl(clEnqueueFillBuffer(plain, cl.in, &pattern, 4, 0, kBytes, 0, nullptr, nullptr), "fill");
  must(cudaMemset(in, 0x3f, kBytes));
  must(cudaDeviceSynchronize());
  const auto finish = [](cl_command_queue queue) {
    return [queue] { must_cl(clFinish(queue), "clFinish"); };
  };
  const auto finish_cuda = [] { must(cudaStreamSynchronize(floor_stream())); };
  const auto start_many = [&](auto* kernel, const Launch& how, int v) {
    start(kernel, how, in, out, more, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v);
  };

  std::printf("%-48s enqueue  launch  waited\n", "empty kernels");
  constexpr int kMany = 2000;
  const cl_kernel one = cl.kernel("few"), all = cl.kernel("many");
  for (const int groups : {1, 132}) {
    std::printf("%d group(s)\n", groups);
    line(
        "OpenCL, 1 argument", kMany, [&] { enqueue(plain, one, groups); }, finish(plain));
    line(
        "OpenCL, 23 arguments", kMany, [&] { enqueue(plain, all, groups); }, finish(plain));
    line(
        "OpenCL, 23, one dimension", kMany, [&] { enqueue(plain, all, groups, nullptr, 1); },
        finish(plain));
    line(
        "OpenCL, 23, set anew for each", kMany,
        [&] {
          cl.set(all, true, 0);
          enqueue(plain, all, groups);
        },
        finish(plain));
    line(
        "OpenCL, 23, a flush behind each", kMany,
        [&] {
          enqueue(plain, all, groups);
          must_cl(clFlush(plain), "clFlush");
        },
        finish(plain));
    line(
        "OpenCL, 23, an event for each", kMany,
        [&] {
          cl_event event = nullptr;
          enqueue(plain, all, groups, &event);
          must_cl(clReleaseEvent(event), "clReleaseEvent");
        },
        finish(plain));
    line(
        "OpenCL, 23, profiled", kMany, [&] { enqueue(profiled, all, groups); }, finish(profiled));
    line(
        "OpenCL, 23, in any order", kMany, [&] { enqueue(unordered, all, groups); },
        finish(unordered));
    for (const bool early : {false, true})
      line(
          early ? "CUDA, 23, early" : "CUDA, 23", kMany,
          [&] {
            start_many(many, {groups, 512, 0, early}, 0);
          },
          finish_cuda);
  }

  std::printf("%-48s enqueue  launch  waited\n", "reading so many bytes");
  for (const int bits : {20, 24, 26, 28}) {
    const int vectors = 1 << (bits - 4), launches = bits < 26 ? kMany : 200;
    const cl_kernel reader = cl.kernel("reads", vectors);
    const std::string size = ", 2^" + std::to_string(bits);
    for (int turn = 0; turn < 2; ++turn) {
      line(("OpenCL" + size).c_str(), launches, [&] { enqueue(plain, reader, 132); },
           finish(plain));
      for (const bool early : {false, true})
        line((early ? "CUDA, early" + size : "CUDA" + size).c_str(), launches,
             [&] {
               start_many(reads, {132, 512, 0, early}, vectors);
             },
             finish_cuda);
    }
  }
}
