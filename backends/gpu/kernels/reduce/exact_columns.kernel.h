// Idea: columns of a matrix. A group takes some rows of a tile of neighbouring columns, 16 bytes a
// load, so that a work-item keeps the same four columns, each in two doubles that begin at 1.5 *
// 2^52 of their units: four elements that add up without rounding are cut at the first one's, the
// rest goes to the second. In the end these are integers, which the work-items of a group and then
// the groups of a tile add in any order; the last group rounds. Elements that don't fit go one by
// one into digits in local memory, and where there are some, the group's integers and the last
// group's follow. No element is read twice, whatever the exponents. It beats `exact` there because
// that one loads element by element, three groups a multiprocessor. Requires: f64; sums of f32,
// neighbouring columns; NVIDIA for one launch (elsewhere a second launch finishes).
//
// Where rows have no gaps and don't begin at 16 bytes, `rows` of them, two or four, are taken for
// one row of so many times the columns.
#define T float
typedef float4 Vector;
#define VECTOR 4
#define VECTORS 4  // that a work-item loads at once
#define CHUNK (VECTOR * VECTORS)
#define CHUNK_BITS 0  // of tile.h's walks, of which there are none

// Digits of 16 bits in words of 32: each takes 2^15 additions without a carry.
#define DIGITS 26
#define DIGIT_BITS 16
#define BASE \
  (-149 - 64)  // digit 0 weighs 2^BASE: units of the second double may lie below a float's last bit
#define QUADS 64  // of four columns: as many as a tile has, or copies of fewer
#define DIGIT_STEP (VECTOR * QUADS)
// Chunks between two carries: elements add to a digit 2^13 times at most, doubles half as often.
// Fewer on a CPU, so that tests get there.
#define DIGIT_CHUNKS ((1 << (HAVE_WARPS ? 13 : 11)) / (THREADS / 32 * VECTORS))

#include "across_groups.h"
#include "column_window.h"
#include "tile.h"
#include "unpack.h"

#define PARTS (THREADS * VECTOR)
#define ARENA_WORDS (4 * PARTS > (DIGITS + 1) * DIGIT_STEP ? 4 * PARTS : (DIGITS + 1) * DIGIT_STEP)

// A group's tile, and what a work-item has of it.
typedef struct Panel {
  GLOBAL const float* from;
  long pitch, rows, full;  // rows, and how many of them are whole
  int width, rest;         // columns of a whole row, and of the last one
  int quads, lanes, quad, lane;
  bool aligned;
} Panel;

// The column of the tile that is number c of a work-item's four.
DEVICE int column_of(const Panel* p, int c) {
  return p->aligned ? p->quad * VECTOR + c : p->quad + c * p->quads;
}
// The place of a column's flags and digits; copies are p->quads further.
DEVICE int place_of(const Panel* p, int column) {
  return p->aligned ? column % VECTOR * QUADS + column / VECTOR
                    : column / p->quads * QUADS + column % p->quads;
}

// This work-item's part of the rows `row`, `row` + lanes, …, -0 beside the tile.
DEVICE void load_rows(const Panel* p, long row, float* x) {
  GLOBAL const float* at = p->from + row * p->pitch;
  const long step = p->lanes * p->pitch;
  if (p->aligned && row + (VECTORS - 1) * p->lanes < p->full &&
      p->quad * VECTOR + VECTOR <= p->width) {
    GLOBAL const float* vector = at + p->quad * VECTOR;
#pragma unroll
    for (int k = 0; k < CHUNK; k += VECTOR, vector += step)
      unpack(*(GLOBAL const Vector*)vector, x + k);
    return;
  }
#pragma unroll
  for (int k = 0; k < VECTORS; ++k, at += step, row += p->lanes) {
    const int width = row < p->full ? p->width : row < p->rows ? p->rest : 0;
#pragma unroll
    for (int c = 0; c < VECTOR; ++c) {
      const int column = column_of(p, c);
      x[k * VECTOR + c] = column < width ? at[column] : -0.0f;
    }
  }
}

// Fetches the first rows into the L2 while earlier launches end.
DEVICE void fetch_rows(const Panel* p, int split) {
#pragma unroll
  for (int k = 0; k < VECTORS; ++k) {
    const long row = ((long)split * VECTORS + k) * p->lanes + p->lane;
    if (p->lane < p->lanes && row < p->full && p->quad * VECTOR < p->width)
      fetch_soon(p->from + row * p->pitch + p->quad * VECTOR);
  }
}

