// The rows of transpose on a GPU backend: how a call is brought to one shape, which kernel of
// which specialization moves it, and which rung is the default.

#include <algorithm>
#include <utility>

#include "backends/gpu/variant.hpp"

namespace trine::gpu {
namespace {

constexpr int64_t kMaxGroups = 0x7fffffff;  // of a one-dimensional grid

/// A transpose as its kernels see it: element (i, j) moves from the input's to the output's place,
/// i and j being the input's row and column on both sides. Strides along extents of 1 are 0.
struct Move {
  int64_t rows, cols, batch;
  int64_t in_batch, in_row, in_col, out_batch, out_row, out_col;

  explicit Move(const trine_transpose& op)
      : rows(op.input.rows),
        cols(op.input.cols),
        batch(op.input.batch),
        in_batch(batch > 1 ? op.input.batch_stride : 0),
        in_row(rows > 1 ? op.input.row_stride : 0),
        in_col(cols > 1 ? op.input.col_stride : 0),
        out_batch(batch > 1 ? op.output.batch_stride : 0),
        out_row(rows > 1 ? op.output.col_stride : 0),
        out_col(cols > 1 ? op.output.row_stride : 0) {}

  void swap_roles() {
    std::swap(rows, cols);
    std::swap(in_row, in_col);
    std::swap(out_row, out_col);
  }
  bool empty() const { return rows == 0 || cols == 0 || batch == 0; }
};

int64_t divide_up(int64_t n, int64_t by) { return n / by + (n % by != 0); }

/// The number of groups for tiles_rows x tiles_cols x batch tiles, or more than kMaxGroups.
int64_t count_groups(int64_t tiles_rows, int64_t tiles_cols, int64_t batch) {
  if (tiles_rows > kMaxGroups || tiles_cols > kMaxGroups || batch > kMaxGroups) return INT64_MAX;
  const int64_t tiles = tiles_rows * tiles_cols;
  return tiles > kMaxGroups ? tiles : tiles * batch;
}

Launch& add_launch(Plan& plan, int entry, const trine_transpose& op, const Move& move,
                   int64_t tiles_rows, int64_t tiles_cols, int64_t batch) {
  Launch& launch = plan.add(entry);
  launch.grid[0] = static_cast<uint32_t>(tiles_rows * tiles_cols * batch);
  launch.memory(op.input.memory).i64(static_cast<int64_t>(op.input.offset));
  launch.i64(move.in_batch).i64(move.in_row).i64(move.in_col);
  launch.memory(op.output.memory).i64(static_cast<int64_t>(op.output.offset));
  launch.i64(move.out_batch).i64(move.out_row).i64(move.out_col);
  launch.i64(move.rows).i64(move.cols);
  launch.i32(static_cast<int32_t>(tiles_rows)).i32(static_cast<int32_t>(tiles_cols));
  return launch;
}

constexpr const char* kBytes[] = {"1", "2", "4", "8", "16"};
int bytes_index(uint32_t element_size) {
  int index = 0;
  while ((1u << index) < element_size) ++index;
  return index;
}

constexpr const char* kLittleMemory = "the device has too little local memory";
constexpr const char* kTooMany =
    "the views need more than 2^31 - 1 work-groups: split them or their batch";

// --- naive, shared, shared_padded: one element a work-item, BLOCK x BLOCK work-items a group -------

constexpr const char* kBlocks[] = {"8", "16", "32"};
constexpr trine_parameter kBlockParameters[] = {{sizeof(trine_parameter), 3, 2, "block", kBlocks}};
constexpr Macro kBlockMacros[] = {{"BYTES", kBytes}, {"BLOCK", kBlocks}};
constexpr const char* kPaddings[] = {"1", "2"};
constexpr trine_parameter kPaddedParameters[] = {
    {sizeof(trine_parameter), 3, 2, "block", kBlocks},
    {sizeof(trine_parameter), 2, 0, "padding", kPaddings}};
constexpr Macro kPaddedMacros[] = {{"BYTES", kBytes}, {"BLOCK", kBlocks}, {"PADDING", kPaddings}};

/// The index with unit stride on the input runs along the columns.
Move along_input(const trine_transpose& op) {
  Move move(op);
  if (move.in_row == 1 && move.in_col != 1) move.swap_roles();
  return move;
}

/// Why groups of `threads` work-items can't move tiles of side x side, of which local memory holds
/// `local_elements`; nullptr when they can.
const char* refuse_tiles(const Request& request, int64_t side, int64_t threads,
                         int64_t local_elements) {
  const auto& op = request.as<trine_transpose>();
  const trine_device_facts& facts = *request.target.facts;
  if (threads > facts.max_group_threads) return "the device's groups are too small";
  if (static_cast<uint64_t>(local_elements * op.element_size) > facts.local_memory_bytes)
    return kLittleMemory;
  const Move move = along_input(op);
  return count_groups(divide_up(move.rows, side), divide_up(move.cols, side), move.batch) >
                 kMaxGroups
             ? kTooMany
             : nullptr;
}

Launch& add_tiles(Plan& plan, const trine_transpose& op, const Move& move, int64_t side) {
  return add_launch(plan, 0, op, move, divide_up(move.rows, side), divide_up(move.cols, side),
                    move.batch);
}

int64_t block_of(const Request& request) { return int64_t{8} << request.selection.values[0]; }

const char* naive_refuses(const Request& request) {
  const int64_t block = block_of(request);
  return refuse_tiles(request, block, block * block, 0);
}

const char* shared_refuses(const Request& request) {
  const int64_t block = block_of(request);
  return refuse_tiles(request, block, block * block, block * block);
}

const char* padded_refuses(const Request& request) {
  const int64_t block = block_of(request);
  return refuse_tiles(request, block, block * block,
                      block * (block + 1 + request.selection.values[1]));
}

void block_plan(const Request& request, Plan& plan) {
  const auto& op = request.as<trine_transpose>();
  const int64_t block = block_of(request);
  const Move move = along_input(op);
  plan.macro[0] = bytes_index(op.element_size);
  plan.macro[1] = request.selection.values[0];
  if (move.empty()) return;
  Launch& launch = add_tiles(plan, op, move, block);
  launch.block[0] = launch.block[1] = static_cast<uint32_t>(block);
}

void padded_plan(const Request& request, Plan& plan) {
  plan.macro[2] = request.selection.values[1];
  block_plan(request, plan);
}

// --- multi_row: four elements a work-item -------------------------------------------------------

constexpr Macro kBytesMacros[] = {{"BYTES", kBytes}};
constexpr int64_t kMultiRowSide = 32, kMultiRowHeight = 8;

const char* multi_row_refuses(const Request& request) {
  return refuse_tiles(request, kMultiRowSide, kMultiRowSide * kMultiRowHeight,
                      kMultiRowSide * (kMultiRowSide + 1));
}

void multi_row_plan(const Request& request, Plan& plan) {
  const auto& op = request.as<trine_transpose>();
  const Move move = along_input(op);
  plan.macro[0] = bytes_index(op.element_size);
  if (move.empty()) return;
  Launch& launch = add_tiles(plan, op, move, kMultiRowSide);
  launch.block[0] = kMultiRowSide;
  launch.block[1] = kMultiRowHeight;
}

// --- vector -------------------------------------------------------------------------------------

constexpr const char* kShapes[] = {"square", "tall", "wide"};
constexpr Macro kVectorMacros[] = {{"BYTES", kBytes}, {"SHAPE", kShapes}};
constexpr const char* kVectorEntries[] = {"vector", "carry"};
constexpr int64_t kVectorThreads = 256;

/// The launch of a turn in tiles, or of `carry`: for what has nothing to turn, and for what would
/// leave most of every tile empty.
struct VectorShape {
  Move move;
  int entry = 0, shape = 0;
  int64_t tiles_rows = 0, tiles_cols = 0, batch = 1, tile_elements = 0;

