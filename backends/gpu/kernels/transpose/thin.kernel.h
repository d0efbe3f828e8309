// Idea: a work-item turns a block of a long thin matrix in registers: it loads one vector of each
// of the matrix's 2 to 16 lines. The narrow side is one run of memory, which a warp's work-items
// copy side by side; local memory only hands its vectors out.
// It beats `batched_small` because bytes are permuted by words, four at once, and everything else
// moves by 16 bytes.
// Requires: one matrix of elements of 1 or 2 bytes, whose narrow side has no gaps. MOST (8, 16) is
// how many lines it may have, and how many vectors a work-item moves.
//
// A strip is 32 neighbouring blocks. Where lines begin between vectors (`overlap`), a work-item
// moves the vector of memory that its own one begins in and takes the missing elements from its
// neighbour; so a strip shares a block with the next one. The first block and all after the last
// but one go by elements.
#include "lanes.h"
#include "pack.h"

#define THREADS (2048 / MOST) /* so that 36 KB hold their vectors */
#define STRIPS (THREADS / 32) /* side by side */
#define PLACE(v) \
  ((v) + (v) / 8) /* of a run's vector in local memory: on all banks for any number of lines */

typedef struct Thin {
  int lines, rounds, overlap;
  bool tall;         // the output has the lines, the input the run
  bool by_elements;  // nothing is aligned as it has to be
  long count, last;  // elements of a line; the block behind the last whole one
  long pitch;        // of the lines, in bytes
} Thin;

// How many elements before a line's first one its first vector of memory begins.
DEVICE int skew_of(const Thin* m, const GLOBAL uchar* line) {
  return m->overlap ? (int)((ulong)line % 16) / BYTES : 0;
}

DEVICE long strip_of(const Thin* m, int round, int t) {
  return ((long)group_x() * STRIPS + (t >> 5)) * m->rounds + round;
}

// The first block of a strip; with the one that it shares, of the lines stored, with the strip
// before.
DEVICE long block_of(const Thin* m, long strip) {
  return 1 + strip * (32 - m->overlap) - (m->tall ? m->overlap : 0);
}

