/* Fortran's array descriptors as views of host memory, without a copy, and the calls on them. Each
 * function returns a status, and where it isn't TRINE_OK a sentence, valid until the thread's next
 * call. */
#include "descriptors.h"

#include <stdio.h>

/* Compilers are free to give one number to several of the names. */
uint32_t dtype_of(Array* array) {
  const CFI_type_t type = array->type;
  if (type == CFI_type_float) return TRINE_F32;
  if (type == CFI_type_double) return TRINE_F64;
  if (type == CFI_type_int32_t || type == CFI_type_int) return TRINE_I32;
  if (type == CFI_type_int64_t || type == CFI_type_long || type == CFI_type_long_long)
    return TRINE_I64;
  return 0;
}

uint32_t bits_of(Array* array) {
  switch (array->elem_len) {
    case 1: return TRINE_B8;
    case 2: return TRINE_B16;
    case 4: return TRINE_B32;
    case 8: return TRINE_B64;
    case 16: return TRINE_B128;
    default: return 0;
  }
}

static _Thread_local char refusal[200];

int refuse(const char* name, const char* what, long number) {
  snprintf(refusal, sizeof refusal, "trine: %s %s (%ld).", name, what, number);
  return 0;
}

int read_shape(const char* name, Array* array, Shape* shape) {
  const CFI_index_t bytes = (CFI_index_t)array->elem_len;
  if (bytes == 0) return refuse(name, "has elements without bytes: its character length is", 0);
  shape->rank = array->rank;
  int is_empty = 0; /* then no step means anything */
  for (int d = 0; d < array->rank; ++d) is_empty |= array->dim[d].extent == 0;
  for (int d = 0; d < array->rank; ++d) {
    const int has_step = array->dim[d].extent > 1 && !is_empty;
    if (has_step && array->dim[d].sm % bytes != 0)
      return refuse(name, "has elements at a distance that is no multiple of their size",
                    (long)array->dim[d].sm);
    if (has_step && array->dim[d].sm < 0)
      return refuse(name, "has a step below zero", (long)(array->dim[d].sm / bytes));
    shape->extent[d] = array->dim[d].extent;
    /* The step of one element, or of none, may be negative, and means nothing. */
    shape->stride[d] =
        array->dim[d].extent > 1 && array->dim[d].sm >= 0 ? array->dim[d].sm / bytes : 1;
  }
  return 1;
}

/* Whether subscript `d` goes on where `last` ends, in every array, and both together can be
 * counted. */
static int goes_on(const Reading* of, int last, int d) {
  int64_t end, both;
  for (int i = 0; i < of->count; ++i) {
    const Shape* const shape = &of->shapes[i];
    if (__builtin_mul_overflow(shape->stride[last], shape->extent[last], &end) ||
        __builtin_mul_overflow(shape->extent[last], shape->extent[d], &both) ||
        shape->stride[d] != end)
      return 0;
  }
  return 1;
}

void join_subscripts(Reading* of) {
  Shape* const first = &of->shapes[0];
  const int rank = first->rank;
  int last = 0, is_empty = 0;
  for (int d = 0; d < rank; ++d) is_empty |= first->extent[d] == 0;
  for (int d = 1; d < rank; ++d) {
    if (first->extent[d] == 1 || is_empty) continue;
    const int joins = goes_on(of, last, d);
    if (!joins && first->extent[last] != 1) ++last;
    for (int i = 0; i < of->count; ++i) {
      Shape* const shape = &of->shapes[i];
      if (!joins) shape->stride[last] = shape->stride[d];
      shape->extent[last] = joins ? shape->extent[last] * shape->extent[d] : shape->extent[d];
    }
  }
  for (int i = 0; i < of->count; ++i) {
    Shape* const shape = &of->shapes[i];
    if (is_empty) shape->extent[0] = 0;
    if (rank > 0) shape->rank = last + 1;
  }
}

