// Exact products of f32 by residues: rows of A and columns of B are scaled to integers, whose
// products modulo each of some coprime numbers are products of bytes. The Chinese remainder theorem
// turns these into the integer product, a bound of what scaling lost says which elements are
// certain, and all terms of the others are added in a superaccumulator. (After Ozaki, Uchino and
// Imamura, Ozaki scheme II, 2025.)
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/gpu/kernels/gemm/residue_tables.h"
#include "gemm/problem.hpp"
#include "rung.hpp"

namespace trine::cpu::gemm {

// The rows of a panel of A or columns of a panel of B; the steps of k in a tile. A panel has a
// block of kSide x kDeep bytes for each kDeep steps: two tiles of 16 rows or columns.
constexpr std::int64_t kSide = 32, kDeep = 64, kTileBlock = kSide * kDeep;
// The tiles of k between two reductions: those of a panel of A are 32 KiB, which stay in the first
// cache, and sums are at most 2^24. Reduced in f32 modulo 253, 2^25 would leave more than a byte.
constexpr std::int64_t kSteps = 16;

namespace tables = trine::gpu::residues;

// The constants of `count` moduli.
struct Moduli {
  explicit Moduli(int count);

  int count, limbs;
  tables::Reduction reductions[2][tables::MOST];  // of A, of B
  tables::Recombination recombination;
};

// Bounds of scaled rows or columns: their 2-norm, or more; the 2-norm of the losses by rounding to
// integers, or more; and the power of two that undoes the scale.
struct Bounds {
  double *norm, *lost, *unit;

  Bounds from(std::int64_t i) const { return {norm + i, lost + i, unit + i}; }
};

// Residues of panels, those of a modulus `stride` bytes behind those of the one before.
struct Residues {
  std::int8_t* data;
  std::int64_t stride;

  Residues from(std::int64_t offset) const { return {data + offset, stride}; }
};

// A block of C of whole panels.
struct ResidueBlock {
  Residues a, b, c;  // c: in blocks of kSide x kSide, of one panel of B after the other
  std::int64_t row_panels, column_panels, depth;
};

struct ResidueKernels {
  // Converts up to kConvertedPanels panels of rows of (row, k), A, or the transposed B. `largest`
  // is the norm that they may have.
  void (*convert)(const Moduli& moduli, bool is_b, Matrix<const float> from, std::int64_t rows,
                  std::int64_t k, double largest, Residues to, Bounds bounds);
  void (*multiply)(const Moduli& moduli, const ResidueBlock& block);
  // Rounds the elements of p from (i, j) on.
  void (*finish)(const Moduli& moduli, const ResidueBlock& block, Bounds a, Bounds b,
                 const Problem<float>& p, std::int64_t i, std::int64_t j);
};
constexpr std::int64_t kConvertedPanels = 4;

// For processors with AMX, or without its tiles, for tests; null where the machine lacks them.
const ResidueKernels* residue_kernels(bool has_tiles);

// Why this process has no tiles, or null.
const char* lacks_tiles();

// The number of moduli for this product, or 0 if the elements' exponents differ too much.
int choose_moduli(const Problem<float>& p);

std::size_t residues_bytes(std::int64_t m, std::int64_t n, std::int64_t k, int threads);
void multiply_residues(const ResidueKernels& kernels, int moduli, const Problem<float>& p,
                       std::byte* workspace, Parallel& parallel);

}  // namespace trine::cpu::gemm
