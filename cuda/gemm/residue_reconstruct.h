// How the rung `residues` stores the elements of a part of C, or marks them.
#pragma once
#include "residue_round.h"

enum { PART_ROWS = 64, PART_COLS = 32, RECONSTRUCTORS = 128 };

// The part of C of a group of residues_reconstruct.
typedef struct Part {
  GLOBAL float* c;         // the part's first element
  GLOBAL uint* marks;      // of all of C
  long c_row, first_mark;  // the element's number
  long n;
  int rows, cols;  // that are left
  Scaling scaling;
} Part;

// Stores two neighbours of a row, or marks those that aren't certain.
DEVICE void store_two(const Part* part, int row, int col, const float* values,
                      const bool* certain) {
  GLOBAL float* const to = part->c + row * part->c_row + col;
  const bool second = col + 1 < part->cols;
  if (certain[0] && certain[1] && second && ((ulong)to & 7) == 0) {
    *(GLOBAL float2*)to = make_float2(values[0], values[1]);
    return;
  }
#pragma unroll
  for (int e = 0; e < 2; ++e) {
    if (e == 1 && !second) return;
    const long index = part->first_mark + row * part->n + col + e;
    if (certain[e])
      to[e] = values[e];
    else
      mark(part->marks, index);
  }
}

// Local memory of a group: what is known of its rows, then of its columns.
enum { PART_LANES = PART_ROWS + PART_COLS };

template <int N>
DEVICE void reconstruct(const Part& part, const GLOBAL Side* row_sides,
                        const GLOBAL Side* col_sides, LOCAL_POINTER Side* sides,
                        const GLOBAL uchar* residues, long modulus_bytes) {
  const int t = local_x(), lane = t % 32, row = t / 32 * 16 + lane / 4, col0 = lane % 4 * 2;
  uint4 y[N];
#pragma unroll
  for (int q = 0; q < N; ++q) y[q] = __ldcs((const uint4*)(residues + q * modulus_bytes + t * 16));
  if (t < PART_LANES) sides[t] = t < PART_ROWS ? row_sides[t] : col_sides[t - PART_ROWS];
  sync();
  if (row >= part.rows || col0 >= part.cols) return;
  const LOCAL_POINTER Side *rows = sides, *cols = sides + PART_ROWS;
  const bool plain = part.scaling.alpha == 1.0f && part.scaling.flags == MULTIPLY;
#pragma unroll 1  // longer code would be new to each multiprocessor's cache
  for (int i = 0; i < 4; ++i) {
    const int col = col0 + 8 * i;
    if (col >= part.cols) break;
    uint bytes[N];
    double d[4][limbs_of(N)];
#pragma unroll
    for (int q = 0; q < N; ++q) {
      bytes[q] = y[q].x;
      y[q] = make_uint4(y[q].y, y[q].z, y[q].w, 0u);
    }
    recombine(bytes, d);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      if (row + 8 * h >= part.rows) break;
      float values[2];
      bool certain[2];
#pragma unroll
      for (int e = 0; e < 2; ++e)
        certain[e] = round_element(
            d[2 * h + e], rows[row + 8 * h], cols[col + e], plain, part.scaling,
            part.c + (row + 8 * h) * part.c_row + col + (col + e < part.cols ? e : 0), &values[e]);
      store_two(&part, row + 8 * h, col, values, certain);
    }
  }
}

// C = beta C, or 0: nothing is multiplied.
DEVICE void store_scaled(const Part& part) {
  const int t = local_x();
  for (int i = t; i < PART_ROWS * PART_COLS; i += RECONSTRUCTORS) {
    const int row = i / PART_COLS, col = i % PART_COLS;
    if (row >= part.rows || col >= part.cols) continue;
    GLOBAL float* const to = part.c + row * part.c_row + col;
    *to = scaled_alone(part.scaling.beta, part.scaling.flags & ADD_C ? *to : 0.0f,
                       part.scaling.flags);
  }
}
