// The upper end of gemm's ladder on GPU backends: kernels for today's hardware. The lower end is in
// gemm_study_variants.cpp, rungs for NVIDIA's compute capability 9.0 in gemm_hopper_variants.cpp,
// the choice of the default in gemm_choice.cpp.
#include <algorithm>
#include <array>
#include <iterator>

#include "backends/gpu/gemm_exact.hpp"
#include "backends/gpu/gemm_launch.hpp"

namespace trine::gpu {
namespace {

// --- register_tile ------------------------------------------------------------------------------

constexpr Macro kSizeMacros[] = {{"T", kTypes}, {"SIZE", kSizes}, {"CONTINUED", kNoYes}};

/// 128 x 128 of f64 would need twice as many registers as there are.
bool register_exists(const int* macro) { return !(macro[0] == 1 && macro[1] == 1); }

/// Local memory holds 4 stages of two panels, 8 steps deep.
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

// --- bounded -------------------------------------------------------------------------------------

constexpr Macro kBoundedMacros[] = {{"T", kFloats}};

/// Local memory holds two panels of f64, 16 steps deep.
Group bounded_group(const Problem& p) {
  return {64, 64, 256, 2 * 16 * (64 + 1) * int64_t{sizeof(double)} / p.element};
}

const char* bounded_refuses(const Request& request) {
  const auto& op = request.as<trine_gemm>();
  if (!trine_is_exact(&op)) return "is for numerics exact alone";
  // Measured: a third of the conformance cases fail under PoCL 5 and none under PoCL 3.
  if (request.target.is_pocl_since(4))
    return "wrong under PoCL 5 (4 is untried); private_exact is for CPUs";
  const char* why = refuse_tiles(request, bounded_group(Problem(op)));
  return why ? why : refuse_exact(request);
}

uint64_t bounded_workspace(const Request& request) { return exact_workspace(request, 0); }

void bounded_plan(const Request& request, Plan& plan) {
  const auto& op = request.as<trine_gemm>();
  plan.macro[0] = op.dtype == TRINE_F32 ? 0 : 1;
  plan_exact(request, plan, [&](const ExactSpace& space) {
    space.push(add_tiles(plan, op, space.p, bounded_group(space.p)));
  });
}

// --- few_columns ---------------------------------------------------------------------------------

constexpr const char* kRows[] = {"8", "16", "32"};
constexpr const char* kColumns[] = {"1", "4", "8"};
constexpr trine_parameter kRowsParameters[] = {{sizeof(trine_parameter), 3, 2, "rows", kRows}};
constexpr Macro kColumnsMacros[] = {{"T", kTypes}, {"ROWS", kRows}, {"COLS", kColumns}};
constexpr int64_t kColumnsBytes = 47 * 1024;  // of local memory

/// f64 prefers tensor cores from 5 columns on.
bool columns_exist(const int* macro) { return !(macro[0] == 1 && macro[2] == 2); }

/// The index in kColumns for the shorter side of C, which the kernel takes for C's columns.
int columns_index(const trine_gemm& op) {
  const int64_t columns = std::min(op.c.rows, op.c.cols);
  if (columns <= 1) return 0;
  return columns <= 4 || op.dtype == TRINE_F64 ? 1 : 2;
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

// --- batched_small: many small products ----------------------------------------------------------

constexpr Macro kBatchedMacros[] = {{"T", kTypes}};
constexpr int64_t kBatchedBytes = 40960, kBatchedThreads = 256,
                  kBatchedSide = 4;  // batched_small.kernel.h

/// How many products a group takes: as many as local memory and work-items allow; 0: none.
int64_t batched_count(const Problem& p) {
  const int64_t width = 16 / p.element;
  const auto size = [&](int64_t rows, int64_t cols) {
    return (rows * (divide_up(cols, width) | 1) + 1) * width;
  };
  constexpr int64_t kMost = kBatchedBytes;  // before anything is multiplied
  if (p.m > kMost || p.n > kMost || p.k > kMost || p.empty()) return 0;
  const int64_t room = kBatchedBytes / p.element, operands = size(p.m, p.k) + size(p.k, p.n);
  const int64_t items = divide_up(p.m, kBatchedSide) * divide_up(p.n, kBatchedSide);
  return std::min({room / operands, room / size(p.m, p.n), kBatchedThreads / items});
}

const char* batched_refuses(const Request& request) {
  const Problem p(request.as<trine_gemm>());
  if (request.target.is_pocl_since(4))
    return "untried under PoCL 4 and later; private_tile is for CPUs";
  if (p.batch > INT32_MAX) return kTooMany;
  if (!p.empty() && batched_count(p) == 0)
    return "batched_small is for small matrices: A and B within 40 KiB, and at most 4096 elements "
           "of C";
  return refuse_tiles(request, {std::max<int64_t>(p.m, 1), std::max<int64_t>(p.n, 1),
                                kBatchedThreads, kBatchedBytes / p.element});
}

void batched_plan(const Request& request, Plan& plan) {
  const auto& op = request.as<trine_gemm>();
  const Problem p(op);
  plan.macro[0] = type_index(op.dtype);
  if (p.empty()) return;
  // If there are few products, all multiprocessors get some.
  const int64_t spread = divide_up(p.batch, 4 * int64_t{request.target.facts->compute_units});
  const int64_t count = std::clamp<int64_t>(spread, 1, batched_count(p));
  Launch& launch = add_tiles(plan, op, p, {p.m, p.n, kBatchedThreads});
  launch.grid[0] = static_cast<uint32_t>(divide_up(p.batch, count));
  launch.arguments[launch.argument_count - 2].i32 = static_cast<int32_t>(count);
  launch.arguments[launch.argument_count - 1].i32 = static_cast<int32_t>(p.batch);
}

// --- small: a group for each small product -------------------------------------------------------

constexpr Macro kSmallMacros[] = {{"T", kFloat}, {"SIDE", kSides}};

/// As small.kernel.h has it.
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
  kSmall.plan(op, tile_side_index(Problem(op)), plan);
}

// --- private_exact, private_tile: for CPUs behind OpenCL -----------------------------------------

constexpr Macro kPrivateMacros[] = {{"T", kTypes}};

/// HEIGHT x COLS of private_exact.cl and private_tile.cl.
Group private_group(const Request& request) {
  return {96, 256 / Problem(request.as<trine_gemm>()).element, 1};
}

const char* private_refuses(const Request& request) {
  if (!request.target.is_cpu()) return "private_tile is for CPUs";
  return refuse_tiles(request, private_group(request));
}

void private_plan(const Request& request, Plan& plan) {
  plan_tiles(request, plan, private_group(request));
}

const char* private_exact_refuses(const Request& request) {
  if (!request.target.is_cpu()) return "private_exact is for CPUs";
  if (!trine_is_exact(&request.as<trine_gemm>())) return "is for numerics exact alone";
  const char* why = refuse_tiles(request, private_group(request));
  return why ? why : refuse_terms(request.as<trine_gemm>());
}

// --- The ladder ---------------------------------------------------------------------------------

constexpr Variant kVariants[] = {
    {.name = "register_tile",
     .operation = TRINE_GEMM,
     .summary = "a block of C in registers, panels copied in the background",
     .default_for = "all else",
     .file = "gemm/register_tile",
     .parameters = kSizeParameters,
     .macros = kSizeMacros,
     .exists = register_exists,
     .refuses = register_refuses,
     .takes = TRINE_CONTINUES,
     .plan = register_plan},
    {.name = "bounded",
     .operation = TRINE_GEMM,
     .summary = "sums whose errors are bounded, 4 x 4 a work-item; uncertain elements one by one",
     .requirement = "numerics exact, f64",
     .default_for = "exact f64, exact f32 without tensor cores",
     .file = "gemm/bounded",
     .macros = kBoundedMacros,
     .refuses = bounded_refuses,
     .takes = TRINE_TAKES_EXACT,
     .workspace_bytes = bounded_workspace,
     .plan = bounded_plan,
     .begins_early = true},
    {.name = "few_columns",
     .operation = TRINE_GEMM,
     .summary = "a row of C a work-item, single warps that wait for nothing but memory",
     .default_for = "up to 16 rows or columns (f64: 4)",
     .file = "gemm/few_columns",
     .parameters = kRowsParameters,
     .macros = kColumnsMacros,
     .exists = columns_exist,
     .refuses = columns_refuses,
     .plan = columns_plan,
     .begins_early = true},
    {.name = "batched_small",
     .operation = TRINE_GEMM,
     .summary = "many small products, as many a group as its local memory holds",
     .requirement = "A and B within 40 KiB, at most 4096 elements of C",
     .default_for = "many, sides up to 40 (f64: 32)",
     .file = "gemm/batched_small",
     .macros = kBatchedMacros,
     .refuses = batched_refuses,
     .plan = batched_plan},
    {.name = "small",
     .operation = TRINE_GEMM,
     .summary = "a group, of one to four warps, for each small product or tile",
     .requirement = "f32, k of at most 64",
     .default_for = "many, f32 up to 64, and short k",
     .file = "gemm/small",
     .macros = kSmallMacros,
     .refuses = small_refuses,
     .plan = small_plan,
     .begins_early = true},
    {.name = "private_exact",
     .operation = TRINE_GEMM,
     .summary = "private_tile with sums whose errors are bounded; uncertain elements at once",
     .requirement = "a CPU device, numerics exact, f64",
     .default_for = "exact on CPUs",
     .file = "gemm/private_exact",
     .backends = kOpencl,
     .macros = kBoundedMacros,
     .refuses = private_exact_refuses,
     .takes = TRINE_TAKES_EXACT,
     .plan = private_plan},
    {.name = "private_tile",
     .operation = TRINE_GEMM,
     .summary = "one work-item per block of C, a tile of which is in vector registers",
     .requirement = "a CPU device",
     .default_for = "CPUs",
     .file = "gemm/private_tile",
     .backends = kOpencl,
     .macros = kPrivateMacros,
     .refuses = private_refuses,
     .takes = TRINE_CONTINUES,
     .plan = private_plan},
};

}  // namespace

std::span<const Variant> gemm_variants() {
  static const auto ladder = [] {
    std::array<Variant, kStudyRungs + kHopperRungs + kCudaRungs + std::size(kVariants)> all;
    const auto for_cpus = std::prev(std::end(kVariants), 2);
    auto to = std::ranges::copy(gemm_study_variants(), all.begin()).out;
    to = std::copy(std::begin(kVariants), for_cpus, to);
    to = std::ranges::copy(gemm_hopper_variants(), to).out;
    to = std::ranges::copy(gemm_cuda_variants(), to).out;
    std::copy(for_cpus, std::end(kVariants), to);
    return all;
  }();
  return ladder;
}

}  // namespace trine::gpu
