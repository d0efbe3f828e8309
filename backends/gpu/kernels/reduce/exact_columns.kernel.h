// Idea: columns of a matrix. A group takes some rows of a tile of neighbouring columns, 16 bytes a
// load, so that a work-item keeps the same four columns, each in two doubles that begin at 1.5 *
// 2^52 of their units: four elements that add up without rounding are cut at the first one's, the
// rest goes to the second. In the end these are integers, and nearly always those of a column have
// one unit, as a group opens its doubles alike: the work-items of a group and then the groups of a
// tile add them in any order; the last group rounds. Elements that don't fit go one by one into
// digits in local memory, and where there are some, the group's integers and the last group's
// follow. No element is read twice, whatever the exponents. It beats `exact` there because that one
// loads element by element, three groups a multiprocessor. Requires: f64; sums of f32, neighbouring
// columns; NVIDIA for one launch (elsewhere a second launch finishes).
//
// Where rows have no gaps and don't begin at 16 bytes, `rows` of them, two or four, are taken for
// one row of so many times the columns. `row_stride` is the number of tiles, `across` 2^16 /
// (width / VECTOR) rounded up: no division comes before the first load.
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
#include "shuffle.h"
#include "tile.h"
#include "unpack.h"

#define PARTS (THREADS * VECTOR + DIGIT_STEP)  // with gaps, for the banks' sake
#define ARENA (4 * PARTS > (DIGITS + 1) * DIGIT_STEP ? 2 * PARTS : (DIGITS + 1) * DIGIT_STEP / 2)
#define AHEAD 8                            // records that a work-item reads at once
#define RECORD ((4 + DIGITS + 1 + 3) / 4)  // of a sum and group: a part, digits and flags

// PoCL copies the rest of a kernel for each barrier that is in a branch.
#define SYNC_IF(condition) \
  if (!HAVE_WARPS || (condition)) sync_memory()

// A group's tile, and what a work-item has of it.
typedef struct Panel {
  GLOBAL const float* from;
  long pitch, rows, full;  // rows, and how many of them are whole
  int width, rest;         // columns of a whole row, and of the last one
  int sums;                // of a tile: columns so far apart have one
  int quads, lanes, copies, quad, lane;
  int sum, step;  // of the work-item's first column, and from one to the next
  bool aligned;
} Panel;

DEVICE Panel panel_of(GLOBAL const float* from, long cols, long pitch, int joined, long left,
                      int width, int inverse) {
  Panel p;
  const int bits = joined >> 1;  // of 1, 2 or 4
  p.from = from;
  p.pitch = pitch << bits;
  p.full = cols >> bits;
  p.width = left < width ? (int)left : width;
  p.sums = width >> bits;
  p.rest = ((int)cols & (joined - 1)) * p.sums;
  p.rows = p.full + (p.rest > 0 ? 1 : 0);
  p.quads = width / VECTOR;
  p.lanes = THREADS * inverse >> 16;
  p.copies = 1 << (31 - clz((uint)(QUADS * inverse >> 16)));
  p.lane = local_x() * inverse >> 16;
  p.quad = local_x() - p.lane * p.quads;
  p.aligned = ((ulong)from % sizeof(Vector) == 0) && p.pitch % VECTOR == 0;
  p.step = p.aligned ? 1 : p.quads;
  p.sum = p.aligned ? p.quad * VECTOR : p.quad;
  while (p.sum >= p.sums) p.sum -= p.sums;
  return p;
}

// The column of the tile that is number c of a work-item's four.
DEVICE int column_of(const Panel* p, int c) {
  return p->aligned ? p->quad * VECTOR + c : p->quad + c * p->quads;
}
// The sum of the next column.
DEVICE int next_sum(const Panel* p, int sum) {
  sum += p->step;
  return sum < p->sums ? sum : sum - p->sums;
}
// The place of a column's flags and digits; copies are p->quads further.
DEVICE int place_of(const Panel* p, int column) {
  return p->aligned ? column % VECTOR * QUADS + column / VECTOR
                    : column / p->quads * QUADS + column % p->quads;
}
// Those of this work-item's first column; the next one's are QUADS further.
DEVICE int place_here(const Panel* p) { return (p->lane & (p->copies - 1)) * p->quads + p->quad; }

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
#pragma unroll 1
  for (int k = 0; k < VECTORS; ++k) {
    const long row = ((long)split * VECTORS + k) * p->lanes + p->lane;
    if (p->lane < p->lanes && row < p->full && p->quad * VECTOR < p->width)
      fetch_soon(p->from + row * p->pitch + p->quad * VECTOR);
  }
}

