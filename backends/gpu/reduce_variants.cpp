// The upper end of reduce's ladder on GPU backends, for any function, view and axis: how a call
// lies over groups of work-items, and which rung takes it. kernels/reduce/tile.h has the picture
// that this geometry fills; the historic sums are in reduce_sum_variants.cpp.
#include <array>
#include <string_view>

#include "reduce_problem.hpp"

namespace trine::gpu {
namespace {

// Groups that the registers of a multiprocessor hold at once (GROUPS in exact.kernel.h): one even
// wave. More spill.
constexpr int64_t kGroupsPerUnit = 3;

/// Several groups share a tile only if the tiles alone don't fill the device.
void split(Tiling& tiling, int64_t units, const Target& target) {
  constexpr int64_t kCounters = TRINE_CONTROL_BYTES / 4;
  const int64_t wanted = units_of(target) * kGroupsPerUnit;
  if (tiling.tiles <= std::min(kCounters, wanted / 2))
    tiling.splits = int32_t(std::clamp<int64_t>(units, 1, wanted / tiling.tiles));
}

/// `chunk`: elements that a lane takes at once.
Tiling tile(const Shape& s, int64_t chunk, const Target& target) {
  Tiling t{s};
  const int64_t threads = t.threads;
  if (s.results > 1 && s.results_are_neighbours()) {
    // Neighbouring results are neighbours in memory: at least 64 of them side by side.
    t.across = 1;
    const int64_t lanes = std::min(power_above(divide_up(s.cols, chunk)), threads);
    const int64_t widest = std::min(threads, std::max<int64_t>(64, threads / lanes));
    t.tiles =
        divide_up(s.results, s.results <= 128 ? std::min<int64_t>(s.results, threads) : widest);
    t.width = int32_t(divide_up(s.results, t.tiles));
    t.lanes = t.col_lanes = int32_t(std::min(lanes, power_below(threads / t.width)));
  } else {
    // A full chunk for each lane, so that a group has as much in flight on short rows as on long
    // ones.
    t.col_lanes = int32_t(std::min(power_above(divide_up(s.cols, chunk)), threads));
    t.lanes = s.rows > 1 || s.results == 1 ? int32_t(threads) : t.col_lanes;
    t.width = int32_t(std::min(s.results, threads / t.lanes));
    t.tiles = divide_up(s.results, t.width);
  }
  const int64_t row_units = divide_up(s.rows, t.lanes / t.col_lanes);
  split(t, row_units * divide_up(s.cols, t.col_lanes * chunk), target);
  return t;
}

/// The same for products of floats (exact_product.h): strips of 16 neighbours, lanes over them, and
/// groups over a power of two of segments, so that every level is a level of the fixed tree.
Tiling product_tile(const Shape& s, const Target& target) {
  constexpr int64_t kStrip = 16;
  Tiling t{s};
  const int64_t threads = t.threads;
  const int64_t strips = divide_up(s.rows * s.cols, kStrip);
  t.across = s.results > 1 && s.results_are_neighbours();
  const int64_t most = t.across ? threads / std::min<int64_t>(32, power_above(s.results)) : threads;
  t.lanes = t.col_lanes = int32_t(std::min(power_above(strips), most));
  t.width = int32_t(std::min(s.results, threads / t.lanes));
  t.tiles = divide_up(s.results, t.width);
  const int64_t segments = divide_up(strips, t.lanes);
  split(t, segments, target);
  t.splits = int32_t(divide_up(segments, power_above(divide_up(segments, t.splits))));
  return t;
}

// --- exact ---------------------------------------------------------------------------------------

constexpr const char* kTypes[] = {"float", "double", "uint", "ulong"};
constexpr const char* kKinds[] = {"SUM", "SQUARES", "PROD", "EXTREME", "ARG", "DOT"};
constexpr const char* kExactThreads[] = {"256"};
constexpr Macro kExactMacros[] = {{"T", kTypes}, {"KIND", kKinds}, {"THREADS", kExactThreads}};
enum Type { kFloat, kDouble, kUint, kUlong };
enum Kind { kSum, kSquares, kProd, kExtreme, kArg, kDot };

bool exact_exists(const int* macro) {
  return (macro[1] != kSquares && macro[1] != kDot) || macro[0] <= kDouble;
}

int type_of(uint32_t dtype) {
  if (dtype == TRINE_F32) return kFloat;
  if (dtype == TRINE_F64) return kDouble;
  return trine_dtype_size(dtype) == 4 ? kUint : kUlong;
}

int kind_of(const trine_reduce& op) {
  switch (op.function) {
    case TRINE_SUM:
      if (op.map == TRINE_PRODUCT) return kDot;
      return op.map == TRINE_SQUARE && is_float(op.dtype) ? kSquares : kSum;
    case TRINE_PROD: return kProd;
    case TRINE_MIN:
    case TRINE_MAX: return kExtreme;
    default: return kArg;
  }
}

/// 64-bit words of one record of a tile shared by groups (exact_sum.h; exact_fold.h: value and
/// index).
int64_t record_words(const trine_reduce& op) {
  if (!is_float(op.dtype) || op.function != TRINE_SUM) return 2;
  if (kind_of(op) == kSum) return 5 + (op.dtype == TRINE_F32 ? 11 : 67);
  return 5 + (op.dtype == TRINE_F32 ? 20 : 133);
}

/// Products of floats have a tree of their own, which the order of the elements decides.
bool is_ordered(const trine_reduce& op) { return op.function == TRINE_PROD && is_float(op.dtype); }

Tiling exact_tiling(const Request& request) {
  const auto& op = request.as<trine_reduce>();
  const Shape shape = shape_of(op, is_ordered(op));
  if (is_ordered(op)) return product_tile(shape, request.target);
  return tile(shape, trine_dtype_size(op.dtype) == 4 ? 16 : 8, request.target);
}

const char* float_refuses(const Request& request) {
  const auto& op = request.as<trine_reduce>();
  if (is_float(op.dtype) && op.function == TRINE_SUM && !request.target.has(TRINE_CAN_F64))
    return "an exact sum of floats needs f64, which this device lacks";
  return nullptr;
}

/// PoCL 4 and 5 abort while they compile a kernel with barriers as complex as these ("Kernel.cc:
/// createParallelRegionBefore: Assertion region_entry_barrier != NULL"); PoCL 3 compiles it.
const char* exact_refuses(const Request& request) {
  if (request.target.is_pocl_since(4))
    return "PoCL 4 and later abort while compiling its barriers; exact_vector is for CPUs";
  if (exact_tiling(request).tiles > kMaxGroups)
    return "more results than one launch can have groups for";
  return float_refuses(request);
}

/// A record for each of the groups that share a result.
uint64_t records_bytes(const Tiling& t, int64_t results, int64_t words) {
  return t.splits == 1 ? 0 : TRINE_CONTROL_BYTES + uint64_t(results * t.splits * words * 8);
}

uint64_t exact_workspace(const Request& request) {
  const Tiling t = exact_tiling(request);
  return records_bytes(t, t.tiles * t.width, record_words(request.as<trine_reduce>()));
}

/// The arguments that every kernel of this ladder takes.
void add_launch(const Request& request, const Tiling& t, Phase phase, int64_t groups, Plan& plan) {
  const auto& op = request.as<trine_reduce>();
  const Shape& s = t.shape;
  Launch& l = plan.add(0);
  l.grid[0] = uint32_t(groups);
  l.block[0] = uint32_t(t.threads);
  l.memory(op.input.memory).i64(int64_t(op.input.offset) / trine_dtype_size(op.dtype));
  l.memory(op.output.memory).i64(int64_t(op.output.offset)).i64(op.output.row_stride);
  l.memory(request.workspace ? request.workspace->memory : nullptr);
  l.i64(request.workspace ? int64_t(request.workspace->offset) : 0);
  l.i64(s.results).i64(s.rows).i64(s.cols);
  l.i64(s.result_stride).i64(s.row_stride).i64(s.col_stride);
  l.i32(t.width).i32(std::countr_zero(uint32_t(t.lanes)));
  l.i32(std::countr_zero(uint32_t(t.col_lanes))).i32(t.across).i32(t.splits);
  l.i64(s.row_index).i64(s.col_index).i32(phase).i32(options_of(op));
  if (kind_of(op) != kDot) return;
  l.memory(op.second.memory).i64(int64_t(op.second.offset) / trine_dtype_size(op.dtype));
  l.i64(s.second.result_stride).i64(s.second.row_stride).i64(s.second.col_stride);
}

/// One launch if groups that share a result can finish it, else one that accumulates and one that
/// finishes.
void add_launches(const Request& request, const Tiling& t, bool whole, Plan& plan) {
  add_launch(request, t, whole ? kWhole : kAccumulate, t.tiles * t.splits, plan);
  if (!whole) add_launch(request, t, kFinish, t.tiles, plan);
}

void exact_plan(const Request& request, Plan& plan) {
  const auto& op = request.as<trine_reduce>();
  const Tiling t = exact_tiling(request);
  plan.macro[0] = type_of(op.dtype);
  plan.macro[1] = kind_of(op);
  add_launches(request, t, t.splits == 1 || finishes_at_once(request.target), plan);
}

// --- exact_lines: many sums of f32 ---------------------------------------------------------------

constexpr const char* kLineTypes[] = {"float"};
constexpr const char* kLineThreads[] = {"256", "512", "1024"};
constexpr Macro kLineMacros[] = {{"T", kLineTypes}, {"THREADS", kLineThreads}};

/// As few lanes a row or column as fill the device: twice as many lose a tenth, eight times as many
/// a third. But long rows have up to four times as many where the last groups would else leave a
/// tenth of the device idle (H200, 5000 x 20000: 117 µs with 32, 103 with 128).
struct Lines : Tiling {
  explicit Lines(const Target& target, const trine_reduce& op) : Tiling{shape_of(op, false)} {
    const Shape& s = shape;
    const int64_t filling = 1400 * units_of(target);
    across = s.results_are_neighbours();
    const int64_t wanted = power_below(filling / std::max<int64_t>(s.results, 1));
    const int64_t full = power_above(divide_up(s.cols, 16));  // sixteen elements a lane
    const int64_t least = across ? 1 : 4, most = across ? 128 : 256;
    take(std::min(std::clamp(wanted, least, most), full));
    if (across) return;
    const int64_t few = lanes, slots = 4 * units_of(target);
    const auto thin = [&] { return 10 * tiles < 9 * divide_up(tiles, slots) * slots; };
    while (thin() && lanes < std::min(4 * few, most) && s.cols >= 128 * lanes) take(2 * lanes);
    if (thin()) take(few);
  }
  /// Is the device half full at least, and evenly? (On an H200 1000 x 1000 takes 3.7 µs by columns,
  /// 4.1 by rows, and 9.6 and 5.0 by `exact`; but 300 rows of 30000, three on some multiprocessors
  /// and two on others, 15.9 and 14.2.)
  bool fill(const Target& target) const {
    const int64_t units = units_of(target);
    const bool even =
        across || tiles > 4 * units || 5 * divide_up(tiles, units) * units < 6 * tiles;
    return even && shape.results * lanes >= 450 * units;
  }
  /// Columns of which a lane adds at most 64: groups that share them end later (H200, 5000 x 77:
  /// 7.0 µs, 10.1 by exact_columns).
  bool are_short() const {
    return across && shape.cols <= 64 * 128 && shape.cols * shape.results >= 1 << 14;
  }
  /// Rows so few and so long that a group takes one: exact_stream does that better (H200,
  /// 300 x 30000: 12.9 µs, 16.5 by exact_lines, 14.3 by `exact`; 600 x 40000: 27.5, 32.5, 31.8).
  bool are_few(const Target& target) const {
    return !across && shape.cols > 2048 && shape.results * 256 <= 1400 * units_of(target);
  }

