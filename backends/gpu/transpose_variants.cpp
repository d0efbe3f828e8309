// The rows of transpose on a GPU backend: how a call is brought to one shape, which kernel of
// which specialization moves it, and which rung is the default.

#include <algorithm>
#include <bit>
#include <string_view>
#include <utility>

#include "backends/gpu/variant.hpp"
#include "backends/kit/words.hpp"

namespace trine::gpu {
namespace {

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

/// The index with unit stride on the input runs along the columns.
Move along_input(const trine_transpose& op) {
  Move move(op);
  if (move.in_row == 1 && move.in_col != 1) move.swap_roles();
  return move;
}

/// How a rung divides a call: a group for each of tiles_rows x tiles_cols x batch tiles. Each rung
/// has such a type, made from the request, and refuses() and plan() follow from it.
struct Layout {
  const trine_transpose& op;
  Move move;
  int64_t tiles_rows = 1, tiles_cols = 1, batch;
  uint32_t width = 256, height = 1;  ///< work-items of a group
  int64_t local_bytes = 0;
  int entry = 0, macro = 0;   ///< the value of the macro behind BYTES, if there is one
  const char* why = nullptr;  ///< the rung isn't for this device or shape

  explicit Layout(const Request& request)
      : op(request.as<trine_transpose>()), move(along_input(op)), batch(move.batch) {}
  void cover(int64_t tile_rows, int64_t tile_cols) {
    tiles_rows = divide_up(move.rows, tile_rows);
    tiles_cols = divide_up(move.cols, tile_cols);
  }
  /// Adds the arguments that the rung's kernel takes behind TRANSPOSE_ARGUMENTS.
  void add_arguments(Launch&) const {}
};

template <class Rung>
const char* refuses(const Request& request) {
  const Rung rung(request);
  const trine_device_facts& facts = *request.target.facts;
  if (rung.why) return rung.why;
  if (rung.width * rung.height > facts.max_group_threads)
    return "the device's groups are too small";
  if (static_cast<uint64_t>(rung.local_bytes) > facts.local_memory_bytes)
    return "the device has too little local memory";
  if (too_many_groups(rung.tiles_rows, rung.tiles_cols, rung.batch))
    return "the views need more than 2^31 - 1 work-groups: split them or their batch";
  return nullptr;
}

template <class Rung>
void plan(const Request& request, Plan& plan) {
  const Rung rung(request);
  const trine_transpose& op = rung.op;
  const Move& move = rung.move;
  plan.macro[0] = std::countr_zero(op.element_size);
  plan.macro[1] = rung.macro;
  if (move.empty()) return;
  Launch& launch = plan.add(rung.entry);
  launch.grid[0] = static_cast<uint32_t>(rung.tiles_rows * rung.tiles_cols * rung.batch);
  launch.block[0] = rung.width;
  launch.block[1] = rung.height;
  launch.memory(op.input.memory).i64(static_cast<int64_t>(op.input.offset));
  launch.i64(move.in_batch).i64(move.in_row).i64(move.in_col);
  launch.memory(op.output.memory).i64(static_cast<int64_t>(op.output.offset));
  launch.i64(move.out_batch).i64(move.out_row).i64(move.out_col);
  launch.i64(move.rows).i64(move.cols);
  launch.i32(static_cast<int32_t>(rung.tiles_rows)).i32(static_cast<int32_t>(rung.tiles_cols));
  rung.add_arguments(launch);
}

constexpr const char* kBytes[] = {"1", "2", "4", "8", "16"};
constexpr Macro kBytesMacros[] = {{"BYTES", kBytes}};

// --- naive, shared, shared_padded: one element a work-item, BLOCK x BLOCK a group ---------------

constexpr const char* kBlocks[] = {"8", "16", "32"};
constexpr const char* kPaddings[] = {"1", "2"};
constexpr trine_parameter kPaddedParameters[] = {
    {sizeof(trine_parameter), 3, 2, "block", kBlocks},
    {sizeof(trine_parameter), 2, 0, "padding", kPaddings}};
constexpr auto kBlockParameters = std::span(kPaddedParameters).first<1>();

struct Naive : Layout {
  explicit Naive(const Request& request) : Layout(request) {
    width = height = 8u << request.selection.values[0];
    cover(width, width);
  }
};

constexpr int64_t kLargest = 32;  // block; local memory is for it and for the largest padding

struct Shared : Naive {
  explicit Shared(const Request& request) : Naive(request) {
    local_bytes = kLargest * kLargest * op.element_size;
  }
};

struct SharedPadded : Naive {
  int32_t padding;
  explicit SharedPadded(const Request& request)
      : Naive(request), padding(request.selection.values[1] + 1) {
    local_bytes = kLargest * (kLargest + 2) * op.element_size;
  }
  void add_arguments(Launch& launch) const { launch.i32(padding); }
};

/// Four elements a work-item.
struct MultiRow : Layout {
  explicit MultiRow(const Request& request) : Layout(request) {
    width = 32;
    height = 8;
    cover(width, width);
    local_bytes = int64_t{width} * (width + 1) * op.element_size;
  }
};

// --- vector -------------------------------------------------------------------------------------

constexpr const char* kShapes[] = {"square", "tall", "wide", "strided_copy"};
constexpr int kStridedCopy = 3;  // in kShapes
constexpr Macro kVectorMacros[] = {{"BYTES", kBytes}, {"SHAPE", kShapes}};

/// The launch of `vector` in tiles, or without any: of strided_copy.h, for copies and for shapes
/// that would leave most of every tile empty.
struct Vector : Layout {
  int64_t tile_elements = 0;

