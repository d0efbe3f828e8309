/* Fortran's array descriptors as views of host memory, for the calls of both modules. Functions
 * that return 0 have refused an array; refused() has the sentence. */
#ifndef TRINE_FORTRAN_DESCRIPTORS_H
#define TRINE_FORTRAN_DESCRIPTORS_H

#include <ISO_Fortran_binding.h>
#include <trine/trine.h>

typedef const CFI_cdesc_t Array;

/* The extents and strides of an array, in elements. */
typedef struct Shape {
  int rank;
  int64_t extent[CFI_MAX_RANK], stride[CFI_MAX_RANK];
} Shape;

/* Arrays of one shape, of which a reduction reads the elements with equal subscripts together: two,
 * or values, weights and a mask. */
typedef struct Reading {
  int count;
  Array* arrays[3];
  Shape shapes[3];
} Reading;

/* 0: none of Trine's. */
uint32_t dtype_of(Array* array);
uint32_t bits_of(Array* array);

/* Keeps "trine: x must have rank 2 (3)."; returns 0. */
int refuse(const char* name, const char* what, long number);
/* The ends of a function: with the sentence of that, and with the library's own. */
trine_status refused(const char** sentence);
trine_status ended(trine_status status, const char** sentence);

int read_shape(const char* name, Array* array, Shape* shape);
/* Counts two subscripts as one where the second goes on where the first ends, or has one value; and
 * all where there are no elements. */
void join_subscripts(Reading* of);
/* Reads one array, or two of one shape where `y` is there. Where there are more than two
 * subscripts, they are joined. */
int read_arrays(Array* x, Array* y, Reading* of);
/* An array's elements whose subscripts behind the second are `outer`, as a matrix: the first
 * subscript is the fastest, that of a view's columns. */
trine_host_view_t part_of(const Reading* of, int which, const int64_t* outer);
/* For products and transposes: rows, columns, and the batch. */
int matrices(const char* name, Array* array, uint32_t dtype, int turned, trine_host_view_t* view);
/* Results are a vector along the rows. */
int results_of(Array* array, trine_host_view_t* view);

/* An unsigned type of C is an integer here; and positions count from 1. */
void take_unsigned(uint32_t function, uint32_t map, uint32_t dtype, trine_host_view_t* out);
void count_from_one(uint32_t function, trine_host_view_t results);

/* Adds the products of all elements of two arrays to a sum, or its values under a map. */
trine_status add_exactly(Reading* of, uint32_t map, trine_exact_sum_t* sum,
                         const trine_options_t* options);
/* Adds an array's elements to a partial; they have the indices `first` and on. */
trine_status add_parts(Reading* of, int64_t first, trine_partial_t* partial,
                       const trine_options_t* options);

#endif
