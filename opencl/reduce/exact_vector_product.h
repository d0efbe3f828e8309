// Products of floats along the fixed tree of exact_product.h, without lanes: a piece is a power of two
// of strips, so that the pieces of a result are subtrees.
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

DEVICE void reduce_along(const Job* j, long result) {
  const Tile* t = &j->tile;
  Sequence s;
  s.first = job_element(j, result, 0, 0);
  s.count = t->rows * t->cols;
  s.cols = t->cols;
  s.row_stride = t->row_stride;
  s.col_stride = t->col_stride;
  s.magnitude = j->options & MAP_ABS;
  const long strips = (s.count + STRIP - 1) >> STRIP_BITS;
  long each = 1;
  while (each * t->splits < strips) each *= 2;
  const T value = strips_product(&s, t->split * each, min((t->split + 1) * each, strips));
  if (t->splits == 1)
    ((GLOBAL T*)j->output)[result * j->output_stride] = value;
  else
    ((GLOBAL T*)j->records)[result * t->splits + t->split] = value;
}

DEVICE void reduce_across(const Job* j, long result, int count) {
  for (int r = 0; r < count; ++r) reduce_along(j, result + r);
}

DEVICE void reduce_records(const Job* j, long result) {
  Sequence s;
  s.first = (GLOBAL const T*)j->records + result * j->tile.splits;
  s.count = s.cols = j->tile.splits;
  s.row_stride = 0;
  s.col_stride = 1;
  s.magnitude = false;
  ((GLOBAL T*)j->output)[result * j->output_stride] =
      strips_product(&s, 0, (s.count + STRIP - 1) >> STRIP_BITS);
}
