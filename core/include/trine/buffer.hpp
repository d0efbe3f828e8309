/// Buffers of memory, strided views of them, copies and fills.
///
/// A Buffer owns or refers to memory that one device can use; a View says how a matrix lies in it.
/// Operations and copies take views.
///
/// Thread safety: a Buffer may be used from any thread. The program sets the order of accesses to
/// its memory, by one queue or by events.
///
/// Lifetime: the last handle of a buffer may be dropped while work with it is in flight. Its memory
/// is freed when the queues that use it have passed that work.
#pragma once

#include <trine/fitting.hpp>
#include <trine/queue.hpp>

#include <algorithm>
#include <utility>

namespace trine {

namespace detail {
struct BufferState;
}

/// The kind of memory behind a Buffer.
enum class Memory : uint32_t {
  /// The device's own memory.
  device = 1,
  /// Page-locked host memory that Trine allocates; copies to and from it run at full speed, and
  /// Buffer::host() points to it. A View of it may be an operand, except on OpenCL devices that
  /// don't share the host's memory: there it is for copies only.
  pinned = 2,
  /// The caller's host memory, registered with the device by Buffer::wrap().
  wrapped = 3,
  /// The caller's device memory, from Buffer::adopt().
  adopted = 4
};

/// A handle of memory that one device can use. Copies are cheap and refer to the same memory.
/// ```cpp
/// trine::Device device = trine::open("cpu");
/// trine::Buffer values(device, 1000 * sizeof(float));                        // on the device
/// trine::Buffer staging(device, 1000 * sizeof(float), trine::Memory::pinned);  // on the host
/// static_cast<float*>(staging.host())[0] = 1;
/// ```
class TRINE_API Buffer {
 public:
  /// An empty handle, no memory. Using it where memory is needed throws Error (invalid_argument).
  Buffer() = default;
  /// Allocates `bytes` of memory on `device`; 0 is legal. The content is undefined.
  ///
  /// `kind` is Memory::device or Memory::pinned. If memory is short, the call waits until the work
  /// of dropped buffers and queues has ended and their memory is free.
  /// Throws Error: out_of_memory; unsupported if `bytes` exceeds Facts::max_buffer_bytes;
  /// invalid_argument for another kind.
  Buffer(const Device& device, uint64_t bytes, Memory kind = Memory::device);
  /// Memory for `count` elements of type T, on `device`; errors as above, and invalid_argument for
  /// a negative count or one beyond 2^63 bytes.
  /// ```cpp
  /// trine::Buffer values = trine::Buffer::of<double>(trine::open("cpu"), 1000);
  /// ```
  template <class T>
  static Buffer of(const Device& device, int64_t count, Memory kind = Memory::device) {
    if (count < 0 || count > INT64_MAX / int64_t{sizeof(T)}) {
      throw Error(Status::invalid_argument, "Buffer::of: " + std::to_string(count) +
                                                " elements are none, or more than 2^63 bytes.");
    }
    return {device, static_cast<uint64_t>(count) * sizeof(T), kind};
  }
  /// Uses device memory of the caller, `bytes` long: a CUDA device pointer, a cl_mem, or on the cpu
  /// a plain pointer. Trine never frees it. It must outlive the buffer and all work on it.
  /// ```cpp
  /// std::vector<double> mine(100, 1.0);
  /// trine::Device cpu = trine::open("cpu");
  /// trine::Buffer view_of_mine = trine::Buffer::adopt(cpu, mine.data(), 100 * sizeof(double));
  /// ```
  static Buffer adopt(const Device& device, void* native, uint64_t bytes);
  /// Registers `bytes` of the caller's host memory with `device`.
  ///
  /// On CUDA the driver pins its pages: copies are as fast as from pinned memory, and a View of it
  /// may be an operand. On the cpu and on OpenCL's CPU devices it is used in place. Other OpenCL
  /// devices may keep copies of such memory and throw unsupported. The memory must outlive the
  /// buffer and all work on it.
  static Buffer wrap(const Device& device, void* host, uint64_t bytes);

  /// Whether the handle refers to memory.
  explicit operator bool() const noexcept { return state_ != nullptr; }
  /// The device, the kind of memory, and the size in bytes.
  Device device() const;
  Memory kind() const;
  uint64_t bytes() const;
  /// The driver's handle: CUdeviceptr, cl_mem, or on the cpu a pointer.
  void* native() const;
  /// The host pointer of pinned and wrapped memory and of all memory of the cpu; else null.
  void* host() const;

