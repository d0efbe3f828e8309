/* Reductions of sections of every rank: what the module gives for any strides is what it gives for
 * a copy without gaps, and what C gives for that, to the bit. */
#include <ISO_Fortran_binding.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trine/trine.h>

trine_status trine_fortran_reduce(const char* function, const char* map, int dim,
                                  const CFI_cdesc_t* x, const CFI_cdesc_t* y,
                                  const CFI_cdesc_t* results, const char* device,
                                  const char** sentence);
trine_status trine_fortran_exact_add(uint64_t* state, const char* map, const CFI_cdesc_t* x,
                                     const CFI_cdesc_t* y, const char* device,
                                     const char** sentence);
trine_status trine_fortran_partial_init(uint64_t* state, const char* function, const char* map,
                                        const CFI_cdesc_t* mold, const char** sentence);
trine_status trine_fortran_partial_add(uint64_t* state, const CFI_cdesc_t* x, int64_t first,
                                       const char* device, const char** sentence);

typedef CFI_CDESC_T(CFI_MAX_RANK) Memory;
enum { kMost = 1 << 18 };

static uint64_t state = 1;
static int64_t pick(int64_t least, int64_t most) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return least + (int64_t)((state >> 33) % (uint64_t)(most - least + 1));
}

static void must(int is_so, const char* what, int rank, int number) {
  if (is_so) return;
  printf("not so: %s, rank %d, case %d\n", what, rank, number);
  exit(1);
}

static const uint32_t dtypes[] = {TRINE_F32, TRINE_F64, TRINE_I32, TRINE_I64};
static const CFI_type_t types[] = {CFI_type_float, CFI_type_double, CFI_type_int32_t,
                                   CFI_type_int64_t};

/* Small numbers, some of them not of Fortran's range of exact sums. */
static void set(void* at, int type) {
  const int64_t number = pick(-9, 9);
  switch (type) {
    case 0: *(float*)at = (float)number / 3; return;
    case 1: *(double*)at = (double)number * (pick(0, 9) == 0 ? 1e30 : 1.0 / 3); return;
    case 2: *(int32_t*)at = (int32_t)number; return;
    default: *(int64_t*)at = number;
  }
}

/* A section of some array: its elements are gathered to `dense`, as Fortran counts them. */
typedef struct Section {
  Memory memory;
  int64_t count;
  char *array, *dense;
} Section;

static void establish(Memory* memory, void* address, int type, int rank) {
  CFI_cdesc_t* const array = (CFI_cdesc_t*)memory;
  array->base_addr = address;
  array->elem_len = trine_dtype_size(dtypes[type]);
  array->version = CFI_VERSION;
  array->rank = (CFI_rank_t)rank;
  array->attribute = CFI_attribute_other;
  array->type = types[type];
}

/* `extents` are drawn where `is_first`. */
static Section section(int rank, int type, int64_t* extents, int is_first) {
  const int64_t size = trine_dtype_size(dtypes[type]);
  Section made = {
      .count = 1, .array = calloc(kMost, (size_t)size), .dense = calloc(kMost, (size_t)size)};
  establish(&made.memory, made.array, type, rank);
  CFI_cdesc_t* const to = (CFI_cdesc_t*)&made.memory;
  int64_t width = 1;
  for (int d = 0; d < rank; ++d) {
    if (is_first) extents[d] = pick(0, 30) == 0 ? 0 : width > 300 ? 1 : pick(1, 3);
    const int64_t step = width > 50 ? 1 : pick(1, 2);
    to->dim[d] = (CFI_dim_t){0, extents[d], width * step * size};
    made.count *= extents[d];
    width = width * step * (extents[d] > 0 ? extents[d] : 1) + (pick(0, 1) && width < 50 ? 1 : 0);
  }
  must(width <= kMost, "the array has room", rank, type);
  for (int64_t i = 0; i < width; ++i) set(made.array + i * size, type);
  for (int64_t i = 0; i < made.count; ++i) {
    int64_t rest = i, at = 0;
    for (int d = 0; d < rank; ++d) at += rest % extents[d] * to->dim[d].sm, rest /= extents[d];
    memcpy(made.dense + i * size, made.array + at, (size_t)size);
  }
  return made;
}
static void drop(Section* section) { free(section->array), free(section->dense); }

/* The bits of two numbers of type `kind`; those of a NaN aren't promised. */
static int is_same(int kind, int64_t a, int64_t b) {
  float single[2];
  double both[2];
  memcpy(&single[0], &a, 4), memcpy(&single[1], &b, 4);
  memcpy(&both[0], &a, 8), memcpy(&both[1], &b, 8);
  if (kind == 0 && isnan(single[0]) && isnan(single[1])) return 1;
  return a == b || (kind == 1 && isnan(both[0]) && isnan(both[1]));
}