  explicit Vector(const Request& request) : Layout(request) {
    // Measured: PoCL 5 leaves results of this kernel unwritten that PoCL 3 and GPUs write.
    if (request.target.is_pocl_since(4))
      why = "wrong under PoCL 5 (4 is untried); work_item_tile is for CPUs";
    local_bytes = 32 << 10;
    const int64_t bytes = op.element_size, lanes = 16 / bytes;
    const bool turns = move.in_col == 1 && move.out_col != 1;
    const bool thin = std::min(move.rows, move.cols) <= lanes;
    if (move.empty() || (turns && !thin && choose_tiles(bytes))) return;
    // Neighbours run along the unit stride, or along the long side of what is thin.
    if (thin ? move.rows > move.cols : move.out_row == 1 && move.in_col != 1) move.swap_roles();
    macro = kStridedCopy;
    batch = 1;
    tiles_rows = divide_up(move.rows, lanes);
    tiles_cols = divide_up(points(), width * lanes);
  }
  void add_arguments(Launch& launch) const {
    if (macro == kStridedCopy) launch.i64(move.batch);
  }

 private:
  /// Takes the tile shape that wastes least; the square one unless another wastes much less. False
  /// if even that one leaves three quarters of the tiles empty, as with many small matrices.
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
      macro = s;
      tiles_rows = down;
      tiles_cols = across;
      tile_elements = heights[s] * widths[s];
    }
    return best >= 0.25 || move.batch == 1;
  }

  /// Columns of all batches in one row.
  int64_t points() const {
    return move.cols > 0 && move.batch > INT64_MAX / move.cols ? INT64_MAX : move.cols * move.batch;
  }
};

// --- shifted, batched_small, thin ----------------------------------------------------------------

constexpr int64_t kSectorBytes = 32;

/// A call with unit strides along the input's columns and the output's rows.
struct Turn : Layout {
  bool turns;

  explicit Turn(const Request& request)
      : Layout(request), turns(move.in_col == 1 && move.out_row == 1 && !move.empty()) {
    local_bytes = 36 << 10;
    if (!turns && !move.empty()) why = "the unit stride is along the same index on both sides";
    if (request.target.is_pocl_since(4)) why = "untried under PoCL 4 and later";
  }
  int64_t thin() const { return std::min(move.rows, move.cols); }
};

struct Shifted : Turn {
  explicit Shifted(const Request& request) : Turn(request) {
    const int64_t bytes = op.element_size, side = bytes == 16 ? 32 : 64;
    cover(side, side);
    tiles_rows = divide_up(move.rows + kSectorBytes / bytes - 1, side);
  }
};

/// Matrices of which a group turns several. One matrix that is long and thin is cut into such
/// matrices.
struct BatchedSmall : Turn {
  int64_t most = 0;  ///< matrices of a group; 0: they are too large
  int32_t missing_rows = 0, missing_cols = 0;

  explicit BatchedSmall(const Request& request) : Turn(request) {
    if (!turns) return;
    fit(16384 / op.element_size);
    if (most == 0) why = "batched_small is for matrices within 16 KB, 256 rows and columns";
    entry = packed() ? 1 : 0;
    // Groups of matrices without gaps begin at multiples of eight bytes.
    if (const int64_t pair = 8 / std::min<int64_t>(op.element_size, 8); entry == 1 && most > pair)
      most = most / pair * pair;
    batch = divide_up(move.batch, std::max<int64_t>(most, 1));
  }
  void add_arguments(Launch& launch) const {
    launch.i64(move.batch).i32(int32_t(most)).i32(missing_rows).i32(missing_cols);
  }

