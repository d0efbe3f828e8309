// Only NVIDIA's compilers take this text.
// How warps finish a tile of an exact product (tensor_block.h). The PARTS warps of a block add up
// their sums, each those of its part of the block. It rounds an element if the bound of its chain's
// error allows (certain.h), by the norms of its rows and columns, and computes the others at once
// (open_elements.h).
#pragma once
#define BOUNDS_OF_BLOCK                                                                      \
  , const Bounds bounds, bool is_part, Operands operands, const float squares[SQUARE_COUNT], \
      LOCAL_POINTER T *panels, int tile_row, int tile_col
// The sum of a lane's row r and column q of the block.
#define SUM_OF(acc, r, q) acc[(r) / 2][TOTALS + (q) / 2 * 4 + (r) % 2 * 2 + (q) % 2]
// The part of a block: a lane has PAIRS pairs of neighbours, ROWS_OF_LANE x OWN_BLOCKS.
#define PAIRS (2 * DOWN_BLOCKS * ACROSS_BLOCKS / PARTS)
#define OWN_BLOCKS (PAIRS < ACROSS_BLOCKS ? PAIRS : ACROSS_BLOCKS)
#define ROWS_OF_LANE (PAIRS / OWN_BLOCKS)
#define COLS_OF_LANE (2 * OWN_BLOCKS)
static_assert(2 * DOWN_BLOCKS * ACROSS_BLOCKS % PARTS == 0 && ACROSS_BLOCKS % OWN_BLOCKS == 0 &&
              PAIRS % OWN_BLOCKS == 0 && 2 * PAIRS <= 32);  // an element's bit in a word
#define LINES (16 * DOWN_BLOCKS + 8 * ACROSS_BLOCKS)
// Where row or column r or q of a lane lies in its warp's part.
#define ROW_OF(r) ((r)*8 + lane / 4)
#define COL_OF(q) ((q) / 2 * 8 + lane % 4 * 2 + (q) % 2)

// The norms of a lane's rows and columns (certain.h).
typedef struct Known {
  double rows[ROWS_OF_LANE], cols[COLS_OF_LANE];
} Known;
#include "open_elements.h"

// The warps' memory behind their loops over k: their sums for other parts, a pair of a lane after
// the other; the squares of all lines of their blocks; and their own (open_elements.h).
#define SUMS_BYTES ((PARTS - 1) * PAIRS * MULTIPLIERS * (int)sizeof(PAIR_double))
#define SQUARES_BYTES ((MULTIPLIERS / 32 * LINES * (int)sizeof(float) + 15) / 16 * 16)
#define ENDS_BYTES (SUMS_BYTES + SQUARES_BYTES + MULTIPLIERS / 32 * (int)sizeof(Own))

DEVICE float add_up(float x, float y) {
#if HAVE_PTX
  float sum;
  __asm__("add.rp.f32 %0, %1, %2;" : "=f"(sum) : "f"(x), "f"(y));
  return sum;
#else
  return next_above(x + y);
#endif
}