static void check(int rank, int number) {
  static const char* const functions[] = {"sum", "prod", "min", "max", "argmin", "argmax"};
  static const char* const maps[] = {"identity", "abs", "square"};
  const int type = (int)pick(0, 3);
  int64_t extents[CFI_MAX_RANK];
  Section x = section(rank, type, extents, 1), y = section(rank, type, extents, 0);
  const CFI_cdesc_t *const a = (CFI_cdesc_t*)&x.memory, *const b = (CFI_cdesc_t*)&y.memory;
  const trine_host_view_t dense = trine_host_vector(x.dense, dtypes[type], x.count);
  const trine_host_view_t other = trine_host_vector(y.dense, dtypes[type], y.count);
  const char* sentence = "";
  for (uint32_t f = 0; f < 6; ++f)
    for (uint32_t m = 0; m < (f == 0 ? 3u : 2u); ++m) {
      const uint32_t dtype = trine_result_dtype(f + 1, m + 1, dtypes[type]);
      const int kind = dtype == TRINE_F32             ? 0
                       : dtype == TRINE_F64           ? 1
                       : trine_dtype_size(dtype) == 4 ? 2
                                                      : 3;
      int64_t is = 7, expected = 7;
      Memory result;
      establish(&result, &is, kind, 0);
      must(trine_host_reduce(f + 1, m + 1, TRINE_ALL, dense, trine_host_vector(&expected, dtype, 1),
                             NULL) == TRINE_OK,
           trine_last_error(), rank, number);
      if (f >= 4) ++expected;
      const trine_status status = trine_fortran_reduce(functions[f], maps[m], 0, a, NULL,
                                                       (CFI_cdesc_t*)&result, "cpu", &sentence);
      must(status == TRINE_OK, sentence, rank, number);
      must(is_same(kind, is, expected), functions[f], rank, number);
      trine_partial_t parts, whole;
      must(trine_fortran_partial_init(parts.state, functions[f], maps[m], a, &sentence) == TRINE_OK,
           sentence, rank, number);
      whole = parts;
      must(trine_fortran_partial_add(parts.state, a, 4, "cpu", &sentence) == TRINE_OK, sentence,
           rank, number);
      must(trine_partial_add(&whole, dense, 3, NULL) == TRINE_OK, trine_last_error(), rank, number);
      must(memcmp(&parts, &whole, sizeof parts) == 0, "parts of a partial", rank, number);
    }
  if (type < 2) {
    int64_t is = 7, expected = 7;
    Memory result;
    establish(&result, &is, type, 0);
    must(trine_host_dot(dense, other, trine_host_vector(&expected, dtypes[type], 1), TRINE_ALL,
                        NULL) == TRINE_OK,
         trine_last_error(), rank, number);
    must(trine_fortran_reduce("sum", "product", 0, a, b, (CFI_cdesc_t*)&result, "cpu", &sentence) ==
             TRINE_OK,
         sentence, rank, number);
    must(is == expected, "dot", rank, number);
    trine_exact_sum_t parts = {{0}}, whole = {{0}};
    must(trine_fortran_exact_add(parts.state, "square", a, NULL, "cpu", &sentence) == TRINE_OK &&
             trine_fortran_exact_add(parts.state, "product", a, b, "cpu", &sentence) == TRINE_OK,
         sentence, rank, number);
    must(trine_exact_sum_add(&whole, TRINE_SQUARE, dense, NULL) == TRINE_OK &&
             trine_exact_sum_add_dot(&whole, dense, other, NULL) == TRINE_OK,
         trine_last_error(), rank, number);
    must(memcmp(&parts, &whole, sizeof parts) == 0, "parts of an exact sum", rank, number);
  }
  drop(&x), drop(&y);
}

/* A call that fails in the midst of its parts leaves the state as it was. */
static void check_refusals(void) {
  int64_t extents[3] = {3, 3, 3};
  Section x = section(3, 1, extents, 0);
  const CFI_cdesc_t* const a = (CFI_cdesc_t*)&x.memory;
  const char* sentence = "";
  trine_exact_sum_t sum = {{0}};
  must(trine_fortran_exact_add(sum.state, "identity", a, NULL, "abacus", &sentence) ==
               TRINE_NOT_FOUND &&
           strstr(sentence, "abacus") && sum.state[0] == 0,
       "a wrong device", 3, 0);
  ((CFI_cdesc_t*)&x.memory)->dim[2].sm = -8;
  must(trine_fortran_exact_add(sum.state, "identity", a, NULL, "cpu", &sentence) ==
               TRINE_INVALID_ARGUMENT &&
           strstr(sentence, "step below zero"),
       "a step below zero", 3, 0);
  drop(&x);
}

int main(void) {
  for (int rank = 0; rank <= CFI_MAX_RANK; ++rank)
    for (int number = 0; number < 60; ++number) check(rank, number);
  check_refusals();
  return 0;
}
