/* The calls over ranks as another language makes them, on MPI_COMM_WORLD, with the device cpu: each
 * returns a status. Arrays are vectors, or matrices by columns; a dtype is one that Fortran has. */
#ifndef TRINE_TESTS_MPI_LANGUAGES_H
#define TRINE_TESTS_MPI_LANGUAGES_H

#include <trine/mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A part of a distributed matrix. */
typedef struct Piece {
  trine_mpi_distribution_t distribution;
  void* data;
  int64_t rows, cols, leading_dimension;
} Piece;

typedef struct Language {
  /* The arrays have `count` elements at a distance of `step`; y is NULL but for the map "product".
   * Positions are those of C. */
  int (*result)(const char* function, const char* map, uint32_t dtype, int64_t count, int64_t step,
                void* x, void* y, int64_t first, void* result);
  /* With `begins` as a call that doesn't block, which is tested until it has ended. */
  int (*reduce)(const char* function, uint32_t dtype, int64_t count, void* x, void* results,
                int root, int begins);
  /* root: INT32_MIN for all ranks; so above. */
  int (*merge)(uint64_t* words, int is_partial, int root);
  /* array(leading_dimension, count), of whose columns `length` elements are used; weights likewise,
   * and one mask for all of int32_t. Both may be NULL. */
  int (*fields)(const char* function, uint32_t dtype, int64_t length, int64_t count,
                int64_t leading_dimension, void* values, void* weights, void* mask, void* results);
  int (*transpose)(uint32_t dtype, const Piece* a, const Piece* b);
  /* numerics: a word; one that there isn't becomes a number that there isn't, in C. */
  int (*gemm)(uint32_t dtype, double alpha, const Piece* a, const Piece* b, double beta,
              const Piece* c, const char* numerics);
  /* The extents of this rank's part. */
  int (*local_shape)(const trine_mpi_distribution_t* distribution, int64_t* rows, int64_t* cols);
} Language;

extern const Language in_c, in_fortran;
/* 0, or the number of the first thing in Fortran alone that isn't so. */
int fortran_details(void);

#ifdef __cplusplus
}
#endif
#endif
