// The default rung of gemm on a GPU backend: which loads this device best with a problem of this
// size.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "backends/gpu/gemm_exact.hpp"
#include "backends/gpu/gemm_launch.hpp"
#include "backends/gpu/gemm_tiles.hpp"

namespace trine::gpu {
namespace {

/// A rung with its parameter as prefer_gemm compares it, by the figures of RoleTile.
struct Candidate {
  const char* rung;
  int32_t value;
  unsigned dtypes;
  int64_t tile_m, tile_n;
  double groups, full, alone, start, ends;
  double odd = 1, by_elements = odd, widened = 1;
  int64_t depth = 1;    ///< chains take a multiple of so many steps
  double odd_ends = 1;  ///< how often `ends` where rows of C begin between vectors
};
constexpr unsigned kF32 = 1u << TRINE_F32, kF64 = 1u << TRINE_F64, kI32 = 1u << TRINE_I32;
constexpr unsigned kFour = kF32 | kI32;
constexpr unsigned kExact = 1u << 31;  ///< f32 of numerics exact
constexpr Candidate kRegisterTiles[] = {
    {"register_tile", 1, kFour, 128, 128, 2, 0.78, 0.60, 4.3, 9.0},
    {"register_tile", 0, kFour, 64, 64, 4, 0.76, 0.43, 4.7, 5.0},
    {"register_tile", 0, kF64, 64, 64, 2, 0.35, 0.18, 4.2, 2.0}};

constexpr Candidate candidate_of(const RoleTiles& rung, size_t value) {
  const RoleTile& tile = rung.tiles[value];
  const bool f64 = &rung == &kTensorRung;
  return {
      rung.rung,
      static_cast<int32_t>(value),
      f64 ? ((tile.forms & kNoOthers) != 0 ? 0 : kF64) | ((tile.forms & kWidens) != 0 ? kExact : 0)
      : (tile.forms & kIntegers) != 0 ? kFour
                                      : kF32,
      rung.rows(tile),
      rung.cols(tile),
      double(tile.share_of),
      tile.full,
      tile.alone,
      tile.start,
      tile.ends,
      tile.odd,
      tile.by_elements,
      tile.widened,
      !f64 && tile.down > 8 ? tile.depth : 1,
      !f64 || rung.rows(tile) * rung.cols(tile) <= 512 ? 1
      : (tile.forms & kOddRows) != 0                   ? 1.12
                                                       : 1.6};
}
/// If two are equally fast, the first is preferred: the larger tile.
constexpr auto kCandidates = [] {
  constexpr size_t kCount = std::size(kWarpTiles) + std::size(kDeepTiles) +
                            std::size(kTensorTiles) + std::size(kRegisterTiles);
  std::array<Candidate, kCount> all{};
  size_t count = 0;
  for (const RoleTiles* rung : {&kWarpRung, &kDeepRung, &kTensorRung})
    for (size_t value = rung->tiles.size(); value-- > 0;) all[count++] = candidate_of(*rung, value);
  for (const Candidate& one : kRegisterTiles) all[count++] = one;
  return all;
}();

constexpr size_t candidates_of(unsigned dtypes) {
  return static_cast<size_t>(std::ranges::count_if(
      kCandidates, [&](const Candidate& one) { return (one.dtypes & dtypes) != 0; }));
}
/// At most: three_tf32 or residues, a small rung, batched_small, register_tile, few_columns, naive.
constexpr size_t kOthers = 6;
static_assert(std::max(candidates_of(kF64), candidates_of(kFour)) + kOthers <=
              std::tuple_size_v<decltype(Preferred::all)>);

const Variant* variant_named(std::string_view name) {
  return &*std::ranges::find_if(gemm_variants(),
                                [&](const Variant& variant) { return variant.name == name; });
}

/// The multiply-adds of a multiprocessor at full speed (gemm_tiles.hpp) in a microsecond.
double speed_of(const Candidate& one) {
  return (one.dtypes & (kF64 | kExact)) != 0 ? 2.303e5 : 2.034e5;
}

/// The time of the busiest of `units` multiprocessors for chains of `k` steps, in multiply-adds at
/// full speed. It computes whole rounds, with as many groups as it holds, and one round with the
/// groups that are left. `speed` is the share that this form of the kernel has. On an H200, of 215
/// products of f64, the tile of the least time so estimated takes 1.002 times as long as the
/// fastest for squares, in the geometric mean, and 1.01 for others; of 157 of f32, 1.001 and 1.02.
double busiest(const Candidate& one, const Problem& p, int64_t k, int64_t units, double speed) {
  const double tiles = static_cast<double>(divide_up(p.m, one.tile_m)) *
                       static_cast<double>(divide_up(p.n, one.tile_n)) *
                       static_cast<double>(p.batch);
  const double each = tiles / static_cast<double>(std::max<int64_t>(units, 1));
  const double held = std::ceil(each);
  const double rounds = std::floor(held / one.groups), rest = held - rounds * one.groups;
  const double share = rest > 1 ? (rest - 1) / (one.groups - 1) : 0;
  const double last = rest / (one.alone + (one.full - one.alone) * share);
  const double steps = (rounds * one.groups / one.full + last) *
                       static_cast<double>(divide_up(k, one.depth) * one.depth);
  const double ends =
      held / one.groups * one.ends * (p.element == 8 && p.c.row % 2 != 0 ? one.odd_ends : 1);
  return steps / speed * static_cast<double>(one.tile_m * one.tile_n) +
         (one.start + ends) * speed_of(one);
}

/// Tiles of `deep` were measured for single products, up to this size of C.
bool suits_deep(const Problem& p) {
  constexpr double kMost = 4e5;
  return p.batch == 1 && static_cast<double>(p.m) * static_cast<double>(p.n) <= kMost;
}

/// The text "its 128×256 tiles fill 132 multiprocessors best". A reason must be static, so each is
/// made once and kept. If the device is the same as in the last call, it is found without a lock.
const char* reason(const Candidate& one, uint32_t units) {
  struct Reason {
    uint32_t units;
    std::string text;
  };
  static std::array<std::atomic<const Reason*>, std::size(kCandidates)> last;
  static std::mutex mutex;
  static auto* const made = new std::map<std::pair<const Candidate*, uint32_t>, Reason>;
  std::atomic<const Reason*>& mine = last[static_cast<size_t>(&one - kCandidates.data())];
  const Reason* known = mine.load(std::memory_order_acquire);
  if (known && known->units == units) return known->text.c_str();
  const std::lock_guard lock(mutex);
  Reason& found = (*made)[{&one, units}];
  if (found.text.empty())
    found = {units, "its " + std::to_string(one.tile_m) + "×" + std::to_string(one.tile_n) +
                        " tiles fill " + std::to_string(units) + " multiprocessors best"};
  mine.store(&found, std::memory_order_release);
  return found.text.c_str();
}

/// Do all rows or columns of unit stride of an operand begin at vectors of 16 bytes, if the operand
/// does?
bool keeps_vectors(const Operand& x, int64_t element) {
  return (x.col == 1 || x.row == 1) && (x.col == 1 ? x.row : x.col) * element % 16 == 0;
}

/// The number of rows or columns of C up to which few_columns computes it. On an H200 an f32
/// product of 8192 x 16 with k = 8192 takes 162 µs by few_columns and 775 by tiles. For f64 tensor
/// cores may be faster from 8 on.
int64_t few_columns_most(uint32_t dtype) { return dtype == TRINE_F64 ? 4 : 16; }

/// The rows of a group of few_columns, as its parameter's value: the most that leave 2 groups for
/// each multiprocessor, or 4 where elements are copied one by one. On an H200 these were the
/// fastest, by 5 to 30 %.
int32_t few_columns_rows(Problem p, int64_t units) {
  if (p.n > p.m) p.transpose();
  for (int32_t value = 2; value > 0; --value) {
    const double groups =
        static_cast<double>(divide_up(p.m, int64_t{8} << value)) * static_cast<double>(p.batch);
    if (groups >= static_cast<double>(units) * (keeps_vectors(p.a, p.element) ? 1.9 : 3.8))
      return value;
  }
  return 0;
}

/// With fewer products some multiprocessors have no full group, and tiles are faster: 500 of 32
/// take 10.1 µs by batched_small and 8.2 by tiles.
constexpr int64_t kManyProducts = 1024;

/// The largest side of C up to which batched_small computes a batch. On an H200 it is faster than
/// the fastest tile up to 40 for f32 (110 µs instead of 140, for 10,000 products) and up to 32 for
/// f64.
int64_t batched_most(uint32_t dtype) { return dtype == TRINE_F64 ? 32 : 40; }

/// Is a group for each product the fastest: small, or for f64 tensor_small? The bounds are from an
/// H200. They take it up to 2.1 times as fast as the best other rung (10,000 of 40 f64: 96 µs
/// instead of 195). Other rungs are faster for tiny sides in large batches (100,000 of 8 f32: 34
/// instead of 72), for f32 of 64 (158 instead of 182), for few products (100 of 32: 3.1 instead of
/// 4.3), and where C is small beside its operands (20,000 of 16x32x64 f32: 142 instead of 308).
bool prefers_small(const Target& target, uint32_t dtype, const Problem& p) {
  // Where copies don't run in the background it wasn't measured.
  if (dtype == TRINE_I32 || side_index(p) == std::size(kSides) || !target.has(TRINE_CAN_INLINE_PTX))
    return false;
  constexpr int64_t kManyTiny = 8192;
  const bool f64 = dtype == TRINE_F64, in_vectors = p.n % 4 == 0 && p.k % 4 == 0;
  const int64_t side = std::max({p.m, p.n, p.k}), units = target.facts->compute_units;
  const int64_t tiny = f64 ? 10 : in_vectors ? 12 : 8;
  if (p.m * p.n * (f64 ? 8 : 3) < side * side) return false;
  if (side <= tiny && p.batch > kManyTiny) return false;
  if (side > 56 && !f64 && in_vectors) return false;
  if (side <= 56) return p.batch >= (side <= 16 ? 32 : 3 * units / 2);
  return p.batch >= (!f64 ? 16 * units : in_odd_runs(p) ? units : 3 * units / 2);
}

/// Is `small`, with all of k in local memory, the fastest for a single f32 product of short k? On
/// an H200 it then takes 0.6 to 0.9 of the time of the tiles that stream k (10183x6675x31: 191 µs
/// instead of 250). An exception, of 36: 1524x1230x48 takes 1.45 times as long. For f64 tiles are
/// faster.
bool prefers_short(const Target& target, uint32_t dtype, const Problem& p) {
  constexpr int64_t kLeast = 200000;  // elements of C
  const int64_t narrow = std::min(p.m, p.n);
  if (p.empty() || dtype != TRINE_F32 || !target.has(TRINE_CAN_INLINE_PTX) || p.batch > 1 ||
      tile_side_index(p) == std::size(kSides) || p.m < divide_up(kLeast, p.n))
    return false;
  return narrow > 32 && (p.k < 32 || p.n % 4 != 0);
}

/// Is three_tf32 faster than a rung whose time is `others`, in multiply-adds at full speed? Its
/// tiles are divided evenly, at 2.5 times that speed; the parts of A and B are written to memory
/// and read; and a launch takes 24 µs more. The estimate is within 9 % of the times measured on an
/// H200 from 1024 to 2304.
bool prefers_three_tf32(const Target& target, const trine_gemm& op, const Problem& p,
                        double others) {
  constexpr int64_t kTileM = 256, kTileN = 192;
  constexpr double kSpeed = 2.5, kLanes = 0.65, kStart = 5e6;
  if (op.dtype != TRINE_F32 || op.numerics != TRINE_FAST || !p.multiply) return false;
  const double tiles = static_cast<double>(divide_up(p.m, kTileM)) *
                       static_cast<double>(divide_up(p.n, kTileN)) * static_cast<double>(p.batch);
  const double units = std::max(target.facts->compute_units, 1u);
  const double lanes = static_cast<double>(p.m + p.n) * static_cast<double>(p.batch);
  return (tiles * kTileM * kTileN / units / kSpeed + lanes * kLanes) * static_cast<double>(p.k) +
             kStart <
         others;
}

/// The cost of an exact product's other launches, in multiply-adds at full speed: 11 µs for the
/// bounds and the open elements, and 16 bytes an element of each group's chains at 4 TB/s.
double other_launches(const Problem& p, int64_t parts) {
  constexpr double kLaunches = 2.5e6, kElement = 1;
  return kLaunches + kElement * static_cast<double>(parts * p.m * p.n * p.batch);
}

/// Is `residues` faster than tiles of f64 that take `others` picoseconds? The figures are from an
/// H200: a product modulo a modulus costs little, residues cost memory traffic by elements of A, B
/// and C, and the launches take 33 µs. Its workspace, but for a copy of B, is at most an eighth of
/// the largest buffer.
bool prefers_residues(const Target& target, const trine_gemm& op, const Problem& p, double others) {
  constexpr double kStart = 33e6, kStep = 0.0148, kElement = 6.5;
  constexpr int64_t kTile = 256, kDepth = 128;
  constexpr double kBytes = 13;  // an element
  if (target.backend != kCuda || op.dtype != TRINE_F32 || !trine_is_exact(&op) || !p.multiply)
    return false;
  const auto padded = [](int64_t x, int64_t by) {
    return static_cast<double>(divide_up(x, by) * by);
  };
  const double m = padded(p.m, kTile), n = padded(p.n, kTile), k = padded(p.k, kDepth);
  const double batch = static_cast<double>(p.batch);
  const double operands =
      m * k * static_cast<double>(p.matrices(p.a)) + n * k * static_cast<double>(p.matrices(p.b));
  const double results = m * n * batch;
  return kStart + results * k * kStep + (operands + results) * kElement < others &&
         (operands + results) * kBytes * 8 < static_cast<double>(target.facts->max_buffer_bytes);
}

}  // namespace

Preferred prefer_gemm(const Target& target, const trine_gemm& op) {
  const bool widens = trine_is_exact(&op);
  Preferred wishes;
  if (target.backend == kOpencl && target.is_cpu() && widens) {
    wishes.add(variant_named("private_exact"), 0,
               "private_exact: on a CPU a work-item is a loop, chains of f64, rounded once");
    return wishes;
  }
  if (widens && op.dtype == TRINE_F64) {
    wishes.add(variant_named("bounded"), 0, "bounded: chains of pairs of f64, rounded once");
    return wishes;
  }
  if (target.backend == kOpencl && target.is_cpu()) {
    wishes.add(variant_named("private_tile"), 0,
               "private_tile: on a CPU a work-item is a loop, vectors hold the tile");
    return wishes;
  }
  const uint32_t dtype = widens ? uint32_t{TRINE_F64} : op.dtype;  // of the chains
  const Problem problem(op);
  std::array<std::pair<double, const Candidate*>, std::size(kCandidates)> by_time;
  size_t count = 0;
  const double units = target.facts->compute_units;
  const bool between_vectors =
      !keeps_vectors(problem.a, problem.element) || !keeps_vectors(problem.b, problem.element);
  for (const Candidate& one : kCandidates) {
    if ((one.dtypes & (widens ? kExact : 1u << dtype)) == 0 ||
        (one.rung == kDeepRung.rung && !suits_deep(problem)))
      continue;
    const int64_t parts = !widens
                              ? 1
                              : exact_parts(problem, tiles_of(problem, {one.tile_m, one.tile_n, 0}),
                                            static_cast<int64_t>(units * one.groups));
    Problem shared = problem;  // by groups that each have a part of k
    shared.batch *= parts;
    // Groups of small tiles finish exact products themselves.
    const bool finishes = parts == 1 && one.tile_m * one.tile_n <= kFusedTile;
    const double whole = busiest(one, shared, divide_up(problem.k, parts),
                                 target.facts->compute_units, widens ? one.widened : 1) +
                         (widens && !finishes ? other_launches(problem, parts) : 0);
    const double time = whole / (!between_vectors    ? 1
                                 : problem.continues ? one.by_elements
                                                     : one.odd);
    size_t at = count++;
    for (; at > 0 && time < by_time[at - 1].first; --at) by_time[at] = by_time[at - 1];
    by_time[at] = {time, &one};
  }
  if (count > 0 && prefers_three_tf32(target, op, problem, by_time[0].first))
    wishes.add(variant_named("three_tf32"), 0,
               "three_tf32: three products of TF32 numbers, not one of f32");
  if (widens && count > 0 &&
      prefers_residues(target, op, problem, by_time[0].first / speed_of(*by_time[0].second) * 1e6))
    wishes.add(variant_named("residues"), 0,
               "residues: int8 products modulo a few numbers, not chains of f64");
  if (prefers_small(target, dtype, problem) || (!widens && prefers_short(target, dtype, problem)))
    wishes.add(variant_named(dtype == TRINE_F64 ? "tensor_small" : "small"), 0,
               "a group for each small product or tile, all of k in local memory");
  // A batch of products with so few results each.
  if (problem.batch >= kManyProducts && std::max(problem.m, problem.n) <= batched_most(dtype))
    wishes.add(variant_named("batched_small"), 0,
               "batched_small: many products too small for a tile each");
  // On an H200 it is faster than the tiles below from about 300 f32 products of 64 on (1000: 24 µs
  // instead of 31).
  if (dtype == TRINE_F32 && problem.batch >= 2 * int64_t{target.facts->compute_units} &&
      std::min(problem.m, problem.n) > batched_most(dtype) && std::max(problem.m, problem.n) <= 64)
    wishes.add(variant_named("register_tile"), 0, "register_tile: a 64×64 tile for each product");
  // Where copies don't run in the background it wasn't measured.
  if (target.has(TRINE_CAN_INLINE_PTX) && std::min(problem.m, problem.n) <= few_columns_most(dtype))
    wishes.add(variant_named("few_columns"), few_columns_rows(problem, target.facts->compute_units),
               "few_columns: the shorter side of C is too short for tiles");
  for (size_t i = 0; i < count; ++i)
    wishes.add(variant_named(by_time[i].second->rung), by_time[i].second->value,
               reason(*by_time[i].second, target.facts->compute_units));
  if (widens)
    wishes.add(variant_named("bounded"), 0, "bounded: chains in f64, of f32, without tensor cores");
  else
    wishes.add(variant_named("naive"), 0, "naive: the device is too small for tiles");
  return wishes;
}

}  // namespace trine::gpu