int read_arrays(Array* x, Array* y, Reading* of) {
  *of = (Reading){.count = y ? 2 : 1, .arrays = {x, y}};
  if (!read_shape("x", x, &of->shapes[0]) || (y && !read_shape("y", y, &of->shapes[1]))) return 0;
  if (y && y->rank != x->rank)
    return refuse("y", "must have the shape of x, and has rank", y->rank);
  for (int d = 0; y && d < x->rank; ++d)
    if (of->shapes[0].extent[d] != of->shapes[1].extent[d])
      return refuse("y", "must have the shape of x, and has another extent of subscript", d + 1);
  if (x->rank > 2) join_subscripts(of);
  return 1;
}

/* Where the order of elements doesn't matter: parts are large if their two subscripts have the most
 * values. */
static void put_longest_first(Reading* of) {
  for (int to = 0; to < 2 && of->shapes[0].rank > 2; ++to)
    for (int d = to + 1; d < of->shapes[0].rank; ++d) {
      if (of->shapes[0].extent[d] <= of->shapes[0].extent[to]) continue;
      for (int i = 0; i < of->count; ++i) {
        Shape* const shape = &of->shapes[i];
        const int64_t extent = shape->extent[d], stride = shape->stride[d];
        shape->extent[d] = shape->extent[to], shape->stride[d] = shape->stride[to];
        shape->extent[to] = extent, shape->stride[to] = stride;
      }
    }
}

trine_host_view_t part_of(const Reading* of, int which, const int64_t* outer) {
  const Shape* const shape = &of->shapes[which];
  Array* const array = of->arrays[which];
  char* data = array->base_addr;
  for (int d = 2; d < shape->rank; ++d)
    data += outer[d] * shape->stride[d] * (int64_t)array->elem_len;
  trine_host_view_t view = trine_host_vector(data, dtype_of(array), 1);
  if (shape->rank > 0) view.cols = shape->extent[0], view.col_stride = shape->stride[0];
  if (shape->rank > 1) view.rows = shape->extent[1], view.row_stride = shape->stride[1];
  return view;
}

/* Counts to the next part, as Fortran counts elements; 0 after the last. */
static int next_part(const Reading* of, int64_t* outer) {
  const Shape* const shape = &of->shapes[0];
  for (int d = 2; d < shape->rank; ++d) {
    if (++outer[d] < shape->extent[d]) return 1;
    outer[d] = 0;
  }
  return 0;
}

static int vectors(const char* name, Array* array, trine_host_view_t* view) {
  Reading of = {.count = 1, .arrays = {array}};
  if (!read_shape(name, array, &of.shapes[0])) return 0;
  *view = part_of(&of, 0, NULL);
  return 1;
}

int results_of(Array* array, trine_host_view_t* view) {
  if (array->rank > 1) return refuse("results", "must have rank 0 or 1, not", array->rank);
  if (!vectors("results", array, view)) return 0;
  view->rows = view->cols, view->row_stride = view->col_stride;
  view->cols = 1, view->col_stride = 1;
  return 1;
}

int matrices(const char* name, Array* array, uint32_t dtype, int turned, trine_host_view_t* view) {
  Shape shape;
  if (!read_shape(name, array, &shape)) return 0;
  if (shape.rank < 2 || shape.rank > 3)
    return refuse(name, "must have rank 2 or 3, not", array->rank);
  *view = (trine_host_view_t){.data = array->base_addr, .batch = 1, .dtype = dtype};
  view->rows = shape.extent[turned], view->row_stride = shape.stride[turned];
  view->cols = shape.extent[!turned], view->col_stride = shape.stride[!turned];
  if (shape.rank == 3) view->batch = shape.extent[2], view->batch_stride = shape.stride[2];
  return 1;
}

trine_status ended(trine_status status, const char** sentence) {
  *sentence = trine_last_error();
  return status;
}

trine_status refused(const char** sentence) {
  *sentence = refusal;
  return TRINE_INVALID_ARGUMENT;
}

void take_unsigned(uint32_t function, uint32_t map, uint32_t dtype, trine_host_view_t* out) {
  const uint32_t natural = trine_result_dtype(function, map, dtype);
  if (natural == TRINE_U32 && out->dtype == TRINE_I32) out->dtype = natural;
  if (natural == TRINE_U64 && out->dtype == TRINE_I64) out->dtype = natural;
}

