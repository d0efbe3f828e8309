/* A conformance case as a call of case_calls.f90: each operand becomes an array of Fortran. */
#include "arrays.h"

#include <ISO_Fortran_binding.h>
#include <string.h>
#include <trine/trine.h>

int reduce_case(const char* function, const char* map, int dim, CFI_cdesc_t* x,
                CFI_cdesc_t* results);
int exact_case(const char* map, CFI_cdesc_t* x, CFI_cdesc_t* y, int64_t* words);
int dot_real32(CFI_cdesc_t* x, CFI_cdesc_t* y, void* value);
int dot_real64(CFI_cdesc_t* x, CFI_cdesc_t* y, void* value);
int transpose_case(CFI_cdesc_t* x, CFI_cdesc_t* y);
int gemm_real32(float alpha, CFI_cdesc_t* a, CFI_cdesc_t* b, float beta, CFI_cdesc_t* c,
                const char* numerics);
int gemm_real64(double alpha, CFI_cdesc_t* a, CFI_cdesc_t* b, double beta, CFI_cdesc_t* c,
                const char* numerics);
int gemm_int32(int32_t alpha, CFI_cdesc_t* a, CFI_cdesc_t* b, int32_t beta, CFI_cdesc_t* c,
               const char* numerics);

typedef CFI_CDESC_T(3) Memory;

static CFI_cdesc_t* array(Memory* memory) { return (CFI_cdesc_t*)memory; }

static char* origin(const trine_view* v) { return (char*)v->memory + v->offset; }

/* Unsigned integers are those that a reduction of signed ones gives. */
static CFI_type_t type_of(uint32_t dtype) {
  switch (dtype) {
    case TRINE_F32: return CFI_type_float;
    case TRINE_F64: return CFI_type_double;
    case TRINE_I32:
    case TRINE_U32: return CFI_type_int32_t;
    default: return CFI_type_int64_t;
  }
}

/* Establishes an array of no subscripts yet. */
static Memory scalar(const trine_view* v, CFI_type_t type, size_t size) {
  Memory memory;
  CFI_establish(array(&memory), origin(v), CFI_attribute_other, type, size, 0, NULL);
  return memory;
}

static void add_subscript(Memory* memory, int64_t extent, int64_t stride) {
  CFI_cdesc_t* const a = array(memory);
  a->dim[a->rank++] = (CFI_dim_t){0, extent, stride * (CFI_index_t)a->elem_len};
}

/* The element's index counts along the rows of a view, along the first subscript of an array. */
static Memory vectors(const trine_view* v, uint32_t dtype) {
  Memory memory = scalar(v, type_of(dtype), trine_dtype_size(dtype));
  add_subscript(&memory, v->cols, v->col_stride);
  add_subscript(&memory, v->rows, v->row_stride);
  return memory;
}

static Memory matrices(const trine_view* v, CFI_type_t type, size_t size) {
  Memory memory = scalar(v, type, size);
  add_subscript(&memory, v->rows, v->row_stride);
  add_subscript(&memory, v->cols, v->col_stride);
  if (v->batch != 1) add_subscript(&memory, v->batch, v->batch_stride);
  return memory;
}

/* As Fortran pads words. */
static void pad(char* word, size_t length, const char* text) {
  memset(word, ' ', length);
  memcpy(word, text, strlen(text));
}

/* Fortran's sums are of whole arrays. */
static int states(const trine_reduce* r) {
  if (r->axis != TRINE_ALL) return kNotInFortran;
  Memory x = vectors(&r->input, r->dtype), y = x;
  char map[8];
  pad(map, sizeof map, trine_map_name(r->map));
  if (r->map != TRINE_PRODUCT)
    return exact_case(map, array(&x), NULL, (int64_t*)origin(&r->output));
  y = vectors(&r->second, r->dtype);
  return exact_case(map, array(&x), array(&y), (int64_t*)origin(&r->output));
}

static int reduce(const trine_reduce* r) {
  if (r->dtype == TRINE_U32 || r->dtype == TRINE_U64) return kNotInFortran;
  if (trine_writes_states(r)) return states(r);
  Memory x = vectors(&r->input, r->dtype);
  if (r->map == TRINE_PRODUCT) {
    if (r->axis != TRINE_ALL || r->result_dtype != r->dtype) return kNotInFortran;
    Memory y = vectors(&r->second, r->dtype);
    return (r->dtype == TRINE_F32 ? dot_real32 : dot_real64)(array(&x), array(&y),
                                                             origin(&r->output));
  }
  char function[6], map[8];
  pad(function, sizeof function, trine_function_name(r->function));
  pad(map, sizeof map, trine_map_name(r->map));
  Memory results = scalar(&r->output, type_of(r->result_dtype), trine_dtype_size(r->result_dtype));
  add_subscript(&results, r->output.rows, r->output.row_stride);
  const int dim = (int)(r->axis - TRINE_ALL);
  const int status = reduce_case(function, map, dim, array(&x), array(&results));
  const int counts = r->function == TRINE_ARGMIN || r->function == TRINE_ARGMAX;
  for (int64_t i = 0; status == 0 && counts && i < r->output.rows; ++i)
    --((int64_t*)origin(&r->output))[i * r->output.row_stride]; /* Fortran counts from 1 */
  return status;
}

static int transpose(const trine_transpose* t) {
  const size_t size = t->element_size;
  const CFI_type_t type = size == 16  ? CFI_type_double_Complex
                          : size == 8 ? CFI_type_double
                          : size == 4 ? CFI_type_float
                          : size == 2 ? CFI_type_int16_t
                                      : CFI_type_int8_t;
  Memory x = matrices(&t->input, type, size), y = matrices(&t->output, type, size);
  return transpose_case(array(&x), array(&y));
}

static int gemm(const trine_gemm* g) {
  if (trine_continues(g)) return kNotInFortran;
  const CFI_type_t type = type_of(g->dtype);
  const size_t size = trine_dtype_size(g->dtype);
  Memory a = matrices(&g->a, type, size), b = matrices(&g->b, type, size),
         c = matrices(&g->c, type, size);
  char numerics[12];
  pad(numerics, sizeof numerics, trine_numerics_name(g->numerics));
  if (g->dtype == TRINE_F32)
    return gemm_real32(g->alpha.f32, array(&a), array(&b), g->beta.f32, array(&c), numerics);
  if (g->dtype == TRINE_F64)
    return gemm_real64(g->alpha.f64, array(&a), array(&b), g->beta.f64, array(&c), numerics);
  return gemm_int32(g->alpha.i32, array(&a), array(&b), g->beta.i32, array(&c), numerics);
}

int call_fortran(uint32_t operation, const void* descriptor) {
  switch (operation) {
    case TRINE_REDUCE: return reduce(descriptor);
    case TRINE_TRANSPOSE: return transpose(descriptor);
    case TRINE_GEMM: return gemm(descriptor);
    default: return kNotInFortran;
  }
}