// Adds a group's share to the work-item's columns, and to its digits (at `mine`) what they don't
// hold.
INLINED void add_share(const Panel* p, int split, int splits, const bool magnitude, Column* column,
                       LOCAL_POINTER uint* digits, LOCAL_POINTER uint* mine, uint* flags) {
#pragma unroll
  for (int c = 0; c < VECTOR; ++c) {
    window_open(column + c, WINDOW_MARGIN);
    column[c].minus = 0xffffffffu;
    flags[c] = 0u;
  }
  const long span = (long)p->lanes * VECTORS, step = splits * span;
  float x[CHUNK], next[CHUNK];
  long row = p->lane < p->lanes ? split * span + p->lane : p->rows;
  load_rows(p, row, x);
  for (long end = split * span; end < p->rows;) {
    end += DIGIT_CHUNKS * step;
#pragma unroll 1
    for (; row < end && row < p->rows; row += step) {
      load_rows(p, row + step, next);
      if (magnitude) {
#pragma unroll
        for (int k = 0; k < CHUNK; ++k) x[k] = fabs(x[k]);
      }
      Four four[VECTOR];
      bool taken = true;
#pragma unroll
      for (int c = 0; c < VECTOR; ++c) {
        four[c] = four_of(column + c, x + c);
        taken = column_takes(column + c, four + c) && taken;
      }
      if (taken) {
#pragma unroll
        for (int c = 0; c < VECTOR; ++c) column_add(column + c, four + c);
      } else {
#pragma unroll
        for (int c = 0; c < VECTOR; ++c)
          flags[c] |= column_add_any(column + c, four + c, mine + c * QUADS);
      }
#pragma unroll
      for (int k = 0; k < CHUNK; ++k) x[k] = next[k];
    }
    sync();
    if (end < p->rows)
      for (int i = local_x(); i < DIGIT_STEP; i += THREADS) digits_carry(digits + i);
    sync();
  }
}

// Part i, or nothing from `end` on.
DEVICE void part_get(LOCAL_POINTER const ulong* parts, int i, int end, Part* p) {
  p->high = i < end ? (long)parts[i] : 0;
  p->low = i < end ? parts[i + PARTS] : PART_NOTHING;
}
DEVICE void part_put(LOCAL_POINTER ulong* parts, int i, const Part* p) {
  parts[i] = (ulong)p->high;
  parts[i + PARTS] = p->low;
}

// Adds `others` parts of each of `width` columns, those of a column `width` apart, into the first.
INLINED void fold_parts(LOCAL_POINTER ulong* parts, int width, int others) {
  for (int n = others; n > 1; n = (n + 3) / 4) {
    sync();
    const int end = width * n, step = width * ((n + 3) / 4);
    for (int i = local_x(); i < step; i += THREADS) {
      Part a, b, c, d;  // pairs, as an addition waits for the one before
      part_get(parts, i, end, &a);
      part_get(parts, i + step, end, &b);
      part_get(parts, i + 2 * step, end, &c);
      part_get(parts, i + 3 * step, end, &d);
      part_add(&a, &b);
      part_add(&c, &d);
      part_add(&a, &c);
      part_put(parts, i, &a);
    }
  }
  sync();
}

// All copies of a column's digit d, or of its flags, together; `joined` columns are one.
DEVICE uint total_of(const Panel* p, LOCAL_POINTER const uint* digits, int d, int column,
                     int joined, int results) {
  uint total = 0u;
  for (int j = 0; j < joined; ++j) {
    LOCAL_POINTER const uint* of = digits + d * DIGIT_STEP + place_of(p, column + j * results);
    for (int k = 0; k + p->quads <= QUADS; k += p->quads)
      total = d == DIGITS ? total | of[k] : total + of[k];
  }
  return total;
}

// The bits of the sum whose digits are there.
DEVICE ulong digits_end_of(LOCAL_POINTER const uint* digits, const bool f64) {
  long word[DIGITS / 2];
#pragma unroll
  for (int w = 0; w < DIGITS / 2; ++w)
    word[w] =
        (long)(int)digits[2 * w * DIGIT_STEP] + (long)(int)digits[(2 * w + 1) * DIGIT_STEP] * 65536;
  long carry = 0;  // of all words: the sum's sign
#pragma unroll
  for (int w = 0; w < DIGITS / 2; ++w) carry = (word[w] + carry) >> 32;
  const bool negative = carry < 0;
  Digits d = digits_none();
#pragma unroll
  for (int w = 0; w < DIGITS / 2; ++w) digits_read(&d, negative ? -word[w] : word[w]);
  digits_end(&d);
  return result_bits(digits_round(&d, BASE, f64), negative, digits[DIGITS * DIGIT_STEP], f64);
}

INLINED void digits_clear(LOCAL_POINTER uint* digits) {
  for (int i = local_x(); i < (DIGITS + 1) * DIGIT_STEP; i += THREADS) digits[i] = 0u;
  sync();
}

