// Only NVIDIA's compilers take this text.
// How a warp finishes its block of a large tile of an exact product (tensor_block.h): every element
// is rounded if the bound of its chain's error allows, else marked (certain.h).
#pragma once
#define BOUNDS_OF_BLOCK , const Bounds bounds, bool is_part
#define ROWS_OF_LANE (2 * DOWN_BLOCKS)
#define COLS_OF_LANE (2 * ACROSS_BLOCKS)
// The sum of a lane's row r and column q.
#define SUM_OF(acc, r, q) acc[(r) / 2][TOTALS + (q) / 2 * 4 + (r) % 2 * 2 + (q) % 2]

// The bounds of a lane's rows and columns (certain.h).
typedef struct Known {
  double rows[ROWS_OF_LANE], cols[COLS_OF_LANE];
  double row_ratios[ROWS_OF_LANE], col_ratios[COLS_OF_LANE];
} Known;
DEVICE Known known_of(const Bounds* b, const Corner* at, long end_row, long end_col) {
  Known n;
#pragma unroll
  for (int r = 0; r < ROWS_OF_LANE; ++r) {
    const int u = at->row + r * NEXT_M;
    n.rows[r] = u < end_row ? b->row[2 * u] : 0.0;
    n.row_ratios[r] = u < end_row ? b->row[2 * u + 1] : 0.0;
  }
#pragma unroll
  for (int q = 0; q < COLS_OF_LANE; ++q) {
    const int v = at->col + q / 2 * NEXT_N + q % 2;
    n.cols[q] = v < end_col ? b->col[2 * v] : 0.0;
    n.col_ratios[q] = v < end_col ? b->col[2 * v + 1] : 0.0;
  }
  return n;
}

DEVICE double error_of(const Known* n, double slack, int r, int q) {
  const double error = slack * n->rows[r] * n->cols[q];
  return n->row_ratios[r] * n->col_ratios[q] <= 0x1p53 ? 0.0 : error;
}

// A lane's results, and a bit for each that isn't certain: 1 << q of its row.
typedef struct Rounded {
  T results[ROWS_OF_LANE][COLS_OF_LANE];
  uint open[ROWS_OF_LANE];
} Rounded;

// Without a branch between them where alpha and flags are constants, so that their latencies pass
// side by side.
DEVICE Rounded round_block(CHAIN acc[ACC_ROWS][ACC_COLS], const T old[ROWS_OF_LANE][COLS_OF_LANE],
                           const Known* known, double slack, T alpha, T beta, int flags) {
  Rounded all;
#pragma unroll
  for (int r = 0; r < ROWS_OF_LANE; ++r) {
    all.open[r] = 0u;
#pragma unroll
    for (int q = 0; q < COLS_OF_LANE; ++q) {
      T* const result = &all.results[r][q];
      if (!(flags & MULTIPLY))
        *result = scaled_alone(beta, old[r][q], flags);
      else if (!round_chain(SUM_OF(acc, r, q), error_of(known, slack, r, q), alpha, beta, old[r][q],
                            flags, result))
        all.open[r] |= 1u << q;
    }
  }
  return all;
}

// A group's chains of a tile whose steps others share, in the place of marks.
DEVICE void store_chain(const Bounds* b, int u, int v, CHAIN sum) {
  ((GLOBAL double*)b->marks)[b->bit + u * b->width + v] = sum;
}

DEVICE void store_block(GLOBAL T* c, long c_row, long first_row, long end_row, long first_col,
                        long end_col, CHAIN acc[ACC_ROWS][ACC_COLS], LOCAL_POINTER T* lines,
                        int lane, T alpha, T beta, int flags BOUNDS_OF_BLOCK) {
  (void)lines;  // C lies in registers until the end
  const Corner at = corner_of(lane, flags);
  const bool wide = is_wide(c, c_row, 1);
  bool row_inside[ROWS_OF_LANE], col_inside[COLS_OF_LANE];
#pragma unroll
  for (int r = 0; r < ROWS_OF_LANE; ++r) {
    const int u = at.row + r * NEXT_M;
    row_inside[r] = u >= first_row && u < end_row;
  }
#pragma unroll
  for (int q = 0; q < COLS_OF_LANE; ++q) {
    const int v = at.col + q / 2 * NEXT_N + q % 2;
    col_inside[q] = v >= first_col && v < end_col;
  }
  if (is_part) {
#pragma unroll
    for (int r = 0; r < ROWS_OF_LANE; ++r)
#pragma unroll
      for (int q = 0; q < COLS_OF_LANE; ++q)
        if (row_inside[r] && col_inside[q])
          store_chain(&bounds, at.row + r * NEXT_M, at.col + q / 2 * NEXT_N + q % 2,
                      SUM_OF(acc, r, q));
    return;
  }
  const Known known = known_of(&bounds, &at, end_row, end_col);
  GLOBAL T* const first = c + at.row * c_row + at.col;
  T old[ROWS_OF_LANE][COLS_OF_LANE];
  Rounded all;
  if (flags == MULTIPLY && alpha == (T)1) {
    all = round_block(acc, old, &known, bounds.slack, (T)1, (T)0, MULTIPLY);
  } else {
#pragma unroll
    for (int r = 0; r < ROWS_OF_LANE; ++r)
#pragma unroll
      for (int q = 0; q < COLS_OF_LANE; ++q)
        old[r][q] = (flags & ADD_C) && row_inside[r] && col_inside[q]
                        ? first[r * NEXT_M * c_row + q / 2 * NEXT_N + q % 2]
                        : (T)0;
    all = round_block(acc, old, &known, bounds.slack, alpha, beta, flags);
  }
#pragma unroll
  for (int r = 0; r < ROWS_OF_LANE; ++r) {
    if (!row_inside[r]) continue;
    // Sums of zeros alone, whose chains no bound of an error shows.
    if (all.open[r])
#pragma unroll
      for (int q = 0; q < COLS_OF_LANE; ++q)
        if (all.open[r] >> q & 1u && SUM_OF(acc, r, q) == 0.0 && fabs((double)alpha) < 0x1p128 &&
            col_inside[q] &&
            is_of_zeros(&bounds, at.row + r * NEXT_M, at.col + q / 2 * NEXT_N + q % 2)) {
          all.open[r] &= ~(1u << q);
          all.results[r][q] = scaled_alone(beta, old[r][q], flags);
        }
    GLOBAL T* const row = first + r * NEXT_M * c_row;
#pragma unroll
    for (int q = 0; q < COLS_OF_LANE; q += 2) {
      const T* const results = all.results[r] + q;
      GLOBAL T* const to = row + q / 2 * NEXT_N;
      const uint open_here = all.open[r] >> q & 3u;
      if (wide && col_inside[q] && col_inside[q + 1] && open_here == 0u) {
        PAIR both;
        both.x = results[0], both.y = results[1];
        *(GLOBAL PAIR*)to = both;
        continue;
      }
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        if (!col_inside[q + e]) continue;
        if (!(open_here >> e & 1u)) {
          to[e] = results[e];
          continue;
        }
        mark(bounds.marks,
             bounds.bit + (at.row + r * NEXT_M) * bounds.width + at.col + q / 2 * NEXT_N + e);
      }
    }
  }
}