  explicit VectorShape(const trine_transpose& op) : move(op) {
    const int64_t bytes = op.element_size, lanes = 16 / bytes;
    if (move.empty()) return;
    if (move.in_row == 1 && move.in_col != 1) move.swap_roles();
    const bool turns = move.in_col == 1 && move.out_col != 1;
    const bool thin = std::min(move.rows, move.cols) <= lanes;
    if (turns && !thin && choose_tiles(bytes)) return;
    // Neighbours run along the unit stride, or along the long side of what is thin.
    if (thin ? move.rows > move.cols : move.out_row == 1 && move.in_col != 1) move.swap_roles();
    entry = 1;
    tiles_rows = divide_up(move.rows, lanes);
    tiles_cols = divide_up(points(), kVectorThreads * lanes);
  }

  /// Takes the shape of tile with the least waste; square unless another wastes much less. False
  /// if even that leaves three quarters of the tiles empty, as many small matrices do.
  bool choose_tiles(int64_t bytes) {
    const int64_t side = bytes == 1 ? 128 : bytes <= 4 ? 64 : 32;
    const int64_t heights[] = {bytes == 1 ? 256 : bytes == 2 ? 128 : side, side * 4, side / 4};
    const int64_t widths[] = {bytes == 2 ? 128 : side, side / 4, side * 4};
    double best = 0;
    for (int s = 0; s < 3; ++s) {
      const int64_t down = divide_up(move.rows, heights[s]),
                    across = divide_up(move.cols, widths[s]);
      const double used = static_cast<double>(move.rows) * static_cast<double>(move.cols) /
                          (static_cast<double>(down) * static_cast<double>(across) *
                           static_cast<double>(heights[s] * widths[s]));
      if (used < best * 1.25) continue;
      best = used;
      shape = s;
      tiles_rows = down;
      tiles_cols = across;
      tile_elements = heights[s] * widths[s];
    }
    if (best < 0.25 && move.batch > 1) return false;
    batch = move.batch;
    return true;
  }