 private:
  /// Many matrices without gaps, whose rows aren't whole vectors on both sides.
  bool packed() const {
    const int64_t lanes = std::max<int64_t>(16 / op.element_size, 1), area = move.rows * move.cols;
    return move.batch > 1 && missing_rows + missing_cols == 0 && move.in_row == move.cols &&
           move.in_batch == area && move.out_col == move.rows && move.out_batch == area &&
           (move.rows % lanes != 0 || move.cols % lanes != 0);
  }
  void fit(int64_t elements) {
    if (thin() > std::min<int64_t>(elements, width)) return;
    const int64_t longest = std::min<int64_t>(width, elements / thin());
    if (std::max(move.rows, move.cols) > longest) {
      if (move.batch > 1) return;
      move.rows > move.cols ? cut(move.rows, longest, move.in_row, move.out_row, missing_rows)
                            : cut(move.cols, longest, move.in_col, move.out_col, missing_cols);
    }
    most = elements / (move.rows * move.cols);
  }
  void cut(int64_t& extent, int64_t piece, int64_t in_stride, int64_t out_stride,
           int32_t& missing) {
    move.batch = divide_up(extent, piece);
    move.in_batch = piece * in_stride;
    move.out_batch = piece * out_stride;
    missing = static_cast<int32_t>(move.batch * piece - extent);
    extent = piece;
  }
};

constexpr const char* kMosts[] = {"8", "16"};
constexpr Macro kThinMacros[] = {{"BYTES", std::span(kBytes).first<2>()}, {"MOST", kMosts}};

bool thin_exists(const int* macro) { return macro[0] == 0 || macro[1] == 0; }

/// One thin matrix of small elements whose narrow side has no gaps. A block is a vector of each of
/// its long rows or columns.
struct Thin : Turn {
  int32_t overlap = 0;  ///< lines begin between vectors
  int64_t blocks = 0;

  explicit Thin(const Request& request) : Turn(request) {
    const bool tall = move.rows > move.cols;
    const int64_t bytes = op.element_size, lanes = 16 / std::min<int64_t>(bytes, 16);
    if (why || move.empty()) return;
    if (bytes > 2 || move.batch > 1 || thin() < 2 || thin() > 16 / bytes ||
        (tall ? move.in_row : move.out_col) != thin()) {
      why =
          "thin is for one matrix of 1 or 2-byte elements, 2 to 16 bytes wide or high, without "
          "gaps";
      return;
    }
    const uint64_t line = tall ? op.output.offset : op.input.offset;
    const int64_t pitch = (tall ? move.out_col : move.in_row) * bytes;
    overlap = line % 16 != 0 || pitch % 16 != 0;
    blocks = std::max(move.rows, move.cols) / lanes - 2;
    macro = thin() > 8;
    const int64_t most = 8 << macro, strip = 32 - overlap, rounds = most / thin();
    width = static_cast<uint32_t>(2048 / most);
    tiles_cols = std::max<int64_t>(1, divide_up(blocks, strip * rounds * (width / 32)));
  }
  void add_arguments(Launch& launch) const { launch.i32(overlap); }
};

constexpr const char* kBatchedEntries[] = {"batched_small", "batched_small_packed"};

/// Is `thin` the fastest? It is where it moves whole vectors: the matrix begins at 16 bytes on the
/// side whose rows are short, and the long rows of the other side do, too, or (`overlap`) lanes of
/// a warp exchange the parts of vectors. On an H100 it takes
/// 48 µs for b8 3 x 22369621, batched_small 133; only for 8 x 4M of b16 they are equal.
bool prefers_thin(const Request& request) {
  const Thin thin(request);
  const uint64_t run =
      thin.move.rows > thin.move.cols ? thin.op.input.offset : thin.op.output.offset;
  return !thin.why && !thin.move.empty() && run % 16 == 0 && thin.blocks >= 1000 &&
         (!thin.overlap || request.target.has(TRINE_CAN_INLINE_PTX)) &&
         !(thin.op.element_size == 2 && thin.thin() == 8 && thin.overlap == 0);
}

