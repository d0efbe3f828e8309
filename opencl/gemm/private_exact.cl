// Idea: an exact product on a CPU. A work-item computes HEIGHT x COLS of C as in `private_tile`,
// but its panels become f64 on their way, and their squares add up to the norms of rows and columns
// meanwhile. Each element is rounded once if its bound allows (certain.h); else the work-item
// computes it at once (one_element.h). Sums of f32 are chains of f64, those of f64 chains of pairs.
// It beats `bounded` on a CPU, because it has one launch and no barriers.
// Requires: a CPU and f64. No sister in CUDA, which has no CPUs.
//
//   Chains of f32 end with each panel and are added up, because a bound grows with their steps. A
//   pair must know the norms when it begins, so f64 walks k twice.
//   Nobody looks for the powers of two and zeros that make a sum exact (certain.h): such ties and
//   zeros go to superaccumulators.
#define PLAIN_READS
#define LANES 1
#define WARPS 1
#include "norm_of.h"
#include "one_element.h"
#define Panel double
#include "private_block.h"

#ifdef __AVX512F__
#define VECTORS (T_DOUBLE ? 2 : 4)
#define SIDE 8  // lanes of a vector
typedef double8 Words;
#else
#define VECTORS (T_DOUBLE ? 1 : 2)
#define SIDE 4
typedef double4 Words;
#endif

// The sums of a block of C; `rest` is the lower part of pairs.
typedef struct Sums {
  double high[HEIGHT][COLS] ALIGNED(64);
#if T_double
  double rest[HEIGHT][COLS] ALIGNED(64);
#endif
} Sums;

// ROWS rows of A by VECTORS vectors of the panel of B: `steps` steps of the sums from row i and
// column j on.
INLINED void multiply(double (*a)[STEPS], double (*b)[COLS], int steps, Sums* sums, int i, int j) {
  Words acc[ROWS][VECTORS];
#if T_double
  Words rest[ROWS][VECTORS];
#endif
#pragma unroll
  for (int r = 0; r < ROWS; ++r)
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) {
#if T_double
      acc[r][v] = *(Words*)&sums->high[i + r][j + v * SIDE];
      rest[r][v] = *(Words*)&sums->rest[i + r][j + v * SIDE];
#else
      acc[r][v] = (Words)0.0;
#endif
    }
  for (int l = 0; l < steps; ++l) {
    Words y[VECTORS];
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) y[v] = *(Words*)&b[l][j + v * SIDE];
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const Words x = (Words)a[r][l];
#pragma unroll
      for (int v = 0; v < VECTORS; ++v) {
        const Words next = fma(x, y[v], acc[r][v]);
#if T_double
        rest[r][v] += fma(x, y[v], acc[r][v] - next);
#endif
        acc[r][v] = next;
      }
    }
  }
#pragma unroll
  for (int r = 0; r < ROWS; ++r)
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) {
#if T_double
      *(Words*)&sums->high[i + r][j + v * SIDE] = acc[r][v];
      *(Words*)&sums->rest[i + r][j + v * SIDE] = rest[r][v];
#else
      *(Words*)&sums->high[i + r][j + v * SIDE] += acc[r][v];
#endif
    }
}

// Copies columns of B and adds up their squares.
DEVICE void widen_columns(const GLOBAL T* b, long b_row, long b_col, int steps, int cols,
                          double (*panel)[COLS], double* squares) {
  copy_columns(b, b_row, b_col, steps, cols, panel);
  for (int l = 0; l < steps; ++l)
    for (int j = 0; j < COLS; ++j) squares[j] = fma(panel[l][j], panel[l][j], squares[j]);
}

// Copies ROWS rows of A, the last of `rows` again beyond it, and adds up their squares.
DEVICE void widen_rows(const GLOBAL T* a, long a_row, long a_col, int steps, int rows,
                       double (*panel)[STEPS], Words* squares) {
  for (int r = 0; r < ROWS; ++r) {
    const GLOBAL T* const row = a + min(r, rows - 1) * a_row;
    if (a_col == 1 && steps == STEPS)
      for (int l = 0; l < STEPS; ++l) panel[r][l] = (double)row[l];
    else
      for (int l = 0; l < STEPS; ++l) panel[r][l] = l < steps ? (double)row[l * a_col] : 0.0;
    for (int l = 0; l < STEPS; l += SIDE) {
      const Words x = *(Words*)&panel[r][l];
      squares[r] = fma(x, x, squares[r]);
    }
  }
}

