// CUB as a rung pack: the peer of the cuda backend's reduce. Sums, minima and maxima of all
// elements or of each row, and where the extremes of all elements lie; by CUB's own tuning for the
// device. Compiled here for every dtype and function: DeviceReduce over all elements,
// DeviceSegmentedReduce over rows, a segment each.
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cub/version.cuh>

#include "current_device.hpp"
#include "pack.hpp"

namespace trine::peers {
namespace {

/// The arguments that CUB's functions have in common.
struct Call {
  const trine_reduce& op;
  void* temp;
  size_t& bytes;
  cudaStream_t stream;

  int64_t count() const { return op.input.rows * op.input.cols; }
};

struct RowBegin {
  int64_t stride, first;
  __host__ __device__ int64_t operator()(int64_t row) const { return row * stride + first; }
};

/// Where each row begins, or with `first` = cols ends.
auto row_offsets(const trine_view& view, int64_t first) {
  return thrust::make_transform_iterator(thrust::make_counting_iterator(int64_t{0}),
                                         RowBegin{view.row_stride, first});
}

/// Each of these calls DeviceReduce or DeviceSegmentedReduce, whose arguments differ in the middle.
struct Sum {
  template <class Device, class... Arguments>
  static cudaError_t run(Arguments... arguments) {
    return Device::Sum(arguments...);
  }
};
struct Min {
  template <class Device, class... Arguments>
  static cudaError_t run(Arguments... arguments) {
    return Device::Min(arguments...);
  }
};
struct Max {
  template <class Device, class... Arguments>
  static cudaError_t run(Arguments... arguments) {
    return Device::Max(arguments...);
  }
};

template <class Function, class T, class Result>
cudaError_t reduce(const Call& call) {
  const trine_view& view = call.op.input;
  // By reference: CUB sets the bytes.
  if (call.op.axis == TRINE_ALL)
    return Function::template run<cub::DeviceReduce, void*, size_t&>(
        call.temp, call.bytes, at<T>(call.op.input, 0), at<Result>(call.op.output, 0), call.count(),
        call.stream);
  return Function::template run<cub::DeviceSegmentedReduce, void*, size_t&>(
      call.temp, call.bytes, at<T>(call.op.input, 0), at<Result>(call.op.output, 0), view.rows,
      row_offsets(view, 0), row_offsets(view, view.cols), call.stream);
}

/// CUB gives the extreme beside its index: it goes into the first bytes of `temp`.
template <class T>
cudaError_t reduce_to_index(const Call& call) {
  constexpr size_t kSlot = 256;
  T* const extreme = static_cast<T*>(call.temp);
  void* const temp = call.temp == nullptr ? nullptr : static_cast<char*>(call.temp) + kSlot;
  size_t bytes = call.temp == nullptr ? 0 : call.bytes - kSlot;
  const cudaError_t status =
      call.op.function == TRINE_ARGMIN
          ? cub::DeviceReduce::ArgMin(temp, bytes, at<T>(call.op.input, 0), extreme,
                                      at<int64_t>(call.op.output, 0), call.count(), call.stream)
          : cub::DeviceReduce::ArgMax(temp, bytes, at<T>(call.op.input, 0), extreme,
                                      at<int64_t>(call.op.output, 0), call.count(), call.stream);
  if (call.temp == nullptr) call.bytes = bytes + kSlot;
  return status;
}

/// `Wide`: the dtype of a sum.
template <class T, class Wide>
cudaError_t reduce_dtype(const Call& call) {
  switch (call.op.function) {
    case TRINE_SUM: return reduce<Sum, T, Wide>(call);
    case TRINE_MIN: return reduce<Min, T, T>(call);
    case TRINE_MAX: return reduce<Max, T, T>(call);
    default: return reduce_to_index<T>(call);
  }
}

/// Enqueues the reduction; with `temp` null it sets `bytes` to what `temp` must hold.
cudaError_t reduce_by_cub(const trine_reduce& op, void* temp, size_t& bytes, cudaStream_t stream) {
  const Call call{op, temp, bytes, stream};
  switch (op.dtype) {
    case TRINE_F32:
      if (op.result_dtype == TRINE_F64) return reduce<Sum, float, double>(call);
      return reduce_dtype<float, float>(call);
    case TRINE_F64: return reduce_dtype<double, double>(call);
    case TRINE_I32: return reduce_dtype<int32_t, int64_t>(call);
    case TRINE_I64: return reduce_dtype<int64_t, int64_t>(call);
    case TRINE_U32: return reduce_dtype<uint32_t, uint64_t>(call);
    default: return reduce_dtype<uint64_t, uint64_t>(call);
  }
}

const trine_rung kReduce = rung("cub", "cub::DeviceReduce, each_row: cub::DeviceSegmentedReduce",
                                "map=identity of contiguous rows");

constexpr Rungs kRungs{&kReduce};

const char* why_not(const trine_reduce& op) {
  const bool index = op.function == TRINE_ARGMIN || op.function == TRINE_ARGMAX;
  if (op.function == TRINE_PROD) return "cub has no product of its own";
  if (op.map != TRINE_IDENTITY) return "this peer reduces the elements as they are: map=identity";
  if (op.axis == TRINE_EACH_COLUMN) return "cub's segments are contiguous: axis=all or each_row";
  if (op.axis == TRINE_EACH_ROW && index)
    return "cub gives the index of a segment's extreme in 32 bits and beside its value";
  if (op.axis == TRINE_ALL && !contiguous(op.input)) return "DeviceReduce takes contiguous data";
  if (!unit_rows(op.input)) return "DeviceSegmentedReduce takes contiguous rows";
  if (op.output.rows > 1 && op.output.row_stride != 1) return "cub writes its results side by side";
  return nullptr;
}

const char* why_not(const auto&) { return "cub reduces only"; }

constexpr auto kWhyNot = [](const auto& op, const trine_native&) { return why_not(op); };

trine_status check(cudaError_t error) {
  if (error == cudaSuccess) return TRINE_OK;
  cudaGetLastError();  // CUB asks for the last error: this one mustn't stay
  std::snprintf(error_text, sizeof error_text, "cub: %s", cudaGetErrorString(error));
  return error == cudaErrorMemoryAllocation ? TRINE_OUT_OF_MEMORY : TRINE_BACKEND_ERROR;
}

/// The facts that the number of bytes depends on.
struct Question {
  int32_t device;
  uint32_t function, axis, dtype, result_dtype;
  int64_t rows, cols;
  bool operator==(const Question&) const = default;
};

/// Behind the contract's control bytes. The last answer is kept, as a caller of CUB would: asking
/// takes as long as a launch.
trine_status workspace_bytes(const trine_native* native, const trine_selection*,
                             const trine_call* call, uint64_t* bytes) {
  thread_local Question last{};
  thread_local size_t temp = 0;
  const auto& op = *static_cast<const trine_reduce*>(call->descriptor);
  const Question question{native->device_index, op.function,   op.axis,      op.dtype,
                          op.result_dtype,      op.input.rows, op.input.cols};
  if (temp == 0 || question != last) {
    const CurrentDevice current(native->device_index);
    size_t answer = 0;
    const trine_status status = check(reduce_by_cub(op, nullptr, answer, nullptr));
    if (status != TRINE_OK) return status;
    last = question;
    temp = answer;
  }
  *bytes = TRINE_CONTROL_BYTES + temp;
  return TRINE_OK;
}

trine_status launch(const trine_native* native, void*, const trine_selection*,
                    const trine_call* call, const trine_workspace* workspace) {
  const CurrentDevice current(native->device_index);
  char* const temp = static_cast<char*>(workspace->memory) + workspace->offset;
  size_t bytes = workspace->bytes - TRINE_CONTROL_BYTES;
  return check(reduce_by_cub(*static_cast<const trine_reduce*>(call->descriptor),
                             temp + TRINE_CONTROL_BYTES, bytes,
                             static_cast<cudaStream_t>(native->queue)));
}

}  // namespace
}  // namespace trine::peers

extern "C" trine_status trine_rungs_v1(const trine_host*, const trine_pack** pack) {
  using namespace trine::peers;
  static char build[64];
  std::snprintf(build, sizeof build, "CUB %d.%d.%d, its default tuning", CUB_MAJOR_VERSION,
                CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION);
  static const trine_pack table{
      sizeof(trine_pack), TRINE_ABI_VERSION, "cub",           "cuda",  build,   last_error,
      rungs<kRungs>,      refuses<kWhyNot>,  workspace_bytes, nullptr, nullptr, launch};
  *pack = &table;
  return TRINE_OK;
}
