#include "case_calls.h"

enum { kMostImages = 4 };

static uint32_t bits(uint32_t element_size) {
  uint32_t dtype = TRINE_B8;
  while (trine_dtype_size(dtype) != element_size) ++dtype;
  return dtype;
}

static double value(uint32_t dtype, trine_scalar scalar) {
  return dtype == TRINE_F64 ? scalar.f64 : dtype == TRINE_F32 ? (double)scalar.f32 : scalar.i32;
}

static trine_host_view_t on_host(const trine_view* v, uint32_t dtype) {
  return (trine_host_view_t){.data = (char*)v->memory + v->offset,
                             .rows = v->rows,
                             .cols = v->cols,
                             .batch = v->batch,
                             .row_stride = v->row_stride,
                             .col_stride = v->col_stride,
                             .batch_stride = v->batch_stride,
                             .dtype = dtype};
}

trine_status call_on_host(uint32_t operation, const void* descriptor) {
  trine_options_t options = {.device = "cpu"};
  if (operation == TRINE_REDUCE) {
    const trine_reduce* r = descriptor;
    const trine_host_view_t x = on_host(&r->input, r->dtype), y = on_host(&r->second, r->dtype),
                            out = on_host(&r->output, r->result_dtype);
    if (r->map == TRINE_PRODUCT) return trine_host_dot(x, y, out, r->axis, &options);
    return trine_host_reduce(r->function, r->map, r->axis, x, out, &options);
  }
  if (operation == TRINE_TRANSPOSE) {
    const trine_transpose* t = descriptor;
    const uint32_t dtype = bits(t->element_size);
    return trine_host_transpose(on_host(&t->input, dtype), on_host(&t->output, dtype), &options);
  }
  if (operation != TRINE_GEMM) return kLeftOut;
  const trine_gemm* g = descriptor;
  options.continues = (uint32_t)trine_continues(g);
  options.numerics = g->numerics;
  return trine_host_gemm(value(g->dtype, g->alpha), on_host(&g->a, g->dtype),
                         on_host(&g->b, g->dtype), value(g->dtype, g->beta),
                         on_host(&g->c, g->dtype), &options);
}

typedef struct Resident {
  const Image* images;
  trine_buffer_t* buffers[kMostImages];
  size_t count;
} Resident;

static trine_view_t on_device(const Resident* resident, const trine_view* v, uint32_t dtype) {
  trine_view_t view = {NULL,          v->offset,     v->rows,         v->cols, v->batch,
                       v->row_stride, v->col_stride, v->batch_stride, dtype,   0};
  for (size_t i = 0; i < resident->count; ++i)
    if (v->memory == resident->images[i].data) view.buffer = resident->buffers[i];
  return view;
}

static trine_status run(trine_queue_t* queue, uint32_t operation, const void* descriptor,
                        const Resident* resident) {
  if (operation == TRINE_REDUCE) {
    const trine_reduce* r = descriptor;
    trine_reduce_t reduce = {.function = r->function,
                             .map = r->map,
                             .axis = r->axis,
                             .input = on_device(resident, &r->input, r->dtype),
                             .output = on_device(resident, &r->output, r->result_dtype)};
    if (r->map == TRINE_PRODUCT) reduce.second = on_device(resident, &r->second, r->dtype);
    return trine_run_reduce(queue, &reduce, NULL, NULL);
  }
  if (operation == TRINE_TRANSPOSE) {
    const trine_transpose* t = descriptor;
    const uint32_t dtype = bits(t->element_size);
    const trine_transpose_t transpose = {.input = on_device(resident, &t->input, dtype),
                                         .output = on_device(resident, &t->output, dtype)};
    return trine_run_transpose(queue, &transpose, NULL, NULL);
  }
  if (operation != TRINE_GEMM) return kLeftOut;
  const trine_gemm* g = descriptor;
  const trine_gemm_t gemm = {.numerics = g->numerics,
                             .alpha = value(g->dtype, g->alpha),
                             .beta = value(g->dtype, g->beta),
                             .a = on_device(resident, &g->a, g->dtype),
                             .b = on_device(resident, &g->b, g->dtype),
                             .c = on_device(resident, &g->c, g->dtype),
                             .continues = (uint32_t)trine_continues(g)};
  return trine_run_gemm(queue, &gemm, NULL, NULL);
}

static trine_status move(trine_queue_t* queue, const Resident* resident, int back) {
  trine_status status = TRINE_OK;
  for (size_t i = 0; i < resident->count && status == TRINE_OK; ++i) {
    const int64_t bytes = (int64_t)resident->images[i].bytes;
    /* One row, so that both ends have a unit stride along it. */
    const trine_host_view_t host =
        trine_host_row_major(resident->images[i].data, TRINE_B8, 1, bytes);
    const trine_view_t device = trine_row_major(resident->buffers[i], TRINE_B8, 1, bytes, 0);
    status =
        back ? trine_copy_to_host(queue, device, host) : trine_copy_to_device(queue, host, device);
  }
  const trine_status ended = trine_queue_wait(queue);
  return status == TRINE_OK ? ended : status;
}

trine_status call_on_device(trine_queue_t* queue, uint32_t operation, const void* descriptor,
                            const Image* images, size_t count) {
  Resident resident = {.images = images, .count = count};
  trine_device_t* device = NULL;
  trine_status status = trine_queue_get_device(queue, &device);
  for (size_t i = 0; i < count && status == TRINE_OK; ++i)
    status = trine_buffer_allocate(device, images[i].bytes, 0, &resident.buffers[i]);
  if (status == TRINE_OK) status = move(queue, &resident, 0);
  if (status == TRINE_OK) status = run(queue, operation, descriptor, &resident);
  if (status == TRINE_OK) status = move(queue, &resident, 1);
  for (size_t i = 0; i < count; ++i) trine_buffer_release(resident.buffers[i]);
  trine_device_close(device);
  return status;
}
