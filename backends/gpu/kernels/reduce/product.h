// The parts of products of floats: strips of neighbours, multiplied along the lowest levels of the
// fixed tree in one work-item's registers. Missing elements count as 1, which changes no bits.
#pragma once

#define STRIP_BITS 4
#define STRIP (1 << STRIP_BITS)
#define LEVELS 40  // of a group's segments: 2^40 of them

// The elements of one result, or the products that groups left, in order.
typedef struct Sequence {
  GLOBAL const T* first;
  long count, cols, row_stride, col_stride;
  bool magnitude;
} Sequence;

DEVICE T strip_product(const Sequence* s, long start, bool active) {
  T x[STRIP];
  long row = s->count > s->cols ? start / s->cols : 0, column = start - row * s->cols;
#pragma unroll
  for (int k = 0; k < STRIP; ++k) {
    x[k] = 1;
    if (active && start + k < s->count)
      x[k] = s->first[row * s->row_stride + column * s->col_stride];
    if (s->magnitude) x[k] = fabs(x[k]);
    if (++column == s->cols) {
      column = 0;
      ++row;
    }
  }
#pragma unroll
  for (int width = 1; width < STRIP; width *= 2)
#pragma unroll
    for (int k = 0; k < STRIP; k += 2 * width) x[k] *= x[k + width];
  return x[0];
}
