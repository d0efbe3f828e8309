// Idea: the minimum, the maximum or the place of one, of a row of neighbours or of a few, as
// `exact_stream` adds: the next loads run ahead, and a group leaves words that say themselves that
// they are there; the last group waits for all of them and makes them zero again. It beats `exact`
// because that one runs some 250 instructions between the end of earlier launches and its first
// load, and ends by a fence, a ticket and a read, one after the other. Requires: NVIDIA's warps.
typedef float4 Vector;
#define VECTOR 4
#define VECTORS 4
#define CHUNK (VECTOR * VECTORS)
#define SPAN ((long)THREADS * VECTORS)
#define CHUNK_BITS 0  // of tile.h's walks, of which there are none
#include "fold.h"
#include "share.h"
#include "unpack.h"

#if KIND_ARG
#define PIECES 3  // of 32 bits, of a key and an index, most significant first
#define WORDS 2   // of a record: the key and the index
#else
#define PIECES 1
#define WORDS 1
#endif
#define WARPS (THREADS / 32)

typedef struct Pieces {
  uint at[PIECES];
} Pieces;

DEVICE Pieces pieces_of(KEY key, ulong index) {
  Pieces p;
  p.at[0] = key;
#if KIND_ARG
  p.at[1] = (uint)(index >> 32);
  p.at[2] = (uint)index;
#endif
  return p;
}

DEVICE Folded folded_of(const Pieces* p) {
  Folded f = folded_nothing();
  f.value = p->at[0];
#if KIND_ARG
  f.index = (long)((ulong)p->at[1] << 32 | p->at[2]);
#endif
  return f;
}

// The least of a warp's, in each of its lanes.
DEVICE void warp_least(Pieces* p) {
  bool candidate = true;
#pragma unroll
  for (int k = 0; k < PIECES; ++k) {
    const uint least = ~warp_max(candidate ? ~p->at[k] : 0u);
    candidate = candidate && p->at[k] == least;
    p->at[k] = least;
  }
}

// The least of a group's, for its first warp.
DEVICE void group_least(Pieces* p, LOCAL_POINTER uint* scratch) {
  const int lane = local_x() % 32, warp = local_x() / 32;
  warp_least(p);
#pragma unroll
  for (int k = 0; k < PIECES; ++k)
    if (lane == 0) scratch[k * WARPS + warp] = p->at[k];
  sync();
  if (warp > 0) return;
#pragma unroll
  for (int k = 0; k < PIECES; ++k) p->at[k] = lane < WARPS ? scratch[k * WARPS + lane] : ~0u;
  warp_least(p);
}

// Vectors of the share from v on; what doesn't exist repeats the first, which changes nothing.
DEVICE void load_chunk(const Share* in, long v, T* x) {
#pragma unroll
  for (int k = 0; k < VECTORS; ++k) {
    const long at = v + k * THREADS;
    unpack(((GLOBAL const Vector*)in->from)[at < in->vectors ? at : v], x + k * VECTOR);
  }
}

// The first of them, whose places are known before earlier launches end.
DEVICE void load_first(const Share* in, T* x) {
#pragma unroll
  for (int k = 0; k < VECTORS; ++k)
    unpack(((GLOBAL const Vector*)in->from)[in->mine + (k < in->there ? k * THREADS : 0)],
           x + k * VECTOR);
}

// The least key of a chunk, and the bits of the elements that have it (of a NaN any). Among floats'
// bits the least negative one is the largest unsigned integer, the least positive one the smallest
// signed one.
DEVICE KEY least_of(const T* x, int options, KEY mask, KEY* bits) {
  KEY most = BITS(x[0]) & mask;
  int high = (int)most, low = high;
#pragma unroll
  for (int k = 1; k < CHUNK; ++k) {
    const KEY one = BITS(x[k]) & mask;
    most = most > one ? most : one;
    high = high > (int)one ? high : (int)one;
    low = low < (int)one ? low : (int)one;
  }
  if (high > (int)INFINITE || most > (INFINITE | SIGN)) return 0;
  const int best = options & LARGEST ? (high < 0 ? low : high) : (int)most < 0 ? (int)most : low;
  *bits = (KEY)best;
  const KEY key = best < 0 ? ~(KEY)best : (KEY)best | SIGN;
  return options & LARGEST ? ~key : key;
}