DEVICE void digits_clear(LOCAL_POINTER uint* digits) {
#pragma unroll 1
  for (int i = local_x(); i < (DIGITS + 1) * DIGIT_STEP; i += THREADS) digits[i] = 0u;
}
DEVICE void digits_carry_all(LOCAL_POINTER uint* digits) {
  for (int i = local_x(); i < DIGIT_STEP; i += THREADS) digits_carry(digits + i);
}

// Opens the columns' doubles: all of a group alike where its first elements, x, are alike.
INLINED void columns_open(const Panel* p, const float* x, Column* column,
                          LOCAL_POINTER uint* tops) {
  uint most[VECTOR];
  int sum = p->sum;
#pragma unroll
  for (int c = 0; c < VECTOR; ++c, sum = next_sum(p, sum)) {
    most[c] = most_of(x + c);
    if (p->lane == 0) tops[sum] = top_above(most[c]);
  }
  sync();
#pragma unroll
  for (int c = 0; c < VECTOR; ++c, sum = next_sum(p, sum)) {
    if (c == 0) sum = p->sum;
    const uint top = tops[sum];
    window_open(column + c, top - most[c] <= 2 * WINDOW_MARGIN ? top : top_above(most[c]));
  }
}

// Adds a group's share to the work-item's columns, and to its digits what they don't hold.
INLINED void add_share(const Panel* p, int split, int splits, const bool magnitude, Column* column,
                       LOCAL_POINTER uint* digits, LOCAL_POINTER uint* tops) {
  const long span = (long)p->lanes * VECTORS, step = splits * span;
  float x[CHUNK], next[CHUNK];
  long row = p->lane < p->lanes ? split * span + p->lane : p->rows;
  load_rows(p, row, x);
  digits_clear(digits);
  columns_open(p, x, column, tops);
  for (long end = split * span;;) {
    end += DIGIT_CHUNKS * step;
#pragma unroll 2
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
        Column here[VECTOR];  // in memory, for a loop
        Four these[VECTOR];
#pragma unroll
        for (int c = 0; c < VECTOR; ++c) here[c] = column[c], these[c] = four[c];
#pragma unroll 1
        for (int c = 0; c < VECTOR; ++c)
          column_add_any(here + c, these + c, digits + place_here(p) + c * QUADS);
#pragma unroll
        for (int c = 0; c < VECTOR; ++c) column[c] = here[c];
      }
#pragma unroll
      for (int k = 0; k < CHUNK; ++k) x[k] = next[k];
    }
    if (end >= p->rows) break;
    sync();
    digits_carry_all(digits);
    sync();
  }
}

// --- Sums as integers ----------------------------------------------------------------------------

// `lane` of a team adds parts of sum number `index`.
typedef struct Sum {
  Part part;
  uint top, flags;
  int index, lane, team;
} Sum;

DEVICE Sum sum_begin(const Panel* p) {
  Sum s;
  s.part.high = s.part.low = 0;
  s.top = s.flags = 0u;
  s.team = 1 << (31 - clz((uint)(p->lanes * p->quads / p->sums)));
  if (s.team > 32 || !HAVE_WARPS) s.team = HAVE_WARPS ? 32 : 1;
  s.index = (int)((uint)local_x() / (uint)s.team);
  s.lane = local_x() & (s.team - 1);
  return s;
}

// Where a column's parts begin, those of all lanes.
DEVICE int parts_at(const Panel* p, int column) {
  const int place = p->aligned ? column % VECTOR * p->quads + column / VECTOR : column;
  return place * (p->lanes | 1);
}

