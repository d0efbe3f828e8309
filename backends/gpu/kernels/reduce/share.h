// The share of a row of neighbours that a group takes, for kernels that stream. T, Vector, VECTOR
// (elements in its 16 bytes), VECTORS (that a work-item loads at once) and SPAN (a group) are the
// including file's.
#pragma once
#include "across_groups.h"
#include "tile.h"

DEVICE int item_here() { return opaque(local_x()); }

// The share of a group: `vectors` of 16 bytes from the boundary at `from` on, a span here and the
// next `step` further; the last group has the elements before and after them, too.
typedef struct Share {
  GLOBAL const T* from;
  GLOBAL const T* second;  // of a dot product, as far from its first element; else the same
  long vectors, first, step;
  int head, loose;  // elements before the vectors; before and after
  bool magnitude, last;
  long mine;  // this work-item's first vector,
  int there;  // and how many of the first VECTORS there are
} Share;

DEVICE Share share_of(GLOBAL const T* input, GLOBAL const T* second, long count, int split,
                      int splits, int options) {
  Share in;
  const int head = (int)((0UL - (ulong)input / sizeof(T)) % VECTOR);
  in.head = head < count ? head : (int)count;
  in.from = input + in.head;
  in.second = second + in.head;
  in.vectors = (long)((ulong)(count - in.head) / VECTOR);
  in.loose = (int)(count - in.vectors * VECTOR);
  in.first = split * SPAN;
  in.step = splits * SPAN;
  in.magnitude = options & MAP_ABS;
  in.last = split == splits - 1;
  const long v = in.first + local_x(), left = in.vectors - v;
  in.mine = opaque_long(v);
  in.there = opaque(left > (VECTORS - 1) * THREADS ? VECTORS
                    : left > 0                     ? (int)((uint)(left - 1) / THREADS) + 1
                                                   : 0);
  return in;
}

// Fetches the first two spans into the L2 while earlier launches end. That reads nothing yet.
DEVICE void fetch_share(const Share* in) {
  for (int k = 0; k < 2; ++k) {
    const long v = in->first + k * in->step + local_x() * VECTORS;
    if (v < in->vectors) fetch_soon((GLOBAL const Vector*)in->from + v);
  }
}

// The loose element of this work-item, which may have one.
DEVICE bool has_loose(const Share* in) { return in->last && item_here() < in->loose; }
DEVICE long loose_index(const Share* in) {
  const int k = item_here() - in->head;
  return k < 0 ? k : in->vectors * VECTOR + k;
}