  /// Columns of all batches in one row.
  int64_t points() const {
    return move.cols > 0 && move.batch > INT64_MAX / move.cols ? INT64_MAX : move.cols * move.batch;
  }
};

const char* vector_refuses(const Request& request) {
  // Measured: PoCL 5 leaves results of this kernel unwritten that PoCL 3 and GPUs write.
  if (request.target.is_pocl_since(4))
    return "wrong under PoCL 5 (4 is untried); work_item_tile is for CPUs";
  if (request.target.facts->max_group_threads < kVectorThreads)
    return "the device has no groups of 256 work-items";
  if (request.target.facts->local_memory_bytes < 32 << 10) return kLittleMemory;
  const VectorShape shape(request.as<trine_transpose>());
  return count_groups(shape.tiles_rows, shape.tiles_cols, shape.batch) > kMaxGroups ? kTooMany
                                                                                    : nullptr;
}

void vector_plan(const Request& request, Plan& plan) {
  const auto& op = request.as<trine_transpose>();
  const VectorShape shape(op);
  plan.macro[0] = bytes_index(op.element_size);
  plan.macro[1] = shape.shape;
  if (shape.move.empty()) return;
  Launch& launch = add_launch(plan, shape.entry, op, shape.move, shape.tiles_rows, shape.tiles_cols,
                              shape.batch);
  launch.block[0] = kVectorThreads;
  if (shape.entry == 1) launch.i64(shape.move.batch);
}

// --- shifted, pile: what starts anywhere, and what is small or thin -------------------------------

constexpr const char* kShiftedEntries[] = {"shifted"};
constexpr const char* kPileEntries[] = {"pile"};
constexpr int64_t kSectorBytes = 32, kPileBytes = 16384;

/// The call with unit strides along the input's columns and the output's rows, where there is such a side.
struct Turn {
  Move move;
  bool turns;