void count_from_one(uint32_t function, trine_host_view_t results) {
  if (function != TRINE_ARGMIN && function != TRINE_ARGMAX) return;
  for (int64_t i = 0; i < results.rows; ++i) ++((int64_t*)results.data)[i * results.row_stride];
}

trine_status add_exactly(Reading* of, uint32_t map, trine_exact_sum_t* sum,
                         const trine_options_t* options) {
  trine_exact_sum_t all = *sum;
  put_longest_first(of);
  int64_t outer[CFI_MAX_RANK] = {0};
  trine_status status;
  do {
    const trine_host_view_t x = part_of(of, 0, outer);
    status = of->count == 2 ? trine_exact_sum_add_dot(&all, x, part_of(of, 1, outer), options)
                            : trine_exact_sum_add(&all, map, x, options);
  } while (status == TRINE_OK && next_part(of, outer));
  if (status == TRINE_OK) *sum = all;
  return status;
}

trine_status add_parts(Reading* of, int64_t first, trine_partial_t* partial,
                       const trine_options_t* options) {
  trine_partial_t all = *partial;
  const uint32_t function = all.state[0] & 0xff;
  if (function == TRINE_SUM || function == TRINE_MIN || function == TRINE_MAX)
    put_longest_first(of);
  int64_t outer[CFI_MAX_RANK] = {0};
  trine_status status;
  do {
    const trine_host_view_t x = part_of(of, 0, outer);
    status = trine_partial_add(&all, x, first, options);
    first += x.rows * x.cols;
  } while (status == TRINE_OK && next_part(of, outer));
  if (status == TRINE_OK) *partial = all;
  return status;
}

/* A reduction of arrays that are no matrix: part by part, in the order of their elements. */
static trine_status reduce_parts(Reading* of, uint32_t function, uint32_t map,
                                 trine_host_view_t out, const trine_options_t* options) {
  if (of->count == 2) {
    trine_exact_sum_t sum = {{0}};
    const trine_status status = add_exactly(of, map, &sum, options);
    if (status != TRINE_OK) return status;
    return out.dtype == TRINE_F32 ? trine_exact_sum_to_f32(&sum, out.data)
                                  : trine_exact_sum_to_f64(&sum, out.data);
  }
  trine_partial_t partial;
  trine_status status = trine_partial_init(&partial, function, map, dtype_of(of->arrays[0]));
  if (status == TRINE_OK) status = add_parts(of, 0, &partial, options);
  return status == TRINE_OK ? trine_partial_result(&partial, out.dtype, out.data) : status;
}

trine_status trine_fortran_reduce(const char* function_name, const char* map_name, int dim,
                                  Array* x, Array* y, Array* results, const char* device,
                                  const char** sentence) {
  const trine_options_t options = {.device = device};
  static const uint32_t axes[] = {TRINE_ALL, TRINE_EACH_ROW, TRINE_EACH_COLUMN};
  uint32_t function, map;
  Reading of;
  trine_host_view_t out;
  trine_status status = trine_parse_function(function_name, &function);
  if (status == TRINE_OK) status = trine_parse_map(map_name, &map);
  if (status != TRINE_OK) return ended(status, sentence);
  if (!read_arrays(x, y, &of) || !results_of(results, &out)) return refused(sentence);
  if (dim != 0 && (dim < 0 || dim > 2 || x->rank != 2)) {
    refuse("dim", "must be 1 or 2, of an array of rank 2, not", dim);
    return refused(sentence);
  }
  if (of.shapes[0].rank > 2 && out.rows != 1) {
    refuse("results", "must have one element, not", (long)out.rows);
    return refused(sentence);
  }
  const int64_t outer[CFI_MAX_RANK] = {0};
  const trine_host_view_t in = part_of(&of, 0, outer);
  take_unsigned(function, map, in.dtype, &out);
  if (of.shapes[0].rank > 2)
    status = reduce_parts(&of, function, map, out, &options);
  else if (y)
    status = trine_host_dot(in, part_of(&of, 1, outer), out, axes[dim], &options);
  else
    status = trine_host_reduce(function, map, axes[dim], in, out, &options);
  if (status == TRINE_OK) count_from_one(function, out);
  return ended(status, sentence);
}