// The groups of a tile leave these for the last one: a part of each column, or FLAG_IN_WORDS there,
// and digits and flags beside.
typedef struct Records {
  GLOBAL ulong* parts;
  GLOBAL uint* words;
  int columns, first;  // of a tile; its first group's place
} Records;

DEVICE GLOBAL ulong* record_part(const Records* r, int split, int column) {
  return r->parts + ((long)(r->first + split) * r->columns + column) * 2;
}
DEVICE GLOBAL uint* record_word(const Records* r, int split, int d, int column) {
  return r->words + ((long)(r->first + split) * (DIGITS + 1) + d) * r->columns + column;
}

// Leaves the sums of a group's work-items in the first parts; false: they don't hold them.
INLINED bool share_in_parts(const Panel* p, const Column* column, int joined, int results,
                            LOCAL_POINTER ulong* parts, LOCAL_POINTER uint* wide) {
  const int columns = joined > 1 ? results : p->quads * VECTOR;
  if (p->lane < p->lanes) {
#pragma unroll
    for (int c = 0; c < VECTOR; ++c) {
      Part part;
      part_of(column + c, &part);
      part_put(parts, p->lane * p->quads * VECTOR + column_of(p, c), &part);
    }
  }
  fold_parts(parts, columns, p->lanes * joined);
  for (int i = local_x(); i < columns; i += THREADS)
    if (parts[i + PARTS] & FLAG_IN_WORDS) wide[0] = 1u;
  sync();
  return !wide[0];
}

// Adds to the digits what a group's work-items hold otherwise.
INLINED void share_in_digits(const Panel* p, const Column* column, const uint* flags,
                             LOCAL_POINTER uint* digits, LOCAL_POINTER uint* mine) {
#pragma unroll
  for (int c = 0; c < VECTOR; ++c) {
    window_close(column + c, mine + c * QUADS);
    const uint all =
        (flags[c] & FLAGS_SPECIAL) | (column[c].minus >> 31 ? 0u : FLAG_NOT_MINUS_ZERO);
    if (all) atomic_or(mine + DIGITS * DIGIT_STEP + c * QUADS, all);
  }
  sync();
  for (int i = local_x(); i < DIGIT_STEP; i += THREADS) digits_carry(digits + i);
  sync();
}

// Adds the parts that a tile's groups left; false: some are digits.
INLINED bool add_records(const Records* r, int splits, LOCAL_POINTER ulong* parts,
                         LOCAL_POINTER uint* wide) {
  const int me = local_x(), lanes = THREADS / r->columns;
  const int column = me % r->columns, lane = me / r->columns;
  if (lane < lanes) {
    Part sum;
    sum.high = 0;
    sum.low = PART_NOTHING;
#pragma unroll 4
    for (int s = lane; s < splits; s += lanes) {
      GLOBAL const ulong* from = record_part(r, s, column);
      Part one;
      one.high = (long)from[0];
      one.low = from[1];
      part_add(&sum, &one);
    }
    part_put(parts, me, &sum);
  }
  fold_parts(parts, r->columns, lanes);
  if (me < r->columns && (parts[me + PARTS] & FLAG_IN_WORDS)) wide[0] = 1u;
  sync();
  return !wide[0];
}

// The same in digits.
INLINED void add_records_wide(const Panel* p, const Records* r, int splits,
                              LOCAL_POINTER uint* digits) {
  digits_clear(digits);
  for (int i = local_x(); i < splits * r->columns; i += THREADS) {
    const int column = i % r->columns;
    GLOBAL const ulong* from = record_part(r, i / r->columns, column);
    Part part;
    part.high = (long)from[0], part.low = from[1];
    LOCAL_POINTER uint* to = digits + place_of(p, column);
    if (part.low & FLAG_IN_WORDS) continue;
    const int position = part_unit(&part) - BASE;
    const ulong high = (ulong)(part.high < 0 ? -part.high : part.high);
    if (part.low >> 16) digits_add(to, part.low >> 16, position, 0u, 4);
    if (high) digits_add(to, high, position + 48, (uint)(part.high >> 63), 5);
    if (part.low & 15UL) atomic_or(to + DIGITS * DIGIT_STEP, (uint)part.low & 15u);
  }
  sync();
  for (int i = local_x(); i < r->columns * (DIGITS + 1); i += THREADS) {
    const int d = i / r->columns, column = i % r->columns;
    LOCAL_POINTER uint* total = digits + d * DIGIT_STEP + place_of(p, column);
#pragma unroll 4
    for (int s = 0; s < splits; ++s) {
      if (!(record_part(r, s, column)[1] & FLAG_IN_WORDS)) continue;
      const uint word = *record_word(r, s, d, column);
      *total = d == DIGITS ? *total | word : *total + word;
    }
  }
  sync();
}