// The norm of a line from its squares in all parts, LINES apart. `usual` becomes false where they
// left the range in which f32 bounds them well: so for infinities and NaN.
DEVICE double norm_of_parts(const LOCAL_POINTER float* squares, bool* usual) {
  float sum = squares[0];
#pragma unroll
  for (int p = 1; p < PARTS; ++p) sum = add_up(sum, squares[p * LINES]);
  if (!(sum == 0.0f || (sum >= 0x1p-100f && sum <= 0x1p120f))) *usual = false;
#if HAVE_PTX
  float inverse;
  __asm__("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(sum == 0.0f ? 1.0f : sum));
  return (double)(sum * inverse * 0x1.00001p0f);
#else
  return sqrt((double)sum) * 0x1.00001p0;
#endif
}

// Adds up the parts of the block: a lane's sums, and what is known of its rows and columns. `row`
// and `col` are the part's first ones in the block. True if all norms are usual ones.
DEVICE bool join_parts(CHAIN acc[ACC_ROWS][ACC_COLS], const float squares[SQUARE_COUNT],
                       LOCAL_POINTER uchar* memory, int lane, int row, int col,
                       CHAIN sums[ROWS_OF_LANE][COLS_OF_LANE], Known* known) {
  const int lanes = MULTIPLIERS / PARTS, part = local_x() / lanes;
  LOCAL_POINTER PAIR_double* const passed = (LOCAL_POINTER PAIR_double*)memory + local_x() % lanes;
  LOCAL_POINTER float* const lines =
      (LOCAL_POINTER float*)(memory + SUMS_BYTES) + local_x() % lanes / 32 * PARTS * LINES;
#pragma unroll
  for (int i = 0; i < SQUARE_COUNT; ++i) {
    float sum = add_up(squares[i], shuffle_xor_f32(squares[i], 1));
    sum = add_up(sum, shuffle_xor_f32(sum, 2));
    if (lane % 4 == 0) lines[part * LINES + i * 8 + lane / 4] = sum;
  }
#pragma unroll
  for (int p = 0; p < PARTS; ++p)
#pragma unroll
    for (int i = 0; i < PAIRS; ++i) {
      const int r = (p * PAIRS + i) / ACROSS_BLOCKS, q = (p * PAIRS + i) % ACROSS_BLOCKS * 2;
      PAIR_double both;
      both.x = SUM_OF(acc, r, q), both.y = SUM_OF(acc, r, q + 1);
      if (p == part)
        sums[i / OWN_BLOCKS][i % OWN_BLOCKS * 2] = both.x,
                                              sums[i / OWN_BLOCKS][i % OWN_BLOCKS * 2 + 1] = both.y;
      else
        passed[((p * (PARTS - 1) + part - (part > p ? 1 : 0)) * PAIRS + i) * lanes] = both;
    }
#if PARTS > 1
  sync_multipliers();
#else
  sync_warp();
#endif
#pragma unroll
  for (int i = 0; i < PAIRS; ++i)
#pragma unroll
    for (int p = 0; p < PARTS - 1; ++p) {
      const PAIR_double both = passed[((part * (PARTS - 1) + p) * PAIRS + i) * lanes];
      sums[i / OWN_BLOCKS][i % OWN_BLOCKS * 2] += both.x;
      sums[i / OWN_BLOCKS][i % OWN_BLOCKS * 2 + 1] += both.y;
    }
  bool usual = true;
#pragma unroll
  for (int r = 0; r < ROWS_OF_LANE; ++r)
    known->rows[r] = norm_of_parts(lines + (row + ROW_OF(r)), &usual);
#pragma unroll
  for (int q = 0; q < COLS_OF_LANE; ++q)
    known->cols[q] = norm_of_parts(lines + (16 * DOWN_BLOCKS + col + COL_OF(q)), &usual);
  return lanes_with(!usual) == 0u;
}

// A lane's results, and a bit for each that isn't certain.
typedef struct Rounded {
  T results[ROWS_OF_LANE][COLS_OF_LANE];
  uint open;
} Rounded;

// Where alpha is 1, beta 0 and all sums are finite. The slack has room for the rounding of the
// ends.
DEVICE Rounded round_usual(CHAIN sums[ROWS_OF_LANE][COLS_OF_LANE], const Known* known,
                           double slack) {
  Rounded all;
  all.open = 0u;
#pragma unroll
  for (int r = 0; r < ROWS_OF_LANE; ++r) {
    const double row = slack * known->rows[r];
#pragma unroll
    for (int q = 0; q < COLS_OF_LANE; ++q) {
      const double error = row * known->cols[q];
      const T low = (T)(sums[r][q] - error), high = (T)(sums[r][q] + error);
      all.results[r][q] = low;
      if (as_uint(low) != as_uint(high)) all.open |= 1u << (r * COLS_OF_LANE + q);
    }
  }
  return all;
}

DEVICE Rounded round_any(CHAIN sums[ROWS_OF_LANE][COLS_OF_LANE], const GLOBAL T* c, long c_row,
                         uint inside, const Known* known, double slack,
                         const LOCAL_POINTER Line* rows, const LOCAL_POINTER Line* cols,
                         bool has_lines, int lane, T alpha, T beta, int flags) {
  Rounded all;
  all.open = 0u;
#pragma unroll
  for (int r = 0; r < ROWS_OF_LANE; ++r)
#pragma unroll
    for (int q = 0; q < COLS_OF_LANE; ++q) {
      T* const result = &all.results[r][q];
      const bool adds = (flags & ADD_C) && (inside >> (r * COLS_OF_LANE + q) & 1u);
      const T old = adds ? c[ROW_OF(r) * c_row + COL_OF(q)] : (T)0;
      double error = slack * known->rows[r] * known->cols[q];
      bool zeros = false;
      if (has_lines) {
        const LOCAL_POINTER Line *row = rows + ROW_OF(r), *col = cols + COL_OF(q);
        if (known->rows[r] * row->parts * (known->cols[q] * col->parts) <= 0x1p52) error = 0.0;
        zeros = sums[r][q] == 0.0 && are_disjoint(row, col) && fabs((double)alpha) < 0x1p128;
      }
      if (!(flags & MULTIPLY) || zeros)
        *result = scaled_alone(beta, old, flags);
      else if (!round_chain(sums[r][q], error, alpha, beta, old, flags, result))
        all.open |= 1u << (r * COLS_OF_LANE + q);
    }
  return all;
}

DEVICE void store_block(GLOBAL T* c, long c_row, long first_row, long end_row, long first_col,
                        long end_col, CHAIN acc[ACC_ROWS][ACC_COLS], LOCAL_POINTER T* memory,
                        int lane, T alpha, T beta, int flags BOUNDS_OF_BLOCK) {
  const int first_pair = local_x() / (MULTIPLIERS / PARTS) * PAIRS;
  const int row = first_pair / ACROSS_BLOCKS * 8, col = first_pair % ACROSS_BLOCKS * 8;
  CHAIN sums[ROWS_OF_LANE][COLS_OF_LANE];
  Known known;
  const bool usual =
      join_parts(acc, squares, (LOCAL_POINTER uchar*)memory, lane, row, col, sums, &known);
  const int row0 = clip(first_row - row), row1 = clip(end_row - row);
  const int col0 = clip(first_col - col), col1 = clip(end_col - col);
  uint inside = 0u;
#pragma unroll
  for (int r = 0; r < ROWS_OF_LANE; ++r)
#pragma unroll
    for (int q = 0; q < COLS_OF_LANE; ++q)
      if (ROW_OF(r) >= row0 && ROW_OF(r) < row1 && COL_OF(q) >= col0 && COL_OF(q) < col1)
        inside |= 1u << (r * COLS_OF_LANE + q);
  if (is_part) {  // others have the tile's other steps
    GLOBAL double* const chains = (GLOBAL double*)bounds.marks + bounds.bit;
#pragma unroll
    for (int r = 0; r < ROWS_OF_LANE; ++r)
#pragma unroll
      for (int q = 0; q < COLS_OF_LANE; ++q)
        if (inside >> (r * COLS_OF_LANE + q) & 1u)
          chains[(row + ROW_OF(r)) * bounds.width + col + COL_OF(q)] = sums[r][q];
    return;
  }
  LOCAL_POINTER Own* const own =
      (LOCAL_POINTER Own*)((LOCAL_POINTER uchar*)memory + SUMS_BYTES + SQUARES_BYTES) +
      local_x() / 32;
  LOCAL_POINTER Lines* const lines = (LOCAL_POINTER Lines*)panels;
  c += row * c_row + col;
  const bool plain = flags == MULTIPLY && alpha == (T)1 && usual;
  Rounded all;
  if (plain) all = round_usual(sums, &known, bounds.slack), all.open &= inside;
  if (!plain || are_many(all.open != 0u, own)) {
    bool has_lines = plain;
#pragma unroll 1
    do {
      if (has_lines) {
        Operands tile = operands;
        tile.x -= tile_row * tile.a_row, tile.y -= tile_col * tile.b_col;
        const long rows = end_row + tile_row, cols = end_col + tile_col;
        know_lines(lines, tile, rows < TILE_M ? (int)rows : TILE_M,
                   cols < TILE_N ? (int)cols : TILE_N);
      }
      const LOCAL_POINTER Line* const of_rows = lines->of[0] + (tile_row + row);
      const LOCAL_POINTER Line* const of_cols = lines->of[0] + (TILE_M + tile_col + col);
      if (has_lines && !usual) {
#pragma unroll
        for (int r = 0; r < ROWS_OF_LANE; ++r)
          known.rows[r] = root_above(of_rows[ROW_OF(r)].squares);
#pragma unroll
        for (int q = 0; q < COLS_OF_LANE; ++q)
          known.cols[q] = root_above(of_cols[COL_OF(q)].squares);
      }
      all = round_any(sums, c, c_row, inside, &known, bounds.slack, of_rows, of_cols, has_lines,
                      lane, alpha, beta, flags);
      all.open &= inside;
      if (has_lines) break;
      has_lines = true;
    } while (are_many(!usual || all.open != 0u, own));
  }
  operands.x += row * operands.a_row, operands.y += col * operands.b_col;
  const bool wide = is_wide(c, c_row, 1);
#pragma unroll
  for (int r = 0; r < ROWS_OF_LANE; ++r) {
    GLOBAL T* const to = c + ROW_OF(r) * c_row;
#pragma unroll
    for (int q = 0; q < COLS_OF_LANE; q += 2) {
      const uint here = (inside & ~all.open) >> (r * COLS_OF_LANE + q) & 3u;
      if (wide && here == 3u) {
        PAIR both;
        both.x = all.results[r][q], both.y = all.results[r][q + 1];
        *(GLOBAL PAIR*)(to + COL_OF(q)) = both;
      } else {
        if (here & 1u) to[COL_OF(q)] = all.results[r][q];
        if (here & 2u) to[COL_OF(q + 1)] = all.results[r][q + 1];
      }
    }
  }
  compute_open(own, &known, all.open, &operands, c, c_row, lane, alpha, beta, flags);
}
