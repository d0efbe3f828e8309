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

// Local memory of a group: what is known of its rows, then of its columns.
enum { PART_LANES = PART_ROWS + PART_COLS };

// Brings four elements' residues modulo each modulus. `tiles` of C have those of one modulus.
template <int N>
DEVICE void bring_words(const GLOBAL uchar* residues, uint tiles, uint (&y)[N]) {
#pragma unroll
  for (uint q = 0; q < N; ++q)
    y[q] = __ldcs((const uint*)(residues + (ulong)tiles * (q * TILE_BYTES)));
}

// A work-item has the same two columns in each fourth of the part's rows, and two rows of each.
template <int N>
DEVICE void reconstruct(const Part& part, const GLOBAL Side* row_sides,
                        const GLOBAL Side* col_sides, LOCAL_POINTER Side* sides,
                        const GLOBAL uchar* residues, long modulus_bytes) {
  const int t = local_x(), col = t / 4 % 4 * 2 + t % 4 * 8;
  const uint tiles = (uint)(modulus_bytes / TILE_BYTES);
  uint y[N];
  residues += t * 4;
  bring_words(residues, tiles, y);
  const GLOBAL Side* const side = t < PART_ROWS ? row_sides + t : col_sides + (t - PART_ROWS);
  if (t < PART_LANES) sides[t] = *side;
  sync();
  if (col >= part.cols) return;
  const LOCAL_POINTER Side *rows = sides, *cols = sides + PART_ROWS;
  const Side col_side[2] = {cols[col], cols[col + 1]};
  GLOBAL float* to = part.c + t / 16 * part.c_row + col;
  const bool plain = part.scaling.alpha == 1.0f && part.scaling.flags == MULTIPLY;
  const bool second = col + 1 < part.cols;
  const bool at_once = second && (((ulong)to | part.c_row * 4) & 7) == 0;
#pragma unroll 1  // longer code would be new to each multiprocessor's cache
  for (int row = t / 16; row < part.rows; row += 8) {
    double d[4][limbs_of(N)];
    recombine(y, d);
    residues += 4 * RECONSTRUCTORS;
    if (row + 16 < PART_ROWS) bring_words(residues, tiles, y);
#pragma unroll
    for (int h = 0; h < 2; ++h, to += 8 * part.c_row) {
      if (h == 1) row += 8;
      if (row >= part.rows) break;
      const Side row_side = rows[row];
      float old[2] = {}, values[2];
      if (part.scaling.flags & ADD_C) old[0] = to[0], old[1] = to[second];
      bool certain = plain;
#pragma unroll
      for (int e = 0; e < 2; ++e)
        certain &=
            round_plain(sum_of(d[2 * h + e]), (row_side.scale << 20) + (col_side[e].scale << 20),
                        error_of(row_side, col_side[e]), &values[e]);
      if (certain) {
        if (at_once)
          *(GLOBAL float2*)to = make_float2(values[0], values[1]);
        else
          to[0] = values[0], to[second] = values[second];
        continue;
      }
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        if (e == 1 && !second) continue;
        float value;
        if (round_element(d[2 * h + e], rows[row], cols[col + e], part.scaling, old[e], &value))
          to[e] = value;
        else
          mark(part.marks, part.first_mark + row * part.n + col + e);
      }
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
