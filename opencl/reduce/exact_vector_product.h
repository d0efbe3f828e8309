// Products of floats along the fixed tree of exact_product.h, without lanes: a piece is a power of
// two of strips, so that the pieces of a result are subtrees.
#pragma once
#include "product.h"

// The product of strips [from, to) of a subtree that begins at `from`.
DEVICE T strips_product(const Sequence* s, long from, long to) {
  T stack[LEVELS];
  int depth = 0;
  for (long strip = from; strip < to; ++strip) {
    T value = strip_product(s, strip * STRIP, true);
    for (long n = strip - from; n & 1; n >>= 1) value = stack[--depth] * value;
    stack[depth++] = value;
  }
  T value = stack[--depth];
  while (depth) value = stack[--depth] * value;
  return value;
}

DEVICE void reduce(const Job* j, long result, int lanes) {
  Sequence s;
  s.count = j->rows * j->cols;
  s.cols = j->cols;
  s.row_stride = j->input.row_stride;
  s.col_stride = j->input.col_stride;
  s.magnitude = j->options & MAP_ABS;
  const long strips = (s.count + STRIP - 1) >> STRIP_BITS;
  long each = 1;
  while (each * j->splits < strips) each *= 2;
  for (int l = 0; l < lanes; ++l) {
    s.first = place(&j->input, result + l, 0, 0);
    const T value = strips_product(&s, j->split * each, min((j->split + 1) * each, strips));
    if (j->splits == 1)
      ((GLOBAL T*)j->output)[(result + l) * j->output_stride] = value;
    else
      ((GLOBAL T*)j->records)[(result + l) * j->splits + j->split] = value;
  }
}

DEVICE void reduce_records(const Job* j, long result) {
  Sequence s;
  s.first = (GLOBAL const T*)j->records + result * j->splits;
  s.count = s.cols = j->splits;
  s.row_stride = 0;
  s.col_stride = 1;
  s.magnitude = false;
  ((GLOBAL T*)j->output)[result * j->output_stride] =
      strips_product(&s, 0, (s.count + STRIP - 1) >> STRIP_BITS);
}