// A part in its sum's unit; where that is too small, it becomes larger, and all parts are stored
// again: UNEVEN. (Of several work-items that enlarge it one wins, and the next turn another.)
#define LOST 1u
#define UNEVEN 2u
DEVICE Part part_fitted(Part part, uint top, LOCAL_POINTER uint* of_sum, uint* what) {
  uint lost = 0u;
  if (!(part.high | part.low)) return part;
  if (top > *of_sum) {
    *of_sum = top;
    *what |= UNEVEN;
    return part;
  }
  part = part_raised(part, top, *of_sum, &lost);
  if (lost) *what |= LOST;
  return part;
}

// Stores the work-item's parts.
DEVICE uint parts_put(const Panel* p, const Column* column, LOCAL_POINTER uint* tops,
                      LOCAL_POINTER uint* signs, LOCAL_POINTER ulong* parts) {
  uint what = 0u;
  int sum = p->sum;
  LOCAL_POINTER ulong* to = parts + p->quad * (p->lanes | 1) + p->lane;
#pragma unroll
  for (int c = 0; c < VECTOR; ++c, sum = next_sum(p, sum), to += p->quads * (p->lanes | 1)) {
    Part part = part_of(column + c);
    if (column[c].top != tops[sum]) part = part_fitted(part, column[c].top, tops + sum, &what);
    if (!(column[c].minus >> 31)) signs[sum] = FLAG_NOT_MINUS_ZERO;
    if (p->lane < p->lanes) to[0] = (ulong)part.high, to[PARTS] = (ulong)part.low;
  }
  return what;
}

DEVICE void parts_add(const Panel* p, Sum* s, LOCAL_POINTER const ulong* parts) {
#pragma unroll 1
  for (int column = s->index; column < p->quads * VECTOR; column += p->sums) {
    LOCAL_POINTER const ulong* from = parts + parts_at(p, column);
#pragma unroll 4
    for (int i = s->lane; i < p->lanes; i += s->team) {
      s->part.high += (long)from[i];
      s->part.low += (long)from[i + PARTS];
    }
  }
}

// Groups leave records for the last one of their tile: high, low, and their unit's top above flags
// in the first byte, among them FLAG_IN_WORDS where digits and flags lie behind all records.
DEVICE Part record_part(uint4 record) {
  Part p;
  p.high = (long)((ulong)record.y << 32 | record.x);
  p.low = (long)record.z;
  return p;
}

// Adds the parts of a sum that `splits` groups left; non-zero where that isn't all.
DEVICE uint records_add(const Panel* p, Sum* s, GLOBAL const uint4* records, int splits) {
  uint lost = 0u;
#pragma unroll 1
  for (int first = s->lane; first - s->lane < splits; first += AHEAD * s->team) {
    uint4 record[AHEAD];
    uint top = s->top;
#pragma unroll
    for (int k = 0; k < AHEAD; ++k) {
      const int i = first + k * s->team;
      record[k] = make_uint4(0u, 0u, 0u, 0u);
      if (i < splits && s->index < p->sums) record[k] = records[i * p->sums + s->index];
    }
#pragma unroll
    for (int k = 0; k < AHEAD; ++k) {
      top = top > record[k].w ? top : record[k].w;
      s->flags |= record[k].w;
    }
#if HAVE_WARPS
#pragma unroll 1
    for (int mask = 1; mask < s->team; mask *= 2) {
      const uint other = shuffle_xor(top, mask);
      top = top > other ? top : other;
    }
#endif
    top &= ~255u;
    if (top != s->top) s->part = part_raised(s->part, s->top >> 8, top >> 8, &lost);
    s->top = top;
#pragma unroll
    for (int k = 0; k < AHEAD; ++k) {
      Part part = record_part(record[k]);
      if ((record[k].w & ~255u) != top) part = part_raised(part, record[k].w >> 8, top >> 8, &lost);
      s->part.high += part.high;
      s->part.low += part.low;
    }
  }
  s->top >>= 8;
  return lost | (s->flags & FLAG_IN_WORDS);
}