 private:
  friend struct detail::Access;
  std::shared_ptr<detail::BufferState> state_;
};

/// A matrix, or a batch of matrices, in a buffer.
///
/// Element (b, i, j), for 0 <= b < batch, 0 <= i < rows, 0 <= j < cols, lies at byte
///   offset + size_of(dtype) * (b * batch_stride + i * row_stride + j * col_stride).
/// A row-major matrix has col_stride 1, a column-major one row_stride 1; the other stride is BLAS's
/// leading dimension. A vector of n elements is n x 1.
///
/// Strides are never negative. Strides of an input may be 0 or make elements overlap (broadcast);
/// those of an output may not. The stride along an extent of 0 or 1 is ignored. Extents of 0 are
/// legal. An operation needs the buffer's address and the offset each to be a multiple of the
/// dtype's size; a transpose, of the smaller of that size and 4. Copies need no alignment.
/// ```cpp
/// trine::Device device = trine::open("cpu");
/// trine::Buffer buffer(device, 100 * 100 * sizeof(float));
/// trine::View whole = trine::row_major(buffer, trine::Dtype::f32, 100, 100);
/// trine::View block = whole;  // rows 10 … 19, columns 20 … 49 of the same matrix
/// block.offset = (10 * 100 + 20) * sizeof(float);
/// block.rows = 10;
/// block.cols = 30;
/// ```
struct View {
  /// The memory. It may be empty where only the shape counts: choose(), place().
  Buffer buffer;
  /// The type of an element.
  Dtype dtype = Dtype::f32;
  /// The place of element (0, 0, 0) in the buffer, in bytes.
  uint64_t offset = 0;
  /// Extents, in elements.
  int64_t rows = 0, cols = 0, batch = 1;
  /// Distances between neighbours, in elements.
  int64_t row_stride = 0, col_stride = 1, batch_stride = 0;
};

/// A scalar of an operation: a number of the program, or one element of device memory, which is
/// read when the queue comes to the operation. So the result of one operation can scale the next
/// one without a wait.
/// ```cpp
/// trine::Queue queue(trine::open("cpu"));
/// trine::View x = trine::vector({queue.device(), 800}, trine::Dtype::f64, 100);
/// trine::View norm2 = trine::vector({queue.device(), 8}, trine::Dtype::f64, 1);
/// trine::fill(queue, x, 1.0);
/// trine::dot(queue, x, x, norm2);
/// trine::axpby(queue, norm2, x, 0, x);  // x = 100 x, with the 100 from the device
/// queue.wait();
/// ```
class Scalar {
 public:
  /// A number. An operation refuses it where its dtype has no such value: 0.1 is not exact in f32.
  Scalar(double number) noexcept : number_(number) {}
  /// The one element of a 1 x 1 view of the operation's dtype, in memory of the queue's device.
  Scalar(View element) noexcept : element_(std::move(element)), on_device_(true) {}

  /// Whether it is an element of device memory: then element() is its view. Else number() is its
  /// value.
  bool on_device() const noexcept { return on_device_; }
  double number() const noexcept { return number_; }
  const View& element() const noexcept { return element_; }

 private:
  double number_ = 0;
  View element_;
  bool on_device_ = false;
};

/// Dense views of `buffer` that begin at byte `offset`: a rows x cols matrix in row-major or
/// column-major order, and a vector of `size` elements. Nothing is checked before the view is used.
/// ```cpp
/// trine::Buffer buffer(trine::open("cpu"), 600 * 400 * sizeof(double));
/// trine::View matrix = trine::row_major(buffer, trine::Dtype::f64, 600, 400);
/// trine::View flat = trine::vector(buffer, trine::Dtype::f64, 600 * 400);  // the same memory
/// ```
TRINE_API View row_major(Buffer buffer, Dtype dtype, int64_t rows, int64_t cols,
                         uint64_t offset = 0);
TRINE_API View col_major(Buffer buffer, Dtype dtype, int64_t rows, int64_t cols,
                         uint64_t offset = 0);
TRINE_API View vector(Buffer buffer, Dtype dtype, int64_t size, uint64_t offset = 0);
/// `count` dense row-major matrices of rows x cols, one behind the other.
TRINE_API View batched(Buffer buffer, Dtype dtype, int64_t count, int64_t rows, int64_t cols,
                       uint64_t offset = 0);

/// A matrix, or a batch of matrices, in plain host memory: as View, with a pointer in the place of
/// buffer and offset. The memory stays the caller's.
template <class Data>
struct BasicHostView {
  /// The address of element (0, 0, 0).
  Data* data = nullptr;
  Dtype dtype = Dtype::f32;
  /// Extents, in elements.
  int64_t rows = 0, cols = 0, batch = 1;
  /// Distances between neighbours, in elements.
  int64_t row_stride = 0, col_stride = 1, batch_stride = 0;