// Is x, of a chunk whose least key and its bits these are, an element with it?
DEVICE bool has_key(T x, KEY mask, KEY key, KEY bits) {
  return key == 0 ? x != x : (BITS(x) & mask) == bits;
}

// Folds this work-item's share. Its indexes ascend, so the first chunk with the smallest key has
// the place. A warp looks for places only where one of its work-items improves on all of them:
// `bar` is the smallest key that the warp has seen.
DEVICE Folded fold_share(const Share* in, int options) {
  const KEY mask = in->magnitude ? ~SIGN : ~(KEY)0;
  Folded f = folded_nothing();
  uint bar = ~0u;
  T x[CHUNK], next[CHUNK];
  if (in->there > 0) load_first(in, x);
  for (long first = in->first; first < in->vectors; first += in->step) {
    const long v = first + local_x();
    if (v + in->step < in->vectors) load_chunk(in, v + in->step, next);
    KEY bits = 0, key = LAST_KEY;
    if (v < in->vectors) key = least_of(x, options, mask, &bits);
#if KIND_ARG
    const uint least = ~warp_max(~key);
    if (least < bar) {
      bar = least;
      if (key < f.value) {
        int place = 0;
#pragma unroll
        for (int k = CHUNK - 1; k >= 0; --k)
          if (has_key(x[k], mask, key, bits)) place = k;
        f.value = key;
        f.index = in->head + (v + place / VECTOR * THREADS) * VECTOR + place % VECTOR;
      }
    }
#else
    fold(&f, key, 0);
#endif
#pragma unroll
    for (int k = 0; k < CHUNK; ++k) x[k] = next[k];
  }
  if (has_loose(in)) {
    const long at = loose_index(in);
    fold(&f, value_of(in->from[at], options), in->head + at);
  }
  return f;
}

// A record's words are never zero.
DEVICE void leave_record(volatile GLOBAL ulong* record, const Pieces* p) {
  record[0] = (ulong)p->at[0] << 1 | 1UL;
#if KIND_ARG
  record[1] = (ulong)p->at[1] << 33 | (ulong)p->at[2] << 1 | 1UL;
#endif
}

DEVICE Pieces take_record(volatile GLOBAL ulong* record) {
  ulong word[WORDS];
  bool there;
  do {
    there = true;
#pragma unroll
    for (int k = 0; k < WORDS; ++k) {
      word[k] = record[k];
      there = there && word[k] != 0UL;
    }
  } while (!there);
#pragma unroll
  for (int k = 0; k < WORDS; ++k) record[k] = 0UL;
  return pieces_of((uint)(word[0] >> 1), word[WORDS - 1] >> 1);
}

KERNEL_BOUNDED(fold_stream, THREADS, 1, 1)
(REDUCE_PARAMETERS) {
  LOCAL uint scratch[2][PIECES * WARPS];
  const int me = local_x(), index = (int)((uint)group_x() / (uint)splits);
  const int split = group_x() - index * splits;
  GLOBAL const T* from = input + input_offset + index * result_stride;
  volatile GLOBAL ulong* records =
      (volatile GLOBAL ulong*)(workspace + workspace_offset) + WORDS * index * splits;
  const Share in = share_of(from, from, cols, split, splits, options);
  fetch_share(&in);
  await_earlier_launches();
  Folded f = fold_share(&in, options);
  Pieces p = pieces_of(f.value, (ulong)f.index);
  group_least(&p, scratch[0]);
  if (!in.last) {
    if (me == 0) leave_record(records + WORDS * split, &p);
    return;
  }
  if (splits > 1) {  // the first work-item has this group's, another one takes a record
    f = folded_nothing();
    if (me > 0) p = pieces_of(f.value, (ulong)f.index);
    if (me > 0 && me < splits) p = take_record(records + WORDS * (me - 1));
    group_least(&p, scratch[1]);
  }
  f = folded_of(&p);
  if (me == 0) store_folded(output + output_offset, index * output_stride, &f, options);
}
