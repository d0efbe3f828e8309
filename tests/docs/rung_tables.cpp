// rung_tables: the rungs of every backend, one a line, as tests/docs/rung_tables.py reads them:
// backend, operation, rung, file without its ending, promise, summary, requirement, between tabs.
// The rows of cuda and opencl are those of their modules; no device is needed.
#include <trine/trine.hpp>

#include <cstdio>

#include "backends/gpu/variant.hpp"

namespace {

const char* promise(uint32_t numerics) {
  if (numerics == TRINE_FAST) return "fast";
  return numerics == TRINE_REPRODUCIBLE ? "reproducible" : "study";
}

void print_gpu(const char* backend, uint32_t mask, const char* operation,
               std::span<const trine::gpu::Variant> rungs) {
  for (const trine::gpu::Variant& rung : rungs) {
    if ((rung.backends & mask) == 0) continue;
    std::printf("%s\t%s\t%s\t%s\t%s\t%s\t%s\n", backend, operation, rung.name, rung.file,
                promise(rung.numerics), rung.summary, rung.requirement ? rung.requirement : "");
  }
}

void print_cpu(const trine::Device& cpu, const char* name, trine::Operation operation) {
  for (const trine::RungInfo& rung : cpu.rungs(operation)) {
    if (!rung.pack.empty()) continue;
    std::printf("cpu\t%s\t%s\t%s/%s\t%s\t%s\t%s\n", name, rung.name.c_str(), name,
                rung.name.c_str(), promise(uint32_t(rung.numerics)), rung.summary.c_str(),
                rung.requirement.c_str());
  }
}

}  // namespace

int main() {
  for (const auto& [backend, mask] : {std::pair{"cuda", uint32_t{trine::gpu::kCuda}},
                                      std::pair{"opencl", uint32_t{trine::gpu::kOpencl}}}) {
    print_gpu(backend, mask, "reduce", trine::gpu::reduce_variants());
    print_gpu(backend, mask, "transpose", trine::gpu::transpose_variants());
    print_gpu(backend, mask, "gemm", trine::gpu::gemm_variants());
  }
  const trine::Device cpu = trine::open("cpu");
  print_cpu(cpu, "reduce", trine::Operation::reduce);
  print_cpu(cpu, "transpose", trine::Operation::transpose);
  print_cpu(cpu, "gemm", trine::Operation::gemm);
}
