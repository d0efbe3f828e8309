// The numbers of the rung `residues`, for its kernels, its row and its tests: the moduli, how an
// integer is reduced modulo each, how residues become an integer again, and where everything is in
// the workspace.
#pragma once
#include <cstdint>

#ifdef __CUDACC__
#define RESIDUES_FUNCTION static __host__ __device__ constexpr
#else
#define RESIDUES_FUNCTION inline constexpr
namespace trine::gpu::residues {
#endif

enum { FEWEST = 7, MOST = 13, CHOICES = MOST - FEWEST + 1, PAIRS = (MOST + 1) / 2, LIMBS = 3 };
__extension__ typedef unsigned __int128 Wide;

// Pairwise coprime. 249 and 245 are here and not 255 and 217: from eight moduli on the product is
// larger.
static constexpr int kModuli[MOST] = {256, 253, 251, 249, 247, 245, 241,
                                      239, 233, 229, 227, 223, 211};

// How 2^52 + x becomes the residue of x: the sum of its bytes times the powers of 256 (low: of
// bytes 0 to 3, high: of 4 to 7), begun at `start`, are the bits of a float that is congruent to x
// and between 2^23 and 2^23 + 2^19. Then float - round(float * inverse) * modulus is left.
struct Reduction {
  unsigned low, high, start;
  int negative;  // -modulus
  float inverse;
};
// An integer D from its residues y, two moduli m1 and m2 at a time: D is the sum of
// (y1 m2 + y2 m1) P / (m1 m2), modulo P, the product of all. pair: m2 | m1 << 16. Numbers are cut
// into limbs of 32 bits, or 27 from eleven moduli on, so that f64 sums of limbs are exact; weight:
// a limb's unit over P; start: what takes off 2^17 for each pair, 2^8 for a modulus without
// another.
struct Recombination {
  unsigned pair[PAIRS];
  double limb[PAIRS][LIMBS], start[LIMBS], product[LIMBS], weight[LIMBS];
};
// [moduli - FEWEST]. Residues of B carry the inverse of P / m modulo m. bound: no lane of A or B
// may have a larger 2-norm, so that |D| is below P / 2. magic: 2^38 over a modulus, rounded up.
struct Tables {
  Reduction reduction[CHOICES][2][MOST];
  Recombination recombination[CHOICES];
  double bound[CHOICES];
  int modulus[MOST], magic[MOST];
};

RESIDUES_FUNCTION int limbs_of(int moduli) { return moduli <= 10 ? 2 : 3; }
RESIDUES_FUNCTION int limb_bits(int moduli) { return moduli <= 10 ? 32 : 27; }

RESIDUES_FUNCTION Wide product_of(int moduli) {
  Wide product = 1;
  for (int i = 0; i < moduli; ++i) product *= static_cast<Wide>(kModuli[i]);
  return product;
}

RESIDUES_FUNCTION int inverse_of(int x, int modulus) {
  for (int inverse = 1; inverse < modulus; ++inverse)
    if (x * inverse % modulus == 1) return inverse;
  return 0;
}

// Modulus i, in residues of B if of_b. is_plain, on CPUs: the bytes of powers are signed, and the
// sum is no float, but the residue's number itself.
RESIDUES_FUNCTION Reduction reduction_of(int moduli, int i, bool of_b, bool is_plain) {
  const int modulus = kModuli[i];
  const Wide wide = static_cast<Wide>(modulus);
  const int factor =
      of_b ? inverse_of(static_cast<int>(product_of(moduli) / wide % wide), modulus) : 1;
  Reduction r{0, 0, 0, -modulus, 1.0f / static_cast<float>(modulus)};
  int power = factor % modulus;
  for (int byte = 0; byte < 8; ++byte, power = power * 256 % modulus) {
    const int value = is_plain && power > 127 ? power - modulus : power;
    (byte < 4 ? r.low : r.high) |= static_cast<unsigned>(value & 255) << 8 * (byte % 4);
  }
  const int offset = (static_cast<int>((1ull << 52) % static_cast<unsigned>(modulus)) * factor +
                      (is_plain ? 0 : 1 << 23)) %
                     modulus;
  r.start = (is_plain ? 0 : 0x4b000000u) + static_cast<unsigned>((modulus - offset) % modulus);
  return r;
}

RESIDUES_FUNCTION void cut(Wide x, int moduli, double* limbs) {
  const int count = limbs_of(moduli), bits = limb_bits(moduli);
  for (int l = 0; l < count; ++l) {
    const Wide rest = x >> bits * l;
    limbs[l] = static_cast<double>(
        static_cast<uint64_t>(l + 1 < count ? rest & ((Wide{1} << bits) - 1) : rest));
  }
}

RESIDUES_FUNCTION Recombination recombination_of(int moduli) {
  Recombination r{};
  const Wide product = product_of(moduli);
  cut(product, moduli, r.product);
  for (int l = 0; l < limbs_of(moduli); ++l)
    r.weight[l] =
        static_cast<double>(Wide{1} << limb_bits(moduli) * l) / static_cast<double>(product);
  for (int p = 0; p < (moduli + 1) / 2; ++p) {
    const bool both = 2 * p + 1 < moduli;
    const int m1 = kModuli[2 * p], m2 = both ? kModuli[2 * p + 1] : 1;
    r.pair[p] = static_cast<unsigned>(m2) | static_cast<unsigned>(m1) << 16;
    cut(product / static_cast<Wide>(m1 * m2), moduli, r.limb[p]);
    for (int l = 0; l < limbs_of(moduli); ++l) r.start[l] -= (both ? 131072 : 256) * r.limb[p][l];
  }
  return r;
}

// A little below the square root of half the product.
RESIDUES_FUNCTION double bound_of(int moduli) {
  const double square = static_cast<double>(product_of(moduli)) / 2 * (1 - 1.0 / 256);
  double root = square;
  for (int i = 0; i < 100; ++i) root = (root + square / root) / 2;
  return root;
}

RESIDUES_FUNCTION Tables tables_of_residues() {
  Tables t{};
  for (int i = 0; i < MOST; ++i) {
    t.modulus[i] = kModuli[i];
    t.magic[i] = static_cast<int>(((1ll << 38) + kModuli[i] - 1) / kModuli[i]);
  }
  for (int c = 0; c < CHOICES; ++c) {
    const int moduli = FEWEST + c;
    t.recombination[c] = recombination_of(moduli);
    t.bound[c] = bound_of(moduli);
    for (int i = 0; i < moduli; ++i)
      for (int of_b = 0; of_b < 2; ++of_b)
        t.reduction[c][of_b][i] = reduction_of(moduli, i, of_b != 0, false);
  }
  return t;
}

// --- The workspace -------------------------------------------------------------------------------

// Lanes are rows of A or columns of B. Residues lie as the tensor cores read them: blocks of 128
// lanes by 128 steps of k, which zeros fill up.
enum { STEPS_SHIFT = 7, STEPS = 1 << STEPS_SHIFT, LANES = 128, BLOCK = LANES * STEPS };
enum { TWO_BLOCKS = 256, TILE_BYTES = 128 * 256 };

// For some steps of a lane: the sum of its elements' squares, which 64th parts of all steps (by a
// power of two) have any that isn't 0, and the bits of the greatest absolute value.
struct Norm {
  double squares;
  uint64_t mask;
  unsigned greatest, unused;
};
// The same of all steps, and what rounding lost, in units of the lane's scale: the sums of squares
// and of absolute values.
struct Lane {
  double squares, lost_squares, lost_sum;
  uint64_t mask;
  unsigned greatest, unused;
};
// The bounds of an element's error, rounded up, in units of the lane's scale 2^scale: its 2-norm,
// its greatest element, the 2-norm and 1-norm of what was lost, and the mask.
struct alignas(16) Side {
  float norm, greatest, lost, lost_sum;
  uint64_t mask;
  int scale, unused;
};
// Steps are cut so often at most, by powers of two from 2^SHIFT on, for norms and for the sample.
enum { NORM_CUTS = 16, NORM_SHIFT = 9, NORM_STEPS = 1 << NORM_SHIFT };
enum { SAMPLE_CUTS = 32, SAMPLE_SHIFT = 6, SAMPLE_STEPS = 1 << SAMPLE_SHIFT };

// Elements of C whose sums tell how many moduli are enough: of SAMPLED rows and columns.
enum { SAMPLED = 16 };
struct Sample {
  double sums[SAMPLE_CUTS][SAMPLED * SAMPLED],
      sum[SAMPLED * SAMPLED];  // each of some steps; of all
  // For the rows, then for the columns: sums of squares and of sizes.
  float lost[2 * SAMPLED][CHOICES][2];
};

// The kernels tell each other how many moduli there are, and whether there is a copy of B, in which
// a column's steps are side by side, for the rung that computes marked elements.
struct Decision {
  unsigned moduli, ticket, copied, unused[13];
  Sample sample;
};

// For a call with so many matrices of A and B (one, or the whole batch). Places are in bytes; the
// decision is at 0.
struct Layout {
  int64_t rows, cols, blocks;  // of padded lanes; of k
  int norm_shift, norm_cuts, sample_shift, sample_cuts;
  int64_t lanes;  // of all matrices, A's first
  int64_t sums, sides, norms, c, a, b;
  int64_t a_matrix, b_matrix, c_matrix;     // bytes of a matrix's residues, of one modulus
  int64_t a_modulus, b_modulus, c_modulus;  // and of all matrices
  int64_t bytes;
};

// by: a power of two.
RESIDUES_FUNCTION int64_t round_up(int64_t x, int64_t by) { return (x + by - 1) & -by; }
RESIDUES_FUNCTION int cut_shift(int64_t k, int shift, int most) {
  while ((k - 1) >> shift >= most) ++shift;
  return shift;
}

RESIDUES_FUNCTION Layout layout_of(int64_t m, int64_t n, int64_t k, int64_t batch,
                                   int64_t a_matrices, int64_t b_matrices, int moduli) {
  Layout l{};
  const int64_t most = moduli == 0 ? MOST : moduli;
  l.rows = round_up(m, TWO_BLOCKS);
  l.cols = round_up(n, TWO_BLOCKS);
  l.blocks = (k + STEPS - 1) >> STEPS_SHIFT;
  l.norm_shift = cut_shift(k, NORM_SHIFT, NORM_CUTS);
  l.norm_cuts = static_cast<int>((k + (int64_t{1} << l.norm_shift) - 1) >> l.norm_shift);
  l.sample_shift = cut_shift(k, SAMPLE_SHIFT, SAMPLE_CUTS);
  l.sample_cuts =
      moduli != 0 ? 0
                  : static_cast<int>((k + (int64_t{1} << l.sample_shift) - 1) >> l.sample_shift);
  l.lanes = a_matrices * l.rows + b_matrices * l.cols;
  l.sums = round_up(static_cast<int64_t>(sizeof(Decision)), 128);
  l.sides = l.sums + l.lanes * static_cast<int64_t>(sizeof(Lane));
  l.norms = l.sides + l.lanes * static_cast<int64_t>(sizeof(Side));
  l.c = l.norms + l.norm_cuts * l.lanes * static_cast<int64_t>(sizeof(Norm));
  l.a_matrix = l.rows * l.blocks * STEPS;
  l.b_matrix = l.cols * l.blocks * STEPS;
  l.c_matrix = l.rows * l.cols;
  l.a_modulus = a_matrices * l.a_matrix;
  l.b_modulus = b_matrices * l.b_matrix;
  l.c_modulus = batch * l.c_matrix;
  l.a = l.c + most * l.c_modulus;
  l.b = l.a + most * l.a_modulus;
  l.bytes = l.b + most * l.b_modulus;
  return l;
}
#ifndef __CUDACC__
}  // namespace trine::gpu::residues
#endif
