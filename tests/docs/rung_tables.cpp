// rung_tables: the rungs of every backend, one a line, as tests/docs/rung_tables.py reads them:
// backend, operation, rung, file without its ending, promise, summary, requirement and, of GPU
// rungs, default_for, between tabs. The rows of cuda and opencl are those of their modules; no
// device is needed.
#include <trine/trine.hpp>

#include <cstdio>

#include "backends/gpu/variant.hpp"

namespace {

const char* promise(uint32_t numerics) {
  if (numerics == TRINE_FAST) return "fast";
  return numerics == TRINE_REPRODUCIBLE ? "reproducible" : "study";
}

void print_gpu(const char* backend, uint32_t mask, const char* name, uint32_t operation) {
  for (const trine::gpu::Variant& rung : trine::gpu::variants_of(operation)) {
    if ((rung.backends & mask) == 0) continue;
    std::printf("%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", backend, name, rung.name, rung.file,
                promise(rung.numerics), rung.summary, rung.requirement ? rung.requirement : "",
                rung.default_for ? rung.default_for : "");
  }
}

void print_cpu(const trine::Device& cpu, const char* name, uint32_t operation) {
  for (const trine::RungInfo& rung : cpu.rungs(trine::Operation(operation))) {
    if (!rung.pack.empty()) continue;
    std::printf("cpu\t%s\t%s\t%s/%s\t%s\t%s\t%s\t\n", name, rung.name.c_str(), name,
                rung.name.c_str(), promise(uint32_t(rung.numerics)), rung.summary.c_str(),
                rung.requirement.c_str());
  }
}

}  // namespace

int main() {
  const trine::Device cpu = trine::open("cpu");
#define TRINE_PRINT(VALUE, word, ...)                             \
  print_gpu("cuda", trine::gpu::kCuda, #word, TRINE_##VALUE);     \
  print_gpu("opencl", trine::gpu::kOpencl, #word, TRINE_##VALUE); \
  print_cpu(cpu, #word, TRINE_##VALUE);
  TRINE_OPERATIONS(TRINE_PRINT)
}