// The sum of a team's work-items.
DEVICE void team_add(Sum* s) {
#if HAVE_WARPS
#pragma unroll 1
  for (int mask = 1; mask < s->team; mask *= 2) {
    s->part.high += (long)shuffle_xor_u64((ulong)s->part.high, mask);
    s->part.low += (long)shuffle_xor_u64((ulong)s->part.low, mask);
    s->flags |= shuffle_xor(s->flags, mask);
  }
#endif
  s->part = part_carried(s->part);
}

// --- Sums as digits ------------------------------------------------------------------------------

// Adds to the digits what a group's work-items hold otherwise.
DEVICE void share_in_digits(const Panel* p, const Column* column, LOCAL_POINTER uint* digits) {
#pragma unroll
  for (int c = 0; c < VECTOR; ++c) {
    const uint not_minus = column[c].minus >> 31 ? 0u : FLAG_NOT_MINUS_ZERO;
    part_in_digits(part_of(column + c), column[c].top,
                   (column[c].flags & FLAGS_SPECIAL) | not_minus,
                   digits + place_here(p) + c * QUADS);
  }
}

// The same of the parts that the groups of a tile left.
DEVICE void records_in_digits(const Panel* p, GLOBAL const uint4* records, int splits,
                              LOCAL_POINTER uint* digits) {
#pragma unroll 1
  for (int i = local_x(); i < splits * p->sums; i += THREADS) {
    const uint4 record = records[i];
    if (!(record.w & FLAG_IN_WORDS))
      part_in_digits(record_part(record), record.w >> 8, record.w & 15u,
                     digits + place_of(p, i % p->sums));
  }
}

// All copies of digit d of a sum, or of its flags, together.
DEVICE uint share_total(const Panel* p, LOCAL_POINTER const uint* digits, int d, int sum) {
  uint total = 0u;
#pragma unroll 1
  for (int column = sum; column < p->quads * VECTOR; column += p->sums) {
    LOCAL_POINTER const uint* of = digits + d * DIGIT_STEP + place_of(p, column);
#pragma unroll 1
    for (int k = 0; k < p->copies; ++k, of += p->quads)
      total = d == DIGITS ? total | *of : total + *of;
  }
  return total;
}

