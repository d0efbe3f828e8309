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

// Adds a group's sum to the result. The hardware's addition takes f32's denormals for zero, so small
// values are swapped in until it holds; beside others what is lost lies below their rounding.
DEVICE void accumulate(ACC* result, ACC value) {
#if T_float
  if (fabsf(value) >= 0x1p-100f) {
    atomicAdd(result, value);
    return;
  }
  int* bits = reinterpret_cast<int*>(result);
  for (int seen = *reinterpret_cast<volatile int*>(bits), old;
       (old = atomic_cmpxchg(bits, seen, as_int(as_float(seen) + value))) != seen;)
    seen = old;
#elif T_double
  atomicAdd(result, value);
#else
  atom_add(reinterpret_cast<ulong*>(result), static_cast<ulong>(value));
#endif
}
