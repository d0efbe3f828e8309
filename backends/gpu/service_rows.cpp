// Rows that belong to no ladder: the arithmetic probe of a device, CUDA's fill, OpenCL's clock.
#include "instance.hpp"

#include <algorithm>

namespace trine::gpu {
namespace {

constexpr const char *kProbeEntries[] = {"probe"}, *kFillEntries[] = {"fill"},
                     *kStampEntries[] = {"stamp"};

constexpr Row service(const char* name, const char* summary, const char* file, uint32_t backends,
                      std::span<const char* const> entries) {
  return {.name = name,
          .operation = 0,
          .numerics = TRINE_REPRODUCIBLE,
          .summary = summary,
          .requirement = nullptr,
          .file = file,
          .backends = backends,
          .parameters = {},
          .macros = {},
          .entries = entries,
          .exists = nullptr,
          .refuses = nullptr,
          .workspace_bytes = nullptr,
          .plan = nullptr,
          .self_check = nullptr,
          .options = nullptr,
          .architectures = nullptr};
}

constexpr Row kRows[] = {
    service("probe", "what the device's arithmetic is", "service/probe", kBoth, kProbeEntries),
    service("fill", "a pattern of four words over memory", "service/fill", kCuda, kFillEntries),
    service("stamp", "the device's clock", "service/stamp", kOpencl, kStampEntries),
};

}  // namespace

std::span<const Row> service_rows() { return kRows; }
const Row& probe_row() { return kRows[0]; }
const Row& fill_row() { return kRows[1]; }
const Row& stamp_row() { return kRows[2]; }

void plan_fill(void* memory, uint64_t offset, uint64_t bytes, const uint32_t words[4], Plan& plan) {
  constexpr uint64_t threads = 256, most_groups = 4096;
  Launch& launch = plan.add(0);
  const uint64_t count = bytes / 4;
  launch.grid[0] = static_cast<uint32_t>(std::min((count + threads - 1) / threads, most_groups));
  launch.block[0] = threads;
  launch.memory(memory).i64(static_cast<int64_t>(offset)).i64(static_cast<int64_t>(count));
  for (int w = 0; w < 4; ++w) launch.i32(static_cast<int32_t>(words[w]));
}

}  // namespace trine::gpu
