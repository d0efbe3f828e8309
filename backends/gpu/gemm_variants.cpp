// The upper end of gemm's ladder on GPU backends: kernels for today's hardware. The lower end is in
// gemm_study_variants.cpp, what NVIDIA's newer GPUs alone can do in gemm_hopper_variants.cpp, the
// choice of the default in gemm_choice.cpp.
#include <algorithm>
#include <array>
#include <iterator>

#include "backends/gpu/gemm_launch.hpp"

namespace trine::gpu {
namespace {

// --- register_tile ------------------------------------------------------------------------------

constexpr Macro kSizeMacros[] = {{"T", kTypes}, {"SIZE", kSizes}, {"CONTINUED", kNoYes}};

/// 128 x 128 f64 would need twice the registers there are.
bool register_exists(const int* macro) { return !(macro[0] == 1 && macro[1] == 1); }

/// In local memory: 4 stages of two panels, 8 steps deep.
Group register_group(const Request& request) {
  const int64_t size = size_of(request);
  return {size, size, size, 4 * 2 * 8 * (size + 4)};
}

const char* register_refuses(const Request& request) {
  // Measured: PoCL 5 leaves results of this kernel unwritten that PoCL 3 and GPUs write.
  if (request.target.is_pocl_since(4))
    return "wrong under PoCL 5 (4 is untried); private_tile is for CPUs";
  const Group group = register_group(request);
  if (group.tile_m == 128 && request.as<trine_gemm>().dtype == TRINE_F64)
    return "size=128 is for 4-byte dtypes";
  return refuse_tiles(request, group);
}

void register_plan(const Request& request, Plan& plan) {
  plan.macro[2] = Problem(request.as<trine_gemm>()).continues ? 1 : 0;
  plan_tiles(request, plan, register_group(request));
}

// --- widened -------------------------------------------------------------------------------------

/// In local memory: two panels of f64, 16 steps deep.
Group widened_group(const Request&) { return {64, 64, 256, 2 * 2 * 16 * (64 + 1)}; }

const char* widened_refuses(const Request& request) {
  if (!trine_is_accurate(&request.as<trine_gemm>()))
    return "is for numerics accurate alone: its chains are f64";
  return refuse_tiles(request, widened_group(request));
}

void widened_plan(const Request& request, Plan& plan) {
  const auto& op = request.as<trine_gemm>();
  const Group group = widened_group(request);
  const Problem p = group.problem(op);
  if (!p.empty()) add_tiles(plan, op, p, group);
}

// --- few_columns ---------------------------------------------------------------------------------

constexpr const char* kRows[] = {"8", "16", "32"};
constexpr const char* kColumns[] = {"1", "4", "8"};
constexpr trine_parameter kRowsParameters[] = {{sizeof(trine_parameter), 3, 2, "rows", kRows}};
constexpr Macro kColumnsMacros[] = {{"T", kTypes}, {"ROWS", kRows}, {"COLS", kColumns}};
constexpr int64_t kColumnsBytes = 47 * 1024;  // of local memory

/// Which of kColumns: of the shorter side of C, whose columns the kernel takes for the shorter.
int columns_index(const trine_gemm& op) {
  const int64_t columns = std::min(op.c.rows, op.c.cols);
  return columns <= 1 ? 0 : columns <= 4 ? 1 : 2;
}

Group columns_group(const Request& request) {
  constexpr int64_t kCount[] = {1, 4, 8};
  const auto& op = request.as<trine_gemm>();
  const Problem p(op);
  return {int64_t{8} << request.selection.values[0],
          kCount[columns_index(op)],
          32,
          kColumnsBytes / p.element,
          0,
          p.n > p.m};
}

const char* columns_refuses(const Request& request) {
  if (request.target.is_pocl_since(4))
    return "untried under PoCL 4 and later; private_tile is for CPUs";
  return refuse_tiles(request, columns_group(request));
}

void columns_plan(const Request& request, Plan& plan) {
  plan.macro[2] = columns_index(request.as<trine_gemm>());
  plan_tiles(request, plan, columns_group(request));
}

// --- pile: many small products -----------------------------------------------------------------

constexpr Macro kPileMacros[] = {{"T", kTypes}};
constexpr int64_t kPileBytes = 40960, kPileThreads = 256, kPileSide = 4;  // pile.cl

/// How many products a group takes, as many as there is room and work-items for; 0: not one.
int64_t pile_count(const Problem& p) {
  const int64_t width = 16 / p.element;
  const auto size = [&](int64_t rows, int64_t cols) {
    return (rows * (divide_up(cols, width) | 1) + 1) * width;
  };
  constexpr int64_t kMost = kPileBytes;  // before anything is multiplied
  if (p.m > kMost || p.n > kMost || p.k > kMost || p.empty()) return 0;
  const int64_t room = kPileBytes / p.element, operands = size(p.m, p.k) + size(p.k, p.n);
  const int64_t items = divide_up(p.m, kPileSide) * divide_up(p.n, kPileSide);
  return std::min({room / operands, room / size(p.m, p.n), kPileThreads / items});
}

const char* pile_refuses(const Request& request) {
  const Problem p(request.as<trine_gemm>());
  if (request.target.is_pocl_since(4))
    return "untried under PoCL 4 and later; private_tile is for CPUs";
  if (p.batch > INT32_MAX) return kTooMany;
  if (!p.empty() && pile_count(p) == 0)
    return "pile is for small matrices: A and B within 40 KiB, and at most 4096 elements of C";
  return refuse_tiles(request, {std::max<int64_t>(p.m, 1), std::max<int64_t>(p.n, 1), kPileThreads,
                                kPileBytes / p.element});
}

void pile_plan(const Request& request, Plan& plan) {
  const auto& op = request.as<trine_gemm>();
  const Problem p(op);
  plan.macro[0] = type_index(op.dtype);
  if (p.empty()) return;
  // Where there are few, all multiprocessors get some.
  const int64_t spread = divide_up(p.batch, 4 * int64_t{request.target.facts->compute_units});
  const int64_t count = std::clamp<int64_t>(spread, 1, pile_count(p));
  Launch& launch = add_tiles(plan, op, p, {p.m, p.n, kPileThreads});
  launch.grid[0] = static_cast<uint32_t>(divide_up(p.batch, count));
  launch.arguments[launch.argument_count - 2].i32 = static_cast<int32_t>(count);
  launch.arguments[launch.argument_count - 1].i32 = static_cast<int32_t>(p.batch);
}

// --- small: a group for each small product -------------------------------------------------------

constexpr Macro kSmallMacros[] = {{"T", kFloat}, {"SIDE", kSides}, {"LAYOUT", kLayouts}};

/// As small.cl has it.
constexpr SmallRung kSmall{[](int64_t side) -> int64_t {
                             return side <= 32 ? 32 : side <= 56 ? 64 : 128;
                           },
                           false};

const char* small_refuses(const Request& request) {
  if (request.as<trine_gemm>().dtype != TRINE_F32) return "small is for f32, tensor_small for f64";
  if (request.target.is_pocl_since(4))
    return "untried under PoCL 4 and later; private_tile is for CPUs";
  return kSmall.refuses(request);
}

void small_plan(const Request& request, Plan& plan) {
  const auto& op = request.as<trine_gemm>();
  kSmall.plan(op, side_index(Problem(op)), plan);
}

// --- private_tile: for CPUs behind OpenCL ----------------------------------------------------------

constexpr const char* kVectorBytes[] = {"32", "64"};
constexpr trine_parameter kVectorParameters[] = {
    {sizeof(trine_parameter), 2, 0, "vector_bytes", kVectorBytes}};
constexpr Macro kPrivateMacros[] = {{"T", kTypes}, {"VECTOR_BYTES", kVectorBytes}};
constexpr const char* kPrivateEntries[] = {"pack_both", "private_tile"};
constexpr int64_t kPackSteps = 128, kPackPanels = 4;  // that one work-item packs
constexpr int64_t kBlockBytes = 1 << 20;              // of A that a work-item keeps in its L2 cache
constexpr int64_t kBlockSteps = 1024;           // of k in a launch, where C can keep the chains
constexpr int32_t kContinue = 4, kPartial = 8;  // flags of the kernel
/// Of B, with what lies between its rows, and of k, where B is read where it lies. On 2 cores, packed and so, us: f32 256 226,
/// 152; 512 908, 831; f64 256 337, 266; 512, which is 2 MiB, 1850, 2725.
constexpr int64_t kInPlaceBytes = 1 << 20, kInPlaceSteps = 512;

/// How private_tile shares out a product, and where packed panels lie in the workspace, in elements. An operand that is
/// broadcast over the batch is packed once.
struct PrivateShape {
  Problem p;
  int64_t rows, cols, a_width;  // of a tile; of a step of a panel of A
  int64_t panels_m, panels_n;
  bool packs;
  int64_t launches, steps;                    // of k in one of them
  int64_t blocks_m, blocks_n, height, width;  // of a work-item, in panels
  int64_t chunks, groups_a, groups_b, a_batch, b_batch, b_packed, elements;

