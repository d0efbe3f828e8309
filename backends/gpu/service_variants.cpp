// Variants that belong to no ladder: the arithmetic probe of a device, fills, OpenCL's clock.
#include "specialization.hpp"

#include <algorithm>
#include <cstring>

namespace trine::gpu {
namespace {

constexpr Variant kVariants[] = {
    {.name = "probe", .summary = "what the device's arithmetic is", .file = "service/probe"},
    {.name = "fill", .summary = "an element all over a view", .file = "service/fill"},
    {.name = "stamp",
     .summary = "the device's clock",
     .file = "service/stamp",
     .backends = kOpencl},
};

}  // namespace

std::span<const Variant> service_variants() { return kVariants; }
const Variant& probe_variant() { return kVariants[0]; }
const Variant& fill_variant() { return kVariants[1]; }
const Variant& stamp_variant() { return kVariants[2]; }

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

}  // namespace trine::gpu