// 16 bytes of a and b behind each other, from byte `at` on.
DEVICE uint4 vector_at(uint4 a, uint4 b, int at) {
  uint w[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
#pragma unroll
  for (int k = 0; k < 6; ++k) w[k] = at & 8 ? w[k + 2] : w[k];
#pragma unroll
  for (int k = 0; k < 5; ++k) w[k] = at & 4 ? w[k + 1] : w[k];
  const int bits = at % 4 * 8;
#pragma unroll
  for (int k = 0; k < 4; ++k) w[k] = (uint)(((ulong)w[k + 1] << 32 | w[k]) >> bits);
  return make_uint4(w[0], w[1], w[2], w[3]);
}

DEVICE uint4 of_lane(uint4 v, int lane) {
  return make_uint4(shuffle_from(v.x, lane), shuffle_from(v.y, lane), shuffle_from(v.z, lane),
                    shuffle_from(v.w, lane));
}

#define PART(words, k) ((Element)((words)[(k)*BYTES / 4] >> (k)*BYTES % 4 * 8))

// Word q of a work-item's part of a line: of its elements of all lines, which follow each other
// column by column.
DEVICE uint line_word(const uint* run, int lines, int line, int q) {
  Element e[PER_WORD];
#pragma unroll
  for (int l = 0; l < PER_WORD; ++l) e[l] = PART(run, (q * PER_WORD + l) * lines + line);
  return WORD_OF(e);
}

// The way back: word q of a work-item's part of the run, of the lines one after the other.
DEVICE uint run_word(const uint* x, int lines, int q) {
  Element e[PER_WORD];
#pragma unroll
  for (int l = 0; l < PER_WORD; ++l) {
    const int k = q * PER_WORD + l;
    e[l] = PART(x, k % lines * LANES + k / lines);
  }
  return WORD_OF(e);
}

// Turns a work-item's vectors of the run, which are in local memory, and stores its vectors of the
// lines.
INLINED void store_lines(const LOCAL_POINTER uint4* stage, GLOBAL uchar* to, const Thin* m,
                         const int lines, int t) {
  const int lane = (t & 31);
#pragma unroll 1
  for (int round = 0; round < MOST / lines; ++round) {
    const long block = block_of(m, strip_of(m, round, t)) + lane;
    uint run[MOST * 4];
#pragma unroll
    for (int k = 0; k < lines; ++k) {
      const uint4 v = stage[PLACE((round * THREADS + t) * lines + k)];
      run[4 * k] = v.x, run[4 * k + 1] = v.y, run[4 * k + 2] = v.z, run[4 * k + 3] = v.w;
    }
    GLOBAL uchar* line = to;
#pragma unroll
    for (int r = 0; r < lines; ++r, line += m->pitch) {
      uint4 v = make_uint4(line_word(run, lines, r, 0), line_word(run, lines, r, 1),
                           line_word(run, lines, r, 2), line_word(run, lines, r, 3));
      const int skew = skew_of(m, line) * BYTES;
      if (skew) v = vector_at(of_lane(v, (lane + 31) & 31), v, 16 - skew);
      if (lane >= m->overlap && block < m->last) *(GLOBAL uint4*)(line + block * 16 - skew) = v;
    }
  }
}

// Loads a work-item's vectors of the lines, turns them, and stores its vectors of the run in local
// memory.
INLINED void load_lines(LOCAL_POINTER uint4* stage, const GLOBAL uchar* from, const Thin* m,
                        const int lines, int t) {
  uint4 v[MOST];
#pragma unroll
  for (int round = 0; round < MOST / lines; ++round) {
    const long block = block_of(m, strip_of(m, round, t)) + (t & 31);
    const GLOBAL uchar* line = from;
#pragma unroll
    for (int r = 0; r < lines; ++r, line += m->pitch)
      if (block < m->last + m->overlap)
        v[round * lines + r] = *(const GLOBAL uint4*)(line + block * 16 - skew_of(m, line) * BYTES);
  }
#pragma unroll
  for (int round = 0; round < MOST / lines; ++round) {
    const GLOBAL uchar* line = from;
    uint x[MOST * 4];
#pragma unroll
    for (int r = 0; r < lines; ++r, line += m->pitch) {
      uint4 one = v[round * lines + r];
      const int skew = skew_of(m, line) * BYTES;
      if (skew) one = vector_at(one, of_lane(one, (t + 1) & 31), skew);
      x[4 * r] = one.x, x[4 * r + 1] = one.y, x[4 * r + 2] = one.z, x[4 * r + 3] = one.w;
    }
#pragma unroll
    for (int k = 0; k < lines; ++k)
      stage[PLACE((round * THREADS + t) * lines + k)] =
          make_uint4(run_word(x, lines, 4 * k), run_word(x, lines, 4 * k + 1),
                     run_word(x, lines, 4 * k + 2), run_word(x, lines, 4 * k + 3));
  }
}

// The run's vectors of a strip: where neighbours have them side by side, and how many there are.
DEVICE int run_place(int lines, int round, int k, int t) {
  return PLACE((round * THREADS + (t & ~31)) * lines + k * 32 + (t & 31));
}
DEVICE long run_vectors(const Thin* m, long block, int blocks, int lines) {
  return (m->last - block < blocks ? m->last - block : blocks) * lines;
}

INLINED void load_run(LOCAL_POINTER uint4* stage, const GLOBAL uchar* from, const Thin* m,
                      const int lines, int t) {
  uint4 v[MOST];
#pragma unroll
  for (int round = 0; round < MOST / lines; ++round) {
    const long block = block_of(m, strip_of(m, round, t));
    const long count = run_vectors(m, block, 32, lines);
#pragma unroll
    for (int k = 0; k < lines; ++k)
      if (k * 32 + (t & 31) < count)
        v[round * lines + k] = ((const GLOBAL uint4*)from)[block * lines + k * 32 + (t & 31)];
  }
#pragma unroll
  for (int round = 0; round < MOST / lines; ++round)
#pragma unroll
    for (int k = 0; k < lines; ++k) stage[run_place(lines, round, k, t)] = v[round * lines + k];
}

INLINED void store_run(const LOCAL_POINTER uint4* stage, GLOBAL uchar* to, const Thin* m,
                       const int lines, int t) {
#pragma unroll
  for (int round = 0; round < MOST / lines; ++round) {
    const long block = block_of(m, strip_of(m, round, t));
    const long count = run_vectors(m, block, 32 - m->overlap, lines);
#pragma unroll
    for (int k = 0; k < lines; ++k)
      if (k * 32 + (t & 31) < count)
        ((GLOBAL uint4*)to)[block * lines + k * 32 + (t & 31)] =
            stage[run_place(lines, round, k, t)];
  }
}

// Each number of lines has code of its own, so that all places are known.
#define CASE(n, what, a, b) \
  case n:                   \
    what(a, b, &m, n, t);   \
    break
#if MOST == 8
#define FOR_LINES(what, a, b)      \
  switch (m.lines) {               \
    CASE(2, what, a, b);           \
    CASE(3, what, a, b);           \
    CASE(4, what, a, b);           \
    CASE(5, what, a, b);           \
    CASE(6, what, a, b);           \
    CASE(7, what, a, b);           \
    default: what(a, b, &m, 8, t); \
  }
#else
#define FOR_LINES(what, a, b)       \
  switch (m.lines) {                \
    CASE(9, what, a, b);            \
    CASE(10, what, a, b);           \
    CASE(11, what, a, b);           \
    CASE(12, what, a, b);           \
    CASE(13, what, a, b);           \
    CASE(14, what, a, b);           \
    CASE(15, what, a, b);           \
    default: what(a, b, &m, 16, t); \
  }
#endif

KERNEL_BOUNDED(thin, THREADS, 1, 4)(TRANSPOSE_ARGUMENTS, int overlap) {
  LOCAL ALIGNED(16) uint4 stage[PLACE(THREADS * MOST)];
  const int t = local_x();
  const GLOBAL uchar* from = in + in_offset;
  GLOBAL uchar* to = out + out_offset;
  Thin m;
  m.tall = rows > cols;
  m.lines = (int)(m.tall ? cols : rows);
  m.rounds = MOST / m.lines;
  m.overlap = overlap;
  m.count = m.tall ? rows : cols;
  m.pitch = (m.tall ? out_col : in_row) * BYTES;
  const long blocks = m.count / LANES;
  m.last = blocks > 2 ? blocks - 1 : 1;
  const GLOBAL uchar* side = m.tall ? (const GLOBAL uchar*)to : from;
  const bool crooked = ((ulong)side | (ulong)m.pitch) % 16 != 0;
  m.by_elements = !is_aligned(m.tall ? from : to, 16) || (crooked && !(HAVE_WARPS && overlap));
  const long last = m.last;
  if (m.by_elements || last == 1) m.last = 0;
  await_earlier_launches();
  if (m.last && m.tall) FOR_LINES(load_run, stage, from)
  if (m.last && !m.tall) FOR_LINES(load_lines, stage, from)
#if HAVE_WARPS
  sync_warp();
#else
  sync();
#endif
  if (m.last && m.tall) FOR_LINES(store_lines, stage, to)
  if (m.last && !m.tall) FOR_LINES(store_run, stage, to)
  // By elements: a group's share, where that is how they move, and the first group's of both ends.
  const long share = (long)STRIPS * m.rounds * (32 - overlap) * LANES;
  const long first = LANES + (long)group_x() * share;
  const long left = last * LANES - first, mine = left < share ? left : share;
  const long ends = m.count - (last - 1) * LANES;
  for (int part = m.by_elements ? 0 : 1; part < (group_x() == 0 ? 2 : 1); ++part) {
    for (long k = t; k < (part == 0 ? mine : ends) * m.lines; k += THREADS) {
      const int line = (int)(k % m.lines);
      long j = k / m.lines;
      if (part == 0) {
        j += first;
      } else {
        const int front = LANES - (m.tall && !m.by_elements ? skew_of(&m, to + line * m.pitch) : 0);
        if (j >= front) j += (last - 1) * LANES;
      }
      const long narrow = (j * m.lines + line) * BYTES, wide = line * m.pitch + j * BYTES;
      store_element(to + (m.tall ? wide : narrow),
                    load_element(from + (m.tall ? narrow : wide), true), true);
    }
  }
}
