/// Buffers of memory, strided views of them, copies and fills. The C form of <trine/buffer.hpp>.
#pragma once

#include <trine/c/queue.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A handle of memory that one device can use. Its memory is freed when the last handle is released
/// and the queues that use it have passed that work.
typedef struct trine_buffer_t trine_buffer_t;

/// Allocates `bytes` of memory on `device`; 0 is legal. `kind` is TRINE_MEMORY_DEVICE or
/// TRINE_MEMORY_PINNED (page-locked host memory for fast copies); 0 stands for the former. The
/// content is undefined.
/// Errors: TRINE_OUT_OF_MEMORY; TRINE_UNSUPPORTED for more than the device's largest buffer;
/// TRINE_INVALID_ARGUMENT for another kind.
TRINE_EXPORT trine_status trine_buffer_allocate(const trine_device_t* device, uint64_t bytes,
                                                uint32_t kind, trine_buffer_t** buffer);
/// Uses device memory of the caller, `bytes` long: a CUDA device pointer, a cl_mem, or on the cpu a
/// plain pointer. Trine never frees it. It must outlive the buffer and all work on it.
TRINE_EXPORT trine_status trine_buffer_adopt(const trine_device_t* device, void* native,
                                             uint64_t bytes, trine_buffer_t** buffer);
/// Registers `bytes` of the caller's host memory with `device`: pinned on CUDA, used in place on
/// CPUs. It must outlive the buffer and all work on it. TRINE_UNSUPPORTED on OpenCL devices that
/// keep copies.
TRINE_EXPORT trine_status trine_buffer_wrap(const trine_device_t* device, void* host,
                                            uint64_t bytes, trine_buffer_t** buffer);
/// Drops a handle. Never waits; NULL is legal.
TRINE_EXPORT void trine_buffer_release(trine_buffer_t* buffer);
/// The device, as a handle of its own; the trine_memory_kind; the size in bytes.
TRINE_EXPORT trine_status trine_buffer_get_device(const trine_buffer_t* buffer,
                                                  trine_device_t** device);
TRINE_EXPORT trine_status trine_buffer_get_kind(const trine_buffer_t* buffer, uint32_t* kind);
TRINE_EXPORT trine_status trine_buffer_get_bytes(const trine_buffer_t* buffer, uint64_t* bytes);
/// The driver's handle: CUdeviceptr, cl_mem, or on the cpu a pointer.
TRINE_EXPORT trine_status trine_buffer_get_native(const trine_buffer_t* buffer, void** native);
/// The host pointer of pinned and wrapped memory and of all memory of the cpu; else NULL.
TRINE_EXPORT trine_status trine_buffer_get_host(const trine_buffer_t* buffer, void** host);

/// A matrix, or a batch of matrices, in a buffer. Element (b, i, j) lies at byte
///   offset + size of the dtype * (b * batch_stride + i * row_stride + j * col_stride).
/// Strides are never negative. Those of an input may be 0 or make elements overlap (broadcast);
/// those of an output may not. The stride along an extent of 0 or 1 is ignored. Operations need the
/// buffer's address and the offset to be multiples of the dtype's size (a transpose: of at most 4);
/// copies need no alignment. trine_row_major() and its sisters make dense views; a batch of 0 is no
/// matrix, not one.
typedef struct trine_view_t {
  /// The memory. NULL where only the shape counts: the trine_choose_… and trine_place_… functions.
  const trine_buffer_t* buffer;
  /// The place of element (0, 0, 0) in the buffer, in bytes.
  uint64_t offset;
  /// Extents, in elements.
  int64_t rows, cols, batch;
  /// Distances between neighbours, in elements.
  int64_t row_stride, col_stride, batch_stride;
  /// A trine_dtype.
  uint32_t dtype;
  /// Zero.
  uint32_t reserved;
} trine_view_t;

/// Dense views of `buffer` that begin at byte `offset`: a rows x cols matrix in row-major or
/// column-major order, a vector of `size` elements (size x 1), and `count` row-major matrices one
/// behind the other. Nothing is checked before the view is used.
/// ```c
/// trine_view_t block = trine_row_major(NULL, TRINE_F32, 100, 100, 0);
/// block.offset = (10 * 100 + 20) * sizeof(float);  // rows 10 … 19, columns 20 … 49
/// block.rows = 10;
/// block.cols = 30;
/// printf("%d\n", (int)block.row_stride);  // 100
/// ```
TRINE_EXPORT trine_view_t trine_row_major(const trine_buffer_t* buffer, uint32_t dtype,
                                          int64_t rows, int64_t cols, uint64_t offset);