/// Is batched_small the fastest? On an H200 it is faster than vector for small matrices (65,536 of
/// 16x16 f32: 35 µs instead of 99; 7,281 of 48x48: both 40), and for thin ones (f32 5 x 3M: 36
/// instead of 133), but not for f64 2 x 8M and 8 x 2M (equal) or b8 32 x 2M (45, vector 35).
bool prefers_batched_small(const Request& request) {
  const BatchedSmall batched_small(request);
  const trine_transpose& op = batched_small.op;
  if (!batched_small.turns || batched_small.most == 0) return false;
  const int64_t bytes = op.element_size, thin = batched_small.thin(), thin_bytes = thin * bytes;
  if (op.input.batch == 1)
    return batched_small.move.batch > 16 && !(bytes >= 8 && thin_bytes <= 16) &&
           (thin < 8 || thin_bytes <= (bytes == 4 ? 32 : 16));
  const Vector vector(request);
  if (thin_bytes < 16 && batched_small.move.rows != batched_small.move.cols)
    return false;  // not measured
  const double moved = double(batched_small.move.rows) * double(batched_small.move.cols);
  return vector.macro == kStridedCopy || 1.7 * moved < double(vector.tiles_rows) *
                                                           double(vector.tiles_cols) *
                                                           double(vector.tile_elements);
}

/// Is shifted the fastest? It is where rows of a side don't begin at 16 bytes (elements of 1 or 2
/// bytes) or at 32 bytes (larger elements). On an H200 it moves f32 4095 x 4097 at 0.85 of copy,
/// vector at 0.65; b8 at 0.40 and 0.19. Elements of 4 bytes in a thin matrix need 16 bytes alone,
/// as parts of sectors meet in the L2: 60 x 200000 takes 25.7 µs, shifted 50.7, cuBLAS's geam 38.9;
/// 100 x 100000 23.6, 31.1, 31.3.
bool prefers_shifted(const Request& request) {
  const Shifted shifted(request);
  const trine_transpose& op = shifted.op;
  if (!shifted.turns || shifted.thin() < 48) return false;
  const bool thin = op.element_size == 4 && shifted.thin() <= 128;
  const int64_t bytes = op.element_size, run = bytes < 4 || thin ? 16 : kSectorBytes;
  const auto starts = [&](int64_t stride) { return stride * bytes % run == 0; };
  const Move& move = shifted.move;
  return !starts(move.in_row) || !starts(move.out_col) || !starts(move.in_batch) ||
         !starts(move.out_batch) || op.input.offset % 16 != 0 || op.output.offset % 16 != 0;
}

// --- work_item_tile: for CPUs behind OpenCL -----------------------------------------------------

constexpr const char* kRowBytes[] = {"9216"};  // of a tile
constexpr Macro kWorkItemMacros[] = {{"BYTES", kBytes}, {"ROW_BYTES", kRowBytes}};

/// A tile has two lines of each column of the output, from long parts of the input's rows
/// (docs/decisions/transposes-on-cpus.md). Where columns begin anywhere within a line, it has many,
/// because every tile reads a line more than it writes; elements of 2 and 4 bytes then have parts
/// of half the length. Small matrices have shorter parts, so that two threads end at the same time.
struct WorkItemTile : Layout {
  static constexpr int64_t kLineBytes = 64, kTileBytes = 64 << 10, kSmallBytes = 16 << 20;
  int64_t tile_rows, tile_cols;

  explicit WorkItemTile(const Request& request) : Layout(request) {
    if (!request.target.is_cpu()) why = "work_item_tile is for CPUs";
    width = 1;
    const int64_t bytes = op.element_size, line = kLineBytes / bytes;
    const auto lines_of = [&](int64_t extent, int64_t pieces) {
      return std::max<int64_t>(1, extent / std::max<int64_t>(1, pieces) / line) * line;
    };
    const auto whole = [&](int64_t at) { return at * bytes % kLineBytes == 0; };
    const bool lines = op.output.offset % kLineBytes == 0 && whole(move.rows) &&
                       whole(move.out_col) && whole(move.out_batch);
    const bool small = double(move.rows) * double(move.cols) * double(bytes) < kSmallBytes;
    const bool halves = !lines && (bytes == 2 || bytes == 4);
    const int64_t part = kit::number_of(kRowBytes[0]) / (small ? 4 : halves ? 2 : 1);
    const int64_t spans = std::max<int64_t>(1, divide_up(move.cols * bytes, part));
    tile_cols = lines_of(divide_up(move.cols, spans) + line - 1, 1);
    tiles_cols = divide_up(move.cols, tile_cols);
    const int64_t wanted =
        std::max<int64_t>(kTileBytes / (tile_cols * bytes * line), lines ? 2 : 16) * line;
    tiles_rows = std::max<int64_t>(1, move.rows / wanted);
    tile_rows = lines_of(move.rows, tiles_rows);  // the last ones take the rest
  }
  void add_arguments(Launch& launch) const {
    launch.i32(static_cast<int32_t>(tile_rows)).i32(static_cast<int32_t>(tile_cols));
  }
};

