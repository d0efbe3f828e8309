// Variants that belong to no ladder: the arithmetic probe of a device, fills, OpenCL's clock, and
// launches before and after exact products.
#include "specialization.hpp"

#include <algorithm>
#include <cstring>

namespace trine::gpu {
namespace {

constexpr const char* kElements[] = {"float", "double", "int"};
constexpr Macro kElement[] = {{"T", kElements}};
constexpr Macro kFloatAlone[] = {{"T", std::span(kElements).first<1>()}};
constexpr Macro kFloatElement[] = {{"T", std::span(kElements).first<2>()}};

constexpr Variant kVariants[] = {
    {.name = "probe", .summary = "what the device's arithmetic is", .file = "service/probe"},
    {.name = "fill", .summary = "an element all over a view", .file = "service/fill"},
    {.name = "stamp",
     .summary = "the device's clock",
     .file = "service/stamp",
     .backends = kOpencl},
    {.name = "elementwise",
     .summary = "axpby, and arithmetic of two numbers",
     .file = "service/elementwise",
     .macros = kElement},
    {.name = "norms",
     .summary = "a launch of an exact product: bounds of rows and columns",
     .file = "gemm/norms",
     .macros = kFloatElement,
     .begins_early = true},
    {.name = "one_by_one",
     .summary = "the last launch of an exact product: what is marked",
     .file = "gemm/one_by_one",
     .macros = kFloatElement,
     .begins_early = true},
    {.name = "add_chains",
     .summary = "the last launch of an exact f32 product whose chains are in memory",
     .file = "gemm/add_chains",
     .macros = kFloatAlone,
     .begins_early = true},
};

}  // namespace

std::span<const Variant> service_variants() { return kVariants; }
const Variant& probe_variant() { return kVariants[0]; }
const Variant& fill_variant() { return kVariants[1]; }
const Variant& stamp_variant() { return kVariants[2]; }
const Variant& elementwise_variant() { return kVariants[3]; }
const Variant& norms_variant() { return kVariants[4]; }
const Variant& one_by_one_variant() { return kVariants[5]; }
const Variant& add_chains_variant() { return kVariants[6]; }

void plan_fill(const trine_view& view, const void* element, uint32_t bytes, Plan& plan) {
  constexpr int64_t threads = 256, most_groups = 4096;
  uint32_t words[4] = {};
  std::memcpy(words, element, bytes);
  const int shift = bytes == 16 ? 2 : bytes == 8 ? 1 : 0;
  const int64_t units = (view.batch * view.rows * view.cols) << shift, size = bytes;
  Launch& launch = plan.add(0);
  launch.grid[0] = static_cast<uint32_t>(std::min(divide_up(units, threads), most_groups));
  launch.block[0] = threads;
  launch.memory(view.memory).i64(static_cast<int64_t>(view.offset)).i64(units);
  launch.i32(static_cast<int32_t>(bytes)).i32(shift).i64(view.cols).i64(view.rows);
  launch.i64(size * view.col_stride).i64(size * view.row_stride).i64(size * view.batch_stride);
  for (const uint32_t word : words) launch.i32(static_cast<int32_t>(word));
}

namespace {

/// `memory` stands for that of a number of the host: a kernel's argument is some memory.
void push(Launch& launch, const trine_number& number, uint32_t dtype, void* memory) {
  launch.memory(number.memory ? number.memory : memory);
  launch.i64(static_cast<int64_t>(number.offset)).i32(number.memory != nullptr);
  if (dtype == TRINE_F32) {
    launch.f32(number.value.f32);
  } else if (dtype == TRINE_F64) {
    launch.f64(number.value.f64);
  } else {
    launch.i32(number.value.i32);
  }
}

void push(Launch& launch, const trine_view& view) {
  launch.memory(view.memory).i64(static_cast<int64_t>(view.offset));
  launch.i64(view.col_stride).i64(view.row_stride).i64(view.batch_stride);
}

}  // namespace

void plan_elementwise(const trine_elementwise& call, Plan& plan) {
  constexpr int64_t threads = 256, elements = 4 * threads, most_groups = 4096;
  const trine_view& out = call.out;
  const int64_t count = out.batch * out.rows * out.cols;
  plan.macro[0] = call.dtype == TRINE_F32 ? 0 : call.dtype == TRINE_F64 ? 1 : 2;
  Launch& launch = plan.add(0);
  launch.grid[0] = static_cast<uint32_t>(std::min(divide_up(count, elements), most_groups));
  launch.block[0] = threads;
  launch.i32(static_cast<int32_t>(call.function));
  push(launch, call.p, call.dtype, out.memory);
  push(launch, call.q, call.dtype, out.memory);
  for (const trine_view* view : {&call.u, &call.v, &out}) push(launch, *view);
  launch.i64(out.cols).i64(out.rows).i64(count);
}

}  // namespace trine::gpu