  explicit Turn(const trine_transpose& op)
      : move(along_input(op)), turns(move.in_col == 1 && move.out_row == 1 && !move.empty()) {}
  int64_t thin() const { return std::min(move.rows, move.cols); }
};

constexpr const char* kNothingToTurn = "the unit stride is along the same index on both sides";

const char* refuse_turn(const Request& request, const Turn& turn, int64_t groups) {
  if (request.target.is_pocl_since(4)) return "untried under PoCL 4 and later";
  if (request.target.facts->max_group_threads < kVectorThreads)
    return "the device has no groups of 256 work-items";
  if (request.target.facts->local_memory_bytes < 36 << 10) return kLittleMemory;
  if (turn.move.empty()) return nullptr;
  if (!turn.turns) return kNothingToTurn;
  return groups > kMaxGroups ? kTooMany : nullptr;
}

struct ShiftedTiles : Turn {
  int64_t tiles_rows, tiles_cols;

  explicit ShiftedTiles(const trine_transpose& op) : Turn(op) {
    const int64_t bytes = op.element_size, side = bytes == 16 ? 32 : 64;
    tiles_rows = divide_up(move.rows + kSectorBytes / bytes - 1, side);
    tiles_cols = divide_up(move.cols, side);
  }
};

const char* shifted_refuses(const Request& request) {
  const ShiftedTiles tiles(request.as<trine_transpose>());
  return refuse_turn(request, tiles,
                     count_groups(tiles.tiles_rows, tiles.tiles_cols, tiles.move.batch));
}

void shifted_plan(const Request& request, Plan& plan) {
  const auto& op = request.as<trine_transpose>();
  const ShiftedTiles tiles(op);
  plan.macro[0] = bytes_index(op.element_size);
  if (tiles.move.empty()) return;
  add_launch(plan, 0, op, tiles.move, tiles.tiles_rows, tiles.tiles_cols, tiles.move.batch)
      .block[0] = kVectorThreads;
}

/// Matrices of which a group turns several; one that is long and thin is cut into such.
struct Pile : Turn {
  int64_t most = 0;  ///< matrices of a group; 0: they are too large
  int32_t missing_rows = 0, missing_cols = 0;

  explicit Pile(const trine_transpose& op) : Turn(op) {
    const int64_t elements = kPileBytes / op.element_size;
    if (!turns || thin() > std::min(elements, kVectorThreads)) return;
    const int64_t longest = std::min(kVectorThreads, elements / thin());
    if (std::max(move.rows, move.cols) > longest) {
      if (move.batch > 1) return;
      move.rows > move.cols ? cut(move.rows, longest, move.in_row, move.out_row, missing_rows)
                            : cut(move.cols, longest, move.in_col, move.out_col, missing_cols);
    }
    most = elements / (move.rows * move.cols);
  }