/* `state`: the words of a trine_exact_sum_t. */
trine_status trine_fortran_exact_add(uint64_t* state, const char* map_name, Array* x, Array* y,
                                     const char* device, const char** sentence) {
  const trine_options_t options = {.device = device};
  uint32_t map;
  Reading of;
  const trine_status status = trine_parse_map(map_name, &map);
  if (status != TRINE_OK) return ended(status, sentence);
  if (!read_arrays(x, y, &of)) return refused(sentence);
  return ended(add_exactly(&of, map, (trine_exact_sum_t*)state, &options), sentence);
}

/* `state`: the words of a trine_partial_t, here and below. */
trine_status trine_fortran_partial_init(uint64_t* state, const char* function_name,
                                        const char* map_name, Array* mold, const char** sentence) {
  uint32_t function, map;
  trine_status status = trine_parse_function(function_name, &function);
  if (status == TRINE_OK) status = trine_parse_map(map_name, &map);
  if (status == TRINE_OK)
    status = trine_partial_init((trine_partial_t*)state, function, map, dtype_of(mold));
  return ended(status, sentence);
}

trine_status trine_fortran_partial_add(uint64_t* state, Array* x, int64_t first, const char* device,
                                       const char** sentence) {
  const trine_options_t options = {.device = device};
  Reading of;
  if (!read_arrays(x, NULL, &of)) return refused(sentence);
  if (first < 1) {
    refuse("first", "counts from 1, and is", (long)first);
    return refused(sentence);
  }
  return ended(add_parts(&of, first - 1, (trine_partial_t*)state, &options), sentence);
}

trine_status trine_fortran_partial_result(const uint64_t* state, Array* value,
                                          const char** sentence) {
  const uint32_t function = state[0] & 0xff, map = state[0] >> 8 & 0xff,
                 dtype = state[0] >> 16 & 0xff;
  trine_host_view_t out;
  if (value->rank != 0) {
    refuse("value", "must be a scalar, its rank is", value->rank);
    return refused(sentence);
  }
  if (!results_of(value, &out)) return refused(sentence);
  take_unsigned(function, map, dtype, &out);
  const trine_status status =
      trine_partial_result((const trine_partial_t*)state, out.dtype, out.data);
  if (status == TRINE_OK) count_from_one(function, out);
  return ended(status, sentence);
}

trine_status trine_fortran_transpose(Array* x, Array* y, const char* device,
                                     const char** sentence) {
  const trine_options_t options = {.device = device};
  trine_host_view_t in, out;
  if (!matrices("x", x, bits_of(x), 0, &in) || !matrices("y", y, bits_of(y), 0, &out))
    return refused(sentence);
  return ended(trine_host_transpose(in, out, &options), sentence);
}

static int turn_of(const char* name, char letter, int* turned) {
  *turned = letter == 't' || letter == 'T';
  if (*turned || letter == 'n' || letter == 'N') return 1;
  return refuse(name, "must be 'n' or 't', not the character of number", letter);
}

trine_status trine_fortran_gemm(double alpha, Array* a, char transa, Array* b, char transb,
                                double beta, Array* c, const char* numerics, const char* device,
                                const char** sentence) {
  trine_options_t options = {.device = device};
  trine_host_view_t left, right, out;
  int turn_a, turn_b;
  const trine_status status = trine_parse_numerics(numerics, &options.numerics);
  if (status != TRINE_OK) return ended(status, sentence);
  if (!turn_of("transa", transa, &turn_a) || !turn_of("transb", transb, &turn_b) ||
      !matrices("a", a, dtype_of(a), turn_a, &left) ||
      !matrices("b", b, dtype_of(b), turn_b, &right) || !matrices("c", c, dtype_of(c), 0, &out))
    return refused(sentence);
  return ended(trine_host_gemm(alpha, left, right, beta, out, &options), sentence);
}