TRINE_EXPORT trine_view_t trine_col_major(const trine_buffer_t* buffer, uint32_t dtype,
                                          int64_t rows, int64_t cols, uint64_t offset);
TRINE_EXPORT trine_view_t trine_vector(const trine_buffer_t* buffer, uint32_t dtype, int64_t size,
                                       uint64_t offset);
TRINE_EXPORT trine_view_t trine_batched(const trine_buffer_t* buffer, uint32_t dtype, int64_t count,
                                        int64_t rows, int64_t cols, uint64_t offset);

/// A matrix, or a batch of matrices, in plain host memory: as trine_view_t, with a pointer in the
/// place of buffer and offset. The memory stays the caller's. An input's memory is only read.
typedef struct trine_host_view_t {
  /// The address of element (0, 0, 0).
  void* data;
  int64_t rows, cols, batch;
  int64_t row_stride, col_stride, batch_stride;
  /// A trine_dtype, that of the memory: nothing can check it.
  uint32_t dtype;
  /// Zero.
  uint32_t reserved;
} trine_host_view_t;

// A C compiler is told that these functions read no memory: an output may be without values yet.
#if !defined(__cplusplus) && defined(__GNUC__) && __GNUC__ >= 11
#define TRINE_READS_NOTHING __attribute__((access(none, 1)))
#else
#define TRINE_READS_NOTHING
#endif

/// Dense views of host memory: a rows x cols matrix in row-major or column-major order, and a
/// vector of `size` elements. `data` is const for the sake of inputs; an output's must be writable.
TRINE_EXPORT TRINE_READS_NOTHING trine_host_view_t trine_host_row_major(const void* data,
                                                                        uint32_t dtype,
                                                                        int64_t rows, int64_t cols);
TRINE_EXPORT TRINE_READS_NOTHING trine_host_view_t trine_host_col_major(const void* data,
                                                                        uint32_t dtype,
                                                                        int64_t rows, int64_t cols);
TRINE_EXPORT TRINE_READS_NOTHING trine_host_view_t trine_host_vector(const void* data,
                                                                     uint32_t dtype, int64_t size);

/// Copies `source` to `target`, asynchronously: from the host, to the host, and within a device or
/// between two. Both ends have equal extents and element sizes, and a unit stride along the same
/// direction. Host memory must stay valid and unchanged until the queue has passed the copy.
/// `queue` belongs to the device, or to either of the two. trine::copy() says when a copy of
/// pageable memory makes the caller wait.
/// Errors: TRINE_INVALID_ARGUMENT for shapes, strides, extents beyond the buffer, overlap, another
/// device's queue; TRINE_OUT_OF_MEMORY.
/// ```c
/// float host[] = {1, 2, 3, 4}, back[4];
/// trine_device_t* device;
/// trine_queue_t* queue;
/// trine_buffer_t* buffer;
/// if (trine_device_open("cpu", &device) != TRINE_OK) return 1;
/// if (trine_queue_create(device, &queue) != TRINE_OK) return 1;
/// if (trine_buffer_allocate(device, sizeof host, 0, &buffer) != TRINE_OK) return 1;
/// trine_view_t view = trine_vector(buffer, TRINE_F32, 4, 0);
/// trine_copy_to_device(queue, trine_host_vector(host, TRINE_F32, 4), view);
/// trine_copy_to_host(queue, view, trine_host_vector(back, TRINE_F32, 4));
/// if (trine_queue_wait(queue) != TRINE_OK || back[3] != 4) return 1;
/// trine_buffer_release(buffer);
/// trine_queue_release(queue);
/// trine_device_close(device);
/// ```
TRINE_EXPORT trine_status trine_copy_to_device(trine_queue_t* queue, trine_host_view_t source,
                                               trine_view_t target);
TRINE_EXPORT trine_status trine_copy_to_host(trine_queue_t* queue, trine_view_t source,
                                             trine_host_view_t target);
TRINE_EXPORT trine_status trine_copy_on_device(trine_queue_t* queue, trine_view_t source,
                                               trine_view_t target);
/// Writes one element to every element of `target`, asynchronously. `element` points to one of the
/// view's dtype, which is read before the function returns. Errors as for copies.
TRINE_EXPORT trine_status trine_fill(trine_queue_t* queue, trine_view_t target,
                                     const void* element);

#ifdef __cplusplus
}
#endif