// --- The ladder ---------------------------------------------------------------------------------

template <class Rung>
constexpr Variant row(Variant variant) {
  variant.operation = TRINE_TRANSPOSE;
  variant.refuses = refuses<Rung>;
  variant.plan = plan<Rung>;
  return variant;
}

constexpr Variant kVariants[] = {
    row<Naive>({.name = "naive",
                .summary = "one work-item per element, strided writes",
                .file = "transpose/naive",
                .parameters = kBlockParameters,
                .macros = kBytesMacros}),
    row<Shared>({.name = "shared",
                 .summary = "tiles turned in local memory",
                 .file = "transpose/shared",
                 .parameters = kBlockParameters,
                 .macros = kBytesMacros}),
    row<SharedPadded>({.name = "shared_padded",
                       .summary = "tiles turned in local memory, padded against bank conflicts",
                       .file = "transpose/shared_padded",
                       .parameters = kPaddedParameters,
                       .macros = kBytesMacros}),
    row<MultiRow>({.name = "multi_row",
                   .summary = "32 x 8 work-items, four elements of a padded tile each",
                   .file = "transpose/multi_row",
                   .macros = kBytesMacros}),
    row<Shifted>({.name = "shifted",
                  .summary = "64 x 64 tiles, each row shifted to where a sector begins; for rows "
                             "that start anywhere",
                  .requirement = "input and output both row-major, or both column-major",
                  .default_for =
                      "sides from 48 on, rows not at 16 bytes (from 4 bytes on: 32, but for thin "
                      "matrices of 4)",
                  .file = "transpose/shifted",
                  .macros = kBytesMacros,
                  .begins_early = true}),
    row<BatchedSmall>({.name = "batched_small",
                       .summary = "many small matrices a group, or pieces of a long thin one",
                       .requirement = "matrices within 16 KB, or one thin one",
                       .default_for = "many small matrices, one thin one",
                       .file = "transpose/batched_small",
                       .macros = kBytesMacros,
                       .entries = kBatchedEntries,
                       .begins_early = true}),
    row<Thin>({.name = "thin",
               .summary = "blocks of a long thin matrix, turned in registers",
               .requirement = "one matrix of 1 or 2-byte elements, 2 to 16 bytes wide or high",
               .default_for = "long thin 1 or 2-byte elements",
               .file = "transpose/thin",
               .macros = kThinMacros,
               .exists = thin_exists,
               .begins_early = true}),
    row<Vector>(
        {.name = "vector",
         .summary = "16-byte loads and stores around a swizzled tile; thin shapes without one",
         .default_for = "all else",
         .file = "transpose/vector",
         .macros = kVectorMacros,
         .begins_early = true}),
    row<WorkItemTile>({.name = "work_item_tile",
                       .summary = "one work-item per tile, turned in vector registers",
                       .requirement = "a CPU device",
                       .default_for = "CPUs",
                       .file = "transpose/work_item_tile",
                       .backends = kOpencl,
                       .macros = kWorkItemMacros}),
};

consteval const Variant* named(std::string_view name) {
  const Variant* variant = kVariants;
  // An unknown name reads past the array, which consteval rejects.
  while (variant->name != name) ++variant;
  return variant;
}

}  // namespace

std::span<const Variant> transpose_variants() { return kVariants; }

Preferred prefer_transpose(const Target& target, const trine_transpose& op) {
  const trine_selection none{};
  const trine_call call{sizeof call, TRINE_TRANSPOSE, &op};
  const Request request{target, none, call, nullptr};
  Preferred wishes;
  if (target.backend == kOpencl && target.is_cpu()) {
    wishes.add(named("work_item_tile"), 0,
               "work_item_tile: on a CPU a work-item is a loop, vectors do the turning");
  } else if (target.facts->max_group_threads < 256) {
    wishes.add(named("naive"), 0, "naive: the device's groups are too small for vector");
  } else {
    if (prefers_thin(request))
      wishes.add(named("thin"), 0, "thin: a long thin matrix of small elements");
    if (prefers_batched_small(request))
      wishes.add(named("batched_small"), 0, "batched_small: small or thin, several to a group");
    if (prefers_shifted(request))
      wishes.add(named("shifted"), 0, "shifted: a side's rows start between sectors of memory");
    wishes.add(named("vector"), 0, "vector: the fastest transpose of this backend");
  }
  return wishes;
}

}  // namespace trine::gpu
