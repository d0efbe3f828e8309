// CUB's reductions, one instance for each dtype and function: DeviceReduce over all elements,
// DeviceSegmentedReduce over rows, a segment each.
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cuda/std/cstdint>

#include "cub_reduce.hpp"

namespace trine::peers {
namespace {

/// What CUB's functions have in common.
struct Call {
  const trine_reduce& op;
  void* temp;
  size_t& bytes;
  cudaStream_t stream;

  template <class T>
  const T* in() const {
    return reinterpret_cast<const T*>(static_cast<const char*>(op.input.memory) + op.input.offset);
  }
  template <class T>
  T* out() const {
    return reinterpret_cast<T*>(static_cast<char*>(op.output.memory) + op.output.offset);
  }
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
        call.temp, call.bytes, call.in<T>(), call.out<Result>(), call.count(), call.stream);
  return Function::template run<cub::DeviceSegmentedReduce, void*, size_t&>(
      call.temp, call.bytes, call.in<T>(), call.out<Result>(), view.rows, row_offsets(view, 0),
      row_offsets(view, view.cols), call.stream);
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
          ? cub::DeviceReduce::ArgMin(temp, bytes, call.in<T>(), extreme, call.out<int64_t>(),
                                      call.count(), call.stream)
          : cub::DeviceReduce::ArgMax(temp, bytes, call.in<T>(), extreme, call.out<int64_t>(),
                                      call.count(), call.stream);
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

}  // namespace

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

}  // namespace trine::peers
