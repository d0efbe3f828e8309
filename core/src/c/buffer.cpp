// <trine/c/buffer.h>
#include "layer.hpp"

using namespace trine;
using namespace trine::detail;

namespace {

trine_view_t form(const View& v, const trine_buffer_t* buffer) {
  return {buffer,         v.offset,          v.rows, v.cols, v.batch, v.row_stride, v.col_stride,
          v.batch_stride, uint32_t(v.dtype), 0};
}

trine_host_view_t form(const ConstHostView& v) {
  return {const_cast<void*>(v.data),
          v.rows,
          v.cols,
          v.batch,
          v.row_stride,
          v.col_stride,
          v.batch_stride,
          uint32_t(v.dtype),
          0};
}

}  // namespace

trine_status trine_buffer_allocate(const trine_device_t* device, uint64_t bytes, uint32_t kind,
                                   trine_buffer_t** buffer) {
  return guard(
      [&] {
        *buffer =
            new trine_buffer_t{Buffer(value_of(device), bytes, value_or(kind, Memory::device))};
      },
      buffer);
}
trine_status trine_buffer_adopt(const trine_device_t* device, void* native, uint64_t bytes,
                                trine_buffer_t** buffer) {
  return guard(
      [&] { *buffer = new trine_buffer_t{Buffer::adopt(value_of(device), native, bytes)}; },
      buffer);
}
trine_status trine_buffer_wrap(const trine_device_t* device, void* host, uint64_t bytes,
                               trine_buffer_t** buffer) {
  return guard([&] { *buffer = new trine_buffer_t{Buffer::wrap(value_of(device), host, bytes)}; },
               buffer);
}
void trine_buffer_release(trine_buffer_t* buffer) { delete buffer; }
trine_status trine_buffer_get_device(const trine_buffer_t* buffer, trine_device_t** device) {
  return guard([&] { *device = new trine_device_t{value_of(buffer).device()}; }, device);
}
trine_status trine_buffer_get_kind(const trine_buffer_t* buffer, uint32_t* kind) {
  return guard([&] { *kind = uint32_t(value_of(buffer).kind()); }, kind);
}
trine_status trine_buffer_get_bytes(const trine_buffer_t* buffer, uint64_t* bytes) {
  return guard([&] { *bytes = value_of(buffer).bytes(); }, bytes);
}
trine_status trine_buffer_get_native(const trine_buffer_t* buffer, void** native) {
  return guard([&] { *native = value_of(buffer).native(); }, native);
}
trine_status trine_buffer_get_host(const trine_buffer_t* buffer, void** host) {
  return guard([&] { *host = value_of(buffer).host(); }, host);
}

trine_view_t trine_row_major(const trine_buffer_t* buffer, uint32_t dtype, int64_t rows,
                             int64_t cols, uint64_t offset) {
  return form(row_major({}, Dtype(dtype), rows, cols, offset), buffer);
}
trine_view_t trine_col_major(const trine_buffer_t* buffer, uint32_t dtype, int64_t rows,
                             int64_t cols, uint64_t offset) {
  return form(col_major({}, Dtype(dtype), rows, cols, offset), buffer);
}
trine_view_t trine_vector(const trine_buffer_t* buffer, uint32_t dtype, int64_t size,
                          uint64_t offset) {
  return form(vector({}, Dtype(dtype), size, offset), buffer);
}
trine_view_t trine_batched(const trine_buffer_t* buffer, uint32_t dtype, int64_t count,
                           int64_t rows, int64_t cols, uint64_t offset) {
  return form(batched({}, Dtype(dtype), count, rows, cols, offset), buffer);
}

trine_host_view_t trine_host_row_major(const void* data, uint32_t dtype, int64_t rows,
                                       int64_t cols) {
  return form(host_row_major(data, Dtype(dtype), rows, cols));
}
trine_host_view_t trine_host_col_major(const void* data, uint32_t dtype, int64_t rows,
                                       int64_t cols) {
  return form(host_col_major(data, Dtype(dtype), rows, cols));
}
trine_host_view_t trine_host_vector(const void* data, uint32_t dtype, int64_t size) {
  return form(host_vector(data, Dtype(dtype), size));
}

trine_status trine_copy_to_device(trine_queue_t* queue, trine_host_view_t source,
                                  trine_view_t target) {
  return on_queue(queue, [&](Queue& used) { copy(used, view_of(source), view_of(target)); });
}
trine_status trine_copy_to_host(trine_queue_t* queue, trine_view_t source,
                                trine_host_view_t target) {
  return on_queue(queue, [&](Queue& used) { copy(used, view_of(source), view_of(target)); });
}
trine_status trine_copy_on_device(trine_queue_t* queue, trine_view_t source, trine_view_t target) {
  return on_queue(queue, [&](Queue& used) { copy(used, view_of(source), view_of(target)); });
}
trine_status trine_fill(trine_queue_t* queue, trine_view_t target, const void* element) {
  return on_queue(queue, [&](Queue& used) { fill(used, view_of(target), element); });
}