 private:
  void take(int64_t each) {
    lanes = col_lanes = int32_t(each);
    if (across) threads = std::clamp<int64_t>(32 * lanes, 256, 1024);
    width = int32_t(threads / lanes);
    tiles = divide_up(shape.results, width);
  }
};

const char* lines_refuses(const Request& request) {
  const auto& op = request.as<trine_reduce>();
  if (request.target.is_pocl_since(4)) return "untried under PoCL 4 and later";
  if (kind_of(op) != kSum || op.dtype != TRINE_F32) return "exact_lines is for sums of f32";
  if (op.axis == TRINE_ALL) return "exact_lines is for rows or columns";
  const Lines lines(request.target, op);
  if (!lines.across && lines.shape.cols > 1 && lines.shape.col_stride != 1)
    return "neither the rows nor the columns have unit stride";
  if (lines.threads > request.target.facts->max_group_threads)
    return "the device's groups are too small";
  if (lines.tiles > kMaxGroups) return "more results than one launch can have groups for";
  return float_refuses(request);
}

void lines_plan(const Request& request, Plan& plan) {
  const Lines lines(request.target, request.as<trine_reduce>());
  plan.macro[1] = lines.threads == 256 ? 0 : lines.threads == 512 ? 1 : 2;
  add_launch(request, lines, kWhole, lines.tiles, plan);
}

// --- exact_columns: columns of f32 ---------------------------------------------------------------

constexpr const char* kColumnThreads[] = {"256", "512"};
constexpr Macro kColumnMacros[] = {{"T", kLineTypes}, {"THREADS", kColumnThreads}};

/// One group a multiprocessor, each with some rows of a tile of neighbouring columns. shape.rows:
/// how many rows are one; row_stride and across: exact_columns.kernel.h.
struct Columns : Tiling {
  explicit Columns(const Target& target, const trine_reduce& op) : Tiling{shape_of(op, false)} {
    threads = finishes_at_once(target) ? 512 : 256;
    Shape& s = shape;
    if (s.col_stride == s.results && s.results % 4 != 0) s.rows = s.results % 2 == 0 ? 2 : 4;
    if (s.rows * s.results > kMost) s.rows = 1;
    if (s.rows > 1) {
      take(s.rows * s.results, target);
      return;
    }
    const bool aligned = op.input.offset % 16 == 0 && s.col_stride % 4 == 0;
    double best = 0;
    Columns fastest = *this;
    for (int64_t wanted = aligned ? 8 : 32; wanted <= kWidest; wanted *= 2) {
      const int64_t pieces = divide_up(s.results, wanted);
      take(pieces == 1 ? divide_up(s.results, 4) * 4 : divide_up(s.results, pieces * 8) * 8,
           target);
      const double time = cost(target);
      if (best == 0 || time < best) {
        best = time;
        fastest = *this;
      }
    }
    *this = fastest;
  }
  static constexpr int64_t kMost = 256, kWidest = 128, kChunkRows = 4;
  /// With fewer elements `exact` is faster.
  bool many() const { return shape.cols * shape.results >= 1 << 14; }
  /// The doubles of a work-item take 2^17 chunks, 64 bits the sum of 2^31 rows.
  bool fits() const {
    return shape.cols / (group_rows() * splits) < 1 << 17 && shape.cols < int64_t{1} << 31;
  }