 private:
  void cut(int64_t& extent, int64_t piece, int64_t in_stride, int64_t out_stride,
           int32_t& missing) {
    move.batch = divide_up(extent, piece);
    move.in_batch = piece * in_stride;
    move.out_batch = piece * out_stride;
    missing = static_cast<int32_t>(move.batch * piece - extent);
    extent = piece;
  }
};

const char* pile_refuses(const Request& request) {
  const Pile pile(request.as<trine_transpose>());
  if (pile.turns && pile.most == 0)
    return "a pile is of matrices within 16 KB, 256 rows and columns";
  return refuse_turn(request, pile, divide_up(pile.move.batch, std::max<int64_t>(pile.most, 1)));
}

void pile_plan(const Request& request, Plan& plan) {
  const auto& op = request.as<trine_transpose>();
  const Pile pile(op);
  plan.macro[0] = bytes_index(op.element_size);
  if (pile.move.empty()) return;
  Launch& launch = add_launch(plan, 0, op, pile.move, 1, 1, divide_up(pile.move.batch, pile.most));
  launch.block[0] = kVectorThreads;
  launch.i64(pile.move.batch).i32(pile.missing_rows).i32(pile.missing_cols);
}

/// Is a pile the fastest? H200, of copy, pile against vector: f32 65536 x 16x16 0.70, 0.33; 16384 x 32x32 0.70,
/// 0.42; 7281 x 48x48 0.50, 0.77; 5 x 3.4M 0.68, 0.28; f64 4 x 2M 0.71, 0.41; 8 x 1M 0.71, 0.95; b16 2 x 2M
/// 0.89, 0.42; b8 2 x 34M 0.23, 0.11.
bool prefers_pile(const trine_transpose& op) {
  const Pile pile(op);
  if (!pile.turns || pile.most == 0) return false;
  const int64_t bytes = op.element_size, thin = pile.thin(), thin_bytes = thin * bytes;
  if (op.input.batch == 1)
    return pile.move.batch > 16 && (thin_bytes <= 4 || (thin_bytes > 16 && thin < 8));
  const VectorShape shape(op);
  if (thin_bytes <= 16) return false;
  const double moved = double(pile.move.rows) * double(pile.move.cols);
  return shape.entry == 1 || 2 * moved < double(shape.tiles_rows) * double(shape.tiles_cols) *
                                             double(shape.tile_elements);
}

/// Is `shifted`? Where a side's rows don't start at whole vectors, or, in words or larger, at whole sectors. H200,
/// of copy, against vector: f32 4095 x 4097 0.85, 0.65; f64 0.90, 0.74; b16 0.65, 0.34; b8 0.40, 0.19; f32 4096 x
/// 4096 with a leading dimension of 4100 0.87, 0.76; 4160 0.91, 0.91.
bool prefers_shifted(const trine_transpose& op) {
  const ShiftedTiles tiles(op);
  if (!tiles.turns || tiles.thin() < 48) return false;
  const int64_t bytes = op.element_size, run = bytes < 4 ? 16 : kSectorBytes;
  const auto starts = [&](int64_t stride) { return stride * bytes % run == 0; };
  const Move& move = tiles.move;
  return !starts(move.in_row) || !starts(move.out_col) || !starts(move.in_batch) ||
         !starts(move.out_batch) || op.input.offset % 16 != 0 || op.output.offset % 16 != 0;
}

// --- work_item_tile: for CPUs behind OpenCL -----------------------------------------------------

constexpr const char* kTileShapes[] = {"tall", "wide"};
constexpr Macro kTileMacros[] = {{"BYTES", kBytes}, {"SHAPE", kTileShapes}};
constexpr int64_t kLineBytes = 64;

/// A tall tile writes long runs, of which few lines are split; where none is, a wide one reads long runs.
struct WorkItemTile {
  Move move;
  int shape;
  int64_t tiles_rows, tiles_cols;

