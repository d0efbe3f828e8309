// What the historic sum rungs share: the sequence they read and the accumulator they use. A rung
// defines share_of(), what one work-item adds up by itself, and group_sum(), how a group adds what each
// of its work-items has, by way of `values`, in local memory, one a work-item: the sum counts in
// work-item 0 alone. group_kernel.h makes a kernel of them.
#pragma once

#if T_float
#define ACC float
#elif T_double
#define ACC double
#elif T_uint
#define ACC ulong
#else
#define ACC long
#endif

// `count` elements of the input; or, once a level of groups has run, their sums.
typedef struct Sequence {
  GLOBAL const T* input;
  long stride, count;
  GLOBAL const ACC* sums;
  int level;
} Sequence;

DEVICE ACC element(const Sequence* s, long i) {
  if (i >= s->count) return (ACC)0;
  return s->level == 0 ? (ACC)s->input[i * s->stride] : s->sums[i];
}

// Adds a group's sum to the result. Hardware that adds floats takes f32's denormals for zero, so small
// values are swapped in until it holds; beside others what is lost lies below their rounding.
DEVICE void accumulate(GLOBAL ACC* result, ACC value) {
#if T_float
#if HAVE_ATOMIC_FLOATS
  if (fabs(value) >= 0x1p-100f) {
    atomic_add(result, value);
    return;
  }
#endif
  GLOBAL volatile int* bits = (GLOBAL volatile int*)result;
  for (int seen = *bits, old;
       (old = atomic_cmpxchg(bits, seen, as_int(as_float(seen) + value))) != seen;)
    seen = old;
#elif !HAVE_ATOMIC_64
  *result += value;  // not reached: the row refuses
#elif T_double && HAVE_ATOMIC_FLOATS
  atomic_add(result, value);
#elif T_double
  GLOBAL volatile long* bits = (GLOBAL volatile long*)result;
  for (long seen = *bits, old;
       (old = atom_cmpxchg(bits, seen, as_long(as_double(seen) + value))) != seen;)
    seen = old;
#else
  atom_add((GLOBAL ulong*)result, (ulong)value);
#endif
}
