// The lower end of gemm's ladder on GPU backends: the kernels by which people learned to multiply
// matrices on a GPU. All walk k upward with fused multiply-adds, so their bits are everybody's.
#include "backends/gpu/gemm_launch.hpp"

namespace trine::gpu {
namespace {

/// The refusal and the plan of a row whose groups these are; `refuses_integers`: which the
/// documents don't multiply, so that naive alone has them.
template <Group group_of(const Request&)>
const char* refuses(const Request& request) {
  return refuse_tiles(request, group_of(request));
}
template <Group group_of(const Request&)>
const char* refuses_integers(const Request& request) {
  if (request.as<trine_gemm>().dtype == TRINE_I32) return "it is for f32 and f64";
  return refuses<group_of>(request);
}
template <Group group_of(const Request&)>
void plan(const Request& request, Plan& plan) {
  plan_tiles(request, plan, group_of(request));
}

// --- naive, ilp4: one element a work-item, four of a column --------------------------------------

constexpr Macro kTypeMacros[] = {{"T", kTypes}};
constexpr Macro kFloatMacros[] = {{"T", kFloats}};

Group naive_group(const Request&) { return {16, 16, 256, 0, 16}; }
Group ilp4_group(const Request&) { return {32, 32, 32 * 8, 2 * 32 * 33, 32}; }

// --- shared, read_only: a square tile, an element a work-item -----------------------------------

constexpr const char* kTiles[] = {"16", "32"};
constexpr trine_parameter kTileParameters[] = {{sizeof(trine_parameter), 2, 1, "tile", kTiles}};
constexpr Macro kTileMacros[] = {{"T", kFloats}, {"TILE", kTiles}};
constexpr const char* kReadOnlyEntries[] = {"read_only_path"};  // read_only is a word of OpenCL C

Group square_group(const Request& request) {
  const int64_t tile = int64_t{16} << request.selection.values[0];
  return {tile, tile, tile * tile, 2 * tile * (tile + 1), tile};
}

// --- ilp16: 64 x 64 of C, 16 to 256 elements a work-item ----------------------------------------

constexpr const char* kDepths[] = {"8", "16", "32"};
constexpr const char* kThreads[] = {"16x16", "16x8", "8x4", "4x4"};
constexpr const char* kEdges[] = {"guarded", "aligned"};
constexpr const char* kSides[] = {"4", "8", "16"};
constexpr trine_parameter kIlp16Parameters[] = {
    {sizeof(trine_parameter), 3, 1, "tw", kDepths},
    {sizeof(trine_parameter), 4, 0, "threads", kThreads},
    {sizeof(trine_parameter), 2, 0, "edges", kEdges}};
constexpr Macro kIlp16Macros[] = {{"T", kFloats},
                                  {"TW", kDepths},
                                  {"THREADS_X", kSides},
                                  {"THREADS_Y", kSides},
                                  {"EDGES", kEdges}};

/// The values of `threads`, as indices into kSides.
struct Threads {
  int x, y;
};
constexpr Threads kThreadShapes[] = {{2, 2}, {2, 1}, {1, 0}, {0, 0}};

/// f64: the depth tw=16 has every thread shape, and threads=16x8 every depth, since document 002
/// swept one at a time. f32, which it doesn't have: the parameters' defaults.
bool ilp16_exists(const int* macro) {
  constexpr int kSixteenDeep = 1;
  const bool f64 = macro[0] == 1;
  for (int s = 0; s < 4; ++s)
    if (macro[2] == kThreadShapes[s].x && macro[3] == kThreadShapes[s].y)
      return f64 ? s == 1 || macro[1] == kSixteenDeep
                 : s == 0 && macro[1] == kSixteenDeep && macro[4] == 0;
  return false;
}

int64_t ilp16_depth(const Request& request) { return int64_t{8} << request.selection.values[0]; }

Group ilp16_group(const Request& request) {
  const Threads& threads = kThreadShapes[request.selection.values[1]];
  const int64_t tw = ilp16_depth(request), x = int64_t{4} << threads.x, y = int64_t{4} << threads.y;
  return {64, 64, x * y, 64 * (tw + 1) + tw * (64 + 1), x};
}

const char* ilp16_refuses(const Request& request) {
  const auto& op = request.as<trine_gemm>();
  const Problem p(op);
  const int64_t tw = ilp16_depth(request);
  const bool aligned = request.selection.values[2] == 1;
  if (op.dtype != TRINE_F32 && op.dtype != TRINE_F64) return "ilp16 is for f32 and f64";
  const int32_t shape = request.selection.values[1];
  if (op.dtype == TRINE_F32 && (shape != 0 || tw != 16 || aligned))
    return "of f32 there is tw=16 with threads=16x16 and edges=guarded alone";
  if (shape != 1 && tw != 16) return "tw=8 and 32 are there for threads=16x8 only";
  if (aligned && (p.m % 64 != 0 || p.n % 64 != 0))
    return "edges=aligned needs a C whose rows and columns are multiples of 64";
  if (aligned && p.multiply && p.k % tw != 0)
    return "edges=aligned needs a k that is a multiple of tw";
  return refuse_tiles(request, ilp16_group(request));
}

void ilp16_plan(const Request& request, Plan& plan) {
  plan.macro[2] = kThreadShapes[request.selection.values[1]].x;
  plan.macro[3] = kThreadShapes[request.selection.values[1]].y;
  plan.macro[4] = request.selection.values[2];
  plan_tiles(request, plan, ilp16_group(request));
}

// --- volkov2008: a row of C's block a work-item -------------------------------------------------

Group volkov_group(const Request&) { return {64, 16, 64, 16 * (16 + 4), 0, true}; }

const char* volkov_refuses(const Request& request) {
  // Refused under PoCL 5 as register_tile and transpose's vector are, the other kernels with
  // aligned local arrays.
  if (request.target.is_pocl_since(4))
    return "wrong under PoCL 5 (4 is untried); private_tile is for CPUs";
  return refuses_integers<volkov_group>(request);
}

// --- The lower end of the ladder ----------------------------------------------------------------

constexpr Variant kVariants[] = {
    {.name = "naive",
     .operation = TRINE_GEMM,
     .summary = "one work-item per element of C",
     .file = "gemm/naive",
     .macros = kTypeMacros,
     .refuses = refuses<naive_group>,
     .takes = TRINE_CONTINUES,
     .plan = plan<naive_group>},
    {.name = "shared",
     .operation = TRINE_GEMM,
     .summary = "square tiles of A and B in local memory",
     .requirement = "f32 or f64",
     .file = "gemm/shared",
     .parameters = kTileParameters,
     .macros = kTileMacros,
     .refuses = refuses_integers<square_group>,
     .plan = plan<square_group>},
    {.name = "read_only",
     .operation = TRINE_GEMM,
     .summary = "A and B read through the read-only path",
     .requirement = "f32 or f64",
     .file = "gemm/read_only",
     .parameters = kTileParameters,
     .macros = kTileMacros,
     .entries = kReadOnlyEntries,
     .refuses = refuses_integers<square_group>,
     .plan = plan<square_group>},
    {.name = "ilp4",
     .operation = TRINE_GEMM,
     .summary = "32 x 8 work-items, four elements of C each",
     .requirement = "f32 or f64",
     .file = "gemm/ilp4",
     .macros = kFloatMacros,
     .refuses = refuses_integers<ilp4_group>,
     .plan = plan<ilp4_group>},
    {.name = "ilp16",
     .operation = TRINE_GEMM,
     .summary = "64 x 64 of C, 16 to 256 elements a work-item",
     .requirement = "f32 or f64; edges=aligned: m and n multiples of 64, k of tw",
     .file = "gemm/ilp16",
     .parameters = kIlp16Parameters,
     .macros = kIlp16Macros,
     .exists = ilp16_exists,
     .refuses = ilp16_refuses,
     .plan = ilp16_plan},
    {.name = "volkov2008",
     .operation = TRINE_GEMM,
     .summary = "columns of A in registers, B's tile in local memory (V. Volkov, J. Demmel, 2008)",
     .requirement = "f32 or f64",
     .file = "gemm/volkov2008",
     .macros = kFloatMacros,
     .refuses = volkov_refuses,
     .plan = plan<volkov_group>},
};

}  // namespace

std::span<const Variant, kStudyRungs> gemm_study_variants() { return kVariants; }

}  // namespace trine::gpu