// The norms of the block, and with them the beginning of pairs.
DEVICE void take_norms(const Words* a_squares, const double* b_squares, double* a_norm,
                       double* b_norm, Sums* sums) {
  for (int i = 0; i < HEIGHT; ++i) {
    double squares = 0.0;
    for (int e = 0; e < SIDE; ++e) squares += ((const double*)&a_squares[i])[e];
    a_norm[i] = norm_of(squares);
  }
  for (int j = 0; j < COLS; ++j) b_norm[j] = norm_of(b_squares[j]);
#if T_double
  for (int i = 0; i < HEIGHT; ++i)
    for (int j = 0; j < COLS; ++j) {
      sums->high[i][j] = PAIR_BEGIN * (power_above(a_norm[i]) * power_above(b_norm[j]));
      sums->rest[i][j] = 0.0;
    }
#endif
}

KERNEL_OF(private_exact, 1, 1)(GEMM_ARGUMENTS) {
  LOCAL uint low[WORDS * COPIES], high[WORDS * COPIES];
  LOCAL uint scaled_low[SCALED_WORDS], scaled_high[SCALED_WORDS], special[1];
  LOCAL double sum[1];
  double a_panel[ROWS][STEPS] ALIGNED(64), b_panel[STEPS][COLS] ALIGNED(64);
  double a_norm[HEIGHT], b_norm[COLS] ALIGNED(64), b_squares[COLS] ALIGNED(64);
  Words a_squares[HEIGHT];
  Sums sums;
  const Tile tile = tile_of(group_x(), tiles_m, tiles_n);
  const long i0 = (long)tile.row * HEIGHT, j0 = (long)tile.col * COLS;
  const int rows = (int)min(m - i0, (long)HEIGHT), cols = (int)min(n - j0, (long)COLS);
  a += a_offset + tile.batch * a_batch + i0 * a_row;
  b += b_offset + tile.batch * b_batch + j0 * b_col;
  c += c_offset + tile.batch * c_batch + i0 * c_row + j0 * c_col;
  if (!(flags & MULTIPLY)) {
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < cols; ++j) {
        GLOBAL T* const to = c + i * c_row + j * c_col;
        *to = scaled_alone(beta, flags & ADD_C ? *to : (T)0, flags);
      }
    return;
  }

  for (int i = 0; i < HEIGHT; ++i) {
    a_squares[i] = (Words)0.0;
    for (int j = 0; j < COLS; ++j) sums.high[i][j] = 0.0;
  }
  for (int j = 0; j < COLS; ++j) b_squares[j] = 0.0;
  for (int pass = T_DOUBLE ? 0 : 1; pass < 2; ++pass) {
    for (long l = 0; l < k; l += STEPS) {
      const int steps = (int)min(k - l, (long)STEPS);
      widen_columns(b + l * b_row, b_row, b_col, steps, cols, b_panel, b_squares);
      for (int i = 0; i < rows; i += ROWS) {
        widen_rows(a + i * a_row + l * a_col, a_row, a_col, steps, rows - i, a_panel,
                   a_squares + i);
        for (int j = 0; pass == 1 && j < cols; j += VECTORS * SIDE)
          multiply(a_panel, b_panel, steps, &sums, i, j);
      }
    }
    if (!T_DOUBLE || pass == 0) take_norms(a_squares, b_squares, a_norm, b_norm, &sums);
  }

  Team team;
  team.whole = false;
  team.lane = 0, team.size = 1, team.copies = EACH;
  team.low = low, team.high = high, team.flags = special, team.sums = sum;
  team.scaled_low = scaled_low, team.scaled_high = scaled_high;
  const double slack = (double)(STEPS + k / STEPS + 2) * 0x1.00001p-53;
  for (int i = 0; i < rows; ++i) {
    T old[COLS], result[COLS];
    int certain[COLS];
    for (int j = 0; j < COLS; ++j)
      old[j] = flags & ADD_C && j < cols ? c[i * c_row + j * c_col] : (T)0;
    for (int j = 0; j < COLS; ++j) {
#if T_double
      const double base = power_above(a_norm[i]) * power_above(b_norm[j]);
      certain[j] = round_pair(sums.high[i][j] - PAIR_BEGIN * base, sums.rest[i][j],
                              pair_loss(base, k), alpha, beta, old[j], flags, &result[j]);
#else
      certain[j] = round_chain(sums.high[i][j], slack * a_norm[i] * b_norm[j], alpha, beta, old[j],
                               flags, &result[j]);
#endif
    }
    for (int j = 0; j < cols; ++j) {
      if (!certain[j]) {
        Element e;
        e.x = a + i * a_row, e.y = b + j * b_col, e.x_stride = a_col, e.y_stride = b_row, e.k = k;
        e.alpha = alpha, e.beta = beta, e.old = old[j], e.flags = flags;
        const double base = power_above(a_norm[i]) * power_above(b_norm[j]);
        result[j] =
            T_DOUBLE ? element_of_words(team, e) : element_of(&team, &e, base, pair_loss(base, k));
      }
      c[i * c_row + j * c_col] = result[j];
    }
  }
}