  explicit PrivateShape(const Request& request) : p(request.as<trine_gemm>()) {
    const bool wide = request.selection.values[0] == 1;
    const int64_t lanes = (wide ? 64 : 32) / p.element, k = p.multiply ? p.k : 0;
    rows = wide ? 12 : 6;
    cols = 2 * lanes;
    a_width = divide_up(rows, lanes) * lanes;
    panels_m = divide_up(p.m, rows);
    panels_n = divide_up(p.n, cols);
    packs = k > 0 && (p.b.col != 1 || p.n < cols || k > kInPlaceSteps ||
                      ((k - 1) * p.b.row + p.n) * p.element > kInPlaceBytes);
    launches = p.add_c ? 1 : std::clamp<int64_t>(divide_up(k, kBlockSteps), 1, kMaxLaunches - 1);
    steps = divide_up(k, launches);
    // So many at most; then even ones: PoCL hands half of the groups to its first thread at once.
    const int64_t most_m =
        packs ? std::clamp<int64_t>(kBlockBytes / (a_width * steps * p.element), 1, 32) : 1;
    const int64_t wanted = divide_up(8 * int64_t{request.target.facts->compute_units},
                                     std::max<int64_t>(1, panels_m * p.batch));
    const int64_t most_n = packs ? 1 : std::max<int64_t>(1, panels_n / wanted);
    blocks_m = divide_up(panels_m, most_m);
    blocks_n = divide_up(panels_n, most_n);
    // Of an empty C too, which has no blocks.
    height = std::max<int64_t>(1, divide_up(panels_m, std::max<int64_t>(1, blocks_m)));
    width = std::max<int64_t>(1, divide_up(panels_n, std::max<int64_t>(1, blocks_n)));
    chunks = divide_up(k, kPackSteps);
    const int64_t a_matrices = p.matrices(p.a), b_matrices = p.matrices(p.b);
    groups_a = chunks * divide_up(panels_m, kPackPanels) * a_matrices;
    groups_b = chunks * divide_up(panels_n, kPackPanels) * b_matrices;
    a_batch = a_matrices == 1 ? 0 : panels_m * a_width * k;
    b_batch = b_matrices == 1 ? 0 : panels_n * cols * k;
    b_packed = panels_m * a_width * k * a_matrices;
    elements = b_packed + panels_n * cols * k * b_matrices;
  }
};

uint64_t private_workspace(const Request& request) {
  const PrivateShape shape(request);
  if (!shape.packs) return 0;
  return TRINE_CONTROL_BYTES + static_cast<uint64_t>(shape.elements) * shape.p.element;
}

const char* private_refuses(const Request& request) {
  if (!request.target.is_cpu()) return "private_tile is for CPUs";
  const PrivateShape shape(request);
  if (const char* why =
          refuse_tiles(request, {shape.rows * shape.height, shape.cols * shape.width, 1}))
    return why;
  if (shape.packs && too_many_groups(shape.groups_a + shape.groups_b, 1, 1)) return kTooMany;
  if (private_workspace(request) > request.target.facts->max_buffer_bytes)
    return "the packed operands exceed the device's largest buffer";
  return nullptr;
}

void private_plan(const Request& request, Plan& plan) {
  const auto& op = request.as<trine_gemm>();
  const PrivateShape shape(request);
  const Problem& p = shape.p;
  plan.macro[0] = type_index(op.dtype);
  plan.macro[1] = request.selection.values[0];
  if (p.empty()) return;
  Operand a = p.a, b = p.b;
  int64_t a_panel = shape.rows * a.row, b_panel = shape.cols;
  if (shape.packs) {
    const trine_workspace& workspace = *request.workspace;
    const int64_t base = static_cast<int64_t>((workspace.offset + TRINE_CONTROL_BYTES) / p.element);
    Launch& pack = plan.add(0);
    pack.grid[0] = static_cast<uint32_t>(shape.groups_a + shape.groups_b);
    push_operand(pack, a);
    push_operand(pack, b);
    pack.memory(workspace.memory).i64(base).i64(base + shape.b_packed);
    pack.i64(p.m).i64(p.n).i64(p.k).i32(static_cast<int32_t>(shape.chunks));
    pack.i32(static_cast<int32_t>(shape.panels_m)).i32(static_cast<int32_t>(shape.panels_n));
    pack.i32(static_cast<int32_t>(shape.groups_a));
    a.memory = b.memory = workspace.memory;
    a.offset = base;
    a.batch = shape.a_batch;
    a.col = shape.a_width;
    a_panel = shape.a_width * p.k;
    b.offset = base + shape.b_packed;
    b.batch = shape.b_batch;
    b.row = shape.cols;
    b_panel = shape.cols * p.k;
  }
  for (int64_t l = 0; l < shape.launches; ++l) {
    const int64_t k0 = l * shape.steps;
    Launch& launch = plan.add(1);
    launch.grid[0] = static_cast<uint32_t>(shape.blocks_m * shape.blocks_n * p.batch);
    launch.memory(a.memory).i64(a.offset + k0 * a.col).i64(a.batch).i64(a.row).i64(a.col);
    launch.i64(a_panel).memory(b.memory).i64(b.offset + k0 * b.row).i64(b.batch).i64(b.row);
    launch.i64(b_panel).memory(p.c.memory).i64(p.c.offset).i64(p.c.batch).i64(p.c.row);
    launch.i64(p.m).i64(p.n).i64(std::min(shape.steps, p.k - k0));
    push_scaling(launch, op, p);
    int32_t& flags = launch.arguments[launch.argument_count - 1].i32;
    if (l > 0) flags |= kContinue;
    if (l + 1 < shape.launches) flags |= kPartial;
    launch.i32(shape.packs);
    for (const int64_t count : {shape.height, shape.width, shape.blocks_m, shape.blocks_n})
      launch.i32(static_cast<int32_t>(count));
  }
}

// --- The ladder ---------------------------------------------------------------------------------

constexpr Variant kVariants[] = {
    {.name = "register_tile",
     .operation = TRINE_GEMM,
     .summary = "a block of C in registers, panels copied in the background",
     .file = "gemm/register_tile",
     .parameters = kSizeParameters,
     .macros = kSizeMacros,
     .exists = register_exists,
     .refuses = register_refuses,
     .takes = TRINE_CONTINUES,
     .plan = register_plan},
    {.name = "widened",
     .operation = TRINE_GEMM,
     .summary = "f32 whose chains are f64, 4 x 4 of them a work-item, rounded once",
     .requirement = "numerics accurate, f64",
     .file = "gemm/widened",
     .refuses = widened_refuses,
     .takes = TRINE_TAKES_ACCURATE,
     .plan = widened_plan},
    {.name = "few_columns",
     .operation = TRINE_GEMM,
     .summary = "a row of C a work-item, single warps that wait for nothing but memory",
     .file = "gemm/few_columns",
     .parameters = kRowsParameters,
     .macros = kColumnsMacros,
     .refuses = columns_refuses,
     .plan = columns_plan,
     .begins_early = true},
    {.name = "pile",
     .operation = TRINE_GEMM,
     .summary = "many small products, as many a group as its local memory holds",
     .requirement = "A and B within 40 KiB, at most 4096 elements of C",
     .file = "gemm/pile",
     .macros = kPileMacros,
     .refuses = pile_refuses,
     .plan = pile_plan},
    {.name = "small",
     .operation = TRINE_GEMM,
     .summary = "a group, of one to four warps, for each small product",
     .requirement = "f32, m, n and k of at most 64",
     .file = "gemm/small",
     .macros = kSmallMacros,
     .refuses = small_refuses,
     .plan = small_plan,
     .begins_early = true},
    {.name = "private_tile",
     .operation = TRINE_GEMM,
     .summary = "packed panels, one work-item per block of vector registers",
     .requirement = "a CPU device",
     .file = "gemm/private_tile",
     .backends = kOpencl,
     .parameters = kVectorParameters,
     .macros = kPrivateMacros,
     .entries = kPrivateEntries,
     .refuses = private_refuses,
     .takes = TRINE_CONTINUES,
     .workspace_bytes = private_workspace,
     .plan = private_plan},
};

}  // namespace

std::span<const Variant> gemm_variants() {
  static const auto ladder = [] {
    std::array<Variant, kStudyRungs + kHopperRungs + std::size(kVariants)> all;
    const auto last = std::prev(std::end(kVariants));
    auto to = std::ranges::copy(gemm_study_variants(), all.begin()).out;
    to = std::copy(std::begin(kVariants), last, to);
    to = std::ranges::copy(gemm_hopper_variants(), to).out;
    *to = *last;
    return all;
  }();
  return ladder;
}

}  // namespace trine::gpu