  explicit WorkItemTile(const trine_transpose& op) : move(along_input(op)) {
    const int64_t bytes = op.element_size;
    const bool whole_lines = static_cast<int64_t>(op.output.offset) % kLineBytes == 0 &&
                             move.out_col % kLineBytes * bytes % kLineBytes == 0;
    const int64_t wide_rows = 256 / bytes, wide_cols = 4096 / bytes;
    shape = whole_lines && move.rows >= wide_rows && move.cols >= wide_cols / 4 ? 1 : 0;
    tiles_rows = divide_up(move.rows, shape == 1 ? wide_rows : 2048 / bytes);
    tiles_cols = divide_up(move.cols, shape == 1 ? wide_cols : 64);
  }
};

const char* work_item_tile_refuses(const Request& request) {
  if (!request.target.is_cpu()) return "work_item_tile is for CPUs";
  const WorkItemTile tile(request.as<trine_transpose>());
  return count_groups(tile.tiles_rows, tile.tiles_cols, tile.move.batch) > kMaxGroups ? kTooMany
                                                                                      : nullptr;
}

void work_item_tile_plan(const Request& request, Plan& plan) {
  const auto& op = request.as<trine_transpose>();
  const WorkItemTile tile(op);
  plan.macro[0] = bytes_index(op.element_size);
  plan.macro[1] = tile.shape;
  if (tile.move.empty()) return;
  add_launch(plan, 0, op, tile.move, tile.tiles_rows, tile.tiles_cols, tile.move.batch);
}

// --- The ladder ---------------------------------------------------------------------------------

enum Rung { kNaive, kShared, kSharedPadded, kMultiRow, kShifted, kPile, kVector, kWorkItem };

constexpr Variant kVariants[] = {
    {.name = "naive",
     .operation = TRINE_TRANSPOSE,
     .summary = "one work-item per element, strided writes",
     .file = "transpose/naive",
     .parameters = kBlockParameters,
     .macros = kBlockMacros,
     .refuses = naive_refuses,
     .plan = block_plan},
    {.name = "shared",
     .operation = TRINE_TRANSPOSE,
     .summary = "tiles turned in local memory",
     .file = "transpose/shared",
     .parameters = kBlockParameters,
     .macros = kBlockMacros,
     .refuses = shared_refuses,
     .plan = block_plan},
    {.name = "shared_padded",
     .operation = TRINE_TRANSPOSE,
     .summary = "tiles turned in local memory, padded against bank conflicts",
     .file = "transpose/shared_padded",
     .parameters = kPaddedParameters,
     .macros = kPaddedMacros,
     .refuses = padded_refuses,
     .plan = padded_plan},
    {.name = "multi_row",
     .operation = TRINE_TRANSPOSE,
     .summary = "32 x 8 work-items, four elements of a padded tile each",
     .file = "transpose/multi_row",
     .macros = kBytesMacros,
     .refuses = multi_row_refuses,
     .plan = multi_row_plan},
    {.name = "shifted",
     .operation = TRINE_TRANSPOSE,
     .numerics = TRINE_REPRODUCIBLE,
     .summary =
         "64 x 64 tiles, each row shifted to where a sector begins; for rows that start anywhere",
     .requirement = "rows on one side, columns on the other",
     .file = "transpose/shifted",
     .backends = kBoth,
     .macros = kBytesMacros,
     .entries = kShiftedEntries,
     .refuses = shifted_refuses,
     .plan = shifted_plan},
    {.name = "pile",
     .operation = TRINE_TRANSPOSE,
     .numerics = TRINE_REPRODUCIBLE,
     .summary = "many small matrices a group, or pieces of a long thin one",
     .requirement = "matrices within 16 KB, or one thin one",
     .file = "transpose/pile",
     .backends = kBoth,
     .macros = kBytesMacros,
     .entries = kPileEntries,
     .refuses = pile_refuses,
     .plan = pile_plan},
    {.name = "vector",
     .operation = TRINE_TRANSPOSE,
     .summary = "16-byte loads and stores around a swizzled tile; thin shapes without one",
     .file = "transpose/vector",
     .macros = kVectorMacros,
     .entries = kVectorEntries,
     .refuses = vector_refuses,
     .plan = vector_plan},
    {.name = "work_item_tile",
     .operation = TRINE_TRANSPOSE,
     .summary = "one work-item per tile, turned in vector registers",
     .requirement = "a CPU device",
     .file = "transpose/work_item_tile",
     .backends = kOpencl,
     .macros = kTileMacros,
     .refuses = work_item_tile_refuses,
     .plan = work_item_tile_plan},
};

}  // namespace

std::span<const Variant> transpose_variants() { return kVariants; }

Preferred prefer_transpose(const Target& target, const trine_transpose& op) {
  Preferred wishes;
  if (target.backend == kOpencl && target.is_cpu()) {
    wishes.add(&kVariants[kWorkItem], 0,
               "work_item_tile: on a CPU a work-item is a loop, vectors do the turning");
  } else if (target.facts->max_group_threads < kVectorThreads) {
    wishes.add(&kVariants[kNaive], 0, "naive: the device's groups are too small for vector");
  } else {
    // Batches are not measured through OpenCL yet.
    if (target.backend == kCuda && prefers_pile(op))
      wishes.add(&kVariants[kPile], 0, "pile: small or thin, several to a group");
    if (prefers_shifted(op))
      wishes.add(&kVariants[kShifted], 0, "shifted: a side's rows start between sectors of memory");
    wishes.add(&kVariants[kVector], 0, "vector: the fastest transpose of this backend");
  }
  return wishes;
}

}  // namespace trine::gpu