 private:
  int64_t group_rows() const { return threads / divide_up(width, 4) * kChunkRows; }
  void take(int64_t columns, const Target& target) {
    width = int32_t(columns);
    tiles = divide_up(shape.results * shape.rows, width);
    const int64_t most = std::max<int64_t>(units_of(target) / tiles, 1);
    const int64_t all = divide_up(shape.cols, shape.rows * group_rows());
    splits = int32_t(std::clamp<int64_t>(all, 1, most));
    shape.row_stride = tiles;
    across = (1 << 16) / (width / 4) + 1;
  }
  /// Microseconds on an H200: of the chunks that a multiprocessor takes, short runs of memory take
  /// longer; and of groups that add up what they have, the last one all parts of its tile.
  double cost(const Target& target) const {
    const double rounds = double(divide_up(tiles * splits, units_of(target)));
    const double chunks = double(divide_up(shape.cols, group_rows() * splits));
    const double run = width <= 8 ? 1.3 : width <= 16 ? 1.1 : 1;
    return rounds * chunks * run + (splits > 1 ? 2.5 + splits * width / 2000.0 : 0);
  }
};

const char* columns_refuses(const Request& request) {
  const auto& op = request.as<trine_reduce>();
  if (request.target.is_pocl_since(4)) return "untried under PoCL 4 and later";
  if (kind_of(op) != kSum || op.dtype != TRINE_F32) return "exact_columns is for sums of f32";
  const Shape s = shape_of(op, false);
  if (op.axis == TRINE_ALL || s.results < 2 || s.result_stride != 1 || s.col_stride < s.results)
    return "exact_columns is for columns side by side, of rows that don't overlap";
  const Columns columns(request.target, op);
  if (!columns.fits()) return "more elements than two doubles of a work-item hold";
  if (columns.tiles > kMaxGroups || s.results > INT32_MAX)
    return "more results than one launch can have groups for";
  if (columns.threads > request.target.facts->max_group_threads)
    return "the device's groups are too small";
  return float_refuses(request);
}

/// A part and, where it doesn't hold the sum, digits and flags.
uint64_t columns_workspace(const Request& request) {
  const Columns columns(request.target, request.as<trine_reduce>());
  const int64_t each = columns.shape.rows > 1 ? columns.shape.results : columns.width;
  return records_bytes(columns, columns.tiles * each, 2 + 14);
}

void columns_plan(const Request& request, Plan& plan) {
  const Columns columns(request.target, request.as<trine_reduce>());
  plan.macro[1] = columns.threads == 256 ? 0 : 1;
  add_launches(request, columns, columns.splits == 1 || finishes_at_once(request.target), plan);
}

// --- exact_short: many sums of a few f32 ---------------------------------------------------------

constexpr const char* kShortLengths[] = {"4", "8", "16"};
constexpr Macro kShortMacros[] = {
    {"T", kLineTypes}, {"LENGTH", kShortLengths}, {"THREADS", kExactThreads}};

/// A work-item adds 16 elements, in lines of at most 4, 8 or 16.
struct Short : Tiling {
  int length;
  explicit Short(const trine_reduce& op) : Tiling(Tiling{shape_of(op, false)}) {
    length = int(std::clamp<int64_t>(power_above(shape.cols), 4, 16));
    tiles = divide_up(shape.results, threads * 16 / length);
  }
};

const char* short_refuses(const Request& request) {
  const auto& op = request.as<trine_reduce>();
  if (kind_of(op) != kSum || op.dtype != TRINE_F32) return "exact_short is for sums of f32";
  const Short lines(op);
  if (op.axis == TRINE_ALL || lines.shape.cols > 16)
    return "exact_short is for rows or columns of at most 16 elements";
  if (lines.tiles > kMaxGroups) return "more results than one launch can have groups for";
  return float_refuses(request);
}

void short_plan(const Request& request, Plan& plan) {
  const auto& op = request.as<trine_reduce>();
  const Short lines(op);
  plan.macro[1] = std::countr_zero(uint32_t(lines.length / 4));
  add_launch(request, lines, kWhole, lines.tiles, plan);
}

// --- exact_stream: one sum of floats, or a few rows' ---------------------------------------------

constexpr const char* kStreamKinds[] = {"SUM", "SQUARES", "DOT"};
constexpr Macro kStreamMacros[] = {
    {"T", std::span(kTypes).first<2>()}, {"KIND", kStreamKinds}, {"THREADS", kLineThreads}};

bool stream_exists(const int* macro) {
  const bool sum = macro[1] == 0, dot = macro[1] == 2;
  return sum ? macro[2] < 2 : macro[0] == kFloat || !dot;
}

/// One group a multiprocessor: of 256 work-items, whose sums are soon one, where those load twice
/// at most (H200, 2^20 f32: 3.8 µs, of 512 4.4); squares and products have 1024 where those load
/// often (2^25: 37 µs, of 512 42). Rows that are more than that have a group each.
Tiling stream_tiling(const Request& request) {
  constexpr int64_t kRecords = TRINE_CONTROL_BYTES / 24, kTwice = 2 * 256, kOften = 15 * 1024;
  const auto& op = request.as<trine_reduce>();
  Tiling t{shape_of(op, false)};
  const int64_t chunk = (kind_of(op) == kSum ? 64 : 32) / trine_dtype_size(op.dtype);
  // The last group of a sum waits for the others' records, so all its groups must be resident.
  const int64_t each = std::min(units_of(request.target), kRecords) / t.shape.results;
  const int64_t shares = divide_up(t.shape.cols, chunk), units = std::max<int64_t>(each, 1);
  t.threads = each > 0 && shares > kTwice * units ? 512 : 256;
  if (kind_of(op) != kSum && shares >= kOften * units) t.threads = 1024;
  // With more work-items PoCL 3.1 gives wrong sums: its default work-item loops (loopvec) don't
  // clear a group's accumulator before the fallback if one turn of a loop would do that. With its
  // plain loops (POCL_WORK_GROUP_METHOD=workitemloops) the sums are right, and Oclgrind sees no
  // race.
  if (request.target.is_cpu()) t.threads = 256;
  t.splits = int32_t(std::min(divide_up(shares, t.threads), units));
  t.tiles = t.shape.results;
  return t;
}

const char* stream_refuses(const Request& request) {
  const auto& op = request.as<trine_reduce>();
  if (request.target.is_pocl_since(4)) return "untried under PoCL 4 and later";
  const int kind = is_float(op.dtype) ? kind_of(op) : kArg;
  if (kind != kSum && kind != kSquares && (kind != kDot || op.dtype != TRINE_F32))
    return "exact_stream is for sums of floats and of their squares, and of products of f32";
  const Tiling t = stream_tiling(request);
  const Shape& s = t.shape;
  const bool spaced = s.col_stride != 1 || (kind == kDot && s.second.col_stride != 1);
  if (s.rows != 1 || (s.cols > 1 && spaced))
    return "exact_stream is for sums of neighbouring elements";
  if (t.tiles > kMaxGroups) return "more results than one launch can have groups for";
  if (t.threads > request.target.facts->max_group_threads)
    return "the device's groups are too small";
  return float_refuses(request);
}

uint64_t stream_workspace(const Request& request) {
  const Tiling t = stream_tiling(request);
  return records_bytes(t, t.tiles, record_words(request.as<trine_reduce>()));
}

void stream_plan(const Request& request, Plan& plan) {
  const auto& op = request.as<trine_reduce>();
  const Tiling t = stream_tiling(request);
  plan.macro[0] = type_of(op.dtype);
  plan.macro[1] = kind_of(op) == kDot ? 2 : kind_of(op);
  plan.macro[2] = std::countr_zero(uint32_t(t.threads / 256));
  add_launches(request, t, t.splits == 1 || finishes_at_once(request.target), plan);
}

// --- fold_stream: one minimum, maximum or place of one, or a few rows' ---------------------------

constexpr const char* kFoldKinds[] = {"EXTREME", "ARG"};
constexpr const char* kFoldThreads[] = {"512"};
constexpr Macro kFoldMacros[] = {
    {"T", kLineTypes}, {"KIND", kFoldKinds}, {"THREADS", kFoldThreads}};

/// One group a multiprocessor, whose records find room where they stay zero between launches.
Tiling fold_tiling(const Request& request) {
  const auto& op = request.as<trine_reduce>();
  Tiling t{shape_of(op, false), 512};
  const int64_t records = TRINE_CONTROL_BYTES / (kind_of(op) == kArg ? 16 : 8);
  const int64_t each = std::min(units_of(request.target), records) / t.shape.results;
  const int64_t shares = divide_up(t.shape.cols, t.threads * 16);
  t.splits = int32_t(std::clamp<int64_t>(each, 1, std::max<int64_t>(shares, 1)));
  t.tiles = t.shape.results;
  return t;
}

const char* fold_refuses(const Request& request) {
  const auto& op = request.as<trine_reduce>();
  if (op.dtype != TRINE_F32 || (kind_of(op) != kExtreme && kind_of(op) != kArg))
    return "fold_stream is for minima and maxima of f32 and their places";
  if (!finishes_at_once(request.target)) return "fold_stream needs NVIDIA's warps";
  const Tiling t = fold_tiling(request);
  if (t.shape.rows != 1 || (t.shape.cols > 1 && t.shape.col_stride != 1))
    return "fold_stream is for neighbouring elements";
  if (t.tiles > kMaxGroups) return "more results than one launch can have groups for";
  return nullptr;
}

uint64_t fold_workspace(const Request& request) {
  return records_bytes(fold_tiling(request), 0, 0);
}

void fold_plan(const Request& request, Plan& plan) {
  const auto& op = request.as<trine_reduce>();
  const Tiling t = fold_tiling(request);
  plan.macro[1] = kind_of(op) - kExtreme;
  add_launch(request, t, kWhole, t.tiles * t.splits, plan);
  // More than half of a multiprocessor's, so that the next launch's groups begin when these end,
  // and what they fetch is still in the L2 when they read it.
  plan.launches[0].dynamic_local_bytes =
      uint32_t(request.target.facts->local_memory_bytes / 2 + 1024);
}

// --- product_stream: one product of floats -------------------------------------------------------

constexpr Macro kProductMacros[] = {{"T", std::span(kTypes).first<2>()},
                                    {"THREADS", kExactThreads}};

/// A unit is eight warps' loads. Units are so large that the products of all units fit into one
/// unit.
struct Product : Tiling {
  int64_t unit, most;  ///< elements of a unit, and units that there may be
  explicit Product(const Request& request)
      : Tiling(Tiling{shape_of(request.as<trine_reduce>(), true)}),
        unit(threads * 128 / trine_dtype_size(request.as<trine_reduce>().dtype)),
        most(unit) {
    while (divide_up(shape.cols, unit) > most) unit *= 2;
    splits = int32_t(std::min(divide_up(shape.cols, unit), 4 * units_of(request.target)));
  }
};

const char* product_refuses(const Request& request) {
  const auto& op = request.as<trine_reduce>();
  if (!is_ordered(op)) return "product_stream is for products of floats";
  if (!finishes_at_once(request.target)) return "product_stream needs NVIDIA's warps";
  const Product t(request);
  if (t.shape.results != 1 || t.shape.rows != 1 || (t.shape.cols > 1 && t.shape.col_stride != 1))
    return "product_stream is for one product of neighbouring elements";
  return nullptr;
}

uint64_t product_workspace(const Request& request) {
  const Product t(request);
  return t.splits == 1 ? 0 : TRINE_CONTROL_BYTES + uint64_t(t.most) * 8;
}

void product_plan(const Request& request, Plan& plan) {
  const Product t(request);
  plan.macro[0] = type_of(request.as<trine_reduce>().dtype);
  add_launch(request, t, kWhole, t.splits, plan);
}

// --- exact_vector --------------------------------------------------------------------------------

constexpr auto kVectorMacros = std::span(kExactMacros).first<2>();

const char* vector_refuses(const Request& request) {
  if (!request.target.is_cpu()) return "made for CPUs: one work-item a group leaves a GPU idle";
  return float_refuses(request);
}

/// Groups of one work-item: 8 a core, so that an uneven end costs little.
Tiling vector_tiling(const Request& request) {
  constexpr int64_t kLanes = 64;  // exact_vector.cl
  const auto& op = request.as<trine_reduce>();
  Tiling t{shape_of(op, is_ordered(op)), 1};
  const Shape& s = t.shape;
  const int64_t wanted = 8 * units_of(request.target);
  t.across = s.results > 1 && (s.results_are_neighbours() || s.cols < kLanes);
  const int64_t each = t.across ? kLanes : 1;
  t.width = int32_t(divide_up(divide_up(s.results, each), wanted) * each);
  t.tiles = divide_up(s.results, t.width);
  const int64_t pieces = std::max(s.rows, divide_up(s.cols, 16 * kLanes));
  t.splits = int32_t(std::clamp<int64_t>(wanted / t.tiles, 1, pieces));
  if (is_ordered(op)) {  // powers of two of strips: subtrees
    const int64_t strips = divide_up(s.rows * s.cols, 16);
    t.splits = int32_t(std::min<int64_t>(t.splits, divide_up(strips, 256)));
    t.splits = int32_t(divide_up(strips, power_above(divide_up(strips, t.splits))));
  }
  return t;
}

uint64_t vector_workspace(const Request& request) {
  const Tiling t = vector_tiling(request);
  const auto& op = request.as<trine_reduce>();
  const bool sum = is_float(op.dtype) && op.function == TRINE_SUM;
  // Words alone, no folds.
  return records_bytes(t, t.shape.results, record_words(op) - (sum ? 4 : 0));
}

void vector_plan(const Request& request, Plan& plan) {
  const auto& op = request.as<trine_reduce>();
  const Tiling t = vector_tiling(request);
  plan.macro[0] = type_of(op.dtype);
  plan.macro[1] = kind_of(op);
  add_launch(request, t, kAccumulate, t.tiles * t.splits, plan);
  if (t.splits > 1) add_launch(request, t, kFinish, std::min<int64_t>(t.shape.results, 1024), plan);
}

/// The members that rows have in common: those that NVIDIA's GPUs run begin early.
constexpr Variant row(Variant variant) {
  variant.operation = TRINE_REDUCE;
  variant.begins_early = variant.backends != kOpencl;
  return variant;
}

constexpr Variant kVariants[] = {
    row({.name = "exact_columns",
         .summary = "columns of f32: a work-item keeps four of them, elements are read once",
         .requirement = "sums of f32 along columns side by side",
         .default_for = "f32 by columns, from 2^14 elements on",
         .file = "reduce/exact_columns",
         .macros = kColumnMacros,
         .refuses = columns_refuses,
         .workspace_bytes = columns_workspace,
         .plan = columns_plan}),
    row({.name = "exact_lines",
         .summary = "many exact sums of f32: rows or columns, each by its own lanes of one group",
         .requirement = "sums of f32 along rows or columns",
         .default_for = "f32 by rows or columns, if results x lanes >= 450 x multiprocessors; "
                        "columns up to 8192 long",
         .file = "reduce/exact_lines",
         .macros = kLineMacros,
         .refuses = lines_refuses,
         .plan = lines_plan}),
    row({.name = "exact_short",
         .summary = "many exact sums of a few f32: rows or columns, whole lines by one work-item",
         .requirement = "sums of f32 along rows or columns of at most 16 elements",
         .default_for = "f32 by rows or columns up to 16 long",
         .file = "reduce/exact_short",
         .macros = kShortMacros,
         .refuses = short_refuses,
         .plan = short_plan}),
    row({.name = "exact_stream",
         .summary = "one exact sum of floats, or few: the fast path alone, no ticket at its end",
         .requirement = "sums of neighbouring floats or of their squares, or of products of f32",
         .default_for = "at most one sum a multiprocessor; on CUDA f32 by long rows, at most five",
         .file = "reduce/exact_stream",
         .macros = kStreamMacros,
         .exists = stream_exists,
         .refuses = stream_refuses,
         .workspace_bytes = stream_workspace,
         .plan = stream_plan}),
    row({.name = "fold_stream",
         .summary = "one minimum, maximum or place of one, or few: as exact_stream, no ticket",
         .requirement = "minima and maxima of neighbouring f32, or their places; NVIDIA's warps",
         .default_for = "f32 on CUDA, at most one result a multiprocessor",
         .file = "reduce/fold_stream",
         .macros = kFoldMacros,
         .refuses = fold_refuses,
         .workspace_bytes = fold_workspace,
         .plan = fold_plan}),
    row({.name = "product_stream",
         .summary = "one product of floats: vectors, and the tree's lower levels within warps",
         .requirement = "one product of neighbouring floats; NVIDIA's warps",
         .default_for = "one product",
         .file = "reduce/product_stream",
         .macros = kProductMacros,
         .refuses = product_refuses,
         .workspace_bytes = product_workspace,
         .plan = product_plan}),
    row({.name = "exact",
         .summary = "any function, view and axis; float sums exact, rounded once; one launch",
         .default_for = "all else",
         .file = "reduce/exact",
         .macros = kExactMacros,
         .exists = exact_exists,
         .refuses = exact_refuses,
         .writes_states = true,
         .workspace_bytes = exact_workspace,
         .plan = exact_plan}),
    row({.name = "exact_vector",
         .summary = "exact on a CPU: one work-item a group, vectors of eight lanes",
         .requirement = "a CPU device",
         .default_for = "CPUs",
         .file = "reduce/exact_vector",
         .backends = kOpencl,
         .macros = kVectorMacros,
         .exists = exact_exists,
         .refuses = vector_refuses,
         .writes_states = true,
         .workspace_bytes = vector_workspace,
         .plan = vector_plan}),
};

}  // namespace

std::span<const Variant> reduce_variants() {
  static const auto ladder = [] {
    std::array<Variant, kSumRungs + std::size(kVariants)> all;
    std::ranges::copy(kVariants, std::ranges::copy(reduce_sum_variants(), all.begin()).out);
    return all;
  }();
  return ladder;
}

Preferred prefer_reduce(const Target& target, const trine_reduce& op) {
  const auto named = [](std::string_view name) {
    return &*std::ranges::find_if(reduce_variants(),
                                  [&](const Variant& variant) { return variant.name == name; });
  };
  Preferred wishes;
  if (target.is_cpu()) {
    wishes.add(named("exact_vector"), 0,
               "a CPU device reduces in wide vectors, one work-item a group");
    return wishes;
  }
  const trine_selection none{};
  const trine_call call{sizeof call, TRINE_REDUCE, &op};
  const bool lines = op.axis != TRINE_ALL;
  const Request request{target, none, call, nullptr};
  if (lines && !short_refuses(request))
    wishes.add(named("exact_short"), 0, "lines so short that a work-item adds whole ones");
  const Lines all(target, op);
  if (lines && target.backend == kCuda && all.are_few(target) && !lines_refuses(request))
    wishes.add(named("exact_stream"), 0, "long rows, few of them: a group each");
  else if (lines && (all.fill(target) || all.are_short()))
    wishes.add(named("exact_lines"), 0, "many sums at once, the same bits on every device");
  if (lines && !columns_refuses(request) && Columns(target, op).many())
    wishes.add(named("exact_columns"), 0, "columns: four of them a work-item");
  // Elsewhere than on NVIDIA f64 wasn't measured, and its groups of 512 need more than 32 KB of
  // local memory.
  const bool measured = op.dtype == TRINE_F32 || target.has(TRINE_CAN_INLINE_PTX);
  if (measured && stream_tiling(request).tiles <= units_of(target) && !stream_refuses(request))
    wishes.add(named("exact_stream"), 0, "few sums of neighbours, the same bits on every device");
  if (target.backend == kCuda && !fold_refuses(request) &&
      fold_tiling(request).tiles <= units_of(target))
    wishes.add(named("fold_stream"), 0, "few extremes of neighbours, the same on every device");
  if (!product_refuses(request))
    wishes.add(named("product_stream"), 0, "one product of neighbours, by the same tree");
  wishes.add(named("exact"), 0, "exact: no special rung is for this shape");
  return wishes;
}

}  // namespace trine::gpu