DEVICE Panel panel_of(GLOBAL const float* from, long cols, long pitch, int joined, int across,
                      int width) {
  Panel p;
  const int bits = joined >> 1;  // of 1, 2 or 4
  p.from = from;
  p.pitch = pitch * joined;
  p.full = cols >> bits;
  p.width = width < across ? width : across;
  p.rest = (int)(cols - (p.full << bits)) * (across / joined);
  p.rows = p.full + (p.rest > 0 ? 1 : 0);
  p.quads = (width + VECTOR - 1) / VECTOR;
  p.lanes = THREADS / p.quads;
  p.lane = local_x() / p.quads;
  p.quad = local_x() % p.quads;
  p.aligned = ((ulong)from % sizeof(Vector) == 0) && p.pitch % VECTOR == 0;
  return p;
}

KERNEL_BOUNDED(exact_columns, THREADS, 1, 1)
(REDUCE_PARAMETERS) {
  LOCAL ulong arena[ARENA_WORDS / 2];
  LOCAL uint wide[1], is_last[1];
  LOCAL_POINTER uint* digits = (LOCAL_POINTER uint*)arena;
  const int me = local_x(), joined = (int)rows;
  const bool f64 = options & RESULT_F64;
  // Neighbouring groups have neighbouring tiles of the same rows.
  const int tiles = joined > 1 ? 1 : (int)((uint)(results + width - 1) / (uint)width);
  const int split = phase == FINISH ? 0 : (int)((uint)group_x() / (uint)tiles);
  const int tile = group_x() - split * tiles;
  const long first = (long)tile * width, left = results * joined - first;
  const Panel p = panel_of(input + input_offset + first, cols, col_stride, joined,
                           left < width ? (int)left : width, width);
  Records r;
  r.columns = joined > 1 ? (int)results : width;
  r.first = tile * splits;
  r.parts = (GLOBAL ulong*)(workspace + workspace_offset + CONTROL_BYTES);
  r.words = (GLOBAL uint*)(r.parts + (long)tiles * splits * r.columns * 2);
  LOCAL_POINTER uint* mine = digits + p.lane % (QUADS / p.quads) * p.quads + p.quad;
  bool is_wide = false, finishing = phase == FINISH;
  if (me == 0) wide[0] = 0u;
  digits_clear(digits);
  if (!finishing) fetch_rows(&p, split);
  await_earlier_launches();
  if (!finishing) {
    Column column[VECTOR];
    uint flags[VECTOR];
    add_share(&p, split, splits, options & MAP_ABS, column, digits, mine, flags);
    if (flags[0] | flags[1] | flags[2] | flags[3]) wide[0] = 1u;
    sync();
    is_wide = wide[0];
    if (!is_wide) {
      is_wide = !share_in_parts(&p, column, joined, (int)results, arena, wide);
      if (is_wide) digits_clear(digits);
    }
    if (is_wide) share_in_digits(&p, column, flags, digits, mine);
    for (int i = me; is_wide && i < r.columns * (DIGITS + 1); i += THREADS) {
      const int d = i / r.columns, c = i % r.columns;
      const uint total = total_of(&p, digits, d, c, joined, (int)results);
      if (splits == 1)
        digits[d * DIGIT_STEP + place_of(&p, c)] = total;
      else
        *record_word(&r, split, d, c) = total;
    }
    for (int i = me; splits > 1 && i < r.columns; i += THREADS) {
      GLOBAL ulong* to = record_part(&r, split, i);
      to[0] = is_wide ? 0UL : arena[i];
      to[1] = is_wide ? PART_NOTHING | FLAG_IN_WORDS : arena[i + PARTS];
    }
  }
  if (splits > 1 && phase == WHOLE) {
    sync_memory();
    if (me == 0) {
      GLOBAL uint* counter = (GLOBAL uint*)(workspace + workspace_offset) + tile;
      is_last[0] = take_ticket(counter) == (uint)splits - 1u;
      if (is_last[0]) *counter = 0u;
      wide[0] = 0u;
    }
    sync_memory();
    finishing = is_last[0] != 0u;
  }
  if (finishing) {
    is_wide = !add_records(&r, splits, arena, wide);
    if (is_wide) add_records_wide(&p, &r, splits, digits);
  }
  sync();
  if (!finishing && splits > 1) return;
  for (int c = me; c < r.columns; c += THREADS) {
    Part part;
    part_get(arena, c, PARTS, &part);
    const ulong bits =
        is_wide ? digits_end_of(digits + place_of(&p, c), f64) : part_round(&part, f64);
    if (joined > 1 || first + c < results)
      store_sum(output + output_offset, (first + c) * output_stride, f64, bits);
  }
}
