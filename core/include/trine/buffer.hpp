/// Buffers of device, pinned, wrapped and adopted memory; strided views of them; copies.
///
/// Thread safety: a Buffer may be used from any thread. Destroying the last handle of a buffer with
/// work in flight is legal: its memory is freed when the queues that use it have passed.
#pragma once

#include <trine/queue.hpp>

namespace trine {

namespace detail {
struct BufferState;
}

enum class Memory : uint32_t {
  device = 1,  ///< the device's own memory
  /// Host memory that transfers at full speed; host() points to it. A View of it is an operand as any
  /// other, but on OpenCL devices that don't share the host's memory: they keep it mapped, and refuse that.
  pinned = 2,
  wrapped = 3,  ///< the caller's host memory, made known to the device
  adopted = 4   ///< the caller's native device memory
};

class TRINE_API Buffer {
 public:
  Buffer() = default;  ///< no memory
  /// Allocates `bytes` (0 is legal). Where memory is short, waits for the work of buffers and queues
  /// that were dropped. Throws out_of_memory, or unsupported with the device's limit.
  Buffer(const Device& device, uint64_t bytes, Memory kind = Memory::device);
  /// The caller's device memory: a CUDA device pointer, a cl_mem, or (cpu) a pointer.
  static Buffer adopt(const Device& device, void* native, uint64_t bytes);
  /// The caller's host memory as the device sees it, for pinned transfers, or in place where the
  /// device shares host memory (of OpenCL's devices, CPUs alone: others may keep a copy, and refuse
  /// this). It must outlive the buffer and all work on it.
  static Buffer wrap(const Device& device, void* host, uint64_t bytes);

  explicit operator bool() const noexcept { return state_ != nullptr; }
  Device device() const;
  Memory kind() const;
  uint64_t bytes() const;
  void* native() const;  ///< CUdeviceptr, cl_mem, host pointer
  void* host() const;    ///< of pinned and wrapped memory and of the cpu's, else nullptr

 private:
  friend struct detail::Access;
  std::shared_ptr<detail::BufferState> state_;
};

/// A strided, batched matrix in a buffer. Element (b, i, j) lies at
///   offset + size_of(dtype) * (b * batch_stride + i * row_stride + j * col_stride)   bytes.
/// Row-major has col_stride 1, column-major row_stride 1. Strides are never negative; those of an
/// input may be 0 or overlap (broadcast). An extent of 0 or 1 makes its stride meaningless.
/// A vector of n is n x 1.
struct View {
  Buffer buffer;
  Dtype dtype = Dtype::f32;
  uint64_t offset = 0;  ///< bytes
  int64_t rows = 0, cols = 0, batch = 1;
  int64_t row_stride = 0, col_stride = 1, batch_stride = 0;  ///< elements
};

/// Dense views: row-major, column-major, vector (n x 1). `offset` in bytes.
TRINE_API View row_major(Buffer buffer, Dtype dtype, int64_t rows, int64_t cols,
                         uint64_t offset = 0);
TRINE_API View col_major(Buffer buffer, Dtype dtype, int64_t rows, int64_t cols,
                         uint64_t offset = 0);
TRINE_API View vector(Buffer buffer, Dtype dtype, int64_t size, uint64_t offset = 0);
/// `count` dense row-major matrices, one after the other.
TRINE_API View batched(Buffer buffer, Dtype dtype, int64_t count, int64_t rows, int64_t cols,
                       uint64_t offset = 0);

/// The same, of host memory: element (b, i, j) lies at `data` plus that many bytes.
template <class Data>
struct BasicHostView {
  Data* data = nullptr;  ///< element (0, 0, 0)
  Dtype dtype = Dtype::f32;
  int64_t rows = 0, cols = 0, batch = 1;
  int64_t row_stride = 0, col_stride = 1, batch_stride = 0;  ///< elements

  operator BasicHostView<const void>() const requires(!std::is_const_v<Data>) {
    return {data, dtype, rows, cols, batch, row_stride, col_stride, batch_stride};
  }
};
using HostView = BasicHostView<void>;             ///< of outputs, and of inputs as well
using ConstHostView = BasicHostView<const void>;  ///< of inputs alone

/// Dense views of host memory: a ConstHostView where `data` points to const.
///   trine::copy(queue, trine::host_row_major(a.data(), trine::Dtype::f64, 600, 400), view);
template <std::convertible_to<const void*> Pointer>
using HostViewOf = std::conditional_t<std::convertible_to<Pointer, void*>, HostView, ConstHostView>;
template <class Pointer>
HostViewOf<Pointer> host_row_major(Pointer data, Dtype dtype, int64_t rows, int64_t cols) {
  return {.data = data, .dtype = dtype, .rows = rows, .cols = cols, .row_stride = cols};
}
template <class Pointer>
HostViewOf<Pointer> host_col_major(Pointer data, Dtype dtype, int64_t rows, int64_t cols) {
  return {.data = data,
          .dtype = dtype,
          .rows = rows,
          .cols = cols,
          .row_stride = 1,
          .col_stride = rows};
}
template <class Pointer>
HostViewOf<Pointer> host_vector(Pointer data, Dtype dtype, int64_t size) {
  return {.data = data, .dtype = dtype, .rows = size, .cols = 1, .row_stride = 1};
}

/// Copies of equal shape and element size; each end needs one unit stride, the same on both (a
/// transposing copy is Transpose). Asynchronous: host memory stays the caller's business until
/// the queue has passed the copy. Where CUDA hasn't pinned it (Memory::pinned, Buffer::wrap(), the
/// program itself), CUDA has the caller wait: from such memory until what comes before on the queue
/// has passed, which is refused while the program captures the stream into a graph; into it until the
/// copy is done.
///
/// Between devices, the queue belongs to either end; what fails on either device, the queue's wait()
/// reports. The caller is not blocked, but where pinned memory is short, as in Buffer(): the bytes go
/// through pinned host memory, of which the queue keeps what it needed, at most 24 MiB, for its next
/// copy; and straight between the cpu's buffers and an OpenCL device.
TRINE_API void copy(Queue& queue, const ConstHostView& source, const View& target);
TRINE_API void copy(Queue& queue, const View& source, const HostView& target);
TRINE_API void copy(Queue& queue, const View& source, const View& target);

/// Writes the element at `element` (size_of(target.dtype) bytes) all over `target`.
TRINE_API void fill(Queue& queue, const View& target, const void* element);

}  // namespace trine
