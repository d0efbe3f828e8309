// The block of C that a work-item computes on a CPU, and its panel of B. `Panel` is the type of the
// panel's elements.
#pragma once
#include "problem.h"

#define COLS (256 / (int)sizeof(T))  // backends/gpu/gemm_variants.cpp has these two, too
#define HEIGHT 96
#define STEPS 128  // of k in a panel
#define ROWS 6

// Copies columns of B; those beyond its last one are zeros.
DEVICE void copy_columns(const GLOBAL T* b, long b_row, long b_col, int steps, int cols,
                         Panel (*panel)[COLS]) {
  for (int l = 0; l < steps; ++l, b += b_row) {
    if (b_col == 1 && cols == COLS)
      for (int j = 0; j < COLS; ++j) panel[l][j] = (Panel)b[j];
    else
      for (int j = 0; j < COLS; ++j) panel[l][j] = j < cols ? (Panel)b[j * b_col] : (Panel)0;
  }
}
