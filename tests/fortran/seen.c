/* Stands between the module and the library, and keeps what the last call was given. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <trine/trine.h>

static trine_host_view_t first, last;

/* The address of the first or the last operand, and the strides of the subscripts in elements. */
TRINE_EXPORT void seen(int of_last, void** address, int64_t* rows, int64_t* cols) {
  const trine_host_view_t* view = of_last ? &last : &first;
  *address = view->data;
  *rows = view->row_stride;
  *cols = view->col_stride;
}

/* A function pointer from dlsym's object pointer, which ISO C can't convert. */
#define NEXT(name)          \
  union {                   \
    void* object;           \
    __typeof__(name)* call; \
  } next = {dlsym(RTLD_NEXT, #name)}

trine_status trine_host_reduce(uint32_t function, uint32_t map, uint32_t axis,
                               trine_host_view_t input, trine_host_view_t output,
                               const trine_options_t* options) {
  NEXT(trine_host_reduce);
  first = input, last = output;
  return next.call(function, map, axis, input, output, options);
}

trine_status trine_host_transpose(trine_host_view_t input, trine_host_view_t output,
                                  const trine_options_t* options) {
  NEXT(trine_host_transpose);
  first = input, last = output;
  return next.call(input, output, options);
}

trine_status trine_host_gemm(double alpha, trine_host_view_t a, trine_host_view_t b, double beta,
                             trine_host_view_t c, const trine_options_t* options) {
  NEXT(trine_host_gemm);
  first = a, last = c;
  return next.call(alpha, a, b, beta, c, options);
}