// `total` with the digits d of a sum, or flags, that the groups of a tile left.
DEVICE uint records_total(const Panel* p, GLOBAL const uint4* records, int splits, int d, int sum,
                          uint total) {
  GLOBAL const uint* words = (GLOBAL const uint*)(records + splits * p->sums);
#pragma unroll 4
  for (int s = 0; s < splits; ++s) {
    if (!(records[s * p->sums + sum].w & FLAG_IN_WORDS)) continue;
    const uint word = words[(s * (DIGITS + 1) + d) * p->sums + sum];
    total = d == DIGITS ? total | word : total + word;
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
  return round_words(word, DIGITS / 2, BASE, digits[DIGITS * DIGIT_STEP], f64);
}

KERNEL_BOUNDED(exact_columns, THREADS, 1, 1)
(REDUCE_PARAMETERS) {
  LOCAL ulong arena[ARENA];                        // parts or digits
  LOCAL uint tops[DIGIT_STEP], signs[DIGIT_STEP];  // of a sum's parts; FLAG_NOT_MINUS_ZERO
  LOCAL uint has_digits[1], wide[2], is_last[1];
  LOCAL int uneven[1];  // the last turn after which parts are stored again
  const int me = local_x(), joined = (int)rows, tiles = (int)row_stride;
  const bool f64 = options & RESULT_F64;
  LOCAL_POINTER uint* digits = (LOCAL_POINTER uint*)arena;
  // Neighbouring groups have neighbouring tiles of the same rows.
  const int split = phase == FINISH ? 0 : (int)((uint)group_x() / (uint)tiles);
  const int tile = group_x() - split * tiles;
  const long first = (long)tile * width;
  const Panel p = panel_of(input + input_offset + first, phase == FINISH ? 0 : cols, col_stride,
                           joined, results * joined - first, width, across);
  if (me == 0) has_digits[0] = wide[0] = wide[1] = uneven[0] = 0;
  for (int i = me; i < DIGIT_STEP; i += THREADS) signs[i] = 0u;
  fetch_rows(&p, split);
  await_earlier_launches();
  Column column[VECTOR];
  add_share(&p, split, splits, options & MAP_ABS, column, digits, tops);
  if (column[0].flags | column[1].flags | column[2].flags | column[3].flags) has_digits[0] = 1u;
  sync();
  GLOBAL uint4* records = (GLOBAL uint4*)(workspace + workspace_offset + CONTROL_BYTES) +
                          (long)tile * splits * p.sums * RECORD;
  GLOBAL uint* words = (GLOBAL uint*)(records + splits * p.sums);
  // First the group's parts, then those of all groups.
  int rounds = phase == FINISH ? 2 : 1;
#pragma unroll 1
  for (int round = rounds - 1; round < rounds; ++round) {
    const bool again = round == 1, last = again || splits == 1;
    const bool kept = !again && has_digits[0];
    Sum s = sum_begin(&p);
    if (again && records_add(&p, &s, records, splits)) wide[1] = 1u;
#pragma unroll 1
    for (int turn = 0, turns = 1; turn < turns; ++turn) {
      const uint what = again || kept ? 0u : parts_put(&p, column, tops, signs, arena);
      if (what & UNEVEN) uneven[0] = turn + 1;
      if (what & LOST) wide[0] = 1u;
      sync();
      if (!again && uneven[0] > turn) turns = turn + 2;
    }
    const bool is_wide = kept || wide[round];
    if (is_wide && !kept) digits_clear(digits);
    SYNC_IF(is_wide);
    if (is_wide && again) records_in_digits(&p, records, splits, digits);
    if (is_wide && !again) share_in_digits(&p, column, digits);
    SYNC_IF(is_wide);
    if (is_wide && !again) digits_carry_all(digits);
    SYNC_IF(is_wide);
#pragma unroll 1
    for (int i = me; is_wide && i < p.sums * (DIGITS + 1); i += THREADS) {
      const int d = i / p.sums, sum = i % p.sums;
      LOCAL_POINTER uint* to = digits + d * DIGIT_STEP + place_of(&p, sum);
      const uint total =
          again ? records_total(&p, records, splits, d, sum, *to) : share_total(&p, digits, d, sum);
      if (last)
        *to = total;
      else
        words[split * (DIGITS + 1) * p.sums + i] = total;
    }
    SYNC_IF(is_wide);
    if (!again && !is_wide && s.index < p.sums) {
      s.flags = signs[s.index];
      s.top = tops[s.index];
      parts_add(&p, &s, arena);
    }
    team_add(&s);
    const bool leads = s.index < p.sums && s.lane == 0;
    if (leads && last && first + s.index < results)
      store_sum(output + output_offset, (first + s.index) * output_stride, f64,
                is_wide ? digits_end_of(digits + place_of(&p, s.index), f64)
                        : result_bits(part_round(s.part, s.top, f64), s.part.high < 0,
                                      s.flags & 15u, f64));
    if (leads && !last) {
      const bool none = s.part.high == 0 && s.part.low == 0;
      records[split * p.sums + s.index] =
          is_wide ? make_uint4(0u, 0u, 0u, FLAG_IN_WORDS)
                  : make_uint4((uint)s.part.high, (uint)(s.part.high >> 32), (uint)s.part.low,
                               (none ? 0u : s.top << 8) | s.flags);
    }
    SYNC_IF(!last);
    if (me == 0 && !last && phase == WHOLE) {
      GLOBAL uint* counter = (GLOBAL uint*)(workspace + workspace_offset) + tile;
      is_last[0] = take_ticket(counter) == (uint)splits - 1u;
      if (is_last[0]) *counter = 0u;
    }
    SYNC_IF(!last);
    if (!last && phase == WHOLE && is_last[0]) rounds = 2;
  }
}