  /// Memory that may be written may also be read.
  operator BasicHostView<const void>() const requires(!std::is_const_v<Data>) {
    return {data, dtype, rows, cols, batch, row_stride, col_stride, batch_stride};
  }
};
/// Host memory that may be written: outputs, and inputs too.
using HostView = BasicHostView<void>;
/// Host memory that is only read: inputs.
using ConstHostView = BasicHostView<const void>;

/// The view type for a pointer: ConstHostView where it points to const, else HostView.
template <std::convertible_to<const void*> Pointer>
using HostViewOf = std::conditional_t<std::convertible_to<Pointer, void*>, HostView, ConstHostView>;
/// Dense views of host memory: a rows x cols matrix in row-major or column-major order, and a
/// vector of `size` elements. `dtype` must be that of the memory: nothing can check it.
/// ```cpp
/// std::vector<double> a(600 * 400);
/// trine::HostView matrix = trine::host_row_major(a.data(), trine::Dtype::f64, 600, 400);
/// ```
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

/// `count` dense row-major matrices of rows x cols in host memory, one behind the other.
/// Column-major ones, also of device memory: transposed(host_batched(data, dtype, count, cols,
/// rows)).
template <class Pointer>
HostViewOf<Pointer> host_batched(Pointer data, Dtype dtype, int64_t count, int64_t rows,
                                 int64_t cols) {
  return {.data = data,
          .dtype = dtype,
          .rows = rows,
          .cols = cols,
          .batch = count,
          .row_stride = cols,
          .batch_stride = detail::matrix_stride(rows, cols)};
}

/// A View, or one of host memory.
template <class V>
concept AnyView =
    std::same_as<V, View> || std::same_as<V, HostView> || std::same_as<V, ConstHostView>;

/// Parts of a view, which share its memory: in each matrix of a batch the `m` x `n` elements from
/// row `i`, column `j` on; `count` rows or columns from `first` on. Throws Error (invalid_argument)
/// for a part that isn't inside.
/// ```cpp
/// std::vector<float> values(20 * 30);
/// trine::HostView matrix = trine::host_row_major(values.data(), trine::Dtype::f32, 20, 30);
/// trine::HostView block = trine::submatrix(matrix, 5, 10, 4, 4);
/// trine::HostView last_row = trine::rows(matrix, 19, 1);
/// trine::HostView first_columns = trine::cols(matrix, 0, 3);
/// ```
template <AnyView V>
V submatrix(V view, int64_t i, int64_t j, int64_t m, int64_t n) {
  if (i < 0 || j < 0 || m < 0 || n < 0 || i > view.rows - m || j > view.cols - n) {
    throw Error(Status::invalid_argument,
                "submatrix: " + std::to_string(m) + " x " + std::to_string(n) + " from " +
                    std::to_string(i) + ", " + std::to_string(j) + " on isn't inside of " +
                    std::to_string(view.rows) + " x " + std::to_string(view.cols) + ".");
  }
  using detail::Fitting;
  Fitting<int64_t> bytes = 0;
  if (m != 0 && n != 0)  // an empty part has no place
    bytes = (Fitting(i) * view.row_stride + Fitting(j) * view.col_stride) *
            int64_t{size_of(view.dtype)};
  if (!bytes.fits()) {
    throw Error(Status::invalid_argument, "submatrix: it begins beyond 2^63 bytes.");
  }
  if constexpr (std::same_as<V, View>) {
    view.offset += static_cast<uint64_t>(bytes.value_or(0));
  } else {
    using Byte = std::conditional_t<std::same_as<V, HostView>, char, const char>;
    view.data = static_cast<Byte*>(view.data) + bytes.value_or(0);
  }
  view.rows = m;
  view.cols = n;
  return view;
}
template <AnyView V>
V rows(const V& view, int64_t first, int64_t count) {
  return submatrix(view, first, 0, count, view.cols);
}
template <AnyView V>
V cols(const V& view, int64_t first, int64_t count) {
  return submatrix(view, 0, first, view.rows, count);
}

/// The same elements with rows and columns exchanged, of each matrix of a batch; nothing moves. For
/// gemm that is BLAS's "T"; of a dense row-major matrix it is a column-major one.
/// ```cpp
/// trine::View a = trine::row_major({}, trine::Dtype::f32, 20, 30);
/// trine::View t = trine::transposed(a);  // 30 x 20, column-major
/// ```
template <AnyView V>
V transposed(V view) {
  std::swap(view.rows, view.cols);
  std::swap(view.row_stride, view.col_stride);
  return view;
}

/// All elements as one vector (n x 1), in their order in memory. Throws Error (invalid_argument) if
/// neighbours aren't all at the same distance, as in a matrix with padded rows.
template <AnyView V>
V as_vector(V view) {
  struct Step {
    int64_t extent, stride;
  } steps[] = {
      {view.cols, view.col_stride}, {view.rows, view.row_stride}, {view.batch, view.batch_stride}};
  const bool is_empty = view.rows == 0 || view.cols == 0 || view.batch == 0;
  std::ranges::sort(steps, {}, [](const Step& s) { return s.extent == 1 ? -1 : s.stride; });
  int64_t count = 1, stride = 1;
  for (const auto& [extent, step] : steps) {
    if (extent == 1 || is_empty) continue;
    if (count == 1) stride = step;
    const auto next = detail::Fitting(count) * stride, more = detail::Fitting(count) * extent;
    if (!next.fits() || step != next.value_or(0) || !more.fits()) {
      throw Error(Status::invalid_argument,
                  "as_vector: the elements don't lie at one distance from each other.");
    }
    count = more.value_or(0);
  }
  view.rows = is_empty ? 0 : count;
  view.row_stride = stride;
  view.cols = view.batch = 1;
  return view;
}

/// Copies `source` to `target`: from the host, to the host, within a device, between two devices.
///
/// Both ends have equal extents and equal element sizes, and both have a unit stride along the same
/// direction; a copy that turns rows into columns is a Transpose. The copy is asynchronous: host
/// memory must stay valid and unchanged until the queue has passed it.
///
/// On CUDA, host memory that isn't pinned (Memory::pinned, Buffer::wrap(), or by the program) makes
/// the calling thread wait: for a copy from such memory until the earlier work of the queue has
/// ended, for a copy into it until the copy itself has ended. During the capture of a stream into a
/// graph the former is refused.
///
/// Between devices, `queue` belongs to either of them, and its wait() reports failures of both. The
/// bytes go through pinned host memory, of which the queue keeps up to 24 MiB for its next copy;
/// between the cpu and OpenCL they go directly. The calling thread waits only if pinned memory is
/// short.
///
/// Throws Error: invalid_argument for unequal shapes or element sizes, strides as above, extents
/// beyond the buffer, overlapping source and target, a queue of another device; out_of_memory.
/// ```cpp
/// trine::Queue queue(trine::open("cpu"));
/// std::vector<float> host = {1, 2, 3, 4};
/// trine::View device = trine::vector({queue.device(), 4 * sizeof(float)}, trine::Dtype::f32, 4);
/// trine::copy(queue, trine::host_vector(host.data(), trine::Dtype::f32, 4), device);
/// queue.wait();  // before that, `host` must not change
/// ```
TRINE_API void copy(Queue& queue, const ConstHostView& source, const View& target);
TRINE_API void copy(Queue& queue, const View& source, const HostView& target);
TRINE_API void copy(Queue& queue, const View& source, const View& target);

/// Writes one element to every element of `target`, asynchronously, for any strides that don't make
/// elements overlap. `element` points to size_of(target.dtype) bytes, which are read before fill()
/// returns. Throws Error (invalid_argument) as copy().
TRINE_API void fill(Queue& queue, const View& target, const void* element);
/// The same with `value` as the element, whose C++ type must be that of the target's dtype: nothing
/// is converted. Throws Error (invalid_argument) for another type, too.
/// ```cpp
/// trine::Queue queue(trine::open("cpu"));
/// trine::View vector = trine::vector({queue.device(), 400}, trine::Dtype::f32, 100);
/// trine::fill(queue, vector, 1.0f);
/// queue.wait();
/// ```
template <class T>
requires requires { DtypeOf<T>::value; }
void fill(Queue& queue, const View& target, T value) {
  if (target.dtype != dtype_of<T>) {
    throw Error(Status::invalid_argument,
                "fill: the target is of " + std::string(name(target.dtype)) + ", the value of " +
                    std::string(name(dtype_of<T>)) +
                    "; cast the value, or give the address of an element.");
  }
  fill(queue, target, static_cast<const void*>(&value));
}

}  // namespace trine
