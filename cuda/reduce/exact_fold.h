// The functions that need no care for order: integer sums and products modulo 2^64; minima, maxima
// and their indexes through keys, unsigned integers whose order is the design's (NaN first, -0 < +0,
// reversed for maxima). An index goes with its key, and the lower one wins a tie.
#if T_float
#define KEY uint
#define BITS(x) as_uint(x)
#define INFINITE 0x7f800000u
#elif T_double
#define KEY ulong
#define BITS(x) as_ulong(x)
#define INFINITE 0x7ff0000000000000UL
#elif T_uint
#define KEY uint
#define BITS(x) (x)
#else
#define KEY ulong
#define BITS(x) (x)
#endif
#define SIGN ((KEY)1 << (8 * sizeof(KEY) - 1))
#define LAST_KEY (~(KEY)0)
#if KIND_SUM || KIND_PROD
#define VALUE ulong
#else
#define VALUE KEY
#endif
#if KIND_ARG
#define ALIGNED_LOADS false  // vectors would mix up the columns
#else
#define ALIGNED_LOADS true
#endif
#define NO_INDEX 0x7fffffffffffffffL

typedef struct Folded {
  VALUE value;
  long index;  // of ARG alone
} Folded;

DEVICE Folded folded_nothing() {
  Folded f;
#if KIND_SUM
  f.value = 0UL;
#elif KIND_PROD
  f.value = 1UL;
#else
  f.value = LAST_KEY;
#endif
  f.index = NO_INDEX;
  return f;
}

DEVICE void fold(Folded* a, VALUE value, long index) {
#if KIND_SUM
  a->value += value;
#elif KIND_PROD
  a->value *= value;
#elif KIND_EXTREME
  if (value < a->value) a->value = value;
#else
  if (value < a->value || (value == a->value && index < a->index)) {
    a->value = value;
    a->index = index;
  }
#endif
}

// An element as what is folded: a mapped integer in 64 bits, or a key.
DEVICE VALUE value_of(T x, int options) {
#if KIND_SUM || KIND_PROD
#if T_uint
  ulong wide = options & SIGNED ? (ulong)(long)(int)x : (ulong)x;
#else
  ulong wide = x;
#endif
  if ((options & MAP_ABS) && (options & SIGNED) && (long)wide < 0) wide = 0UL - wide;
  return options & MAP_SQUARE ? wide * wide : wide;
#else
  KEY key = BITS(x);
#if T_float || T_double
  if (options & MAP_ABS) key &= ~SIGN;
  if ((key & ~SIGN) > INFINITE) return 0;
  key = key & SIGN ? ~key : key | SIGN;
#else
  if (options & SIGNED) {
    if (!(options & MAP_ABS)) key ^= SIGN;
    else if (key & SIGN) key = 0 - key;
  }
#endif
  return options & LARGEST ? ~key : key;
#endif
}

#if KIND_EXTREME
// The element (mapped) that a key stands for.
DEVICE KEY element_of(KEY key, int options) {
#if T_float || T_double
  if (key == 0) return INFINITE | (INFINITE >> 1);  // a quiet NaN
  if (options & LARGEST) key = ~key;
  return key & SIGN ? key ^ SIGN : ~key;
#else
  if (options & LARGEST) key = ~key;
  return (options & SIGNED) && !(options & MAP_ABS) ? key ^ SIGN : key;
#endif
}
#endif

DEVICE void store_folded(GLOBAL uchar* output, long at, const Folded* f, int options) {
#if KIND_EXTREME
  ((GLOBAL KEY*)output)[at] = element_of(f->value, options);
#elif KIND_ARG
  ((GLOBAL long*)output)[at] = f->index;
#else
  ((GLOBAL ulong*)output)[at] = f->value;
#endif
}

DEVICE Folded fold_elements(const Tile* t, GLOBAL const T* input, long row_index, long col_index,
                            int options) {
  Folded f = folded_nothing();
  const bool aligned = ALIGNED_LOADS && tile_is_aligned(t, input);
  for (Walk w = walk_begin(t, CHUNK); w.row < t->rows; walk_on(&w, t)) {
    T x[CHUNK];
    load_chunk(t, &w, input, aligned, (T)0, x);
    const bool whole = (w.segment + 1) * t->col_lanes * CHUNK <= t->cols;
#pragma unroll
    for (int k = 0; k < CHUNK; ++k) {
      const long column = tile_column(t, &w, CHUNK, k);
      if (whole || column < t->cols)
        fold(&f, value_of(x[k], options), w.row * row_index + column * col_index);
    }
  }
  return f;
}

KERNEL_BOUNDED(exact, THREADS, 1, 4)(
    GLOBAL const T* RESTRICT input, long input_offset, GLOBAL uchar* output, long output_offset,
    long output_stride, GLOBAL uchar* workspace, long workspace_offset, TILE_PARAMETERS,
    long row_index, long col_index, int phase, int options) {
  LOCAL VALUE values[THREADS];
  LOCAL long indexes[THREADS];
  LOCAL uint is_last[1];

  const int me = local_x();
  const Tile t = tile_of(TILE_ARGUMENTS, phase == FINISH ? group_x() : group_x() / splits,
                         phase == FINISH ? 0 : group_x() % splits);
  GLOBAL ulong* records = (GLOBAL ulong*)(workspace + workspace_offset + CONTROL_BYTES);
  bool finishing = phase == FINISH;

  for (bool done = false; !done;) {
    Folded mine = folded_nothing();
    if (!finishing) {
      mine = fold_elements(&t, input + input_offset, row_index, col_index, options);
    } else if (t.active) {
      for (int s = t.lane; s < splits; s += lanes) {
        GLOBAL const ulong* record = records + tile_record(&t, s) * 2;
        fold(&mine, (VALUE)record[0], (long)record[1]);
      }
    }
    values[me] = mine.value;
    indexes[me] = mine.index;
    for (int s = lanes / 2; s > 0; s /= 2) {
      sync();
      if (t.lane < s) {
        fold(&mine, values[me + s * t.step], indexes[me + s * t.step]);
        values[me] = mine.value;
        indexes[me] = mine.index;
      }
    }
    if (tile_leads(&t)) {
      if (finishing || splits == 1) {
        store_folded(output + output_offset, (t.first + t.result) * output_stride, &mine, options);
      } else {
        GLOBAL ulong* record = records + tile_record(&t, t.split) * 2;
        record[0] = mine.value;
        record[1] = (ulong)mine.index;
      }
    }
    done = true;
    if (!finishing && splits > 1 && phase == WHOLE) {
      sync();
      if (me == 0) is_last[0] = tile_finished(&t, workspace + workspace_offset);
      sync();
      finishing = is_last[0] != 0u;
      done = !finishing;
    }
  }
}
